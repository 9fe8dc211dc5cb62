/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Live migration: moves processes to another device of the same geometry in the middle of their kernels, or to a file
 * and back (docs/migration.md).
 *
 *   source                                      target
 *   tern_migrate_stop(procs)                    tern_migrate_load(dev, stream)
 *   tern_migrate_write(m, stream)   - - - - ->  tern_migrate_commit(l)     they run here from now on
 *   tern_migrate_end(m)            <- - - - -   acknowledged
 *
 * Failure. Until the target has committed, the source can resume the processes with tern_migrate_go_on. Until then the
 * target has used memory only, which tern_migrate_drop gives back.
 *
 * Threads. All functions block: for engines, copies and the stream, but not for the end of work. No other function may
 * be called for the processes while they are saved. Other processes only notice the time of copies.
 */
#ifndef TERN_OS_MIGRATE_MIGRATE_H
#define TERN_OS_MIGRATE_MIGRATE_H

#include "migration/format/stream.h"
#include "os/service.h"
#include "tern/tern.h"

/* ---------------------------------------------------------------------- the source */

struct tern_saving;
/** Suspends n > 0 processes of one device, as tern_process_suspend. The list must include every process that shares
 *  memory with one of them. -EBUSY: it does not; -EIO, -ENOMEM. On failure the processes are resumed. */
int tern_migrate_stop(struct tern_process *const *procs, uint32_t n, struct tern_saving **out);
/** Writes all processes and the end of the stream. On failure the processes are still suspended. Errors of the
 *  stream; -EIO: errors of the device. */
int tern_migrate_write(struct tern_saving *m, struct tern_stream *s);

/** The policy for work that writes memory as fast as it is sent. */
enum tern_migrate_policy {
    TERN_MIGRATE_GIVE_UP,  /**< The migration fails with -ETIMEDOUT. */
    TERN_MIGRATE_FORCE,    /**< The work is stopped, whatever time the remaining pages take. */
    TERN_MIGRATE_THROTTLE, /**< The work is limited to 3/4, 1/2, 1/4, then 1/8 of each engine; then it is stopped. */
};

/** The result of one round of the brownout. Times are of limits->clock. */
struct tern_migrate_round {
    uint32_t number;      /**< Number of the round, from 1. */
    uint32_t throttle;    /**< Eighths of each engine that are withheld from the work (os/sched/cap.h). */
    uint64_t pages;       /**< Pages that the round looked at. */
    /** Pages of these that were not sent, because they are zero, or the same as the target has. */
    uint64_t zero, same;
    uint64_t content;     /**< Bytes of page contents in the stream, after compression. */
    uint64_t bytes;       /**< Bytes that the round wrote to the stream. */
    uint64_t ns;          /**< Duration of the round, in ns. */
    uint64_t page_ns;     /**< Duration of the round for each page, in ns. */
    uint64_t left;        /**< Pages that have to be sent again: written or moved during the round. */
    uint64_t expected_ns; /**< Time that sending `left` pages takes, by this round's page_ns, in ns. */
};

struct tern_migrate_limits {
    uint64_t downtime_ns; /**< Longest time for the last pages, while nothing runs, in ns; 0: 300 ms. */
    /** Number of rounds after which the policy decides; 0: 30. After twice as many the work is stopped in any case. */
    uint32_t rounds;
    enum tern_migrate_policy policy;
    void (*progress)(void *user, const struct tern_migrate_round *round); /**< Called after each round; or NULL. */
    uint64_t (*clock)(void *user); /**< Monotonic clock, in ns; NULL: CLOCK_MONOTONIC of the host. */
    /** Called after the last round, before the work is stopped; an error ends the migration. Or NULL. */
    int (*stopping)(void *user);
    void *user;
};

/**
 * tern_migrate_stop and tern_migrate_write with pre-copy. While memory is sent the processes run, and all functions but
 * tern_process_suspend and tern_process_resume may be called for them. After the last round they are suspended and the
 * rest is written. Pages that the target has already are not sent again. tern_stream_compress decides about
 * compression; tern_stream_counts has the totals. On failure the processes are resumed. Errors of both functions;
 * -ENOTSUP: a dirty bit of the device covers more than 4 KiB; -ETIMEDOUT: TERN_MIGRATE_GIVE_UP.
 */
int tern_migrate_live(struct tern_process *const *procs, uint32_t n, struct tern_stream *s,
                      const struct tern_migrate_limits *limits, struct tern_saving **out);
