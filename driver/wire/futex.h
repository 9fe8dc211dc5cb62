/* SPDX-License-Identifier: Apache-2.0 */
/** A futex in the shared memory: a thread of the client sleeps on it, and ternd wakes it. Waking never blocks. */
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

/** Sleeps while it has this value, until it is woken, a signal comes or `until` (CLOCK_MONOTONIC; NULL: never) is
 *  reached: then -ETIMEDOUT, else 0. */
static inline int tern_futex_sleep(_Atomic uint32_t *at, uint32_t value, const struct timespec *until)
{
    const long r = syscall(SYS_futex, at, FUTEX_WAIT_BITSET, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
    return r < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

/** Wakes one thread that sleeps on it. */
static inline void tern_futex_wake(_Atomic uint32_t *at)
{
    syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#endif
