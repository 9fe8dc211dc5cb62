/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of a process: allocations, each a row of blocks.
 *
 *     pages of the address space   | 4 MiB | 4 MiB | 4 MiB | 4 MiB |
 *     allocation                       [=======================]
 *     blocks                           [b0 ][  b1   ][  b2  ][b3 ]
 *
 * A *block* is what an allocation has of one aligned 4 MiB of its addresses: what one second-level table or one
 * superpage maps. It is the unit of residency: brought and evicted by itself, with its own runs of pages and bytes on
 * the host. Smaller blocks would make superpages impossible, larger ones would not: but a copy of 4 MiB is what the
 * hal lock is held for at once. A job uses allocations, so recency of use is of an allocation; a block has the order
 * in which it was brought.
 */
#ifndef TERN_OS_MEMORY_H
#define TERN_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "kmd/paging.h"
#include "os/mem/pages.h"
#include "os/sched/sched.h"

struct tern_allocation;
struct tern_api;
struct tern_process;

struct tern_block {
    struct tern_list node; /**< In a->here or a->away. */
    struct tern_allocation *a;
    uint32_t first, pages; /**< Of the allocation. */
    struct tern_run *runs; /**< In order of address; constant but while it is moved. */
    uint32_t *at;          /**< First page, within the block, of each run. */
    uint32_t run_count, run_capacity;
    bool resident;     /**< It is on the device and mapped. */
    uint64_t used;     /**< By dev->pager.uses: when it was brought. */
    bool on_host;      /**< hal_lock. Its bytes are on the host, not in its pages. */
    uint8_t *host;     /**< hal_lock. NULL: pages on the host read zero. */
    uint32_t *written; /**< hal_lock. A bit a page, to be joined with those of the device (D7); NULL: none. */
};

struct tern_allocation {
    const struct tern_api *api;
    struct tern_list node; /**< In proc->allocations, then proc->retired, then dev->retiring; or proc->remains. */
    struct tern_process *proc;
    uint32_t va, pages, flags;
    struct tern_block *blocks; /**< In order of address; constant once there. */
    uint32_t block_count;
    bool internal, low;
    bool counted; /**< Among proc->children: the user has not destroyed it. */
    bool gone;    /**< Its pages were given back, because its process was killed. */
    /* Residency (residency.h) */
    bool movable;     /**< May be evicted, unless pinned. */
    bool moving;      /**< The pager is about a block of it: it is not freed now. */
    uint32_t pins;    /**< tern_allocation_make_resident. */
    uint32_t taken;   /**< Pages that it has on the device. */
    uint64_t born;    /**< proc->seq when it was made: jobs that are older do not use it. */
    uint64_t used;    /**< By dev->pager.uses: when work that names it was last let go. */
    struct tern_list by_use; /**< In proc->by_use, if some of it may be evicted. */
    struct tern_list here;   /**< Blocks that are resident, in the order in which they were brought; */
    struct tern_list away;   /**< and those that are not. */
    struct { /**< How work that could run uses it: the pager's, while it decides (pager.c). */
        uint64_t decision;
        uint32_t band;
    } wanted;
    /* Retirement. The jobs are made at creation, so that it cannot fail. */
    uint64_t retire_seq, asked, begun; /**< Of its free, the numbers by dev->frees_asked and frees_begun; 0: not yet. */
    struct tern_job *unmap, *flush[TERN_ENGINES_MAX]; /**< unmap: a line for each block, and a flush. */
    uint32_t pending;
    bool failed;
};

#define TERN_FIRST_BLOCK(list) TERN_LIST_ENTRY((list)->next, struct tern_block, node)

/** The block with this page of the allocation. */
static inline struct tern_block *tern_block_of(const struct tern_allocation *a, uint32_t page)
{
    return &a->blocks[(a->va + page) / TERN_PAGES_SPAN - a->va / TERN_PAGES_SPAN];
}

/* allocation.c */
struct tern_allocation_want {
    uint64_t size;
    uint32_t flags, address;
    bool internal; /**< The driver's own, */
    bool low;      /**< but among those of the process, not at the end of its addresses. */
    bool stays;    /**< Never evicted, as the internal ones are not. */
};
int tern_allocation_make(struct tern_process *proc, const struct tern_allocation_want *want,
                         struct tern_allocation **out);
