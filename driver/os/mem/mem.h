/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Residency (A6): memories are evicted to host memory and paged in again, so that all allocations together may be
 * larger than device memory.
 *
 * Unit. A block (state/memory.h) is resident or absent in all processes that map it. While it is absent its bytes are
 * in host memory, its page-table entries are invalid, and its virtual addresses stay reserved. The driver's own memory
 * (DMA buffers, save areas, tables, fences) and pinned memory (tern_allocation_make_resident) are always resident.
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
 * in the order of lease.c. The victim is a block of the same partition:
 *   1. a block that no runnable work uses: the lowest band first, then the least recently used; of one memory the block
 *      that was paged in first;
 *   2. else a block that runnable work uses which comes later in the order of lease.c.
 * Processes whose working sets do not fit together thus alternate, and each makes progress in its lease. The price of a
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
#ifndef TERN_OS_MEM_MEM_H
#define TERN_OS_MEM_MEM_H

#include "os/state/state.h"

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
/** Allocates host memory and dirty bits for the block, if it has none. Takes dev->lock. -ENOMEM, with a sentence. */
int tern_block_host_make(struct tern_block *b);
/** Frees the bytes on the host. `host`, which may be NULL, takes their place. Requires dev->lock as well. */
void tern_block_host_set(struct tern_block *b, uint8_t *host);
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

/* dirty_query.c; requires dev->hal_lock */
/** Adds the dirty bits of contiguous pages to `bits`, from bit `at` on. clear: clears them on the device. Errors of
 *  the hal. */
int tern_dirty_query(struct tern_device *dev, uint64_t address, uint32_t pages, bool clear, uint32_t at,
                    uint32_t *bits);

/* ------------------------------------------------------------------ residency */

/** The place of a context or call that waits for memory, in the order of lease.c. */
struct tern_precedence {
    uint32_t band;   /**< Its band; FOCUS for a NORMAL context that counts as FOCUS. */
    struct tern_ticket ticket;
};

/** The result of one step of the pager. */
enum tern_outcome {
    TERN_NOTHING,
    TERN_AGAIN, /**< A block was moved, or a request has ended: the pager looks again at once. */
    TERN_LATER  /**< No block may be moved now; one may be after a round of the device thread. */
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
/** Called when all blocks that the context waited for are resident: begins its claim and its lease. */
void tern_demand_ready(struct tern_context *c);
/** True: the block is not evicted now, because runnable work requested it, or claims it, and has not run since. */
bool tern_demand_keeps(const struct tern_block *b);

/* lease.c; requires dev->lock */
/** A new ticket of a context or call that wants `pages` pages. */
struct tern_ticket tern_lease_ticket(const struct tern_process *proc, uint64_t pages);
/** Puts the ticket before all tickets of contexts and calls that have no lease yet. Called when tickets that overtook
 *  it have had tern_lease_patience pages moved. */
void tern_lease_come_first(struct tern_device *dev, struct tern_ticket *t);
/** Pages that may be moved for tickets that overtake this one. */
uint64_t tern_lease_patience(const struct tern_ticket *t);
/** The context waits for memory of the job from now on, and takes a ticket if it has none. */
void tern_lease_wait(struct tern_context *c, const struct tern_job *job);
/** A move of `pages` pages for the context has ended; 0: the context has to wait for a move. */
void tern_lease_moved(struct tern_context *c, uint64_t pages);
/** All blocks that the context waited for are resident: its lease begins, or goes on. */
void tern_lease_begin(struct tern_context *c);
/** Ends the ticket of a context that is neither runnable nor waits for memory. */
void tern_lease_end(struct tern_context *c);
/** The place in the order of a context that waits for memory. */
struct tern_precedence tern_lease_precedence(const struct tern_context *c);
/** True: `a` is served before `b`. */
bool tern_lease_before(const struct tern_precedence *a, const struct tern_precedence *b);
/** True: blocks that work of the context uses may not be evicted for a context or call that has this
 *  precedence. */
bool tern_lease_keeps(const struct tern_context *c, const struct tern_precedence *precedence);
/** Length of the context's lease, in cycles that it runs. */
uint64_t tern_lease_length(const struct tern_context *c);
/** Device time, in cycles, after which the lease ends although the context has not run for its length. */
uint64_t tern_lease_bound(const struct tern_context *c);
/** Cycles that the context has run, including its run on an engine now. */
uint64_t tern_lease_ran(const struct tern_context *c);
/** True: FOCUS has run for eight leases in the partition, and the next NORMAL context counts as FOCUS. The
 *  count of FOCUS then begins anew. */
bool tern_lease_boost(struct tern_device *dev, struct tern_partition *part);

/* steps.c; requires dev->lock */
/** For a job that runs in steps: chooses its next chunk (job->cut), unless a requeued chunk comes first, and sets
 *  job->needs for that chunk and those on an engine. */
void tern_steps_plan(struct tern_context *c, struct tern_job *job);
/** Pages of the largest step of the job. A copy or fill of more than `enough` pages counts as its least part,
 *  because it can be cut. */
uint64_t tern_steps_largest(const struct tern_process *proc, const struct tern_job *job, uint64_t enough);

#endif
