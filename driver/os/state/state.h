/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The objects of the driver, and the functions that change their common state: device time, wake-ups, loss of the
 * device, errors of processes. All folders of os/ above this one use them, each its own fields.
 *
 * Lock order: dev->hal_lock, then dev->lock. dev->hal_lock guards the hal: registers and device memory. dev->lock
 * guards all fields below, unless a comment says otherwise. A thread that holds dev->lock never waits for
 * dev->hal_lock. The device thread holds both while the scheduler runs. Other threads take dev->lock under
 * dev->hal_lock for short sections only, to find where memory is (mem/block.c, mem/dirty_query.c, migrate/content.c,
 * migrate/sender.c).
 *
 * Without dev->lock: device time passes, memory is copied, files are written. Therefore tern_submit and queries wait
 * for one run of the scheduler at most, never for a step of a simulator, a copy or a reset. Callbacks of users are
 * called without both locks. Where device time passes by itself, the device thread waits without both.
 */
#ifndef TERN_OS_STATE_STATE_H
#define TERN_OS_STATE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/api.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/ticket_lock.h"
#include "kmd/paging.h"
#include "os/sched/sched.h"
#include "os/service.h"
#include "os/space/space.h"
#include "os/state/memory.h"
#include "os/state/partition.h"
#include "os/state/policy.h"
#include "os/state/residency.h"

#define TERN_DATA_PAGES 2u    /**< Pages for the data of one chunk. */
/** Pages of device memory for one chunk: a prefix of one packet line, and TERN_CHUNK_BYTES. */
#define TERN_SLOT_PAGES 4u
#define TERN_CHUNK_PREFIX TERN_PKT_LINE_BYTES

#define TERN_HOLD_NEVER UINT64_MAX

/** A time at which all processes are stopped (proc/hold.c). */
struct tern_hold {
    uint64_t at;         /**< Device time of the hold, in cycles, or TERN_HOLD_NEVER. */
    const char *label;   /**< Label of the buffers that are counted; NULL: none. Valid as long as the device. */
    uint64_t launch;     /**< Number of the counted buffer, from 1 in order of submission, that sets `at`. */
    uint64_t seen;       /**< Number of counted buffers that were submitted. */
    uint64_t after;      /**< Cycles from the begin of that buffer to the hold. */
    bool reached;        /**< The processes were suspended; engines may not have answered yet. */
    uint64_t time;       /**< Device time at which they were suspended. */
};

#define TERN_OFFENCES 5u
#define TERN_OFFENCE_NS 600000000000ull
#define TERN_OFFENDERS 16u   /**< Largest number of remembered offenders. */

/** A program whose work has made engines be reset (proc/offence.c). */
struct tern_offender {
    char name[64];
    /** Partition of the process: offences in one partition do not count in another (M5). */
    char partition[TERN_PARTITION_NAME];
    uint32_t owner;             /**< As of the process. */
    uint64_t at[TERN_OFFENCES]; /**< Times of the offences on CLOCK_MONOTONIC in ns, oldest first. */
    uint32_t n;
};

/** The last crash dump of an engine. Used by the device thread only. */
struct tern_tdr_dump {
    char said[320];    /**< Sentence for messages: where the dump is, or why there is none. */
    char *text;        /**< Text that has to be written; NULL: none. */
    uint64_t stop;     /**< Time of the request to stop to which the dump belongs, plus 1; 0: no dump. */
};

/** State of timeout detection and recovery (device/tdr.h). */
struct tern_tdr {
    struct tern_tdr_dump dump[TERN_ENGINES_MAX];
    struct tern_offender offender[TERN_OFFENDERS];
    uint32_t adapter_resets;
};

/** A user of a partition; exists while it has `count` > 0 processes there. */
struct tern_user {
    struct tern_list node;
    const struct tern_partition *partition;
    uint32_t uid, count;
    struct tern_sched_user sched;
};

struct tern_device {
    const struct tern_api *api; /**< The functions of tern.h; first member of each object of the device. Constant. */
    /** Settings of the device. Constant after the first process; see tern_os_device_serve. */
    struct tern_policy policy;
    struct tern_device_info info; /**< Constant once the device is open. */
    struct tern_kmd kmd;          /**< Guarded by `hal_lock`; all members but the hal's are constant. */
    struct tern_ticket_lock hal_lock;
    uint64_t dirty_basis;         /**< The memory basis of mem/dirty_query.c. Constant. */
    _Atomic uint64_t now;         /**< The latest device time that was read, in cycles; never decreases. */

