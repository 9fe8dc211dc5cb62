/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A process that `tern bench migrate` moves: a kernel that reads its data at random and writes a few pages, until
 * it is told to end; then the host computes what memory must hold.
 *
 * Functions give 0 or -errno; what went wrong is on stderr by then.
 */
#ifndef TERN_BENCH_MIGRATE_WORK_H
#define TERN_BENCH_MIGRATE_WORK_H

#include "direct.h"

#define MIGRATE_MEMORIES 40u

/** Memory with contents in which no word is zero but by chance. */
struct migrate_memory {
    struct tern_allocation *allocation;
    uint32_t address; /**< Of the process. */
    uint32_t pages;
};

/** A process and all its memory. */
struct migrate_process {
    struct tern_process *proc;
    struct tern_context *context;  /**< NULL: it has none, only memory. */
    struct migrate_memory memory[MIGRATE_MEMORIES];
    uint32_t memories;
};

struct migrate_work {
    uint32_t data_bytes; /**< A power of two, at least 4 KiB. */
    uint32_t hot_pages;  /**< That it writes, one a step. */
    uint32_t reads;      /**< Words of data, a step. */
};

/** Its process, with the kernel running, on one engine (-1: any). */
int migrate_work_start(struct tern_device *dev, const char *partition, const struct direct_program *program,
                       const struct migrate_work *work, int32_t engine, struct migrate_process *out);
/** An allocation more, and its contents. */
int migrate_process_take(struct migrate_process *p, uint64_t bytes);
/** Steps of the kernel so far: the host looks into its memory. */
int migrate_work_steps(const struct migrate_process *p, uint32_t *steps);
/** Waits until it has made at least one more. */
int migrate_work_goes_on(const struct migrate_process *p);
/** Ends the kernel and compares hot pages and sum with what they must be; *lost: pages that differ are added. */
int migrate_work_end(struct migrate_process *p, const struct migrate_work *work, uint32_t *lost);
void migrate_process_destroy(struct migrate_process *p);

#endif
