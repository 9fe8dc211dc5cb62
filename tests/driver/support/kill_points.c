/* SPDX-License-Identifier: Apache-2.0 */
#include "kill_points.h"

#include "dut.h"
#include "waiting.h"

struct tern_process *victim;

atomic_long allocations_left = -1;

sem_t kill_point_reached;

static __thread bool watched;

static atomic_long points, chosen;

static int (*victim_live)(struct tern_process *);

/** Counts a point of the victim's thread. At the chosen point it posts kill_point_reached and sleeps, so that the
 *  killer can go on. */
static void kill_point(void)
{
    if (watched && atomic_fetch_add(&points, 1) == atomic_load(&chosen)) {
        sem_post(&kill_point_reached);
        nap();
    }
}

bool allocation_fails(void)
{
    kill_point();
    return atomic_load(&allocations_left) >= 0 && atomic_fetch_sub(&allocations_left, 1) == 0;
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
    kill_point();
    return __real_pthread_mutex_lock(m);
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    kill_point();
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

static void *kill_victim(void *unused)
{
    (void)unused;
    while (sem_wait(&kill_point_reached)) {
    }
    ok(tern_process_kill(victim));
    return NULL;
}

static void *run_victim(void *unused)
{
    (void)unused;
    watched = true;
    const int r = victim_live(victim);
    watched = false;
    sem_post(&kill_point_reached); /* releases the killer if there were fewer points than n */
    if (r && r != -EIO) {
        print_error("%d: %s\n", r, tern_last_error());
        abort();
    }
    return NULL;
}

pthread_t kill_point_begin(long n, int (*live)(struct tern_process *))
{
    pthread_t lives;
    sem_init(&kill_point_reached, 0, 0);
    atomic_store(&points, 0);
    atomic_store(&chosen, n);
    victim_live = live;
    ok(tern_process_create(dev, "victim", &victim));
    assert_int_equal(pthread_create(&lives, NULL, run_victim, NULL), 0);
    return lives;
}

bool killed_at(long n, int (*live)(struct tern_process *))
{
    pthread_t kills, lives = kill_point_begin(n, live);
    assert_int_equal(pthread_create(&kills, NULL, kill_victim, NULL), 0);
    pthread_join(lives, NULL);
    const bool was = atomic_load(&points) > n;
    pthread_join(kills, NULL);
    sem_destroy(&kill_point_reached);
    return was;
}
