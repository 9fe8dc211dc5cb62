/* SPDX-License-Identifier: Apache-2.0 */
/** Checks the invariants of docs/scheduling.md after runs of the scheduler, in the tests on mock engines. */
#ifndef FAIR_CHECK_H
#define FAIR_CHECK_H

#include "os/sched/sched.h"

#define FAIR_PARTITIONS 5 /* partitions whose last min_vruntime is remembered */

/** Values of the last check; zeroed with the scheduler. */
struct fair_seen {
    int64_t min_vruntime[FAIR_PARTITIONS][TERN_ENGINES_MAX][TERN_BANDS];
    int64_t min_of_partitions[TERN_ENGINES_MAX];
    uint64_t runs, due; /**< Runs of the scheduler so far, and the run after which the next check is due. */
};

/** Returns NULL, or the invariant that does not hold. Looks at every live context. */
const char *fair_check(const struct tern_sched *s, struct fair_seen *seen);
/**
 * To be called after each run of the scheduler. After a check of n processes and contexts the next n calls do nothing,
 * so that tests with thousands of them take little more time.
 */
const char *fair_check_now_and_then(const struct tern_sched *s, struct fair_seen *seen);

#endif
