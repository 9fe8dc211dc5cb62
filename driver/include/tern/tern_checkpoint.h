/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints: save all processes of a device, in the middle of their kernels, to a file, and let them go on on another
 * device of the same geometry and any backend (M3): from the functional model on the RTL, say (docs/migration.md). The
 * file is a migration stream (docs/migration-stream.md). The state of programs on the host is not in it.
 *
 *     tern_checkpoint_save(dev, "run.tck");            tern_checkpoint_load(dev, "run.tck", &c);
 *                                                      tern_checkpoint_start(c, 0);
 *                                                      tern_checkpoint_wait(c, -1, &end);
 *                                                      tern_checkpoint_memory, tern_checkpoint_read ...
 *                                                      tern_checkpoint_close(c);
 *
 * Threads, results and structs as in tern.h. A loaded checkpoint is used by one thread at a time. On a device that was
 * opened through a ternd, saving and loading fail with -ENOTSUP.
 */
#ifndef TERN_CHECKPOINT_H
#define TERN_CHECKPOINT_H

#include "tern/tern.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded file: its processes, with their contexts and memory. */
struct tern_checkpoint;

/**
 * Writes the present state of all processes of the device, which are suspended meanwhile and go on afterwards. The file
 * is written as FILE.part and renamed at the end, so FILE is whole or absent, and an older FILE stays until then. Other
 * threads may use the device meanwhile, and what the host writes to memory then may be in the file; they must not call
 * tern_process_suspend or tern_process_resume. Blocks for engines and the disk. -ENOENT: the device has no processes,
 * or the folder does not exist; -EEXIST: FILE.part exists: another checkpoint is being written to it, or an earlier one
 * was cut off; -ENOSPC and others: errors of the file; -EBUSY: processes were resumed meanwhile; -EIO: the device is
 * lost, or an engine may still reach freed memory; -EPROTO: the device saved nothing of work that it had begun;
 * -ENOMEM; -EINVAL: the name is too long.
 */
TERN_API int tern_checkpoint_save(struct tern_device *dev, const char *file);

/**
 * Reads a file and makes its processes, suspended, beside those that the device has. Blocks. On failure the device is
 * as before. -ENOENT, -EACCES, -EIO and others: errors of the file; -EPROTO: it is damaged, cut off, or of a device
 * that this one cannot replace; -ENOSPC: its memory does not fit; -EEXIST: one of its handles names memory of this
 * device; -EPERM: it has work of the band REALTIME (tern_context_set_priority); -ENOMEM.
 */
TERN_API int tern_checkpoint_load(struct tern_device *dev, const char *file, struct tern_checkpoint **out);
/** Lets the loaded processes run. After `cycles` of device time (0: never) all processes of the device stop. May be
 *  called once: -EALREADY. */
TERN_API int tern_checkpoint_start(struct tern_checkpoint *c, uint64_t cycles);

/** Why a checkpoint no longer runs. */
enum tern_checkpoint_end {
    TERN_CHECKPOINT_ENDED = 0,   /**< All work has ended. */
    TERN_CHECKPOINT_STOPPED = 1, /**< The cycles have passed. */
    TERN_CHECKPOINT_WAITS = 2,   /**< The rest waits for a signal that its program would have given on the host. */
};
/** Waits until nothing runs any more. timeout_ms < 0: for ever. -ETIMEDOUT; -EINVAL: it was not started; -EIO: the
 *  device is lost. Blocks. */
TERN_API int tern_checkpoint_wait(struct tern_checkpoint *c, int64_t timeout_ms, enum tern_checkpoint_end *end);

struct tern_checkpoint_process {
    uint32_t size;
    uint32_t number;             /**< Number on the device that saved it. */
    uint32_t contexts, memories; /**< Number of its contexts and memories. */
    char name[64];
    struct tern_fault fault;     /**< code is 0 unless the process is in error. */
};
struct tern_checkpoint_context {
    uint32_t size;
    uint32_t number;             /**< Number on the device that saved it. */
    uint64_t saved;              /**< Buffers that had not ended when it was saved. */
    uint64_t left;               /**< Buffers that have not ended now. */
    uint64_t completed, aborted; /**< Buffers that ended since it was made; `aborted` includes faulted ones. */
    uint64_t cycles;             /**< Engine cycles that its buffers ran. */
    char name[64];
    char label[64];              /**< Label of the oldest buffer that has not ended; empty if there is none. */
};
struct tern_checkpoint_memory {
    uint32_t size;
    uint32_t address; /**< Virtual address. */
    uint64_t bytes;
    uint32_t flags;   /**< TERN_MEM_*. */
    bool fence;       /**< A monitored fence: the first 8 bytes are its value. */
};
/** Describe process i, and its context or memory k. Numbers count from 0; memories are in order of address, without
 *  those that were being freed when the process was saved. -ENOENT: there is none. */
TERN_API int tern_checkpoint_process(struct tern_checkpoint *c, uint32_t i, struct tern_checkpoint_process *out);
TERN_API int tern_checkpoint_context(struct tern_checkpoint *c, uint32_t i, uint32_t k,
                                     struct tern_checkpoint_context *out);
TERN_API int tern_checkpoint_memory(struct tern_checkpoint *c, uint32_t i, uint32_t k,
                                    struct tern_checkpoint_memory *out);
/** Copies bytes of memory k of process i. -ENOENT: there is none; -EFAULT: beyond its end; -EACCES: it was imported
 *  without the right to read; -ENOMEM: host memory for evicted data; -EIO: the device is lost. */
TERN_API int tern_checkpoint_read(struct tern_checkpoint *c, uint32_t i, uint32_t k, uint64_t offset, void *data,
                                  size_t size);
/** Kills the loaded processes and frees the checkpoint. Blocks as tern_process_kill does. */
TERN_API int tern_checkpoint_close(struct tern_checkpoint *c);

#ifdef __cplusplus
}
#endif

#endif
