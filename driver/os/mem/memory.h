/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory and how processes have it:
 *
 *     process 1                       process 2
 *     allocation --------\       /--- allocation        an allocation: addresses of a process that map a memory
 *                         memory                        a memory: pages on the device, or bytes on the host
 *                [ b0 ][  b1   ][  b2  ][b3 ]            its blocks
 *
 * A *memory* is mapped by the allocation that made it and by those that import it (share.c), and lives until the last
 * of them has gone. A *block* is what a memory has of one aligned 4 MiB of addresses: what one second-level table or
 * one superpage maps, in each process that maps it. It is the unit of residency: brought and evicted by itself, with
 * its own runs of pages and bytes on the host, in all its processes at once. Smaller blocks would make superpages
 * impossible, larger ones would not: but a copy of 4 MiB is what the hal lock is held for at once. A job uses
 * allocations, so recency of use is of a memory; a block has the order in which it was brought.
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
struct tern_device;
struct tern_memory;
struct tern_partition;
struct tern_process;

struct tern_block {
    struct tern_list node; /**< In m->here or m->away. */
    struct tern_memory *m;
    uint32_t first, pages; /**< Of the memory. */
    struct tern_run *runs; /**< In order of address; constant but while it is moved. */
    uint32_t *at;          /**< First page, within the block, of each run. */
    uint32_t run_count, run_capacity;
    bool resident;     /**< It is on the device and mapped. */
    bool committed;    /**< Of sparse memory: it counts (sparse.c). */
    uint64_t used;     /**< By dev->pager.uses: when it was brought. */
    bool on_host;      /**< hal_lock. Its bytes are on the host, not in its pages. */
    uint8_t *host;     /**< hal_lock. NULL: pages on the host read zero. */
    uint32_t *written; /**< hal_lock. A bit a page, to be joined with those of the device (D7); NULL: none. */
    uint64_t changes;  /**< hal_lock. Counts its moves and writes to its bytes on the host: what no dirty bit tells. */
};

struct tern_memory {
    struct tern_device *dev;
    struct tern_partition *partition;
    uint64_t number; /**< On the device, by age: no other memory ever has it. */
    uint32_t refs; /**< Allocations, also those of which nothing but the host's memory is left; and who follows it. */
    struct tern_list mappings; /**< Allocations that map it. */
    uint32_t mapping_count;
    uint32_t leaving;          /**< Those of them of which the free has begun. */
    uint32_t pages, offset;    /**< offset: of its first page in the 4 MiB of addresses where it was made. */
    struct tern_block *blocks; /**< In order of address; constant once there. */
    uint32_t block_count;
    /* Residency (residency.h) */
    bool there;       /**< It is made, and no longer just being mapped for the first time. */
    bool movable;     /**< May be evicted, unless pinned. */
    bool sparse;      /**< Its blocks count when they are first used (sparse.c). */
    uint32_t committed; /**< Pages of it in partition->committed. */
    bool moving;      /**< The pager is about a block of it, or it is being imported: no mapping of it is freed now. */
    bool failed;      /**< Some engine may still reach its pages, which are never given to others. */
    uint32_t pins;    /**< tern_allocation_make_resident, of all mappings. */
    uint32_t taken;   /**< Pages that it has on the device. */
    uint64_t used;    /**< By dev->pager.uses: when work that names it was last let go. */
    struct tern_list by_use; /**< In proc->by_use, or partition->shared, if some of it may be evicted. */
    struct tern_list here;   /**< Blocks that are resident, in the order in which they were brought; */
    struct tern_list away;   /**< and those that are not. */
};

