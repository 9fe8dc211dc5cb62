/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Residency (A6): allocations go to host memory and come back, so that their sum may be more than the device has.
 *
 * Unit: a block, what a memory has of 4 MiB of addresses (memory.h), in all processes that map it. Evicted, its bytes
 * are in host memory, its entries are invalid and its addresses stay its own. Those of the driver (DMA buffers, save
 * areas, tables, fences) and those that are pinned (tern_allocation_make_resident) always stay.
 *
 * Working set of a job: what its context named before (tern_context_set_residency), else all that its process had when
 * it was submitted. If that cannot be there at once, kernels of devices with page requests stop where they need a page
 * and go on when it is there (demand.c), and the job runs step by step: the set is what else the packets of its next
 * chunk name (steps.c). The scheduler asks before it dispatches (tern_residency_ready). If something is absent, the
 * context is not dispatched but queued for the *pager*, a thread of its own, and other contexts run. Thus nothing is
 * evicted that work on an engine may use: the pager marks the block absent, work that needs its allocation is cut and
 * held like suspended work, and only when none is on an engine, entries are cleared and flushed, bytes are copied to
 * the host, and the pages are free, dirty (A7).
 *
 * Partitions are served in turn, each by itself. One context, or call, is served at a time, in an order that stay.c
 * has. Victims, of the same partition: what no runnable work uses, least important owner first, then least recently
 * used, of one allocation first what was brought first; else what runnable work uses that comes later in that order.
 * Processes whose sets exclude each other take turns, and each gets on in its turn. What several processes map is as
 * dear as it is to the one to which it is dearest.
 *
 * A decision looks at the contexts of each process and at what their next work names, then at its allocations in order
 * of use until one is found that no work wants: it does not depend on the number of blocks, nor, but for those that are
 * in use, of allocations (victim.c).
 *
 * Copies are made by the host, a block at a time, with the hal lock held for each; the alternative, the mover and a
 * window of host memory, needs a device that reaches host memory. Host access goes to whichever side has the byte, and
 * waits for the copy of a block at most.
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

/**
 * How work of a process that is on an engine, or would be put there next, uses its memory. What such work names is
 * marked in the allocations; the rest is about work that names nothing, and uses all that was there for it.
 */
struct tern_demand {
    uint32_t band;        /**< The highest of the process's contexts, */
    bool all, all_stays;  /**< and of work that uses all: has some of it a stay? */
    uint32_t all_band;
    uint64_t first, last; /**< submitted as, by proc->seq */
};

/** Addresses in the allocations that work uses. dev->lock. */
struct tern_set {
    uint32_t refs, count;
    uint32_t address[];
};

/** What of its memory a job needs for what it has on an engine and what comes next, if its kernels ask for the rest: a
 *  bit for 4 MiB of addresses. */
struct tern_needs {
    uint32_t region[TERN_PAGES_SPAN / 32];
};

static inline bool tern_needs_region(const struct tern_needs *n, uint32_t region)
{
    return n->region[region / 32] >> region % 32 & 1u;
}

/** The page that the work of a context has asked for. dev->lock. */
struct tern_wanted {
    uint32_t page;   /**< Of the address space; 0: none. */
    uint64_t cycles; /**< What the context had run when it asked: its block stays until that is more, */
    uint64_t ready;  /**< or a while after the context could go on: since then; 0: not yet. */
};

/** Blocks that the next chunk of a context needs stay from when all of them were there until the context has run; if it
 *  does not run, for a while. dev->lock. */
struct tern_claim {
    uint64_t chunk;  /**< By its order in the context; */
    uint64_t cycles; /**< what the context had run, */
    uint64_t ready;  /**< and device time, when all was there; 0: it is not. */
};

/** A place among those that want memory (stay.c). */
struct tern_ticket {
    uint64_t pages;  /**< Pages that the holder wants: fewer are served first. 0: it is in a stay, or comes as if it were. */
    uint64_t number; /**< Order of age, from dev->pager.tickets: of equal tickets the older is first. 0: no ticket. */
};

