/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes move to another device of the same geometry, in the middle of their kernels, or into a file and back
 * (docs/migration.md).
 *
 *     source                                      target
 *     tern_migrate_stop(procs)                    tern_migrate_load(dev, stream)
 *     tern_migrate_write(m, stream)   - - - - ->  tern_migrate_commit(l)     they run here from now on
 *     tern_migrate_end(m)            <- - - - -   acknowledged
 *
 * Until the target runs them, the source can go on: tern_migrate_go_on. Until then they have no effect on the target's
 * owner but the memory that they take, and tern_migrate_drop gives that back.
 *
 * Blocking: all of them, for engines, copies and the stream; not for work. Nothing else may be called for the
 * processes while they are saved, by whoever; other processes notice nothing but the time of copies.
 */
#ifndef TERN_OS_MIGRATE_MIGRATE_H
#define TERN_OS_MIGRATE_MIGRATE_H

#include "os/service.h"
#include "stream/stream.h"
#include "tern/tern.h"

/* ---------------------------------------------------------------------- the source */

struct tern_saving;
/**
 * Stops the processes, at least one, all of one device: as tern_process_suspend. They must be all that share memory
 * with any of them. -EBUSY: others do; -EIO, -ENOMEM. On failure they go on.
 */
int tern_migrate_stop(struct tern_process *const *procs, uint32_t n, struct tern_saving **out);
/** Writes all of them, and the stream's end. On failure they are still stopped. The stream's errors; -EIO: those of
 *  the device. */
int tern_migrate_write(struct tern_saving *m, struct tern_stream *s);

/** What to do if the work writes as fast as it is sent. */
enum tern_migrate_policy {
    TERN_MIGRATE_GIVE_UP,  /**< -ETIMEDOUT. */
    TERN_MIGRATE_FORCE,    /**< It is stopped, however long the rest takes. */
    TERN_MIGRATE_THROTTLE, /**< It gets 3/4, 1/2, 1/4, 1/8 of each engine at most; then it is stopped. */
};

/** A round of the brownout, when it has ended. Times are those of the clock of the limits. */
struct tern_migrate_round {
    uint32_t number;      /**< From 1. */
    uint32_t throttle;    /**< Eighths of each engine that the work may not have (os/sched/cap.h). */
    uint64_t pages;       /**< That were looked at, */
    uint64_t zero, same;  /**< of which so many were zero, or as the target has them: these were not sent; */
    uint64_t content;     /**< bytes of the others in the stream: fewer than 4,096 each if it compresses; */
    uint64_t bytes;       /**< and in all so many bytes of the stream, */
    uint64_t ns;          /**< and took so long; */
    uint64_t page_ns;     /**< each. */
    uint64_t left;        /**< Pages that were written meanwhile, or have moved, */
    uint64_t expected_ns; /**< and would take so long now. */
};

struct tern_migrate_limits {
    uint64_t downtime_ns; /**< What the last pages may take while nothing runs; 0: 300 ms. */
    uint32_t rounds;      /**< After so many it does not converge; 0: 30. */
    enum tern_migrate_policy policy;
    void (*progress)(void *user, const struct tern_migrate_round *round); /**< Between rounds; or NULL. */
    uint64_t (*clock)(void *user); /**< Nanoseconds by which rounds are judged, that never go back; NULL: the host's. */
    int (*stopping)(void *user); /**< The rounds are over: they will be stopped next, unless it fails; or NULL. */
    void *user;
};

/**
 * tern_migrate_stop and tern_migrate_write with a brownout before: the processes run, and all may be called for them
 * but tern_process_suspend and tern_process_resume, while their memory is sent. Then they are stopped, and the rest is
 * written. Pages that are as they were sent before are not sent again; whether others are compressed is the stream's
 * (tern_stream_compress), and tern_stream_counts tells what was sent in all. On failure they go on. Errors of both;
 * -ENOTSUP: a dirty bit is of more than 4 KiB; -ETIMEDOUT: TERN_MIGRATE_GIVE_UP.
 */
int tern_migrate_live(struct tern_process *const *procs, uint32_t n, struct tern_stream *s,
                      const struct tern_migrate_limits *limits, struct tern_saving **out);
/** They go on here (those that were not suspended before). Frees m. */
void tern_migrate_go_on(struct tern_saving *m);
/** They are on the target now: killed here, without a completion of what they still had queued. Frees m. */
void tern_migrate_end(struct tern_saving *m);

/* ---------------------------------------------------------------------- the target */

/** Whose they are from now on. All may be NULL. */
struct tern_migrate_owner {
    /** Fills what tern_os_process_create_for takes, but the partition. An error ends the migration. */
    int (*process)(void *user, uint32_t process, struct tern_owner *owner);
    /** Where completions of a context go: fills completed and user, or completions. */
    void (*context)(void *user, uint32_t process, uint32_t context, struct tern_context_desc *desc);
    void *user;
};

struct tern_loading;
/**
 * Reads a stream to its end and makes its processes in a partition (NULL: the default one). They do not run yet.
 * -ENOENT: there is no such partition; -EPROTO: what was read is damaged, or is of a device that this one cannot
 * replace; -EINVAL: work that tern_submit would refuse; -ENOSPC, -ENOMEM, -EEXIST: a handle of theirs names memory
 * here; -EPERM: the band REALTIME; -EIO. On failure the device is as it was.
 */
int tern_migrate_load(struct tern_device *dev, const char *partition, struct tern_stream *s,
                      const struct tern_migrate_owner *owner, struct tern_loading **out);
/** The same for contexts, after what owner->context of tern_migrate_load said: that had no completions. -ENOMEM. */
int tern_migrate_attach(struct tern_loading *l, const struct tern_migrate_owner *owner);
/** They run; the objects are the caller's as if it had made them. Frees l. */
void tern_migrate_commit(struct tern_loading *l);
/** As if they had never been loaded. Frees l. */
void tern_migrate_drop(struct tern_loading *l);

/* What was loaded, by the numbers of the source, until commit or drop; NULL: there is none. */
uint32_t tern_loading_count(const struct tern_loading *l);
/** The i-th process; its number, the source's, in *number. */
struct tern_process *tern_loading_process(const struct tern_loading *l, uint32_t i, uint32_t *number);
/** The i-th context of that, and its number there. */
struct tern_context *tern_loading_context(const struct tern_loading *l, uint32_t process, uint32_t i, uint32_t *number);
/** Its jobs that have not ended. */
uint64_t tern_loading_jobs(const struct tern_loading *l, uint32_t process, uint32_t i);
/** What is added to times that they are told. */
uint64_t tern_loading_shift(const struct tern_loading *l);
/** What is at an address in the i-th process. */
struct tern_allocation *tern_loading_allocation(const struct tern_loading *l, uint32_t process, uint32_t address);
struct tern_fence *tern_loading_fence(const struct tern_loading *l, uint32_t process, uint32_t address);

#endif