void tern_allocation_free(struct tern_allocation *a);
/** The allocation of a process that holds the page of its address space, or NULL. With dev->lock held. */
struct tern_allocation *tern_allocation_at(const struct tern_process *proc, uint32_t page);

/* block.c */
/** The blocks of an allocation that has addresses, none of them resident. -ENOMEM. */
int tern_blocks_make(struct tern_allocation *a);
void tern_blocks_free(struct tern_allocation *a);
/** Appends pages that follow those that the block has. -ENOMEM: they stay the caller's. */
int tern_block_add(struct tern_block *b, const struct tern_run *run);
/** Gives its pages back; dirty: they may have been written. */
void tern_block_give(struct tern_block *b, bool dirty);
/** Physical address of a byte of the block, and how many follow it contiguously. It has pages. */
uint64_t tern_block_physical(const struct tern_block *b, uint64_t offset, uint64_t *contiguous);
/** The same of an allocation. */
uint64_t tern_allocation_physical(const struct tern_allocation *a, uint64_t offset, uint64_t *contiguous);
/* Bytes of a block that are on the host; with dev->hal_lock held. */
void tern_block_host_read(const struct tern_block *b, uint64_t offset, void *data, uint64_t size);
/** -ENOMEM. */
int tern_block_host_write(struct tern_block *b, uint64_t offset, const void *data, uint64_t size);
/** Memory for them, once. -ENOMEM. */
int tern_block_host_make(struct tern_block *b);

/* map.c; with dev->lock held */
/** Second-level tables that a call made: a bit a region. */
struct tern_new_tables {
    uint32_t made[TERN_PAGES_SPAN / 32], dirty[TERN_PAGES_SPAN / 32];
};
/** Takes pages and a table for a block and records what maps it: pages are scrubbed, unless the host has what they are
 *  to hold; and what unmaps it, a line. -ENOSPC, -ENOMEM: nothing is taken. */
int tern_map_block(struct tern_block *b, struct tern_paging *map, struct tern_paging *unmap,
                   struct tern_new_tables *tables);
/** Records what takes a block that is mapped out of its process's tables. A line. */
void tern_map_clear(const struct tern_block *b, struct tern_paging *unmap);
/** The same of one that is to be absent: where the device can, its kernels may ask for it. A line. */
void tern_map_leave(const struct tern_block *b, struct tern_paging *unmap);
/** Records that a new block is absent, and what undoes that, a line. -ENOSPC: there is no page for a table. */
int tern_map_absent(struct tern_block *b, struct tern_paging *map, struct tern_paging *unmap,
                    struct tern_new_tables *tables);
/** Puts that line into the job that unmaps the allocation. */
void tern_map_retire_line(struct tern_block *b, const struct tern_paging *unmap);
/** All blocks of an allocation, and the flush at the end of unmap. */
int tern_map_prepare(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                     struct tern_new_tables *tables);
/** Undoes either, as long as the paging buffer was not submitted. */
void tern_map_undo_block(struct tern_block *b, const struct tern_new_tables *tables);
void tern_map_undo(struct tern_allocation *a, const struct tern_new_tables *tables);
/** Gives all pages of an allocation back, dirty. */
void tern_map_give_pages(struct tern_allocation *a);

/* retire.c; with dev->lock held */
void tern_retire(struct tern_allocation *a);
/** A buffer of the process has ended: begins the frees that waited for it. */
void tern_retire_look(struct tern_process *proc);
/** The frees that a call may wait for: those that had begun, or were asked for by its process, when it was made. */
struct tern_frees {
    struct tern_process *own;
    uint64_t asked, begun;
};
struct tern_frees tern_frees_now(struct tern_process *proc);
bool tern_frees_has(const struct tern_frees *f, const struct tern_allocation *a);
/** Waits until one of them may have ended. false: with all that they give there will not be so many
 * free pages; or none will end. */
bool tern_frees_wait(const struct tern_frees *f, uint64_t pages);
/** Pages in a row, waiting for such frees if need be. what: for the sentence. -ENOSPC, -EIO. */
int tern_retire_take(struct tern_process *proc, uint32_t count, const char *what, struct tern_run *out);

#endif