/** A context's place among those that want memory: from when it first waits until its stay ends (stay.c). dev->lock. */
struct tern_stay {
    struct tern_ticket ticket;
    bool lent;       /**< The context counts as FOCUS, though it is NORMAL. */
    uint64_t cost;   /**< Device time that moves, but for each first, have taken before the stay, */
    uint64_t moved;  /**< and when the last of them ended, if nothing was waited for since; 0: else. */
    uint64_t ready;  /**< Device time when all of it was there, and what it was held for pages since; 0: no stay yet. */
    uint64_t held;   /**< Device time since which it is held; 0: it is not. */
    uint32_t stops;  /**< How often it was held for a page since the stay began. */
    uint64_t wanted; /**< Pages that the work used when it took the ticket. */
    uint64_t pages;  /**< Pages moved for it since the stay began. */
    uint64_t cycles; /**< What the context had run then. */
};

/** Who wants room: a context that waits, or a call. */
struct tern_wants {
    uint32_t band;   /**< FOCUS, if it was lent. */
    struct tern_ticket ticket;
};

/** The result of a look at the blocks that are to be moved. */
enum tern_outcome {
    TERN_NOTHING,
    TERN_AGAIN, /**< Something was moved, or has ended: there may be more. */
    TERN_LATER  /**< No block may go yet. */
};

/** The thread that moves blocks; what it has to do is in the partitions. dev->lock. */
struct tern_pager {
    pthread_t thread;
    pthread_cond_t wake;
    bool started, stop;
    uint64_t rounds;           /**< In each it looks at partitions until there is something to do for one. */
    uint64_t uses;             /**< Counts uses: what recency is told by. */
    uint64_t tickets;          /**< Counts contexts and calls that have begun to wait (stay.c). */
    uint64_t decisions;        /**< Counts choices of victims, */
    uint64_t looked;           /**< and what was looked at for them: allocations, contexts, names in sets. */
    uint64_t evicted, brought; /**< Pages, since the device was opened. */
    uint64_t requests;         /**< Of kernels for pages. */
    uint64_t look_at;          /**< Device time at which a stay that it waits for may end; UINT64_MAX: it does not. */
};

/* pager.c; with dev->lock held */
/** Starts the pager, once: -errno. */
int tern_pager_start(struct tern_device *dev);
/** Ends it; nothing may be in its queues. Not with dev->lock held. */
void tern_pager_stop(struct tern_device *dev);
/** A step of the thread: one move for the first partition that has one to make; then others come first. */
enum tern_outcome tern_pager_look(struct tern_device *dev);
/** Makes room for what is always resident: evicts a block, unless so many pages are free by now, since frees may end
 *  while it waits. Blocks. -ENOSPC: there is nothing to evict; -EIO. */
int tern_pager_make_room(struct tern_process *proc, uint32_t pages);
/** Brings all of an allocation in, which is pinned. Blocks. -ENOSPC, -ENOMEM, -EIO. */
int tern_pager_bring(struct tern_allocation *a);

/* move.c; with dev->lock held, which is released meanwhile; only the pager calls them */
/** To the host. -ENOMEM: it stays; -EIO: its process is in error. */
int tern_move_out(struct tern_block *b);
/** To the device. -ENOSPC: not so many pages are free; -ENOMEM; -EIO: its process is in error. */
int tern_move_in(struct tern_block *b);

/* residency.c */
/** Scheduler: may the context's next work, which is the job, go to an engine? Else the pager has been asked. */
bool tern_residency_ready(struct tern_context *c, struct tern_job *job);
/** May work of the job use the allocation? */
bool tern_residency_uses(const struct tern_job *job, const struct tern_allocation *a);
/** The same, had it named the allocation: was it there, and is it not destroyed? */
bool tern_residency_may_use(const struct tern_job *job, const struct tern_allocation *a);
/** A block that is absent and must be there before the context goes on with the job, or NULL. */
struct tern_block *tern_residency_missing(const struct tern_context *c, const struct tern_job *job);
/** Pages that work of the context uses, but for those that are pinned. */
uint64_t tern_residency_pages(const struct tern_context *c, const struct tern_set *set);
/** Can all that the context's next submission uses be resident at once? If not, its kernels are to ask for it; -ENOSPC:
 *  they cannot, or what must be there before is too much: says how much it is. -ENOMEM. */
