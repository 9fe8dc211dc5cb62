/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The objects of the driver, and functions that several of its files call.
 *
 * Lock order: dev->hal_lock, then dev->lock. dev->hal_lock guards the hal: registers and device memory. dev->lock
 * guards all fields below, unless a comment says otherwise. A thread that holds dev->lock never waits for
 * dev->hal_lock. The device thread holds both while the scheduler runs. Other threads take dev->lock under
 * dev->hal_lock for short sections only, to find where memory is (mem/block.c, mem/survey.c, migrate/content.c,
 * migrate/sender.c).
 *
 * Without dev->lock: device time passes, memory is copied, files are written. Therefore tern_submit and queries wait
 * for one run of the scheduler at most, never for a step of a simulator, a copy or a reset. Callbacks of users are
 * called without both locks. Where device time passes by itself, the device thread waits without both.
 */
#ifndef TERN_OS_OS_H
#define TERN_OS_OS_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/api.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/ticket_lock.h"
#include "kmd/paging.h"
#include "os/mem/memory.h"
#include "os/mem/pages.h"
#include "os/mem/residency.h"
#include "os/part/partition.h"
#include "os/proc/hold.h"
#include "os/sched/policy.h"
#include "os/sched/sched.h"
#include "os/service.h"
#include "os/tdr.h"
#include "os/mem/vaspace.h"

#define TERN_DATA_PAGES 2u    /**< Pages for the data of one chunk. */
/** Pages of device memory for one chunk: a prefix of one packet line, and TERN_CHUNK_BYTES. */
#define TERN_SLOT_PAGES 4u
#define TERN_CHUNK_PREFIX TERN_PKT_LINE_BYTES

/** A user of a partition; exists while it has `count` > 0 processes there. */
struct tern_user {
    struct tern_list node;
    const struct tern_partition *partition;
    uint32_t uid, count;
    struct tern_sched_user sched;
};

struct tern_device {
    const struct tern_api *api; /**< The functions of tern.h; first member of each object of the device. Constant. */
    /** Settings of the device. Constant, except `realtime` before the first process (tern_os_device_trust). */
    struct tern_policy policy;
    struct tern_device_info info; /**< Constant once the device is open. */
    struct tern_kmd kmd;          /**< Guarded by `hal_lock`; all members but the hal's are constant. */
    struct tern_ticket_lock hal_lock;
    uint64_t survey;              /**< The memory basis of survey.c. Constant. */
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
    /** Exported memories, by the first byte of their handles (share.c). */
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
    bool waiting; /**< The device thread waits for a device whose time passes by itself (pump.c). */
    /** Host time of a simulator's cycle, in ps; and host time that steps without running work still have to take, in
     *  ns (pump.c). */
    uint64_t cycle_ps, owed_ns;
    bool driven;  /**< A thread of ternd runs the rounds of the device thread, which sleeps meanwhile (pump.c). */
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
    bool held;          /**< Suspended by hold.c, not by its owner. */
    uint32_t retiring, paging_engine, paging_out;
    /* Residency (residency.h) */
    uint32_t movable;   /**< Pages of evictable allocations that are not pinned, resident or not. */
    uint32_t sparse;    /**< Number of sparse allocations that were not destroyed. */
    struct tern_account account; /**< Account for committed sparse memory. */
    uint32_t absent;    /**< Number of blocks of its allocations that are not resident. */
    /** How its runnable work uses memory, valid for one decision of the pager (victim.c). */
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
    struct tern_stay stay;     /**< The stay in which it keeps the memory that its work uses. */
    struct tern_list absent; /**< Node of partition->absent, while memory of its next work is absent. */
    uint32_t id;
    uint64_t submitted, ended, first_bad;
    bool gone; /**< Its pages were given back. */
};

struct tern_fence {
    const struct tern_api *api;
    struct tern_list node; /**< Node of proc->fences. */
    struct tern_allocation *page;
};

/* device.c */
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
/** Opens a device on a hal, which it takes on success. On failure the caller closes the hal. -errno, with a
 *  sentence. */
int tern_device_open_hal(struct tern_hal *hal, const struct tern_policy *policy, struct tern_device **out);
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

/* pump.c */
/** Start the device thread, and end it. -errno, with a sentence. */
int tern_pump_start(struct tern_device *dev);
void tern_pump_stop(struct tern_device *dev);
extern const struct tern_sched_ops tern_engine_ops; /* engine_ops.c */
/** Writes a chunk that resumes from a save area to its slot, because it was cut on another device. Requires
 *  dev->hal_lock. */
int tern_chunk_write(const struct tern_chunk *s);

/* job.c; requires dev->lock, unless the job is not submitted */
/** Make a job from copies of packets, data and label (may be NULL). NULL: no memory. */
struct tern_job *tern_job_create(const void *packets, uint32_t size, const char *label);
struct tern_job *tern_job_create_data(const void *packets, uint32_t size, const void *data, uint32_t data_size,
                                      const char *label);
