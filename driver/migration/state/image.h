/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The image of processes: plain data from which a device of the same geometry can continue them, except the contents of
 * memory. An image has no physical address. capture.c makes an image of suspended processes, image_write.c and
 * image_read.c write it to a stream and read it, check.c validates it, restore.c makes processes of it.
 *
 *   image - memories                  what allocations map, each once
 *         - processes - allocations   address, rights, index of the memory
 *                     - contexts - jobs
 *
 * State that can be derived is left out. Page tables and lists of pages follow from allocations and save areas; DMA
 * buffers and data of chunks follow from jobs. The scheduler's waits, signals and states follow from packets and from
 * the values of fences, which are memory. Virtual runtime begins anew.
 */
#ifndef TERN_OS_MIGRATE_IMAGE_H
#define TERN_OS_MIGRATE_IMAGE_H

#include "kmd/save.h"
#include "os/state/state.h"

/** Requirements on the target device and its memory (M3). */
struct tern_image_device {
    uint32_t spec;         /**< TERN_SPEC_HASH of the source. */
    uint32_t lanes, warps, local_bytes;
    /** Number of engines that contexts name, that is the largest number named + 1; 0: none is named. */
    uint32_t engines;
    uint32_t executors;
    uint32_t granularity;
    bool page_requests;
    uint32_t resident;     /**< Pages that are always resident: fences, the driver's own memory, pinned memory. */
    /** Pages of memory that may be evicted, including pinned pages, which `resident` counts as well. */
    uint32_t committed;
    uint64_t time;         /**< Device time that the processes saw, in cycles. */
};

struct tern_image_memory {
    uint32_t slot;         /**< Number of the memory in the stream, the same in all images of one migration. */
    uint32_t pages;
    bool stays, sparse;    /**< stays: never evicted. */
    uint32_t blocks;       /**< Number of blocks of sparse memory. */
    uint32_t *committed;   /**< One bit for each block of sparse memory: the block is committed; NULL: not sparse. */
    struct tern_memory *real; /**< The memory on this device, which was captured or was made. */
    uint64_t number;       /**< Value of real->number at the capture. */
    /** Number of mappings in the image, and the page of the last one; set by tern_image_check. */
    uint32_t mappings, va;
    uint32_t *filled;      /**< On the target: one bit for each page that may not be zero; or NULL. */
};

#define TERN_IMAGE_EXPORTS 8u /**< Largest number of handles of an allocation: one for each combination of rights. */
#define TERN_IMAGE_CHUNK_WORDS 16u /**< Number of values of a chunk in the stream. */

struct tern_image_export {
    uint8_t handle[TERN_HANDLE_BYTES];
    uint32_t access;
};

struct tern_image_allocation {
    uint32_t memory;  /**< Index in image->memories; in the stream, the slot. */
    uint32_t va, flags; /**< va: number of the first page. */
    uint32_t pins;
    uint64_t born;
    bool imported, fence;
    bool retired;     /**< The allocation was destroyed, and earlier work still uses it. */
    /** proc->seq when it was destroyed, and its place in the order of destroyed allocations. */
    uint64_t retire_seq, asked;
    uint32_t export_count;
    struct tern_image_export *exports;
    struct tern_allocation *real;
};

struct tern_image_set {
    bool named;      /**< False: the job uses all memory of its process. */
    uint32_t count;
    uint32_t *address;
};

struct tern_image_job {
    uint64_t fence, seq, submitted, begin, end, cycles;
    uint32_t sent;
    struct tern_box last; /**< As tern_job.last: the part of a cut packet that was sent last. */
    bool begun, null;
    bool asks;            /**< The job runs in steps: its kernels request pages. */
    struct tern_image_set set;
    struct tern_job *job; /**< A job with packets, data and label only; NULL once it is submitted. */
};

/** A chunk that was preempted. */
struct tern_image_chunk {
    uint64_t seq, save_cycles;
    uint32_t job;    /**< Index of the job in the context. */
    uint32_t start, size, resume_at, preempted_on, preemptions;
    struct tern_box box;
    bool resume, more;
};

