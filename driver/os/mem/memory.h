/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memories, their blocks, and the allocations by which processes map them:
 *
 *     process 1                       process 2
 *     allocation --------\       /--- allocation        virtual pages of one process that map a memory
 *                         memory                        pages on the device, or bytes on the host
 *                [ b0 ][  b1   ][  b2  ][b3 ]           blocks of the memory
 *
 * A *memory* is mapped by the allocation that made it and by allocations that import it (share.c). The last of them
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
 * Locks: `dev->lock` guards all fields below, unless a field's comment names `dev->hal_lock`. Functions require what
 * the heading above them says.
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
    struct tern_list node; /**< Node of m->here or m->away. */
    struct tern_memory *m;
    uint32_t first, pages; /**< The first page, counted from the start of the memory, and the number of pages. */
    /** Runs of device pages, in order of address. The runs change only while the block is mapped for the first time,
     *  moves or is freed. */
    struct tern_run *runs;
    uint32_t *at;          /**< First page of each run, counted from the start of the block. */
    uint32_t run_count, run_capacity;
    bool resident;     /**< The block has device pages, and they are mapped. */
    bool committed;    /**< Of sparse memory: the block counts in m->committed (sparse.c). */
    uint64_t used;     /**< Value of dev->pager.uses when the block last became resident or absent. */
    bool on_host; /**< The bytes of the block are on the host, not in its device pages. Guarded by `dev->hal_lock`. */
    /** Bytes on the host; NULL: the block reads zero while it is on the host. Guarded by `dev->hal_lock`. */
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
    uint32_t leaving;          /**< Number of mappings whose free has begun (retire.c). */
    /** Size in pages; and the first page's distance, in pages, from a multiple of 4 MiB where the memory was made. */
    uint32_t pages, offset;
    struct tern_block *blocks; /**< Blocks in order of address; the array does not change. */
    uint32_t block_count;
    /* Residency (residency.h) */
    bool there;       /**< The first allocation is complete. */
    bool movable;     /**< Blocks may be evicted while `pins` is 0. */
    bool sparse;      /**< A block is committed when it is first used (sparse.c). */
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
    struct tern_list exports; /**< Handles by which other processes may import the memory (share.c). */
    /** Dirty pages that were reported to other mappings but not to this one, one bit a page; NULL: the memory was
     *  never shared. */
    uint32_t *unseen;
    uint32_t pins;
    /** Value of proc->seq when the allocation was made: jobs with a smaller number do not use it. UINT64_MAX: being
     *  made. */
    uint64_t born;
    struct {       /**< How runnable work uses the allocation, valid for one decision of the pager (victim.c). */
        uint64_t decision;
        uint32_t band;
        bool stays; /**< Some of that work is in its stay (stay.c). */
    } wanted;
    /* Freeing (retire.c). The jobs are made with the allocation, so that a free cannot fail. */
    /** The free's proc->seq, and its numbers in dev->frees_asked and dev->frees_begun; 0: not asked, not begun. */
    uint64_t retire_seq, asked, begun;
    struct tern_job *unmap, *flush[TERN_ENGINES_MAX]; /**< unmap has one packet line for each block, then a flush. */
    uint32_t pending;
    bool failed;
};

#define TERN_FIRST_BLOCK(list) TERN_LIST_ENTRY((list)->next, struct tern_block, node)

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

/* allocation.c */
struct tern_allocation_want {
    uint64_t size;
    uint32_t flags, address;
    bool internal; /**< The driver's own, placed at the end of the address space unless `low`. */
    bool low;      /**< Placed among the allocations of the user. */
    bool stays;    /**< Never evicted; internal allocations never are. */
    const uint8_t *handle; /**< Handle of the memory to map, instead of a new memory of `size` bytes; or NULL. */
    struct tern_memory *memory; /**< The memory to map, which another mapping keeps alive during the call; or NULL. */
};
/** Makes an allocation and maps it. Evicts, and waits for frees, if memory is lacking. Takes dev->lock and blocks.
 *  Errors of tern_allocation_create, with a sentence. */
int tern_allocation_make(struct tern_process *proc, const struct tern_allocation_want *want,
                         struct tern_allocation **out);