/** Makes room for the scheduler's index of the job's fence_signals, by which a context that waits for a fence lends
 *  the job its band. False: no memory. */
bool tern_job_make_room(struct tern_job *job);
void tern_job_free(struct tern_job *job);
/** The first paging buffer of an engine: it flushes translations of an earlier owner and makes the context-save area
 *  valid. NULL: no memory. */
struct tern_job *tern_job_clean(struct tern_device *dev, uint32_t engine);
/** Queues a paging job on an engine. job->done takes the job when it ends. The device must not be lost. */
void tern_paging_submit(struct tern_device *dev, uint32_t engine, struct tern_job *job);
/** Engine for the process's next change of page tables. Changes that have not ended stay on one engine, in order. */
uint32_t tern_paging_engine(struct tern_process *proc);
/** Runs a paging buffer to its end; releases dev->lock meanwhile. -ENOMEM: nothing ran; -EIO: it may have run in
 *  part. */
int tern_paging_run(struct tern_process *proc, struct tern_paging *p, const char *label);
/** As tern_paging_run, for a job, which it frees. 0 or -EIO. */
int tern_paging_run_job(struct tern_process *proc, struct tern_job *job);
/** Runs the jobs, one on each engine, to their ends; releases dev->lock meanwhile. -EIO. */
int tern_paging_run_all(struct tern_device *dev, struct tern_job **jobs);

/* data.c */
/** Copies the packets of a chunk as its engine needs them: offsets into the data become addresses. */
void tern_data_resolve(const struct tern_chunk *s, uint32_t *out);

/* process.c; requires dev->lock */
/** Puts the process in error, unless it is, and aborts its work. */
void tern_process_fail(struct tern_process *proc, const struct tern_fault *fault);
/** 0, or -EIO with a sentence: the device is lost, or the process is in error. */
int tern_process_check(struct tern_process *proc);
/** Gives the tables of the process back and removes it from the device. None of its work is queued and none of its
 *  memory mapped. Blocks, and releases dev->lock meanwhile. */
void tern_process_end(struct tern_process *proc);

/* context.c: functions take dev->lock, unless a comment says otherwise */
/** tern_context_create and tern_context_take_data, with the driver's memory at the given addresses; 0: at any
 *  address. */
int tern_context_make(struct tern_process *proc, const struct tern_context_desc *desc, uint32_t arena_address,
                      struct tern_context **out);
int tern_context_make_data(struct tern_context *c, uint32_t address);
/** Lists the kmd.save_pages pages of the context-save area, in order. Takes no lock. */
void tern_context_save_pages(const struct tern_context *c, uint32_t *page);
/* Require dev->lock, and that the context has no work: */
/** Gives the context's pages back, unless it has none. */
void tern_context_take_pages(struct tern_context *c);
/** Removes the context from its process and its queue, and frees it. */
void tern_context_free(struct tern_context *c);

/* suspend.c; requires dev->lock */
/** Suspends a new context if its process is suspended. */
void tern_suspend_new(struct tern_context *c);
/** Suspend all contexts of the process, for which engines need some time; and resume them. */
void tern_suspend_begin(struct tern_process *proc);
void tern_suspend_end(struct tern_process *proc);

/* kill.c; requires dev->lock */
/** Enclose a call that works on the process and releases dev->lock meanwhile: the process does not end before
 *  tern_process_leave. -EIO. */
int tern_process_enter(struct tern_process *proc);
void tern_process_leave(struct tern_process *proc);
/** Frees the objects that the user has not destroyed of a killed process. */
void tern_process_free_objects(struct tern_process *proc);

/* survey.c; requires dev->hal_lock */
/** Adds the dirty bits of contiguous pages to `bits`, from bit `at` on. clear: clears them on the device. Errors of
 *  the hal. */
int tern_survey_ask(struct tern_device *dev, uint64_t address, uint32_t pages, bool clear, uint32_t at,
                    uint32_t *bits);

/* fault.c */
/** Describes a fault that the device has reported, as a sentence. */
void tern_fault_describe(const struct tern_process *proc, const struct tern_job *job, const struct tern_indication *ind,
                         struct tern_fault *out);
/** Describes a fault that the driver has found: names the process and its work, and appends the formatted text. */
__attribute__((format(printf, 5, 6))) void tern_fault_say(const struct tern_process *proc, const struct tern_job *job,
                                                          uint32_t code, struct tern_fault *out,
                                                          const char *format, ...);

#define TERN_CONTEXT_OF(c) TERN_LIST_ENTRY(c, struct tern_context, sched)
#define TERN_PROCESS_OF(p) TERN_LIST_ENTRY(p, struct tern_process, sched)

#endif
