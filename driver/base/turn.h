/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A lock that is handed over in order of arrival. The device thread takes the hal again and again while it steps a
 * simulator; with a plain mutex it would nearly always win, and a thread that copies to device memory would starve.
 */
#ifndef TERN_BASE_TURN_H
#define TERN_BASE_TURN_H

#include <pthread.h>
#include <stdint.h>

struct tern_turn {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next, serving;
};

static inline int tern_turn_init(struct tern_turn *t)
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

static inline void tern_turn_destroy(struct tern_turn *t)
{
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

static inline void tern_turn_take(struct tern_turn *t)
{
    pthread_mutex_lock(&t->lock);
    uint64_t mine = t->next++;
    while (t->serving != mine) {
        pthread_cond_wait(&t->moved, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

static inline void tern_turn_give(struct tern_turn *t)
{
    pthread_mutex_lock(&t->lock);
    t->serving++;
    if (t->serving != t->next) {
        pthread_cond_broadcast(&t->moved);
    }
    pthread_mutex_unlock(&t->lock);
}

#endif
