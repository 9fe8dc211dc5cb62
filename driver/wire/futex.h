/* SPDX-License-Identifier: Apache-2.0 */
/** A futex in the shared memory, on which a thread of the client sleeps. ternd wakes it, without blocking. */
#ifndef TERN_WIRE_FUTEX_H
#define TERN_WIRE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Sleeps while *at has this value. 0: woken, interrupted by a signal, or *at had another value; -ETIMEDOUT: `until`
 *  has passed, on CLOCK_MONOTONIC (NULL: no limit). */
static inline int tern_futex_sleep(_Atomic uint32_t *at, uint32_t value, const struct timespec *until)
{
    const long r = syscall(SYS_futex, at, FUTEX_WAIT_BITSET, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
    return r < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

/** Wakes one thread that sleeps on *at. */
static inline void tern_futex_wake(_Atomic uint32_t *at)
{
    syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#endif