/** Checks flags and address of a call. -EINVAL, with a sentence. */
int tern_allocation_check(uint32_t flags, uint32_t address);
/** Frees the structure of an allocation that maps nothing. Requires dev->lock if it has a memory. */
void tern_allocation_free(struct tern_allocation *a);
/** The allocation that holds a page of the process's address space, or NULL. Requires dev->lock. */
struct tern_allocation *tern_allocation_at(const struct tern_process *proc, uint32_t page);

/* block.c; requires dev->lock, unless a comment says otherwise */
/** Makes a memory, with no resident block, for an allocation that has addresses and becomes its first mapping.
 *  -ENOMEM. */
int tern_memory_make(struct tern_allocation *a, bool movable);
/** Adds a mapping and a reference. */
void tern_memory_join(struct tern_memory *m, struct tern_allocation *a);
/** Removes a mapping. The last one gives the pages back, unless some engine may still reach them. */
void tern_memory_leave(struct tern_allocation *a);
/** Releases the allocation's reference, if it has one. */
void tern_memory_drop(struct tern_allocation *a);
/** Drops a reference. The last one frees the memory. */
void tern_memory_release(struct tern_memory *m);
/** Appends a run of pages to those of the block. -ENOMEM: the run stays the caller's. */
int tern_block_add(struct tern_block *b, const struct tern_run *run);
/** Gives the pages of the block back. dirty: the pages may not read zero. */
void tern_block_give(struct tern_block *b, bool dirty);
/** As tern_block_give, for all blocks. */
void tern_memory_give(struct tern_memory *m, bool dirty);
/** Physical address of a byte of a block that has pages, and the number of bytes from there on that are contiguous.
 *  Requires dev->lock or dev->hal_lock. */
uint64_t tern_block_physical(const struct tern_block *b, uint64_t offset, uint64_t *contiguous);
/** As tern_block_physical, for a byte of an allocation. */
uint64_t tern_allocation_physical(const struct tern_allocation *a, uint64_t offset, uint64_t *contiguous);
/* Access to the bytes of a block that are on the host. Requires dev->hal_lock, and offset + size within the block. */
void tern_block_host_read(const struct tern_block *b, uint64_t offset, void *data, uint64_t size);
/** Sets the dirty bits of the pages that it writes. -ENOMEM. */
int tern_block_host_write(struct tern_block *b, uint64_t offset, const void *data, uint64_t size);
/** Allocates host memory and dirty bits for the block, if it has none. -ENOMEM, with a sentence. */
int tern_block_host_make(struct tern_block *b);
/** Reads or writes *n <= size bytes from `offset` on, on the side that has them, as far as they are contiguous. A
 *  write to the host side commits a block of sparse memory. Requires dev->hal_lock, not dev->lock. -ENOMEM, -ENOSPC:
 *  nothing was written. Any other error: the device is lost. */
int tern_block_transfer(struct tern_block *b, bool write, uint64_t offset, uint8_t *data, uint64_t size, uint64_t *n);

/* sparse.c; requires dev->lock */
/** True: the block belongs to sparse memory and is not committed. */
bool tern_sparse_lacks(const struct tern_block *b);
/** Commits the block, if tern_sparse_lacks. -ENOSPC, with a sentence; -EIO: the process was killed. */
int tern_sparse_commit(struct tern_block *b);
/** Commits all blocks of a sparse memory, or none. -ENOSPC, with a sentence. */
int tern_sparse_commit_all(struct tern_memory *m);
/** Gives what is committed back to the account of the user. Called when the last mapping of the memory ends. */
void tern_sparse_end(struct tern_memory *m);

/* map.c; requires dev->lock */
/** Second-level tables that a call made, one bit for each 4 MiB; `dirty` marks tables whose page was dirty. */
struct tern_new_tables {
    uint32_t made[TERN_PAGES_SPAN / 32], dirty[TERN_PAGES_SPAN / 32];
};
/** Takes device pages for a block, and records the scrub of dirty ones unless bytes of the host will replace them.
 *  -ENOSPC, -ENOMEM: no page is taken. */
