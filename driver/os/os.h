/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The objects of the driver, and the functions that its files call of each other.
 *
 * Lock order: dev->hal_lock (the hal: registers and device memory), then dev->lock (the OS state: everything below
 * unless it says otherwise). Only the device thread holds both, while the scheduler runs; no thread waits for the hal
 * lock with dev->lock held, and time passes, long copies go on and files are written without it. So tern_submit and
 * the queries wait for a run of the scheduler at most, and never for a step of a simulator, a copy or a reset.
 * Callbacks are called with neither. Where device time passes by itself, the device thread waits with neither.
 */
#ifndef TERN_OS_OS_H
#define TERN_OS_OS_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/api.h"
#include "base/fork.h"
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

#define TERN_DATA_PAGES 2u    /**< Place for the data that go with a chunk. */
#define TERN_SLOT_PAGES 4u    /**< Place for one chunk in device memory: a line of prefix and TERN_CHUNK_BYTES. */
#define TERN_CHUNK_PREFIX TERN_PKT_LINE_BYTES

/** A user of a partition, while it has processes there. */
struct tern_user {
    struct tern_list node;
    const struct tern_partition *partition;
    uint32_t uid, count;
    struct tern_sched_user sched;
};

struct tern_device {
    const struct tern_api *api; /**< tern_os_api, as in each object of tern.h. */
    struct tern_policy policy;
    struct tern_device_info info; /**< Constant once open. */
    struct tern_kmd kmd;          /**< hal_lock; constant but for the hal. */
    struct tern_ticket_lock hal_lock;
    uint64_t survey;              /**< Constant. The memory basis of survey.c. */
    _Atomic uint64_t now;         /**< The latest device time that was read; it never goes back. */

    pthread_mutex_t lock;
    pthread_cond_t wake;    /**< For the device thread: kick was set. */
    pthread_cond_t changed; /**< For all other threads: something ended, freed, or the device has nothing to do. */
    struct tern_sched sched;
    struct tern_sched_process system;
    struct tern_tdr tdr;
    struct tern_sched_context paging[TERN_ENGINES_MAX];
    uint64_t paging_fence[TERN_ENGINES_MAX];
    struct tern_partition partition; /**< The default one. */
    struct tern_list partitions;
    char own_partition[64]; /**< TERN_PARTITION: of processes that name none; empty: the default one. */
    struct tern_list exports[TERN_EXPORT_BUCKETS]; /**< Handles of memories (share.c). */
    struct tern_pager pager;
    struct tern_list processes, users;
    /** How many frees; looked: at how many, to see whether they can begin. */
    uint64_t frees_asked, frees_begun, frees_looked;
    uint32_t frees_waiters;    /**< Threads in tern_frees_wait, or in suspend.c: woken after each round. */
    uint32_t process_count;
    uint64_t completed_on[TERN_ENGINES_MAX];
    /** Counts steps of device time, runs of the scheduler and host writes: what a fence waiter watches. */
    uint64_t progress;
    uint32_t fence_waiters, next_context, next_process;
    uint64_t next_memory;
    struct tern_list completion_queues;
    struct tern_fork fork;
    struct tern_hold hold;
    struct tern_autosave *autosave; /**< NULL: TERN_CHECKPOINT names no file. */
    bool saving;                    /**< A checkpoint of its processes is being written. */
    struct tern_observer *observer; /**< Trace and statistics; NULL: neither is on. */
    bool waiting; /**< The device thread waits for a device whose time passes by itself (pump.c). */
    uint64_t cycle_ps, owed_ns; /**< Host time of a cycle of a simulator; of cycles in which nothing ran (pump.c). */
    bool driven;  /**< A thread of ternd does the device thread's rounds, which sleeps meanwhile (pump.c). */
    bool kick, stop, idle, lost;
    char lost_why[200];
    pthread_t thread;
};

