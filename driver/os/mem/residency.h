/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Residency (A6): memories are evicted to host memory and paged in again, so that all allocations together may be
 * larger than device memory.
 *
 * Unit. A block (memory.h) is resident or absent in all processes that map it. While it is absent its bytes are in host
 * memory, its page-table entries are invalid, and its virtual addresses stay reserved. The driver's own memory (DMA
 * buffers, save areas, tables, fences) and pinned memory (tern_allocation_make_resident) are always resident.
 *
 * Working set of a job: the allocations that its context named before the submission (tern_context_set_residency), else
 * all allocations that its process had then. A working set may be larger than the memory that can be made free. On
 * devices with page requests such a job runs in steps: the working set is what the packets of the next chunk name
 * (steps.c), and a kernel stops at an absent page until the page is there (demand.c). On other devices the submission
 * fails.
 *
 * Dispatch. The scheduler asks tern_residency_ready before it dispatches a context. If a block of the working set is
 * absent, the context is queued for the *pager*, a thread, and other contexts run.
 *
 * Eviction of a block, in this order:
 *   1. The block is marked absent. Work that needs its allocation is preempted and held, like suspended work.
 *   2. When no such work is on an engine, the entries are cleared and the TLBs are flushed.
 *   3. The bytes are copied to the host. The pages are free, and dirty (A7).
 * Therefore no block is evicted while work on an engine may use it.
 *
 * Order. Partitions are served round robin, one move at a time. In a partition one context or call is served at a time,
 * in the order of stay.c. The victim is a block of the same partition:
 *   1. a block that no runnable work uses: the lowest band first, then the least recently used; of one memory the block
 *      that was paged in first;
 *   2. else a block that runnable work uses which comes later in the order of stay.c.
 * Processes whose working sets do not fit together thus alternate, and each makes progress in its stay. The price of a
 * shared memory is its highest price in any process.
 *
 * Cost. A decision looks at the contexts of each process, at the allocations that their next jobs name, and at the
 * memories of each process in order of last use, up to the first one that no work uses. The cost does not depend on the
 * number of blocks (victim.c).
 *
 * Copies are made by the host, a block at a time, and dev->hal_lock is held for each. Alternative dropped: the device's
 * mover and a window of host memory, because it needs a device that can access host memory. Host access uses the side
 * that has the bytes, and waits for the copy of one block at most.
 */
#ifndef TERN_OS_RESIDENCY_H
#define TERN_OS_RESIDENCY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "os/mem/pages.h"

struct tern_allocation;
struct tern_block;
struct tern_context;
struct tern_device;
struct tern_job;
struct tern_partition;
struct tern_process;

/** How the runnable work of a process uses its memory: work that is on an engine or would be dispatched next. Work
 *  with a named working set marks those allocations (struct tern_allocation). The fields `all...` are about work
 *  without one, which uses all that existed at its submission. */
struct tern_demand {
    uint32_t band;        /**< The highest band of the process's contexts. */
    bool all, all_stays;  /**< Some work uses all memory; some of that work is in its stay. */
    uint32_t all_band;
    uint64_t first, last; /**< Least and greatest proc->seq of that work's submissions. */
};

/** The addresses that a context named with tern_context_set_residency, in ascending order, one of each allocation.
 *  Guarded by `dev->lock`. */
struct tern_set {
    uint32_t refs, count;
    uint32_t address[];
};

/** Blocks that a job which runs in steps needs, for its chunks on an engine and for the next one: one bit for each 4
 *  MiB of virtual addresses. Guarded by `dev->lock`. */
struct tern_needs {
    uint32_t region[TERN_PAGES_SPAN / 32];
};

static inline bool tern_needs_region(const struct tern_needs *n, uint32_t region)
{
    return n->region[region / 32] >> region % 32 & 1u;
}

/** The page that a kernel of a context has requested. Guarded by `dev->lock`. */
struct tern_wanted {
    uint32_t page;   /**< Page number in the address space; 0: none. */
    /** Cycles that the context had run at the request. The block of the page stays resident until the context has
     *  run more. */
    uint64_t cycles;
    /** Device time at which the context could go on, in cycles; 0: not yet. The block stays for tern_stay_bound from
     *  then on at most. */
    uint64_t ready;
};

/** The claim of a context on the blocks that its next chunk needs: when all are resident they stay so until the
 *  context has run, or for tern_stay_bound of device time. Guarded by `dev->lock`. */
struct tern_claim {
    uint64_t chunk;  /**< Number of the chunk within its context. */
    uint64_t cycles; /**< Cycles that the context had run when all blocks were resident. */
    uint64_t ready;  /**< Device time at which all blocks were resident, in cycles; 0: they are not. */
};

/** A place in the order in which memory is given (stay.c). Tickets are compared by `pages`, then by `number`; the
 *  lower one is served first. */
struct tern_ticket {
    uint64_t pages;  /**< Pages that the holder wants; 0: the holder is in its stay, or is served as if it were. */
    /** Value of dev->pager.tickets when the ticket was taken, or came first (tern_stay_come_first); 0: no ticket. */
    uint64_t number;
};