int tern_map_take(struct tern_block *b, struct tern_paging *scrub);
/** Records in `map` how the block is mapped in the process of `a`, and in `unmap` one packet line that unmaps it.
 *  Takes a page for a second-level table if there is none. -ENOSPC, -ENOMEM: the caller undoes with tern_map_undo. */
int tern_map_enter(struct tern_allocation *a, const struct tern_block *b, struct tern_paging *map,
                   struct tern_paging *unmap, struct tern_new_tables *tables);
/** Records one packet line that clears all entries of the block in the process of `a`. */
void tern_map_clear(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *unmap);
/** Records one packet line that makes the entries of the block absent. On a device with page requests, kernels that
 *  access it ask for the page; on others they fault. */
void tern_map_leave(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *unmap);
/** Replaces the packet line of this block in a->unmap. */
void tern_map_retire_line(struct tern_allocation *a, const struct tern_block *b, const struct tern_paging *unmap);
/** Takes pages for all blocks of a new memory and records how they are mapped; `unmap` ends with a flush. -ENOSPC,
 *  -ENOMEM: nothing is taken. */
int tern_map_prepare(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                     struct tern_new_tables *tables);
/** Records how those blocks that are resident are mapped; `unmap` ends with a flush. -ENOSPC, -ENOMEM: no table is
 *  left. */
int tern_map_resident(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                      struct tern_new_tables *tables);
/** Gives the pages of new tables back. Allowed only if the paging buffer was not submitted. */
void tern_map_undo(struct tern_process *proc, const struct tern_new_tables *tables);

/* share.c; requires dev->lock */
#define TERN_EXPORT_BUCKETS 256u
/** Empties the table of handles of a device that is being opened. Needs no lock. */
void tern_share_init(struct tern_device *dev);
/** Finds the memory that a handle names, if the handle grants the access in `flags`. Waits, without the lock, until
 *  the memory is not being moved. -ENOENT, -EACCES, -EXDEV, with a sentence. */
int tern_share_find(const struct tern_process *proc, const uint8_t *handle, uint32_t flags, struct tern_memory **out);
/** Gives every mapping its `unseen` bits, if it has none. -ENOMEM. */
int tern_share_watch(struct tern_memory *m);
/** Marks pages [page, page + count), whose dirty bits in `bits` from bit `at` on were reported to mapping `a`, as
 *  not yet reported to the other mappings. */
void tern_share_written(const struct tern_allocation *a, uint32_t page, uint32_t count, uint32_t at,
                        const uint32_t *bits);
/** Number of handles of an allocation; and the i-th handle, for which the access that it grants is returned. */
uint32_t tern_share_count(const struct tern_allocation *a);
uint32_t tern_share_get(const struct tern_allocation *a, uint32_t i, uint8_t handle[TERN_HANDLE_BYTES]);
/** Exports the allocation by a handle from a checkpoint. -EEXIST: the handle names memory of this device; -ENOMEM. */
int tern_share_restore(struct tern_allocation *a, uint32_t access, const uint8_t handle[TERN_HANDLE_BYTES]);
/** Frees all handles of an allocation. */
void tern_share_end(struct tern_allocation *a);

/* retire.c; requires dev->lock */
void tern_retire(struct tern_allocation *a);
/** Begins those frees of the process that no job delays any more. Called when a job of the process has ended. */
void tern_retire_look(struct tern_process *proc);
/** The frees that a call may wait for: those that had begun, and those that its process had asked for, when the call
 *  began. */
struct tern_frees {
    struct tern_process *own;
    uint64_t asked, begun;
};
struct tern_frees tern_frees_now(struct tern_process *proc);
bool tern_frees_has(const struct tern_frees *f, const struct tern_allocation *a);
/** Waits until a free of the set may have ended; releases dev->lock meanwhile. False: all these frees together do
 *  not give `pages` free pages, or none of them will end. */
bool tern_frees_wait(const struct tern_frees *f, uint64_t pages);
/** Takes `count` pages in *runs runs; `out` has room for `count` runs. Waits for frees and evicts if that can help,
 *  and releases dev->lock meanwhile. `what` names the pages in the sentence. -ENOSPC, -EIO. */
int tern_retire_take(struct tern_process *proc, uint32_t count, const char *what, struct tern_run *out, uint32_t *runs);

#endif