int tern_residency_check(const struct tern_context *c, struct tern_job *job);
/** The pages that were taken (sign 1) for a block, or are given back (-1), can be made free by eviction. */
void tern_residency_count(struct tern_block *b, int sign);
/** A block is on the device and mapped, or no longer so. */
void tern_residency_set(struct tern_block *b, bool resident);
/** The movable allocation of the process at an address that is not gone, or NULL. */
struct tern_allocation *tern_residency_at(const struct tern_process *proc, uint32_t address);
/** May so many pages more be promised? */
bool tern_residency_may_commit(const struct tern_process *proc, uint32_t pages);
/** Pages of the host that have not been promised. */
uint32_t tern_residency_left(const struct tern_partition *p);
/** A new allocation of the process is there; its blocks may be absent. */
void tern_residency_add(struct tern_allocation *a);
/** It was destroyed: what is submitted from now on does not use it. */
void tern_residency_leave(struct tern_allocation *a);
/** Its free begins. */
void tern_residency_begin(struct tern_allocation *a);
/** It maps its memory no more. */
void tern_residency_remove(struct tern_allocation *a);
void tern_set_release(struct tern_set *set);

/* demand.c; with dev->lock held */
/** The job's kernels are to ask for their pages; what else it needs is planned step by step. -ENOMEM. */
int tern_demand_begin(struct tern_job *job);
/** Must the block be there while the job is on an engine? */
bool tern_demand_needs(const struct tern_job *job, const struct tern_allocation *a, const struct tern_block *b);
/** Of what such a job needs: the first block that is absent, or NULL. Adds all of it, but for what is pinned, to
 *  *pages. */
struct tern_block *tern_demand_missing(const struct tern_process *proc, const struct tern_job *job,
                                       const struct tern_needs *needs, uint64_t *pages);
/** The job, which the context was running, asks for the page at an address. False: it has none there. */
bool tern_demand_request(struct tern_context *c, struct tern_job *job, uint32_t address);
/** The block that the context's work has asked for, or NULL. */
struct tern_block *tern_demand_wanted(const struct tern_context *c);
/** Is the context held while its work waits for a page? */
bool tern_demand_waits(const struct tern_context *c);
/** Forgets what the context has asked for, if it has run since that came. */
void tern_demand_look(struct tern_context *c);
/** The context's next chunk is this one: what was claimed for another no longer counts. */
void tern_demand_claim(struct tern_context *c, uint64_t chunk);
/** All that it waited for is there. */
void tern_demand_ready(struct tern_context *c);
/** Does it stay for now, because work that asked for it, or packets that name it, could run and have not since? */
bool tern_demand_keeps(const struct tern_block *b);

/* stay.c; with dev->lock held */
/** A new ticket, for a call that wants so many pages. */
struct tern_ticket tern_stay_ticket(const struct tern_process *proc, uint64_t pages);
/** The ticket comes before all that have no stay yet: enough pages have been moved for tickets that overtook it. */
void tern_stay_come_first(struct tern_device *dev, struct tern_ticket *t);
/** How many pages may be moved for tickets that overtake this one. */
uint64_t tern_stay_patience(const struct tern_ticket *t);
/** The context waits for memory from now on, for a job: it has a ticket. */
void tern_stay_wait(struct tern_context *c, const struct tern_job *job);
/** A move of so many pages for it has ended; 0: it has to wait for one. */
void tern_stay_moved(struct tern_context *c, uint64_t pages);
/** All that it waited for is there: its stay begins, or goes on. */
void tern_stay_begin(struct tern_context *c);
/** The context neither runs, nor could, nor waits for memory: its ticket ends. */
void tern_stay_end(struct tern_context *c);
/** As which it wants room; it waits for memory. */
struct tern_wants tern_stay_wants(const struct tern_context *c);
/** Is one that wants room served before the other? */
bool tern_stay_before(const struct tern_wants *a, const struct tern_wants *b);
/** Does the work of the context keep what it uses from whoever wants it? */
bool tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants);
/** Cycles that a stay of the context lasts. */
uint64_t tern_stay_length(const struct tern_context *c);
/** Device time after which it ends, though the work has not run so much. */
uint64_t tern_stay_bound(const struct tern_context *c);
/** Cycles that it has run, also of what is on an engine. */
uint64_t tern_stay_ran(const struct tern_context *c);
/** Has FOCUS had its stays, so that NORMAL is to have one? If so it is as if it never had from now on. */
bool tern_stay_lend(struct tern_device *dev, struct tern_partition *part);

/* steps.c; with dev->lock held */
/** Decides what the next chunk of a job with needs is (job->cut), unless one is to run again; and finds what the job
 *  needs for that and for what it has on an engine. */
void tern_steps_plan(struct tern_context *c, struct tern_job *job);
/** Of the steps that a job with needs can be cut into, pages of the largest. */
uint64_t tern_steps_largest(const struct tern_process *proc, const struct tern_job *job, uint64_t enough);

#endif