/** The ticket and stay of a context, from its first wait for memory to the end of its stay (stay.c). Guarded by
 *  `dev->lock`. */
struct tern_stay {
    struct tern_ticket ticket;
    bool lent;       /**< The context is NORMAL and counts as FOCUS. */
    /** Device time between the ends of consecutive moves for the context before its stay began, in cycles. */
    uint64_t cost;
    /** Device time at which the last move ended, if the context has not waited for one since; else 0. */
    uint64_t moved;
    /** Device time at which the stay began, plus the time for which the context has been held since; 0: no stay yet. */
    uint64_t ready;
    uint64_t held;   /**< Device time since which the context has been held for memory; 0: it is not held. */
    uint32_t stops;  /**< Number of times that the context was held for a page since its stay began. */
    uint64_t wanted; /**< Pages that the work used when the context took the ticket. */
    uint64_t pages;  /**< Pages moved for the context since its stay began. */
    uint64_t cycles; /**< Cycles that the context had run when its stay began. */
};

/** The place of a context or call that wants memory, in the order of stay.c. */
struct tern_wants {
    uint32_t band;   /**< Its band; FOCUS for a NORMAL context that counts as FOCUS. */
    struct tern_ticket ticket;
};

/** The result of one step of the pager. */
enum tern_outcome {
    TERN_NOTHING,
    TERN_AGAIN, /**< A block was moved, or a request has ended: the pager looks again at once. */
    TERN_LATER  /**< No block may be moved now; one may be after a round of the device thread. */
};

/** State of the pager; the partitions have its queues. Guarded by `dev->lock`. */
struct tern_pager {
    pthread_t thread;
    pthread_cond_t wake;
    bool started, stop;
    uint64_t rounds;           /**< Number of looks at the partitions. */
    uint64_t uses;             /**< Counter of uses, the clock of all recency. */
    uint64_t tickets;          /**< Number of tickets taken (stay.c). */
    uint64_t decisions;        /**< Number of searches for a victim. */
    uint64_t looked;           /**< Number of allocations, contexts and named addresses that the searches looked at. */
    uint64_t evicted, brought; /**< Pages evicted and paged in since the device was opened. */
    uint64_t requests;         /**< Number of page requests of kernels. */
    uint64_t look_at;          /**< Device time at which a stay may end that the pager waits for; UINT64_MAX: none. */
};

/* pager.c; requires dev->lock, unless a comment says otherwise */
/** Starts the thread, if it does not run yet. -errno, with a sentence. */
int tern_pager_start(struct tern_device *dev);
/** Ends the thread and waits for it. All queues must be empty. Takes dev->lock. */
void tern_pager_stop(struct tern_device *dev);
/** A step of the thread: makes one move for the first partition, in round-robin order, that has one to make. */
enum tern_outcome tern_pager_look(struct tern_device *dev);
/** Evicts one block, unless `pages` pages of the process's partition have become free before that. Blocks, and
 *  releases dev->lock meanwhile. -ENOSPC: no block can be evicted; -ENOMEM; -EIO. */
int tern_pager_make_room(struct tern_process *proc, uint32_t pages);
/** Pages in all blocks of an allocation that is pinned. Blocks, and releases dev->lock meanwhile. -ENOSPC, -ENOMEM,
 *  -EIO. */
int tern_pager_bring(struct tern_allocation *a);

/* move.c; requires dev->lock, which is released meanwhile; called by the pager only */
/** Evicts a block. -ENOMEM: the block is still resident; -EIO: processes that map it are in error. */
int tern_move_out(struct tern_block *b);
/** Pages in a block. -ENOSPC: too few pages are free; -ENOMEM; -EIO: no process that maps the block can work any
 *  more. */
int tern_move_in(struct tern_block *b);

/* residency.c; requires dev->lock */
/** Asked by the scheduler before it dispatches a context whose next work is of this job. True: all memory is
 *  resident. False: the context is queued for the pager. */
bool tern_residency_ready(struct tern_context *c, struct tern_job *job);
/** True: work of the job may use the allocation, which is in its working set. */
bool tern_residency_uses(const struct tern_job *job, const struct tern_allocation *a);
/** True: the allocation existed, and was not destroyed, when the job was submitted. The working set of the job may
 *  not name the allocation. */
bool tern_residency_may_use(const struct tern_job *job, const struct tern_allocation *a);
/** An absent block that the context needs before it goes on with the job, or NULL. */
struct tern_block *tern_residency_missing(const struct tern_context *c, const struct tern_job *job);
/** Pages of the set, or of all movable memory of the process if set is NULL; without pinned ones. */
uint64_t tern_residency_pages(const struct tern_context *c, const struct tern_set *set);
/** Checks that the working set of the context's next submission can be resident at once, and makes the job run in
 *  steps if it cannot and the device has page requests. -ENOSPC, with a sentence: the job can never run; -ENOMEM. */
