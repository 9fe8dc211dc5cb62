/* SPDX-License-Identifier: Apache-2.0 */
/** The host's cost of a decision of the scheduler. */
#ifndef TERN_BENCH_SCHED_DECISION_H
#define TERN_BENCH_SCHED_DECISION_H

/**
 * Measures the median cost of a decision among this many contexts that all have work. cost() returns what was spent so
 * far, in any unit. Only the scheduler's functions, and the operations that they call, are measured. Returns 0 or
 * -errno.
 */
int sched_decision(unsigned contexts, double (*cost)(void), double *out);

/** Returns the CPU time of this thread, in nanoseconds. */
double sched_decision_ns(void);

#endif