struct tern_image_context {
    uint32_t id;
    char name[64];
    int32_t engine;
    uint32_t weight, band;
    uint32_t arena, data; /**< Page numbers of the driver's buffers; data 0: the context has no data buffer. */
    uint64_t submitted, ended, first_bad;
    uint64_t chunks;
    int64_t estimate;
    struct tern_sched_stats stats;
    struct tern_image_set set;
    uint32_t chunk_count;
    struct tern_image_chunk chunk[TERN_HW_QUEUE];
    struct tern_save save;
    uint8_t *state;      /**< Contents of the context-save area: save.lines lines. */
    uint32_t job_count;
    struct tern_image_job *jobs;
    struct tern_context *real;
};

struct tern_image_process {
    uint32_t id;
    char name[64];
    bool error, suspended; /**< suspended: by its owner, not by the migration. */
    struct tern_fault fault;
    uint64_t seq;
    uint32_t allocation_count, context_count;
    struct tern_image_allocation *allocations; /**< In ascending order of address. */
    struct tern_image_context *contexts;
    struct tern_process *real;
};

struct tern_image {
    struct tern_image_device device;
    /** The device of a captured image, which holds a reference to each memory; NULL: the image was read. */
    struct tern_device *captured;
    uint32_t memory_count, process_count;
    uint32_t expected_memories, expected_processes; /**< Numbers that the first record announces. */
    uint32_t slots;         /**< Number of slots in use by this and earlier images; slots are numbered from 0. */
    uint32_t *index_of;     /**< Index in `memories` of each slot; UINT32_MAX: the memory is gone. */
    struct tern_image_memory *memories;
    struct tern_image_process *processes;
};

/** Frees an image, which may be NULL, and its references to memories. Takes dev->lock. */
void tern_image_free(struct tern_image *image);
/** Copies a set, which may be NULL. -ENOMEM, with a sentence. */
int tern_image_set(const struct tern_set *set, struct tern_image_set *out);

/* capture.c */
/**
 * Captures processes. With `work` they must be suspended, and the image has their contexts and jobs. Without `work`
 * they may run, and the image has memory only. The caller keeps them alive by proc->making. Takes dev->lock and
 * dev->hal_lock, and blocks. -EBUSY: a process shares memory with one that is not captured, or was resumed; -ENOMEM;
 * -EIO. Each with a sentence.
 */
int tern_capture(struct tern_process *const *procs, uint32_t n, bool work, struct tern_image **out);

/* check.c */
/** Checks that a partition of the device can take the image (M3). again: a part of the image is there from an
 *  earlier image, so the room for the rest is not checked. -EPROTO: the device differs; -ENOENT: no such partition;
 *  -ENOSPC. Each with a sentence. */
int tern_image_fits(const struct tern_image_device *need, struct tern_device *dev, const char *partition, bool again);
/** Checks that a device can have been in the state of the image. -EPROTO, with a sentence. */
int tern_image_check(struct tern_image *image, const struct tern_device *dev);

/* content.c: read or write `count` pages of a memory on whichever side has them. Take dev->hal_lock and dev->lock.
 * -ESTALE: nothing maps the memory any more */
int tern_content_read(struct tern_memory *m, uint32_t page, uint32_t count, void *data);
/** True: the free of every mapping has begun, so the memory may have no pages. Requires dev->lock. */
bool tern_content_gone(const struct tern_memory *m);
int tern_content_write(struct tern_memory *m, uint32_t page, uint32_t count, const void *data);

/* restore.c */
/** Makes the processes and allocations of an image in a partition. The processes are suspended, their memory reads
 *  zero. On failure every object that was made has its `real` set. */
struct tern_migrate_owner;
int tern_restore_space(struct tern_image *image, struct tern_device *dev, const char *partition,
                       const struct tern_migrate_owner *owner);
/** Sets the rest of the state of allocations: fences, committed blocks, handles. Called once, after the last image.
 *  -errno, with a sentence. */
int tern_restore_memory(const struct tern_image *image);
/* follow.c */
/** Gives `image` the objects that the earlier image `before` made, where they are the same, and destroys all others.
 *  Called before tern_restore_space. */
void tern_restore_follow(struct tern_image *image, struct tern_image *before);
/** Gives memories that are in `before` the slots that they have there, and all others new slots. */
void tern_image_follow(struct tern_image *image, const struct tern_image *before);
/* restore_work.c */
/** Makes contexts and jobs. Called once the memory has its contents. -errno, with a sentence. */
int tern_restore_work(struct tern_image *image);

#endif