int tern_residency_check(const struct tern_context *c, struct tern_job *job);
/** Counts the pages of a block that were taken (sign 1) or are given back (sign -1). */
void tern_residency_count(struct tern_block *b, int sign);
/** Marks the block resident or absent. */
void tern_residency_set(struct tern_block *b, bool resident);
/** The movable allocation at an address of the process whose free has not begun, or NULL. */
struct tern_allocation *tern_residency_at(const struct tern_process *proc, uint32_t address);
/** True: `pages` more pages can be committed in the process's partition, on the device or the host. */
bool tern_residency_may_commit(const struct tern_process *proc, uint32_t pages);
/** Pages of the partition's host memory that are not committed. */
uint32_t tern_residency_left(const struct tern_partition *p);
/** Counts a new allocation, whose blocks may be absent. */
void tern_residency_add(struct tern_allocation *a);
/** Called when the allocation is destroyed: later submissions do not use it. */
void tern_residency_leave(struct tern_allocation *a);
/** Called when the free of the allocation begins. */
void tern_residency_begin(struct tern_allocation *a);
/** Removes the mapping of the allocation. */
void tern_residency_remove(struct tern_allocation *a);
/** Drops a reference to a set, which may be NULL. The last one frees it. */
void tern_set_release(struct tern_set *set);

/* demand.c; requires dev->lock */
/** Makes the job run in steps, with page requests of its kernels. -ENOMEM, with a sentence. */
int tern_demand_begin(struct tern_job *job);
/** True: the block must be resident while the job is on an engine. */
bool tern_demand_needs(const struct tern_job *job, const struct tern_allocation *a, const struct tern_block *b);
/** The first absent block among the blocks `needs` of a job that runs in steps, or NULL. Adds the pages of all of
 *  them that are not pinned to *pages. */
struct tern_block *tern_demand_missing(const struct tern_process *proc, const struct tern_job *job,
                                       const struct tern_needs *needs, uint64_t *pages);
/** Notes a page request of a kernel of the job, which the context was running. False: the job has no page at the
 *  address. */
bool tern_demand_request(struct tern_context *c, struct tern_job *job, uint32_t address);
/** The block of the page that the context has requested, or NULL. */
struct tern_block *tern_demand_wanted(const struct tern_context *c);
/** True: the context is held because of a page request. */
bool tern_demand_waits(const struct tern_context *c);
/** Forgets the page request if the context has run since the page came. */
void tern_demand_look(struct tern_context *c);
/** Begins the claim of the context's next chunk, unless it is the current claim. */
void tern_demand_claim(struct tern_context *c, uint64_t chunk);
/** Called when all blocks that the context waited for are resident: begins its claim and its stay. */
void tern_demand_ready(struct tern_context *c);
/** True: the block is not evicted now, because runnable work requested it, or claims it, and has not run since. */
bool tern_demand_keeps(const struct tern_block *b);

/* stay.c; requires dev->lock */
/** A new ticket of a context or call that wants `pages` pages. */
struct tern_ticket tern_stay_ticket(const struct tern_process *proc, uint64_t pages);
/** Puts the ticket before all tickets of contexts and calls that have no stay yet. Called when tickets that overtook
 *  it have had tern_stay_patience pages moved. */
void tern_stay_come_first(struct tern_device *dev, struct tern_ticket *t);
/** Pages that may be moved for tickets that overtake this one. */
uint64_t tern_stay_patience(const struct tern_ticket *t);
/** The context waits for memory of the job from now on, and takes a ticket if it has none. */
void tern_stay_wait(struct tern_context *c, const struct tern_job *job);
/** A move of `pages` pages for the context has ended; 0: the context has to wait for a move. */
void tern_stay_moved(struct tern_context *c, uint64_t pages);
/** All blocks that the context waited for are resident: its stay begins, or goes on. */
void tern_stay_begin(struct tern_context *c);
/** Ends the ticket of a context that is neither runnable nor waits for memory. */
void tern_stay_end(struct tern_context *c);
/** The place in the order of a context that waits for memory. */
struct tern_wants tern_stay_wants(const struct tern_context *c);
/** True: `a` is served before `b`. */
bool tern_stay_before(const struct tern_wants *a, const struct tern_wants *b);
/** True: blocks that work of the context uses may not be evicted for whoever has the place `wants`. */
bool tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants);
/** Length of the context's stay, in cycles that it runs. */
uint64_t tern_stay_length(const struct tern_context *c);
/** Device time, in cycles, after which the stay ends although the context has not run for its length. */
uint64_t tern_stay_bound(const struct tern_context *c);
/** Cycles that the context has run, including its run on an engine now. */
uint64_t tern_stay_ran(const struct tern_context *c);
/** True: FOCUS has run for eight stays in the partition, and the next NORMAL context counts as FOCUS. The
 *  count of FOCUS then begins anew. */
bool tern_stay_lend(struct tern_device *dev, struct tern_partition *part);

/* steps.c; requires dev->lock */
/** For a job that runs in steps: chooses its next chunk (job->cut), unless a requeued chunk comes first, and sets
 *  job->needs for that chunk and those on an engine. */
void tern_steps_plan(struct tern_context *c, struct tern_job *job);
/** Pages of the largest step of the job. A copy or fill of more than `enough` pages counts as its least part,
 *  because it can be cut. */
uint64_t tern_steps_largest(const struct tern_process *proc, const struct tern_job *job, uint64_t enough);

#endif
