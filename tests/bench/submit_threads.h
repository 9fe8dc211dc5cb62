/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How many threads take part in work, besides the one that waits for it. The host's kernel counts how often it
 * switches from a thread to another. A thread that the work wakes is switched from at least once each time. How often,
 * and whether it went to sleep by itself, depends on the host: a thread also sleeps for a lock, and may be given more
 * to do before it sleeps. The set of threads that run does not depend on it.
 */
#ifndef TERN_BENCH_SUBMIT_THREADS_H
#define TERN_BENCH_SUBMIT_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBMIT_THREADS 64u

struct submit_threads {
    unsigned n;
    struct {
        long id;
        uint64_t switches; /**< So far. */
    } thread[SUBMIT_THREADS];
};

/** Adds the threads that a process has now; waits: all but its first, which is the one that waits. False, after a
 *  message: they cannot be read. */
bool submit_threads_add(struct submit_threads *t, pid_t process, bool waits);

/** How many ran at least half as often as the work was done between the two. */
unsigned submit_threads_ran(const struct submit_threads *before, const struct submit_threads *after, unsigned times);

#endif
