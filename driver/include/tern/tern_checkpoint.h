/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints: all processes of a device in a file, in the middle of their kernels, which go on on another device of
 * the same geometry, of whatever backend (M3): from the functional model on the RTL, say (docs/migration.md). The
 * file is a migration stream (docs/migration-stream.md). What programs do on the host is not in it.
 *
 *     tern_checkpoint_save(dev, "run.tck");            tern_checkpoint_load(dev, "run.tck", &c);
 *                                                      tern_checkpoint_start(c, 0);
 *                                                      tern_checkpoint_wait(c, -1, &end);
 *                                                      tern_checkpoint_memory, tern_checkpoint_read ...
 *                                                      tern_checkpoint_close(c);
 *
 * Threads, results and structs as in tern.h. A checkpoint that was loaded is used by one thread at a time. Of a device
 * that was opened through a ternd: -ENOTSUP.
 */
#ifndef TERN_CHECKPOINT_H
#define TERN_CHECKPOINT_H

#include "tern/tern.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What was loaded from a file: its processes, with their contexts and memory. */
struct tern_checkpoint;

/**
 * Writes all processes of the device as they are now; they stand still meanwhile, and then go on. The file is made
 * under the name FILE.part and renamed: there is a whole one or none, and one that is there already stays until then.
 * Other threads may use the device; of what they do meanwhile, memory that the host writes may be in the file. But
 * tern_process_suspend and tern_process_resume must not be called. Blocks, for engines and the disk.
 * -ENOENT: the device has no processes, or there is no such folder; -EEXIST: FILE.part is there: another checkpoint is
 * being written to it, or one was cut off; -ENOSPC and others: errors of the file; -EBUSY: processes were resumed
 * meanwhile; -EIO; -EPROTO: the device saved nothing of work that it had begun; -ENOMEM; -EINVAL: the name is too long.
 */
TERN_API int tern_checkpoint_save(struct tern_device *dev, const char *file);

/**
 * Reads a file, and makes its processes beside those that the device has. They do not run yet. Blocks.
 * -ENOENT, -EACCES: the file; -EPROTO: it is damaged, cut off, or of a device that this one cannot replace; -ENOSPC:
 * its memory does not fit; -EEXIST: a handle of its memory names memory here; -EPERM: the band REALTIME (tern.h);
 * -EIO; -ENOMEM; other errors of the file. On failure the device is as it was.
 */
TERN_API int tern_checkpoint_load(struct tern_device *dev, const char *file, struct tern_checkpoint **out);
/** They run from now on, for so many cycles of device time (0: to their end), at which all processes of the device
 *  stand still. Once. -EALREADY: they do. */
TERN_API int tern_checkpoint_start(struct tern_checkpoint *c, uint64_t cycles);

/** Why nothing runs any more. */
enum tern_checkpoint_end {
    TERN_CHECKPOINT_ENDED = 0,   /**< All work has ended. */
    TERN_CHECKPOINT_STOPPED = 1, /**< The cycles have passed. */
    TERN_CHECKPOINT_WAITS = 2,   /**< What is left waits for what its program did on the host. */
};
/** Waits until nothing runs any more. timeout_ms < 0: for ever. -ETIMEDOUT; -EINVAL: it was not started; -EIO: the
 *  device is lost. Blocks. */
TERN_API int tern_checkpoint_wait(struct tern_checkpoint *c, int64_t timeout_ms, enum tern_checkpoint_end *end);

struct tern_checkpoint_process {
    uint32_t size;
    uint32_t number;             /**< Where it was saved; likewise that of a context. */
    uint32_t contexts, memories; /**< How many it has. */
    char name[64];
    struct tern_fault fault;     /**< Its code is 0: it is not in error. */
};
struct tern_checkpoint_context {
    uint32_t size;
    uint32_t number;
    uint64_t saved;              /**< Buffers that had not ended when it was saved, */
    uint64_t left;               /**< and that have not now. */
    uint64_t completed, aborted; /**< That have ended since it was made; aborted: or faulted. */
    uint64_t cycles;             /**< That they ran. */
    char name[64];
    char label[64];              /**< Of the oldest buffer that has not ended; empty: it has none. */
};
struct tern_checkpoint_memory {
    uint32_t size;
    uint32_t address; /**< Virtual. */
    uint64_t bytes;
    uint32_t flags;   /**< TERN_MEM_*. */
    bool fence;       /**< A monitored fence: the first 8 bytes are its value. */
};
/** The process i, and its context or memory k; all count from 0, memories lowest address first. -ENOENT: there is none.
 *  What its work destroys meanwhile is not among the memories. */
TERN_API int tern_checkpoint_process(struct tern_checkpoint *c, uint32_t i, struct tern_checkpoint_process *out);
TERN_API int tern_checkpoint_context(struct tern_checkpoint *c, uint32_t i, uint32_t k,
                                     struct tern_checkpoint_context *out);
TERN_API int tern_checkpoint_memory(struct tern_checkpoint *c, uint32_t i, uint32_t k,
                                    struct tern_checkpoint_memory *out);
/** Bytes of the memory k of process i. -ENOENT: there is none; -EFAULT: beyond its end; -EACCES: it was imported
 *  without the right to read; -ENOMEM: host memory for one that is evicted; -EIO: the device is lost. */
TERN_API int tern_checkpoint_read(struct tern_checkpoint *c, uint32_t i, uint32_t k, uint64_t offset, void *data,
                                  size_t size);
/** Ends the processes, wherever they are, and frees it. Blocks as tern_process_kill does. */
TERN_API int tern_checkpoint_close(struct tern_checkpoint *c);

#ifdef __cplusplus
}
#endif

#endif