struct tern_allocation {
    const struct tern_api *api;
    struct tern_list node; /**< In proc->allocations, then proc->retired, then partition->retiring; or proc->remains. */
    struct tern_process *proc;
    struct tern_memory *mem;
    struct tern_list mapping; /**< In mem->mappings. */
    uint32_t va, pages, flags;
    bool internal, low;
    bool counted;  /**< Among proc->children: the user has not destroyed it. */
    bool gone;     /**< Its pages were given back, because its process was killed. */
    bool imported; /**< Another one made the memory. */
    struct tern_list exports; /**< Handles by which others may import its memory. */
    uint32_t *unseen;         /**< Pages that were reported as written to other mappings only. NULL: never shared. */
    uint32_t pins;
    uint64_t born; /**< proc->seq when it was made: jobs that are older do not use it. */
    struct {       /**< How work that could run uses it: the pager's, while it decides (victim.c). */
        uint64_t decision;
        uint32_t band;
        bool stays; /**< Some of that work has a stay. */
    } wanted;
    /* Retirement. The jobs are made at creation, so that it cannot fail. */
    uint64_t retire_seq, asked, begun; /**< Of its free, the numbers by dev->frees_asked and frees_begun; 0: not yet. */
    struct tern_job *unmap, *flush[TERN_ENGINES_MAX]; /**< unmap: a line for each block, and a flush. */
    uint32_t pending;
    bool failed;
};

#define TERN_FIRST_BLOCK(list) TERN_LIST_ENTRY((list)->next, struct tern_block, node)

/** Its first mapping; it has one. */
static inline struct tern_allocation *tern_memory_first(const struct tern_memory *m)
{
    return TERN_LIST_ENTRY(m->mappings.next, struct tern_allocation, mapping);
}

/** The block with this page of the allocation. */
static inline struct tern_block *tern_block_of(const struct tern_allocation *a, uint32_t page)
{
    return &a->mem->blocks[(a->va + page) / TERN_PAGES_SPAN - a->va / TERN_PAGES_SPAN];
}

/* allocation.c */
struct tern_allocation_want {
    uint64_t size;
    uint32_t flags, address;
    bool internal; /**< The driver's own, */
    bool low;      /**< but among those of the process, not at the end of its addresses. */
    bool stays;    /**< Never evicted, as the internal ones are not. */
    const uint8_t *handle; /**< Of the memory that it is to map, instead of a new one of a size; or NULL. */
    struct tern_memory *memory; /**< The same by the memory itself, which has another mapping that stays; or NULL. */
};
int tern_allocation_make(struct tern_process *proc, const struct tern_allocation_want *want,
                         struct tern_allocation **out);
/** What a call may ask for: -EINVAL. */
int tern_allocation_check(uint32_t flags, uint32_t address);
void tern_allocation_free(struct tern_allocation *a);
/** The allocation of a process that holds the page of its address space, or NULL. With dev->lock held. */
struct tern_allocation *tern_allocation_at(const struct tern_process *proc, uint32_t page);

/* block.c */
/** A memory for an allocation that has addresses, its first mapping; no block is resident. -ENOMEM. */
int tern_memory_make(struct tern_allocation *a, bool movable);
/** Another mapping of it. */
void tern_memory_join(struct tern_memory *m, struct tern_allocation *a);
/** A mapping less; with the last the pages are given back. */
void tern_memory_leave(struct tern_allocation *a);
/** The allocation forgets it; with the last it is freed. */
void tern_memory_drop(struct tern_allocation *a);
/** Whoever has added to refs forgets it. */
void tern_memory_release(struct tern_memory *m);
/** Appends pages that follow those that the block has. -ENOMEM: they stay the caller's. */
int tern_block_add(struct tern_block *b, const struct tern_run *run);
/** Gives its pages back; dirty: they may have been written. */
void tern_block_give(struct tern_block *b, bool dirty);
/** Gives all pages of a memory back. */
void tern_memory_give(struct tern_memory *m, bool dirty);
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
/** Bytes of the block from `offset` on, wherever they are, at most `size`: *n of them, which lie side by side; what is
 *  written commits sparse memory. -ENOMEM, -ENOSPC: not written; else the device is lost. */
int tern_block_transfer(struct tern_block *b, bool write, uint64_t offset, uint8_t *data, uint64_t size, uint64_t *n);