    pthread_mutex_t lock;
    pthread_cond_t wake;    /**< Signalled when `kick` is set; the device thread waits for it. */
    /** Signalled when work, a call or a free has ended, or the device is idle; all other threads wait for it. */
    pthread_cond_t changed;
    struct tern_sched sched;
    /** The driver's own process in the scheduler, of all paging contexts. */
    struct tern_sched_process system;
    struct tern_tdr tdr;
    /** Contexts of paging buffers, one for each engine; and the fence id of the last job of each. */
    struct tern_sched_context paging[TERN_ENGINES_MAX];
    uint64_t paging_fence[TERN_ENGINES_MAX];
    struct tern_partition partition; /**< The default partition. */
    /** All partitions, the default one first. */
    struct tern_list partitions;
    /** TERN_PARTITION, for processes that name no partition; empty: the default one. Constant. */
    char own_partition[64];
    /** Exported memories, by the first byte of their handles (mem/share.c). */
    struct tern_list exports[TERN_EXPORT_BUCKETS];
    struct tern_pager pager;
    struct tern_list processes, users;
    /** Number of frees asked for and begun, and of checks whether a free can begin. */
    uint64_t frees_asked, frees_begun, frees_looked;
    /** Number of threads that want `changed` signalled after each round of the device thread. */
    uint32_t frees_waiters;
    uint32_t process_count;
    /** Number of users' jobs that have completed on each engine. */
    uint64_t completed_on[TERN_ENGINES_MAX];
    /** Number of steps of device time, runs of the scheduler, and host writes; threads that wait for a fence compare
     *  it. */
    uint64_t progress;
    /** Number of threads that wait for a fence; and the numbers that the last context and process got. */
    uint32_t fence_waiters, next_context, next_process;
    /** Number that the last memory got. */
    uint64_t next_memory;
    struct tern_list completion_queues;
    struct tern_fork fork;
    struct tern_hold hold;
    struct tern_autosave *autosave; /**< NULL: TERN_CHECKPOINT is not set. */
    bool saving;                    /**< A checkpoint of the device's processes is being saved. */
    struct tern_observer *observer; /**< Trace and statistics; NULL: neither is enabled. */
    bool waiting; /**< The device thread waits for a device whose time passes by itself (device/device_thread.c). */
    /** Host time of a simulator's cycle, in ps; and host time that steps without running work still have to take, in
     *  ns (device/device_thread.c). */
    uint64_t cycle_ps, owed_ns;
    /** A thread of ternd runs the rounds of the device thread, which sleeps meanwhile (device/device_thread.c). */
    bool driven;
    /** kick: the device thread has something to do; stop: it must end; idle: it sleeps; lost: the device was given
     *  up. */
    bool kick, stop, idle, lost;
    char lost_why[200];
    pthread_t thread;
};

struct tern_process {
    const struct tern_api *api;
    struct tern_sched_process sched;
    struct tern_list node, contexts, fences;
    struct tern_list allocations; /**< Allocations of the user and of contexts, except those that are being freed. */
    struct tern_list remains;     /**< Allocations without pages, after the process was killed. */
    struct tern_device *dev;
    struct tern_partition *partition;
    struct tern_list member; /**< Node of partition->processes. */
    char name[64];
    char shown[96]; /**< Name with the owner, for statistics and traces. Constant. */
    uint32_t owner; /**< User of the process, where there are several; else 0. Constant. */
    uint32_t id; /**< Number of the process on the device, from 1. Constant. */
    struct tern_fault fault;
    uint32_t root;
    /** Page numbers of second-level tables; 0: none. A table exists until the process ends. */
    uint32_t tables[TERN_PAGES_LARGE];
    struct tern_vaspace va;
    uint32_t children; /**< Number of contexts, allocations and fences of the user. */
    /** Number of calls that work on the process and release dev->lock meanwhile; the process does not end while it
     *  is > 0. */
    uint32_t making;
    atomic_bool killed; /**< tern_process_kill has begun. */
    /** tern_process_kill has ended: the process is not on the device any more, and its objects are host memory only. */
    bool gone;
    bool suspended;
    bool ready;         /**< The process is complete, and its end has not begun, so it can be saved. */
    bool held;          /**< Suspended by proc/hold.c, not by its owner. */
    uint32_t retiring, paging_engine, paging_out;
    /* Residency (mem/mem.h) */
    uint32_t movable;   /**< Pages of evictable allocations that are not pinned, resident or not. */
    uint32_t sparse;    /**< Number of sparse allocations that were not destroyed. */
    struct tern_account account; /**< Account for committed sparse memory. */
    uint32_t absent;    /**< Number of blocks of its allocations that are not resident. */
    /** How its runnable work uses memory, valid for one decision of the pager (mem/victim.c). */
    struct tern_demand demand;
    /** LRU list of memories that only this process maps and that may be evicted, least recently used first. */
    struct tern_list by_use;
    uint64_t used;      /**< Value of dev->pager.uses when work without a named working set was last dispatched. */
    struct tern_list jobs;    /**< Jobs of the user that have not ended, in order of submission. */
    struct tern_list retired; /**< Frees that have not begun, in the order of their calls. */
    /** Number of the last submission. */
    uint64_t seq;
    /** Cycles that are added to device times that the process is told, after a migration from a device of later
     *  time. Constant once it runs. */
    uint64_t shift;
    /** Jobs for the end of the process, made with it so that ending cannot fail. */
    struct tern_job *flush[TERN_ENGINES_MAX];
};

