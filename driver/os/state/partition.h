/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Partitions: virtual instances of the device (M2). A partition has
 *   - ranges of device memory, which need not be contiguous, with an allocator of its own;
 *   - host memory for memory that is evicted from these ranges;
 *   - a share of the engines;
 *   - processes.
 * A device begins with one partition, "default", which has everything. Other partitions take free memory from it, and
 * give it back.
 *
 * All memory of a process comes from its partition and stays there: a process of another partition cannot import it.
 * Each partition counts its own commitments, evictions and frees, so that its processes take no page of another
 * partition (M5). The allocators of all partitions use the same page numbers. A page is free in at most one of them. A
 * page that was used moves as a dirty one, and is scrubbed before it is used again (A7).
 *
 * Alternative dropped: one allocator with an owner for each page. An allocation would have to search for pages of its
 * owner, and blocks of different owners would not merge.
 */
#ifndef TERN_OS_STATE_PARTITION_H
#define TERN_OS_STATE_PARTITION_H

#include <stdint.h>

#include "base/list.h"
#include "os/space/space.h"
#include "tern/tern.h"

struct tern_context;
struct tern_device;
struct tern_process;
struct tern_sched_partition;

#define TERN_PARTITION_LEAST 64u /**< Pages of the smallest partition. */

/** A partition. dev->lock guards all fields. Sizes are in pages. */
struct tern_partition {
    struct tern_list node; /**< Node of dev->partitions. */
    char name[TERN_PARTITION_NAME];
    struct tern_sched_partition *sched; /**< State in the scheduler; for "default": &dev->sched.main. */
    uint32_t owner;             /**< Id of the user that made it (ternd). */
    struct tern_list processes; /**< Processes of the partition, by proc->member. */
    uint32_t process_count;
    struct tern_pages *pages;   /**< The allocator, which has the free pages of its ranges. */
    struct tern_run *ranges;    /**< Page ranges of the partition: sorted, disjoint, not adjacent. */
    uint32_t range_count, range_room; /**< Entries of `ranges`: used, allocated. */
    uint32_t count;     /**< Number of pages of its ranges that can be allocated. */
    uint32_t host;      /**< Pages of host memory for evicted memory, at most. */
    uint32_t committed; /**< Pages of all its evictable allocations, on the device or not; at most count + host. */
    uint32_t movable;   /**< Pages that evictable allocations have on the device. */
    uint32_t making;    /**< Number of allocations that are being mapped. */
    struct tern_list shared;   /**< Evictable memories that several allocations map. */
    struct tern_list retiring; /**< Frees that have begun (mem/retire.c). */
    /* State of the pager (mem/pager.c). */
    struct tern_list absent;      /**< Contexts that wait for absent memory, the longest wait first. */
    /** The last boost, by which a NORMAL context counts as FOCUS for one lease (mem/lease.c): device time at its begin,
     *  cycles that FOCUS had run by then, and length of the lease in cycles. */
    uint64_t boost_at, boost_focus, boost_lease;
    /** Pages moved for tickets other than the oldest. At a limit the oldest is served first, and this is 0 again. */
    uint64_t overtaken;
    struct tern_list reclaim_requests; /**< Requests of calls that wait for free pages or for an allocation. */
    uint32_t place;               /**< Index in the statistics that were last published. */
    uint64_t paged;               /**< The pager's round that last served the partition. */
};

#endif
