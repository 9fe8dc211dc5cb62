/* SPDX-License-Identifier: Apache-2.0 */
/** State of processes, contexts and the device for residency and page requests, which mem/mem.h explains. */
#ifndef TERN_OS_STATE_RESIDENCY_H
#define TERN_OS_STATE_RESIDENCY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/space/space.h"

/** How the runnable work of a process uses its memory: work that is on an engine or would be dispatched next. Work
 *  with a named working set marks those allocations (struct tern_allocation). The fields `all...` are about work
 *  without one, which uses all that existed at its submission. */
struct tern_demand {
    uint32_t band;        /**< The highest band of the process's contexts. */
    bool all, all_leased;  /**< Some work uses all memory; some of that work has a lease. */
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
    /** Device time at which the context could go on, in cycles; 0: not yet. The block stays for tern_lease_bound from
     *  then on at most. */
    uint64_t ready;
};

/** The claim of a context on the blocks that its next chunk needs: when all are resident they stay so until the
 *  context has run, or for tern_lease_bound of device time. Guarded by `dev->lock`. */
struct tern_claim {
    uint64_t chunk;  /**< Number of the chunk within its context. */
    uint64_t cycles; /**< Cycles that the context had run when all blocks were resident. */
    uint64_t ready;  /**< Device time at which all blocks were resident, in cycles; 0: they are not. */
};

/** A place in the order in which memory is given (mem/lease.c). Tickets are compared by `pages`, then by `number`; the
 *  lower one is served first. */
struct tern_ticket {
    uint64_t pages;  /**< Pages that the holder wants; 0: the holder has its lease, or is served as if it were. */
    /** Value of dev->pager.tickets when the ticket was taken, or came first (tern_lease_come_first); 0: no ticket. */
    uint64_t number;
};

/** The ticket and lease of a context, from its first wait for memory to the end of its lease (mem/lease.c). Guarded by
 *  `dev->lock`. */
struct tern_lease {
    struct tern_ticket ticket;
    bool boosted;    /**< The context is NORMAL and counts as FOCUS. */
    /** Device time between the ends of consecutive moves for the context before its lease began, in cycles. */
    uint64_t cost;
    /** Device time at which the last move ended, if the context has not waited for one since; else 0. */
    uint64_t moved;
    /** Device time at which the lease began, plus the time for which the context has been held since; 0: not yet. */
    uint64_t ready;
    uint64_t held;   /**< Device time since which the context has been held for memory; 0: it is not held. */
    uint32_t stops;  /**< Times that the context was held for a page since its lease began. */
    uint64_t wanted; /**< Pages that the work used when the context took the ticket. */
    uint64_t pages;  /**< Pages moved for the context since its lease began. */
    uint64_t cycles; /**< Cycles that the context had run when its lease began. */
};

/** State of the pager; the partitions have its queues. Guarded by `dev->lock`. */
struct tern_pager {
    pthread_t thread;
    pthread_cond_t wake;
    bool started, stop;
    uint64_t rounds;           /**< Number of rounds in which the pager served the partitions. */
    uint64_t uses;             /**< Counter of uses of memory: the clock by which the least recently used is found. */
    uint64_t tickets;          /**< Number of tickets taken (mem/lease.c). */
    uint64_t decisions;        /**< Number of searches for a victim. */
    uint64_t looked;           /**< Allocations, contexts and named addresses that these searches examined. */
    uint64_t evicted, brought; /**< Pages evicted and paged in since the device was opened. */
    uint64_t requests;         /**< Number of page requests of kernels. */
    uint64_t look_at;          /**< Device time at which the pager expects the next end of a lease; UINT64_MAX: none. */
};

#endif
