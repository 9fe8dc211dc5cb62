/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kills a process at each moment of what its thread does in the driver. A moment is a lock that the thread takes, a
 * wait, or an allocation of host memory. In run n another thread kills the process at moment n while its thread goes
 * on. The runs end when one has fewer moments than n. The linker wraps pthread_mutex_lock, pthread_cond_wait, malloc
 * and calloc.
 */
#ifndef MOMENTS_H
#define MOMENTS_H

#include <semaphore.h>

#include "rig.h"

static __thread bool watched;
static atomic_long moments, at_moment;
static atomic_long failing = -1; /**< Allocations until one fails; < 0: none fails. */
static sem_t now;
static struct tern_process *victim;

/** Counts a moment of the victim's thread. At the chosen moment it posts `now` and sleeps, so that the killer can go
 * on. */
static void moment(void)
{
    if (watched && atomic_fetch_add(&moments, 1) == atomic_load(&at_moment)) {
        sem_post(&now);
        nap();
    }
}

static bool allocation_fails(void)
{
    moment();
    return atomic_load(&failing) >= 0 && atomic_fetch_sub(&failing, 1) == 0;
}

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    moment();
    return __real_pthread_mutex_lock(m);
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    moment();
    return __real_pthread_cond_wait(c, m);
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(n, size);
}

static void *moments_kill(void *unused)
{
    (void)unused;
    while (sem_wait(&now)) {
    }
    ok(tern_process_kill(victim));
    return NULL;
}

static int (*victim_live)(struct tern_process *);

static void *moments_live(void *unused)
{
    (void)unused;
    watched = true;
    const int r = victim_live(victim);
    watched = false;
    sem_post(&now); /* releases the killer if there were fewer moments than n */
    if (r && r != -EIO) {
        print_error("%d: %s\n", r, tern_last_error());
        abort();
    }
    return NULL;
}

/** Starts a thread with a new victim. The thread posts `now` at moment n. */
static pthread_t moments_begin(long n, int (*live)(struct tern_process *))
{
    pthread_t lives;
    sem_init(&now, 0, 0);
    atomic_store(&moments, 0);
    atomic_store(&at_moment, n);
    victim_live = live;
    ok(tern_process_create(dev, "victim", &victim));
    assert_int_equal(pthread_create(&lives, NULL, moments_live, NULL), 0);
    return lives;
}

/** Runs a victim and kills it at moment n, or at its end. The caller destroys it. Returns false if there was no moment
 *  n. */
static bool killed_at(long n, int (*live)(struct tern_process *))
{
    pthread_t kills, lives = moments_begin(n, live);
    assert_int_equal(pthread_create(&kills, NULL, moments_kill, NULL), 0);
    pthread_join(lives, NULL);
    const bool was = atomic_load(&moments) > n;
    pthread_join(kills, NULL);
    sem_destroy(&now);
    return was;
}

#endif
