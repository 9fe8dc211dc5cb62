/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Partitions: virtual instances of the device (M2). A partition has ranges of device memory, perhaps not contiguous,
 * with an allocator of its own, host memory for what is evicted from them, a share of the engines, and processes. The
 * device begins with one, "default", that has everything; others take free memory from it and give it back.
 *
 * All that a process has of memory comes from its partition, and stays in it: memory cannot be imported by a process of
 * another one. What a partition promises, evicts and frees is counted by itself, so that what its processes do takes no
 * page of another (M5). Allocators of partitions number the same pages of the device: a page is free in one of them at
 * most, and moves with what it is known to hold: one that was used is dirty, and is scrubbed before it is used again
 * (A7).
 *
 * Alternative dropped: one allocator with an owner for each page. Taking a page would look for the owner's, and the
 * blocks of several owners would not merge.
 */
#ifndef TERN_OS_PARTITION_H
#define TERN_OS_PARTITION_H

#include <stdint.h>

#include "base/list.h"
#include "os/mem/pages.h"
#include "tern/tern.h"

struct tern_context;
struct tern_device;
struct tern_process;
struct tern_sched_partition;

#define TERN_PARTITION_LEAST 64u /**< Pages of the smallest. */

/** dev->lock guards all of it. */
struct tern_partition {
    struct tern_list node; /**< In dev->partitions. */
    char name[TERN_PARTITION_NAME];
    struct tern_sched_partition *sched; /**< Its share of the engines; of the default one, the scheduler's first. */
    uint32_t owner;             /**< The user that made it, where there are several. */
    struct tern_list processes; /**< By proc->member. */
    uint32_t process_count;
    struct tern_pages *pages;   /**< Those of its ranges that are free. */
    struct tern_run *ranges;    /**< In order, disjoint, none next to another. */
    uint32_t range_count, range_room;
    uint32_t count;     /**< Pages that there are to give. */
    uint32_t host;      /**< Pages of the host that may hold what was evicted. */
    uint32_t committed; /**< Pages of all allocations that may be evicted, wherever they are: at most count + host. */
    uint32_t movable;   /**< Pages that such allocations have on the device. */
    uint32_t making;    /**< Allocations that are just being mapped. */
    struct tern_list shared;   /**< Memories that several allocations map, if some of them may be evicted. */
    struct tern_list retiring; /**< Frees that have begun (retire.c). */
    /* What the pager has to do for it (pager.c). */
    struct tern_list absent;      /**< Contexts held because something is absent, oldest first. */
    struct tern_context *goes_on; /**< The one of them whose page comes before what is more urgent; NULL: none. */
    uint64_t lent_at, lent_focus; /**< Device time, and FOCUS's cycles, when NORMAL last got a turn from it, */
    uint64_t lent_stay;           /**< and how long the stay after that was (stay.c). */
    struct tern_list wishes;      /**< Of calls that wait: for pages, or for an allocation. */
    uint32_t place;               /**< Among all, when statistics were last published. */
    uint64_t paged;               /**< The pager's last round in which it was looked at. */
};

/** The default partition, with pages [first, end) of the device; clean: they read zero. -ENOMEM. */
int tern_partition_begin(struct tern_device *dev, uint32_t first, uint32_t end, bool clean);
void tern_partition_end(struct tern_device *dev);
/** The partition of this name; NULL or empty: the default one. NULL: there is none, with a sentence. */
struct tern_partition *tern_partition_find(struct tern_device *dev, const char *name);
/** A process is in it from now on, or no longer. */
void tern_partition_join(struct tern_partition *p, struct tern_process *proc);
void tern_partition_leave(struct tern_process *proc);

#endif
