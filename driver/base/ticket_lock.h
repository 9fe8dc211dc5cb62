/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A ticket lock: threads get it in the order in which they asked for it. The device thread takes the hal lock in quick
 * succession while it steps a simulator. With a plain mutex it would nearly always win, and a thread that copies to
 * device memory would starve.
 */
#ifndef TERN_BASE_TICKET_LOCK_H
#define TERN_BASE_TICKET_LOCK_H

#include <pthread.h>
#include <stdint.h>

struct tern_ticket_lock {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next, serving; /* tickets: the next one to be given out; that of the thread that has the lock */
};

static inline int tern_ticket_lock_init(struct tern_ticket_lock *t)
{
    t->next = t->serving = 0;
    int r = pthread_mutex_init(&t->lock, NULL);
    if (r) {
        return -r;
    }
    r = pthread_cond_init(&t->moved, NULL);
    if (r) {
        pthread_mutex_destroy(&t->lock);
    }
    return -r;
}

static inline void tern_ticket_lock_destroy(struct tern_ticket_lock *t)
{
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

static inline void tern_ticket_lock(struct tern_ticket_lock *t)
{
    pthread_mutex_lock(&t->lock);
    const uint64_t ticket = t->next++;
    while (t->serving != ticket) {
        pthread_cond_wait(&t->moved, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

static inline void tern_ticket_unlock(struct tern_ticket_lock *t)
{
    pthread_mutex_lock(&t->lock);
    t->serving++;
    if (t->serving != t->next) {
        pthread_cond_broadcast(&t->moved);
    }
    pthread_mutex_unlock(&t->lock);
}

#endif