struct tern_process {
    const struct tern_api *api;
    struct tern_sched_process sched;
    struct tern_list node, contexts, fences;
    struct tern_list allocations; /**< Of the user and of its contexts; but for those that are being freed. */
    struct tern_list remains;     /**< Allocations without pages, because it was killed. */
    struct tern_device *dev;
    struct tern_partition *partition;
    struct tern_list member; /**< In partition->processes. */
    char name[64];
    char shown[96]; /**< In statistics and traces: with its owner. */
    uint32_t owner; /**< A user, where processes are of several. */
    uint32_t id; /**< On the device, from 1. */
    struct tern_fault fault;
    uint32_t root;
    uint32_t tables[TERN_PAGES_LARGE]; /**< Pages of second-level tables, 0: none. They stay until the process ends. */
    struct tern_vaspace va;
    uint32_t children; /**< Contexts, allocations, fences of the user. */
    uint32_t making;   /**< Calls that make something for it, and wait at times without the lock. */
    atomic_bool killed; /**< tern_process_kill has begun, */
    bool gone;          /**< and has ended: the device knows nothing of it any more. Its objects are memory only. */
    bool suspended;
    bool ready;         /**< It has been made, and its end has not begun: it may be saved. */
    bool held;          /**< Suspended by hold.c, and not by its owner. */
    uint32_t retiring, paging_engine, paging_out;
    /* Residency (residency.h) */
    uint32_t movable;   /**< Pages of its allocations that may be evicted and are not pinned, wherever they are. */
    uint32_t sparse;    /**< Its sparse allocations that were not destroyed. */
    struct tern_account account; /**< For what they commit. */
    uint32_t absent;    /**< Blocks of its allocations that are not on the device. */
    struct tern_demand demand; /**< The pager's, while it decides. */
    struct tern_list by_use; /**< Memories that it alone maps and that may be evicted, least recently used first. */
    uint64_t used;      /**< By dev->pager.uses: when work that may use all of it was last let go. */
    struct tern_list jobs;    /**< The user's that have not ended, in order of submission. */
    struct tern_list retired; /**< Frees that have not begun, in the order in which they were asked for. */
    uint64_t seq;
    uint64_t shift; /**< What it is told of times is so much more than the device's: it was on one of later time. */
    struct tern_job *flush[TERN_ENGINES_MAX]; /**< For its end, made ahead so that ending cannot fail. */
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
    struct tern_allocation *arena; /**< Two slots; the device may read it. */
    struct tern_allocation *data;  /**< Places for the data of two chunks; NULL: not asked for. */
    struct tern_run *save;  /**< The pages of the context-save area, in order; */
    uint32_t save_runs;     /**< none: they are given back. */
    struct tern_set *set;   /**< What its submissions use from now on; NULL: all of the process. */
    struct tern_wanted wanted; /**< What its work has asked for, */
    struct tern_claim claim;   /**< and of what its packets name. */
    struct tern_stay stay;     /**< Of all that its work uses. */
    struct tern_list absent; /**< In partition->absent while its next work is not resident. */
    uint32_t id;
    uint64_t submitted, ended, first_bad;
    bool gone; /**< Its pages were given back. */
};

struct tern_fence {
    const struct tern_api *api;
    struct tern_list node; /**< In proc->fences. */
    struct tern_allocation *page;
};

/* device.c */
/** Notes a device time that was read. Another thread may have read a later one, and noted it first. */
static inline void tern_device_saw(struct tern_device *dev, uint64_t time)
{
    uint64_t now = atomic_load(&dev->now);
    while (now < time && !atomic_compare_exchange_weak(&dev->now, &now, time)) {
    }
}
/** The pages of an engine for paging buffers: two slots, then a context-save area. They lie
 * at the beginning of memory; behind those of the last engine lies the area of the dirty plane (kmd.h). */
static inline uint32_t tern_system_pages(const struct tern_device *dev)
{
    return 2 * TERN_SLOT_PAGES + dev->kmd.save_pages;
}
static inline uint32_t tern_system_save(const struct tern_device *dev, uint32_t engine)
{
    return engine * tern_system_pages(dev) + 2 * TERN_SLOT_PAGES;
}
/** Pages at the beginning of memory that are the driver's own. */
static inline uint32_t tern_reserved_pages(const struct tern_device *dev)
{
    return dev->kmd.engines * tern_system_pages(dev) + (tern_kmd_dirty_area(&dev->kmd) + TERN_PAGE - 1) / TERN_PAGE;
}
int tern_device_open_hal(struct tern_hal *hal, const struct tern_policy *policy, struct tern_device **out);
/** Device memory by physical address, with hal_lock held: -EIO. What the host writes is recorded (D7). */
int tern_device_read(struct tern_device *dev, uint64_t address, void *data, size_t size);
int tern_device_write(struct tern_device *dev, const struct tern_iovec *pieces, size_t n);
/** Gives the device up: everything ends as aborted, every process is in error. */
void tern_device_lose(struct tern_device *dev, const char *why);
/** The host wrote device memory, or queued work: threads that wait check again what they wait for. */
void tern_device_kick(struct tern_device *dev);
/** Ends the device thread's wait for a device whose time passes by itself. With dev->lock held. */
void tern_device_wake(struct tern_device *dev);
/** The same but for the signal of dev->wake, which the caller gives when it has released dev->lock. A thread that is
 *  woken before that goes to sleep again, on the lock: for calls that are made often. */
void tern_device_note(struct tern_device *dev);

