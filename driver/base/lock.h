/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern_assert_held: what a comment says of a lock, checked. In builds with sanitizers, and in debug builds, it ends the
 * process with a message if the calling thread does not hold the lock. In other builds it does nothing.
 */
#ifndef TERN_BASE_LOCK_H
#define TERN_BASE_LOCK_H

#include <pthread.h>

#ifdef TERN_CHECK_LOCKS
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** glibc keeps the thread that holds a mutex. Other threads change the value, but never to this thread's number. */
#define tern_assert_held(mutex) \
    do { \
        if (__atomic_load_n(&(mutex)->__data.__owner, __ATOMIC_RELAXED) != gettid()) { \
            fprintf(stderr, "%s:%d: %s needs " #mutex ", which this thread does not hold\n", __FILE__, __LINE__, \
                    __func__); \
            abort(); \
        } \
    } while (0)
#else
#define tern_assert_held(mutex) ((void)(mutex))
#endif

#endif
