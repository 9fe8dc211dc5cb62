/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts the threads that take part in work, besides the one that waits for it. The host's kernel counts each thread's
 * context switches. A thread that the work wakes is switched at least once each time. The number of switches, and
 * whether they are voluntary, depends on the host: a thread also sleeps for a lock, and may get more to do before it
 * sleeps. The set of threads that run does not depend on it.
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
        uint64_t switches; /**< Context switches so far. */
    } thread[SUBMIT_THREADS];
};

/** Adds the threads that a process has now. waits: without its first thread, which is the one that waits. Returns false
 *  after a message if they cannot be read. */
bool submit_threads_add(struct submit_threads *t, pid_t process, bool waits);

/** Returns how many threads were switched at least half as often as the work was done between the two. */
unsigned submit_threads_ran(const struct submit_threads *before, const struct submit_threads *after, unsigned times);

#endif
