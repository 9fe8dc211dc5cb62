/* SPDX-License-Identifier: Apache-2.0 */
/** Measurements of dirty tracking for `tern bench migrate`. Functions return 0 or -errno after a message on stderr. */
#ifndef TERN_BENCH_MIGRATE_MEASURE_H
#define TERN_BENCH_MIGRATE_MEASURE_H

#include "preempt_case.h"

struct migrate_tracking {
    uint64_t off, on;  /**< Cycles of the kernel without and with tracking. */
    uint32_t changed;  /**< Pages whose contents changed in a run. */
    uint32_t lost;     /**< Pages among these whose dirty bit no query returned, summed over the runs with tracking. */
    uint32_t queries;  /**< Queries while the kernel ran. */
};

/** Runs the kernel three times, each time on its own device: without tracking, with it, and with queries during the
 * run. */
int migrate_track(const struct tern_config *config, const struct rig_source *sources, unsigned n,
                  const struct preempt_case *kernel, struct migrate_tracking *out);

#define MIGRATE_BYTES (4ull << 30)
struct migrate_query {
    /** Cycles of a query and clear of all 4 GiB: no page, one page of 100, and all pages written. */
    uint32_t empty, sparse, full;
};
/** Measures queries on a device with 4 GiB. `full` needs 4 GiB of host memory; without it out->full is 0. */
int migrate_query(const struct tern_config *config, bool full, struct migrate_query *out);

#endif
