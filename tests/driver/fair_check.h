/* SPDX-License-Identifier: Apache-2.0 */
/** The invariants of docs/scheduling.md, looked at after every run of the scheduler in the tests on mock engines. */
#ifndef FAIR_CHECK_H
#define FAIR_CHECK_H

#include "os/sched/sched.h"

/** What was seen the last time; zeroed with the scheduler. */
#define FAIR_PARTITIONS 5 /* of which it is remembered what was seen */

struct fair_seen {
    int64_t min_vruntime[FAIR_PARTITIONS][TERN_ENGINES_MAX][TERN_BANDS];
    int64_t min_of_partitions[TERN_ENGINES_MAX];
    uint64_t runs, due; /**< Runs of the scheduler so far; the one after which it is looked at again. */
};

/** NULL, or which invariant does not hold. It looks at every live context. */
const char *fair_check(const struct tern_sched *s, struct fair_seen *seen);
/**
 * To be called after each run of the scheduler: looks whenever there have been as many runs as the last look had
 * processes and contexts to look at, so that tests with thousands of them take little more time.
 */
const char *fair_check_now_and_then(const struct tern_sched *s, struct fair_seen *seen);

#endif
