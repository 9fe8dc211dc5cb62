/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memories, their blocks, and the allocations by which processes map them:
 *
 *     process 1                       process 2
 *     allocation --------\       /--- allocation        virtual pages of one process that map a memory
 *                         memory                        pages on the device, or bytes on the host
 *                [ b0 ][  b1   ][  b2  ][b3 ]           blocks of the memory
 *
 * A *memory* is mapped by the allocation that made it and by allocations that import it (mem/share.c). The last of them
 * frees the memory. A *block* is the part of a memory that lies in one aligned 4 MiB of virtual addresses. One
 * second-level table, or one superpage, maps a block in each process. The block is the unit of residency: it is paged
 * in and evicted as a whole, in all its processes at once, and has its own runs of pages and its own bytes on the host.
 *
 * Size of a block. Blocks of less than 4 MiB would rule out superpages. Larger blocks would not, but the hal lock is
 * held for the copy of one block, so the size of a block limits how long others wait.
 *
 * Recency. A job names allocations, so the time of last use is kept for a memory. A block has only the time at which it
 * was paged in.
 *
 * Locks: `dev->lock` guards all fields below, unless a field's comment names `dev->hal_lock`.
 */
#ifndef TERN_OS_STATE_MEMORY_H
#define TERN_OS_STATE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "kmd/paging.h"
#include "os/space/space.h"
#include "os/sched/sched.h"

struct tern_allocation;
struct tern_api;
struct tern_device;
struct tern_memory;
struct tern_partition;
struct tern_process;

struct tern_block {
    struct tern_list node; /**< Node of m->here or m->away. */
    struct tern_memory *m;
    uint32_t first, pages; /**< The first page, counted from the start of the memory, and the number of pages. */
    /** Runs of device pages, in order of address. The runs change only while the block is mapped for the first time,
     *  moves or is freed. */
    struct tern_run *runs;
    uint32_t *at;          /**< First page of each run, counted from the start of the block. */
    uint32_t run_count, run_capacity;
    bool resident;     /**< The block has device pages, and they are mapped. */
    bool committed;    /**< In sparse memory: the block counts in m->committed (mem/sparse.c). */
    uint64_t used;     /**< Value of dev->pager.uses when the block last became resident or absent. */
    bool on_host; /**< The bytes of the block are on the host, not in its device pages. Guarded by `dev->hal_lock`. */
    /** Bytes on the host; NULL: the block reads zero while it is on the host. Changed with `dev->hal_lock` and
     *  `dev->lock` held, and read with either. The bytes are guarded by `dev->hal_lock`. */
    uint8_t *host;
    /** Dirty bits, one a page, to be combined with those of the device (D7); NULL: none is set. Guarded by
     *  `dev->hal_lock`. */
    uint32_t *written;
    /** Number of moves of the block and of host writes to its bytes on the host, which no dirty bit shows. Guarded
     *  by `dev->hal_lock`. */
    uint64_t changes;
};

struct tern_memory {
    struct tern_device *dev;
    struct tern_partition *partition;
    uint64_t number; /**< Number of the memory on its device, ascending with age and never reused. */
    /** References: one of each allocation, also of those that a kill left without pages, and of each sender
     *  (migrate/sender.c). */
    uint32_t refs;
    struct tern_list mappings; /**< Allocations that map the memory. */
    uint32_t mapping_count;
    uint32_t leaving;          /**< Number of mappings whose free has begun (mem/retire.c). */
    /** Size in pages; and the first page's distance, in pages, from a multiple of 4 MiB where the memory was made. */
    uint32_t pages, offset;
    struct tern_block *blocks; /**< Blocks in order of address; the array does not change. */
    uint32_t block_count;
    /* Residency (mem/mem.h) */
    bool there;       /**< The first allocation is complete. */
    bool movable;     /**< Blocks may be evicted while `pins` is 0. */
    bool sparse;      /**< A block is committed when it is first used (mem/sparse.c). */
    uint32_t committed; /**< Pages of this memory that partition->committed includes. */
    bool moving; /**< A block is being moved, or the memory is being imported: the free of no mapping begins now. */
    bool failed;      /**< Some engine may still reach the pages, so they are never given to another memory. */
    uint32_t pins;    /**< Number of pins by tern_allocation_make_resident, of all mappings. */
    uint32_t taken;   /**< Pages that the memory has on the device. */
    /** Value of dev->pager.uses when work that names the memory was last dispatched, or a block became evictable. */
    uint64_t used;
    /** Node of proc->by_use, or of partition->shared if several allocations map it, while a block may be evicted. */
    struct tern_list by_use;
    struct tern_list here;   /**< Resident blocks, in the order in which they were paged in. */
    struct tern_list away;   /**< Absent blocks. */
};

struct tern_allocation {
    const struct tern_api *api;
    /** Node of proc->allocations, then proc->retired, then partition->retiring; or of proc->remains. */
    struct tern_list node;
    struct tern_process *proc;
    struct tern_memory *mem;
    struct tern_list mapping; /**< Node of mem->mappings. */
    uint32_t va, pages, flags;
    bool internal, low;
    bool counted;  /**< Counted in proc->children: the user has not destroyed the allocation. */
    bool gone;     /**< A kill of the process has freed the pages. */
    bool imported; /**< Another allocation made the memory. */
    struct tern_list exports; /**< Handles by which other processes may import the memory (mem/share.c). */
    /** Dirty pages that were reported to other mappings but not to this one, one bit a page; NULL: the memory was
     *  never shared. */
    uint32_t *unseen;
    uint32_t pins;
    /** Value of proc->seq when the allocation was made: jobs with a smaller number do not use it. UINT64_MAX: being
     *  made. */
    uint64_t born;
    struct {       /**< How runnable work uses the allocation, valid for one decision of the pager (mem/victim.c). */
        uint64_t decision;
        uint32_t band;
        bool leased; /**< Some of that work has a lease (mem/lease.c). */
    } wanted;
    /* Freeing (mem/retire.c). The jobs are made with the allocation, so that a free cannot fail. */
    /** The free's proc->seq, and its numbers in dev->frees_asked and dev->frees_begun; 0: not asked, not begun. */
    uint64_t retire_seq, asked, begun;
    struct tern_job *unmap, *flush[TERN_ENGINES_MAX]; /**< unmap has one packet line for each block, then a flush. */
    uint32_t pending;
    bool failed;
};

#define TERN_FIRST_BLOCK(list) TERN_LIST_ENTRY((list)->next, struct tern_block, node)

/** The size of pages, in KiB. */
static inline uint64_t tern_pages_kib(uint64_t pages)
{
    return pages * (TERN_PAGE / 1024);
}

/** The oldest mapping of a memory that has one. */
static inline struct tern_allocation *tern_memory_first(const struct tern_memory *m)
{
    return TERN_LIST_ENTRY(m->mappings.next, struct tern_allocation, mapping);
}

/** The block that holds page `page` of the allocation. */
static inline struct tern_block *tern_block_of(const struct tern_allocation *a, uint32_t page)
{
    return &a->mem->blocks[(a->va + page) / TERN_PAGES_SPAN - a->va / TERN_PAGES_SPAN];
}

#define TERN_EXPORT_BUCKETS 256u /**< Lists of exported memories (mem/share.c). */

#endif