/* pump.c */
int tern_pump_start(struct tern_device *dev);
void tern_pump_stop(struct tern_device *dev);
extern const struct tern_sched_ops tern_engine_ops; /* engine_ops.c */
/** Writes a chunk where an engine is to find it, though it goes on from a save area: it was cut on another device. With
 *  hal_lock held. */
int tern_chunk_write(const struct tern_chunk *s);

/* job.c; with dev->lock held */
struct tern_job *tern_job_create(const void *packets, uint32_t size, const char *label);
struct tern_job *tern_job_create_data(const void *packets, uint32_t size, const void *data, uint32_t data_size,
                                      const char *label);
/** Room for the scheduler to index the job's fence_signals, so that a context that waits for one lends the job its
 *  band. False: no memory. */
bool tern_job_make_room(struct tern_job *job);
void tern_job_free(struct tern_job *job);
/** The paging buffer with which an engine begins: no translation of an earlier owner, a valid
 * context-save area. NULL: no memory. */
struct tern_job *tern_job_clean(struct tern_device *dev, uint32_t engine);
/** Queues a paging job on an engine. job->done takes it when it ends. Not on a lost device. */
void tern_paging_submit(struct tern_device *dev, uint32_t engine, struct tern_job *job);
/** Engine for the process's next change of page tables: changes of one process stay in order. */
uint32_t tern_paging_engine(struct tern_process *proc);
/** Runs a paging buffer to its end; dev->lock is released meanwhile. -ENOMEM: nothing ran;
 * -EIO: it may have run in part. */
int tern_paging_run(struct tern_process *proc, struct tern_paging *p, const char *label);
/** The same with a job that exists already: 0 or -EIO. It is freed. */
int tern_paging_run_job(struct tern_process *proc, struct tern_job *job);
/** Runs the given jobs, one on each engine, to their ends. -EIO. */
int tern_paging_run_all(struct tern_device *dev, struct tern_job **jobs);

/* data.c */
/** Copies a chunk's packets as its engine is to get them: offsets into the data have become addresses. */
void tern_data_resolve(const struct tern_chunk *s, uint32_t *out);

/* process.c */
void tern_process_fail(struct tern_process *proc, const struct tern_fault *fault);
int tern_process_check(struct tern_process *proc);
/** Its tables, and its place on the device, are given back; nothing of it is queued or mapped. Blocks; with dev->lock
 *  held. */
void tern_process_end(struct tern_process *proc);

/* context.c */
/** tern_context_create with the driver's memory of it at addresses that are given, or 0; and tern_context_take_data. */
int tern_context_make(struct tern_process *proc, const struct tern_context_desc *desc, uint32_t arena_address,
                      struct tern_context **out);
int tern_context_make_data(struct tern_context *c, uint32_t address);
/** The pages of its save area, in order: kmd.save_pages of them. */
void tern_context_save_pages(const struct tern_context *c, uint32_t *page);
/* With dev->lock held, and no work of it left: */
/** Gives its pages back, once. */
void tern_context_take_pages(struct tern_context *c);
/** Takes it out of its process and its queue, and frees it. */
void tern_context_free(struct tern_context *c);

/* suspend.c; with dev->lock held */
/** A new context of a process that may be suspended. */
void tern_suspend_new(struct tern_context *c);
/** Each of its contexts is to stop, which takes engines a while; and may go on. */
void tern_suspend_begin(struct tern_process *proc);
void tern_suspend_end(struct tern_process *proc);

/* kill.c; with dev->lock held */
/** A call that makes something for the process, and lets go of the lock meanwhile, begins: 0, or -EIO; and ends. */
int tern_process_enter(struct tern_process *proc);
void tern_process_leave(struct tern_process *proc);
/** Frees what is left of the objects of a process that was killed. */
void tern_process_free_objects(struct tern_process *proc);

/* survey.c; with dev->hal_lock held */
/** Adds the dirty bits of pages that lie side by side to `bits`, from bit `at` on. */
int tern_survey_ask(struct tern_device *dev, uint64_t address, uint32_t pages, bool clear, uint32_t at,
                    uint32_t *bits);

/* fault.c */
/** A fault of the device, as a sentence. */
void tern_fault_describe(const struct tern_process *proc, const struct tern_job *job, const struct tern_indication *ind,
                         struct tern_fault *out);
/** A fault that the driver finds: the process and its work, and the rest of the sentence. */
__attribute__((format(printf, 5, 6))) void tern_fault_say(const struct tern_process *proc, const struct tern_job *job,
                                                          uint32_t code, struct tern_fault *out,
                                                          const char *format, ...);

#define TERN_CONTEXT_OF(c) TERN_LIST_ENTRY(c, struct tern_context, sched)
#define TERN_PROCESS_OF(p) TERN_LIST_ENTRY(p, struct tern_process, sched)

#endif