/** Resumes the processes that were not suspended before, on the source. Frees m. */
void tern_migrate_go_on(struct tern_saving *m);
/** Kills the processes on the source, without completions, because they are on the target now. Frees m. */
void tern_migrate_end(struct tern_saving *m);

/* ---------------------------------------------------------------------- the target */

/** The owner of migrated processes. All members may be NULL. */
struct tern_migrate_owner {
    /** Fills the arguments of tern_os_process_create_for, except the partition. An error ends the migration. */
    int (*process)(void *user, uint32_t process, struct tern_owner *owner);
    /** Chooses where completions of a context go: fills desc->completed and desc->user, or desc->completions. */
    void (*context)(void *user, uint32_t process, uint32_t context, struct tern_context_desc *desc);
    void *user;
};

struct tern_loading;
/**
 * Reads a stream to its end and makes its processes in a partition (NULL: the default one). The processes do not run
 * yet. -ENOENT: no such partition; -EPROTO: the stream is damaged, or comes from a device that this one cannot replace;
 * -EINVAL: tern_submit would refuse the work; -EEXIST: a handle of the processes names memory of this device; -EPERM:
 * the band REALTIME is not allowed; -ENOSPC, -ENOMEM, -EIO. On failure the device is as before.
 */
int tern_migrate_load(struct tern_device *dev, const char *partition, struct tern_stream *s,
                      const struct tern_migrate_owner *owner, struct tern_loading **out);
/** Sets the completions of all contexts by owner->context. Allowed if those that tern_migrate_load got set none.
 *  -ENOMEM. */
int tern_migrate_attach(struct tern_loading *l, const struct tern_migrate_owner *owner);
/** Starts the processes. Their objects belong to the caller, as if it had made them. Frees l. */
void tern_migrate_commit(struct tern_loading *l);
/** Destroys the processes. Frees l. */
void tern_migrate_drop(struct tern_loading *l);

/* The loaded objects, by the numbers that the source gave; valid until commit or drop. NULL: there is none. */
uint32_t tern_loading_count(const struct tern_loading *l);
/** The i-th process, and its number on the source. */
struct tern_process *tern_loading_process(const struct tern_loading *l, uint32_t i, uint32_t *number);
/** The i-th context of a process, and its number on the source. */
struct tern_context *tern_loading_context(const struct tern_loading *l, uint32_t process, uint32_t i, uint32_t *number);
/** Number of jobs of the i-th context that have not ended. */
uint64_t tern_loading_jobs(const struct tern_loading *l, uint32_t process, uint32_t i);
/** Cycles that are added to device times that the processes are told. */
uint64_t tern_loading_shift(const struct tern_loading *l);
/** The object at an address of a process. */
struct tern_allocation *tern_loading_allocation(const struct tern_loading *l, uint32_t process, uint32_t address);
struct tern_fence *tern_loading_fence(const struct tern_loading *l, uint32_t process, uint32_t address);

/* ---------------------------------------------------------------------- files (checkpoint.c) */

/** The result of tern_checkpoint_write. */
struct tern_saved_file {
    unsigned processes;
    /** Number of submitted buffers that had not ended, and size of the file in bytes. */
    unsigned long long buffers, bytes;
};
/** Implements tern_checkpoint_save. stay: on success the processes stay suspended, because the program exits next. */
int tern_checkpoint_write(struct tern_device *dev, const char *file, bool stay, struct tern_saved_file *out);

/**
 * TERN_CHECKPOINT (autosave.c): saves the processes of a program that does not call the checkpoint functions itself, at
 * a moment that the environment gives. The device thread stops the processes (os/proc/hold.c); a thread of this module
 * writes the file.
 *
 *   TERN_CHECKPOINT          name of the file
 *   TERN_CHECKPOINT_CYCLE    device time of the checkpoint, in cycles; or
 *   TERN_CHECKPOINT_KERNEL   label of a buffer, which is the name of its kernel
 *   TERN_CHECKPOINT_LAUNCH   which buffer with this label, in order of submission; default 1
 *   TERN_CHECKPOINT_AFTER    cycles after the begin of that buffer; default 0
 *   TERN_CHECKPOINT_STOP     1: the program exits with status 0 once saved, and goes on if it could not be saved
 *
 * tern_autosave_open, for a device that works, reads the environment and starts the thread. -EINVAL: a
 * variable is no number, or no moment is given; -ENOMEM; -EAGAIN: the thread cannot be started. Each with a sentence.
 */
int tern_autosave_open(struct tern_device *dev);
/** Waits for a checkpoint that is being written, and ends the thread. Prints on standard error if no checkpoint was
 *  made. */
void tern_autosave_close(struct tern_device *dev);

#endif
