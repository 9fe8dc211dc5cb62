/* SPDX-License-Identifier: Apache-2.0 */
/** Clients with given weights that always have work, and the engine cycles that each has got, for tests of fairness. */
#ifndef SUPPORT_BACKLOGS_H
#define SUPPORT_BACKLOGS_H

#include "sched_client.h"

#define CLIENTS 256
#define QUANTUM 20000
/** Processes and clients of the scheduler `mock`, and its configuration. */
extern struct tern_sched_process procs[CLIENTS];
extern struct client clients[CLIENTS];
extern struct tern_sched_config config;
/** Begins anew with idle processes and so many engines. */
void backlogs_restart(uint32_t engines);
/** cmocka's setup: the default configuration with slices of QUANTUM, and one engine. */
int backlogs_setup(void **state);
/** Makes client i, of process `proc`, which always has four jobs of `cost` cycles. */
void backlog(int i, int proc, int32_t engine, uint32_t band, uint32_t weight, uint64_t cost);
/** Engine cycles of client i, including those of its running chunk. */
uint64_t cycles_got(int i);
/** Checks that a : b is the ratio, but for a relative tolerance. */
void expect_ratio(uint64_t a, uint64_t b, double ratio, double tolerance);
/** Ends the work of the first n clients. */
void backlogs_end(int n);

#endif