/* sparse.c; with dev->lock held */
/** A block of sparse memory that is not committed? */
bool tern_sparse_lacks(const struct tern_block *b);
/** Commits such a block; of others nothing is to be done. -ENOSPC, with a sentence; -EIO: its process was killed. */
int tern_sparse_commit(struct tern_block *b);
/** Commits all of a memory that is not, or nothing. -ENOSPC. */
int tern_sparse_commit_all(struct tern_memory *m);
/** The last mapping goes: what was committed no longer counts for the user. */
void tern_sparse_end(struct tern_memory *m);

/* map.c; with dev->lock held */
/** Second-level tables that a call made: a bit a region. */
struct tern_new_tables {
    uint32_t made[TERN_PAGES_SPAN / 32], dirty[TERN_PAGES_SPAN / 32];
};
/** Takes pages for a block: they are scrubbed, unless the host has what they are to hold. -ENOSPC, -ENOMEM: nothing is
 *  taken. */
int tern_map_take(struct tern_block *b, struct tern_paging *scrub);
/** Takes a table if need be, and records what maps a block in one of its processes; and what unmaps it, a line.
 *  -ENOSPC, -ENOMEM: tables may be made. */
int tern_map_enter(struct tern_allocation *a, const struct tern_block *b, struct tern_paging *map,
                   struct tern_paging *unmap, struct tern_new_tables *tables);
/** Records what takes a block that is mapped out of a process's tables. A line. */
void tern_map_clear(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *unmap);
/** The same of one that is to be absent: where the device can, its kernels may ask for it. A line. */
void tern_map_leave(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *unmap);
/** Puts that line into the job that unmaps the allocation. */
void tern_map_retire_line(struct tern_allocation *a, const struct tern_block *b, const struct tern_paging *unmap);
/** Takes pages for all of a new memory, maps it, and ends unmap with the flush. */
int tern_map_prepare(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                     struct tern_new_tables *tables);
/** Maps those blocks of a memory that are resident, or none; and ends unmap with the flush. -ENOSPC, -ENOMEM: no tables
 *  are left. */
int tern_map_resident(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                      struct tern_new_tables *tables);
/** Gives new tables back, as long as the paging buffer was not submitted. */
void tern_map_undo(struct tern_process *proc, const struct tern_new_tables *tables);

/* share.c; with dev->lock held */
#define TERN_EXPORT_BUCKETS 256u
void tern_share_init(struct tern_device *dev);
/** The memory that a handle names, if it grants the process as much as flags want. Waits until it is not being moved.
 *  -ENOENT, -EACCES, -EXDEV, with sentences. */
int tern_share_find(const struct tern_process *proc, const uint8_t *handle, uint32_t flags, struct tern_memory **out);
/** What every mapping needs to know which pages it has not reported as written yet. -ENOMEM. */
int tern_share_watch(struct tern_memory *m);
/** Pages [page, + count), of those from bit `at` of bits on, were reported to one mapping: the others have not. */
void tern_share_written(const struct tern_allocation *a, uint32_t page, uint32_t count, uint32_t at,
                        const uint32_t *bits);
/** How many handles it has; and each of them: what it gives. */
uint32_t tern_share_count(const struct tern_allocation *a);
uint32_t tern_share_get(const struct tern_allocation *a, uint32_t i, uint8_t handle[TERN_HANDLE_BYTES]);
/** A handle that it had elsewhere. -EEXIST: it names memory of this device; -ENOMEM. */
int tern_share_restore(struct tern_allocation *a, uint32_t access, const uint8_t handle[TERN_HANDLE_BYTES]);
/** Its handles name nothing any more. */
void tern_share_end(struct tern_allocation *a);

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
/** `count` pages, in as many runs (room for `count` of them), waiting for such frees if need be. what: for the
 *  sentence. -ENOSPC, -EIO. */
int tern_retire_take(struct tern_process *proc, uint32_t count, const char *what, struct tern_run *out, uint32_t *runs);

#endif
