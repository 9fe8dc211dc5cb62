/* SPDX-License-Identifier: Apache-2.0 */
/** The cost of a decision of the scheduler to the host. */
#ifndef TERN_BENCH_SCHED_DECISION_H
#define TERN_BENCH_SCHED_DECISION_H

/**
 * The median cost of a decision among so many contexts that all want to run. cost: gives what has been spent so far, in
 * any unit. Only what is spent in the scheduler's functions counts, the operations' included. 0 or -errno.
 */
int sched_decision(unsigned contexts, double (*cost)(void), double *out);

/** Nanoseconds of this thread. */
double sched_decision_ns(void);

#endif
