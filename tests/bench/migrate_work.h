/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A process that `tern bench migrate` moves. The kernel reads its data at random and writes a few pages until it is
 * told to end. After the end the host computes the expected memory.
 *
 * Functions return 0 or -errno after a message on stderr.
 */
#ifndef TERN_BENCH_MIGRATE_WORK_H
#define TERN_BENCH_MIGRATE_WORK_H

#include "direct.h"

#define MIGRATE_MEMORIES 40u

/** Memory whose words are not zero, except by chance. */
struct migrate_memory {
    struct tern_allocation *allocation;
    uint32_t address; /**< Address in the process. */
    uint32_t pages;
};

/** A process and all its memory. */
struct migrate_process {
    struct tern_process *proc;
    struct tern_context *context;  /**< NULL: the process only has memory. */
    struct migrate_memory memory[MIGRATE_MEMORIES];
    uint32_t memories;
};

struct migrate_work {
    uint32_t data_bytes; /**< A power of two, at least 4 KiB. */
    uint32_t hot_pages;  /**< Pages that the kernel writes, one a step. */
    uint32_t reads;      /**< Words of data that the kernel reads in a step. */
};

/** Creates a process with the kernel running, on one engine (-1: any). */
int migrate_work_start(struct tern_device *dev, const char *partition, const struct direct_program *program,
                       const struct migrate_work *work, int32_t engine, struct migrate_process *out);
/** Adds an allocation with contents. */
int migrate_process_take(struct migrate_process *p, uint64_t bytes);
/** Returns the kernel's steps so far, which the host reads from its memory. */
int migrate_work_steps(const struct migrate_process *p, uint32_t *steps);
/** Waits until the kernel has made at least one more step. */
int migrate_work_goes_on(const struct migrate_process *p);
/** Ends the kernel, and adds to *lost the hot pages that differ from what they must be. */
int migrate_work_end(struct migrate_process *p, const struct migrate_work *work, uint32_t *lost);
void migrate_process_destroy(struct migrate_process *p);

#endif
