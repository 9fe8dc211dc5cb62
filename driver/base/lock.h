/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern_assert_held: what a comment says of a lock, checked. In builds with sanitizers, and in debug builds, it ends the
 * process with a message if the calling thread does not hold the lock. In other builds it does nothing. The lock is a
 * mutex or a ticket lock. tern_assert_either is for a function that needs one of two locks.
 *
 * This header needs ticket_lock.h and no other file of the driver, so that the runtime uses it, too.
 */
#ifndef TERN_BASE_LOCK_H
#define TERN_BASE_LOCK_H

#include <pthread.h>

#include "base/ticket_lock.h"

/** Marks a function that takes a lock for its caller, or releases its caller's lock, even if it takes it again: clang's
 *  analysis (tests/lib/thread_safety.h) leaves it out. */
#ifdef __clang__
#define TERN_LOCK_HANDED __attribute__((no_thread_safety_analysis))
#else
#define TERN_LOCK_HANDED
#endif

#ifdef TERN_CHECK_LOCKS
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** glibc keeps the thread that holds a mutex. Other threads change the value, but never to this thread's number. */
static inline int tern_mutex_mine(const pthread_mutex_t *m)
{
    return __atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED) == gettid();
}

/** True: the calling thread holds the lock. */
#define tern_lock_mine(lock) \
    _Generic((lock), \
        pthread_mutex_t *: tern_mutex_mine, const pthread_mutex_t *: tern_mutex_mine, \
        struct tern_ticket_lock *: tern_ticket_lock_mine, const struct tern_ticket_lock *: tern_ticket_lock_mine)(lock)

#define tern_assert_lock(is_held, name) \
    do { \
        if (!(is_held)) { \
            fprintf(stderr, "%s:%d: %s needs " name ", which this thread does not hold\n", __FILE__, __LINE__, \
                    __func__); \
            abort(); \
        } \
    } while (0)
#define tern_assert_held(lock) tern_assert_lock(tern_lock_mine(lock), #lock)
#define tern_assert_either(a, b) tern_assert_lock(tern_lock_mine(a) || tern_lock_mine(b), #a " or " #b)
#else
#define tern_assert_held(lock) ((void)(lock))
#define tern_assert_either(a, b) ((void)(a), (void)(b))
#endif

#endif
