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
    pthread_cond_t moved;   /**< Broadcast when the lock is released while threads wait for it. */
    /** The next ticket to be given out, and the ticket of the thread that has the lock. Guarded by `lock`. */
    uint64_t next, serving;
    /** The thread that has the lock; 0: none. Written under `lock`, and read without it by tern_ticket_lock_mine. */
    pthread_t holder;
};

static inline int tern_ticket_lock_init(struct tern_ticket_lock *t)
{
    t->next = t->serving = 0;
    t->holder = 0;
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
    __atomic_store_n(&t->holder, pthread_self(), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&t->lock);
}

static inline void tern_ticket_unlock(struct tern_ticket_lock *t)
{
    pthread_mutex_lock(&t->lock);
    __atomic_store_n(&t->holder, 0, __ATOMIC_RELAXED);
    t->serving++;
    if (t->serving != t->next) {
        pthread_cond_broadcast(&t->moved);
    }
    pthread_mutex_unlock(&t->lock);
}

/** True: the calling thread has the lock. Other threads change `holder`, but never to this thread. */
static inline int tern_ticket_lock_mine(const struct tern_ticket_lock *t)
{
    return __atomic_load_n(&t->holder, __ATOMIC_RELAXED) == pthread_self();
}

#endif
