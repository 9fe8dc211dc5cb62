/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes as plain data: all that another device of the same geometry needs, so that they go on there, but for the
 * contents of their memory. No physical address is in it. capture.c makes one from processes that are suspended,
 * image_write.c and image_read.c take it to a stream and back, check.c says whether it can be, restore.c makes
 * processes of it.
 *
 *     image - memories                  what allocations map, each once
 *           - processes - allocations   address, rights, which memory
 *                       - contexts - jobs
 *
 * What is not in it follows from the rest: page tables and lists of pages from allocations and save areas; the buffers
 * of the driver (DMA buffers and data of a chunk) from jobs; what the scheduler knows of waits, signals and states from
 * packets and from the values of fences, which are memory. Virtual runtime begins anew.
 */
#ifndef TERN_OS_MIGRATE_IMAGE_H
#define TERN_OS_MIGRATE_IMAGE_H

#include "kmd/save.h"
#include "os/os.h"

/** What the device must be, and what it must have (M3). */
struct tern_image_device {
    uint32_t spec;         /**< TERN_SPEC_HASH. */
    uint32_t lanes, warps, local_bytes;
    uint32_t engines;      /**< As many as contexts name: 0, none names one. */
    uint32_t executors;
    uint32_t granularity;
    bool page_requests;
    uint32_t resident;     /**< Pages that never leave the device: fences, the driver's, pinned memory. */
    uint32_t committed;    /**< Pages that may be evicted, or are pinned: these are in both. */
    uint64_t time;         /**< Device time as processes were told it. */
};

struct tern_image_memory {
    uint32_t slot;         /**< Its number in the stream: the same in a later image of the same processes. */
    uint32_t pages;
    bool stays, sparse;    /**< stays: never evicted. */
    uint32_t blocks;       /**< Of sparse memory, */
    uint32_t *committed;   /**< a bit for each: it is committed. NULL: not sparse. */
    struct tern_memory *real; /**< On this device: what was captured, or what was made. */
    uint64_t number;       /**< Of `real`, where it was captured. */
    uint32_t mappings, va; /**< How many there are, and the page of the last: found by tern_image_check. */
    uint32_t *filled;      /**< While it is filled: a bit for each page that may not be zero; or NULL. */
};

#define TERN_IMAGE_EXPORTS 8u     /**< Of an allocation: rights differ. */
#define TERN_IMAGE_CHUNK_WORDS 16u /**< Fields of a chunk. */

struct tern_image_export {
    uint8_t handle[TERN_HANDLE_BYTES];
    uint32_t access;
};

struct tern_image_allocation {
    uint32_t memory;  /**< Index; in the stream, the slot. */
    uint32_t va, flags; /**< va: page. */
    uint32_t pins;
    uint64_t born;
    bool imported, fence;
    bool retired;     /**< It was destroyed, and lives as long as earlier work: */
    uint64_t retire_seq, asked; /**< up to this; and the order of such frees. */
    uint32_t export_count;
    struct tern_image_export *exports;
    struct tern_allocation *real;
};

struct tern_image_set {
    bool named;      /**< Else all of the process is used. */
    uint32_t count;
    uint32_t *address;
};

struct tern_image_job {
    uint64_t fence, seq, submitted, begin, end, cycles;
    uint32_t sent;
    struct tern_box last; /**< As the job has it. */
    bool begun, null;
    bool asks;            /**< Its kernels ask for their pages. */
    struct tern_image_set set;
    struct tern_job *job; /**< Packets, data and label, and nothing else yet; NULL once it is submitted. */
};

/** A chunk that left an HW queue before its end. */
struct tern_image_chunk {
    uint64_t seq, save_cycles;
    uint32_t job;    /**< Index. */
    uint32_t start, size, resume_at, preempted_on, preemptions;
    struct tern_box box;
    bool resume, more;
};

struct tern_image_context {
    uint32_t id;
    char name[64];
    int32_t engine;
    uint32_t weight, band;
    uint32_t arena, data; /**< Pages of addresses; data 0: it takes none. */
    uint64_t submitted, ended, first_bad;
    uint64_t chunks;
    int64_t estimate;
    struct tern_sched_stats stats;
    struct tern_image_set set;
    uint32_t chunk_count;
    struct tern_image_chunk chunk[TERN_HW_QUEUE];
    struct tern_save save;
    uint8_t *state;      /**< save.lines lines. */
    uint32_t job_count;
    struct tern_image_job *jobs;
    struct tern_context *real;
};

struct tern_image_process {
    uint32_t id;
    char name[64];
    bool error, suspended; /**< suspended: by its owner. */
    struct tern_fault fault;
    uint64_t seq;
    uint32_t allocation_count, context_count;
    struct tern_image_allocation *allocations; /**< Lowest address first. */
    struct tern_image_context *contexts;
    struct tern_process *real;
};

struct tern_image {
    struct tern_image_device device;
    struct tern_device *captured; /**< Its memories are kept until it is freed, even if nothing maps them; or NULL. */
    uint32_t memory_count, process_count;
    uint32_t expected_memories, expected_processes; /**< While it is read. */
    uint32_t slots;         /**< That this and earlier images have: they are numbered from 0. */
    uint32_t *index_of;     /**< A memory's index by its slot; UINT32_MAX: it is gone. */
    struct tern_image_memory *memories;
    struct tern_image_process *processes;
};

void tern_image_free(struct tern_image *image);
/** A copy of a set. -ENOMEM. */
int tern_image_set(const struct tern_set *set, struct tern_image_set *out);

/* capture.c */
/** Of processes that are suspended and that no call changes; each is `making` something. work false: of their memory
 *  only, while they run. -EBUSY: memory that a process has is shared with one that is not among them; -ENOMEM; -EIO. */
int tern_capture(struct tern_process *const *procs, uint32_t n, bool work, struct tern_image **out);

/* check.c */
/** Can a partition of the device take it (M3)? again: some of it is here by an earlier image, so that the partition has
 *  less left; whether there is room for the rest is seen when it is made. -EPROTO: it is another device; -ENOENT: no
 *  partition; -ENOSPC. */
int tern_image_fits(const struct tern_image_device *need, struct tern_device *dev, const char *partition, bool again);
/** Is it one that a device could have been in? -EPROTO. */
int tern_image_check(struct tern_image *image, const struct tern_device *dev);

/* content.c: bytes of a memory, wherever they are. -ESTALE: nothing maps it any more */
int tern_content_read(struct tern_memory *m, uint32_t page, uint32_t count, void *data);
/** It may have no pages any more. With dev->lock held. */
bool tern_content_gone(const struct tern_memory *m);
int tern_content_write(struct tern_memory *m, uint32_t page, uint32_t count, const void *data);

/* restore.c */
/** Makes processes in a partition, and their memory, which reads zero; suspended. On failure what was made has a
 *  `real`. */
struct tern_migrate_owner;
int tern_restore_space(struct tern_image *image, struct tern_device *dev, const char *partition,
                       const struct tern_migrate_owner *owner);
/** What memory is besides, once no other image will come. */
int tern_restore_memory(const struct tern_image *image);
/* follow.c */
/** What an earlier image of the same processes became is what `image` has, where that is the same; the rest goes.
 *  Before tern_restore_space. */
void tern_restore_follow(struct tern_image *image, struct tern_image *before);
/** Memories that an earlier image has keep its slots, the others get new ones. */
void tern_image_follow(struct tern_image *image, const struct tern_image *before);
/* restore_work.c */
/** Their contexts and work, once the memory has its contents. */
int tern_restore_work(struct tern_image *image);

#endif