struct tern_context {
    const struct tern_api *api;
    struct tern_sched_context sched;
    struct tern_list node;
    struct tern_process *proc;
    char name[64];
    tern_completion_fn completed;
    void *user;
    struct tern_completion_queue *completions;
    struct tern_allocation *arena; /**< Device memory for the packets of two chunks, which the device can read. */
    /** Device memory for the data of two chunks; NULL: tern_context_take_data was not called. */
    struct tern_allocation *data;
    struct tern_run *save;  /**< Pages of the context-save area, in order. */
    uint32_t save_runs;     /**< Number of runs; 0: the pages were given back. */
    struct tern_set *set;   /**< Working set of later submissions; NULL: all memory of the process. */
    struct tern_wanted wanted; /**< The page that its work has requested. */
    struct tern_claim claim;   /**< The claim on blocks that its next chunk names. */
    struct tern_lease lease;   /**< The residency lease by which it keeps the memory that its work uses. */
    struct tern_list absent; /**< Node of partition->absent, while memory of its next work is absent. */
    uint32_t id;
    uint64_t submitted, ended, first_bad;
    bool gone; /**< The pages of the process were given back. */
};

struct tern_fence {
    const struct tern_api *api;
    struct tern_list node; /**< Node of proc->fences. */
    struct tern_allocation *page;
};

/* Requires no lock: */
/** Notes a device time that was read. Another thread may have noted a later one first. */
static inline void tern_device_saw(struct tern_device *dev, uint64_t time)
{
    uint64_t now = atomic_load(&dev->now);
    while (now < time && !atomic_compare_exchange_weak(&dev->now, &now, time)) {
    }
}
/** Pages of one engine for paging buffers: two slots, then a context-save area. The pages of all engines are at the
 *  begin of device memory, followed by the area of the dirty plane (kmd.h). */
static inline uint32_t tern_system_pages(const struct tern_device *dev)
{
    return 2 * TERN_SLOT_PAGES + dev->kmd.save_pages;
}
static inline uint32_t tern_system_save(const struct tern_device *dev, uint32_t engine)
{
    return engine * tern_system_pages(dev) + 2 * TERN_SLOT_PAGES;
}
/** Number of pages at the begin of memory that the driver uses itself. */
static inline uint32_t tern_reserved_pages(const struct tern_device *dev)
{
    return dev->kmd.engines * tern_system_pages(dev) + (tern_kmd_dirty_area(&dev->kmd) + TERN_PAGE - 1) / TERN_PAGE;
}
/** Access device memory by physical address. Host writes are recorded (D7). Require dev->hal_lock. -EIO. */
int tern_device_read(struct tern_device *dev, uint64_t address, void *data, size_t size);
int tern_device_write(struct tern_device *dev, const struct tern_iovec *pieces, size_t n);
/** Gives the device up: all work ends as aborted, and every process is in error. Requires dev->lock. */
void tern_device_lose(struct tern_device *dev, const char *why);
/** Called after a host write to device memory, or when work was queued: wakes the device thread, and threads that
 *  wait for a fence. Requires dev->lock. */
void tern_device_kick(struct tern_device *dev);
/** Ends the device thread's wait on a device whose time passes by itself. Requires dev->lock. */
void tern_device_wake(struct tern_device *dev);
/** As tern_device_kick, but the caller signals dev->wake after it has released dev->lock. For frequent calls: a
 *  thread that is woken earlier would block on dev->lock. Requires dev->lock. */
void tern_device_note(struct tern_device *dev);
/** 0, or -ENODEV with a sentence: this process was forked from the one that opened the device. Needs no lock. */
int tern_device_check_fork(const struct tern_device *dev);

/* Require dev->lock: */
/** Puts the process in error, unless it is, and aborts its work. */
void tern_process_fail(struct tern_process *proc, const struct tern_fault *fault);
/** 0, or -EIO with a sentence: the device is lost, or the process is in error. */
int tern_process_check(struct tern_process *proc);
/** Enclose a call that works on the process and releases dev->lock meanwhile: the process does not end before
 *  tern_process_leave. -EIO. */
int tern_process_enter(struct tern_process *proc);
void tern_process_leave(struct tern_process *proc);

#define TERN_CONTEXT_OF(c) TERN_LIST_ENTRY(c, struct tern_context, sched)
#define TERN_PROCESS_OF(p) TERN_LIST_ENTRY(p, struct tern_process, sched)

#endif
