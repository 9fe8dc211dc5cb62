/* SPDX-License-Identifier: Apache-2.0 */
/** The host's clock, and waiting with a deadline. */
#ifndef TERN_BASE_WAIT_H
#define TERN_BASE_WAIT_H

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/lock.h"

/** Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t tern_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** The time, of CLOCK_MONOTONIC, `ms` milliseconds from now. ms < 0 stands for no deadline, and gives the present. */
static inline struct timespec tern_deadline(int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t most = (int64_t)1 << 40; /* 34 years, without an overflow */
    ms = ms < 0 ? 0 : ms > most ? most : ms;
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/** Waits for a condition variable of CLOCK_MONOTONIC. Requires its lock, which is released meanwhile. 0, or -ETIMEDOUT
 *  at the deadline `until`. ms < 0: there is no deadline. */
static inline int tern_wait_changed(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t ms,
                                    const struct timespec *until)
{
    tern_assert_held(lock);
    return ms < 0 ? -pthread_cond_wait(changed, lock) : -pthread_cond_timedwait(changed, lock, until);
}

#endif
