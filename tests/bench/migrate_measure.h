/* SPDX-License-Identifier: Apache-2.0 */
/** What `tern bench migrate` measures of dirty tracking. Functions give 0 or -errno; what went wrong is on stderr. */
#ifndef TERN_BENCH_MIGRATE_MEASURE_H
#define TERN_BENCH_MIGRATE_MEASURE_H

#include "preempt_case.h"

struct migrate_tracking {
    uint64_t off, on;  /**< Cycles of the kernel, with no memory basis started and with one. */
    uint32_t changed;  /**< Pages that hold something else after a run. */
    uint32_t lost;     /**< Of them, over all runs with tracking: those whose dirty bit no query gave. */
    uint32_t queries;  /**< While the kernel ran. */
};

/** Runs the kernel three times, on a device of its own each: without, with, and with queries all the time. */
int migrate_track(const struct tern_config *config, const struct rig_source *sources, unsigned n,
                  const struct preempt_case *kernel, struct migrate_tracking *out);

#define MIGRATE_BYTES (4ull << 30)
struct migrate_query {
    uint32_t empty, sparse, full; /**< Cycles of a query and clear of all 4 GiB: no page, one of 100, all. */
};
/** On a device with 4 GiB; `full` makes the host give all of it, and is 0 if not asked for. */
int migrate_query(const struct tern_config *config, bool full, struct migrate_query *out);

#endif
