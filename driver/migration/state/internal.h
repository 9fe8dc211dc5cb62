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
#ifndef TERN_MIGRATION_STATE_INTERNAL_H
#define TERN_MIGRATION_STATE_INTERNAL_H

#include "kmd/save.h"
#include "migration/state/migrate.h"
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

/* ---------------------------------------------------------------------- image_write.c, image_read.c */

/*
 * An image as records of a migration stream, in this order:
 *
 *   device
 *   memory ...                              in ascending order of slot
 *   process, of each:
 *       mapping ...                         in ascending order of address
 *       context, of each: [state] job ...   in order of submission
 */

/** Writes all records of an image. Errors of the stream; -ENOMEM. */
int tern_image_write(const struct tern_image *image, struct tern_stream *s);
/** Reads the first record of a stream into a new image, and checks that the device can take the image. The caller
 *  owns *out, also on failure if it is set. -EPROTO, -ENOENT, -ENOSPC, -ENOMEM. */
int tern_image_read_device(struct tern_stream *s, struct tern_device *dev, const char *partition,
                           struct tern_image **out);
/** As tern_image_read_device for a later image, whose device record was just read. before: the earlier image. */
int tern_image_read_again(struct tern_stream *s, struct tern_device *dev, const char *partition,
                          const struct tern_image *before, struct tern_image **out);
/** Reads the other records, up to the first record that belongs to no image: *next is its type, or 0 at the end of
 *  the stream. The image stays the caller's on failure. */
int tern_image_read(struct tern_image *image, struct tern_stream *s, const struct tern_device *dev, uint32_t *next);

/* ---------------------------------------------------------------------- sender.c */

/**
 * Sends the contents of memories to a stream, any number of times: each time only pages that have changed since they
 * were sent. Changed are pages whose dirty bit is set in a memory basis. The bit is cleared before the page is copied,
 * so that a later write is sent the next time (D2). All pages of a block count as changed if the block moved between
 * device and host, or was written on the host.
 */
struct tern_sender {
    struct tern_device *dev;
    struct tern_stream *stream;
    bool follows;      /* there is a basis, which records writes */
    uint64_t basis;
    uint64_t sent;     /* pages given to the stream, including zero pages */
    uint32_t count;
    struct tern_sender_memory {
        struct tern_memory *m;
        uint64_t *changes; /* b->changes of each block when it was last sent; UINT64_MAX: never sent */
    } *memories;       /* indexed by slot */
    void *buffer;
};

/** Makes a sender that sends all pages each time. -ENOMEM. */
int tern_sender_begin(struct tern_device *dev, struct tern_stream *s, struct tern_sender **out);
/** Starts to record writes. -ENOTSUP: a dirty bit of the device covers more than 4 KiB; -ENOMEM; errors of the hal.
 *  Takes dev->hal_lock. */
int tern_sender_follow(struct tern_sender *v);
/** Adds a memory as the next slot, with a reference until the end. Requires dev->lock. -ENOMEM. */
int tern_sender_add(struct tern_sender *v, struct tern_memory *m);
/** Sends the changed pages of a block; none if the memory is gone. Errors of the stream and the hal. */
int tern_sender_send(struct tern_sender *v, uint32_t slot, uint32_t block);
/** Counts the pages that have changed since they were sent. */
int tern_sender_left(struct tern_sender *v, uint64_t *pages);
void tern_sender_end(struct tern_sender *v);

/* ---------------------------------------------------------------------- save.c, and rounds.c during the brownout */

/** The source side of a migration. */
struct tern_saving {
    struct tern_device *dev;
    struct tern_sender *sender; /* sender of the stream that is written; NULL: none is */
    struct tern_image *image;   /* the image that was last written to the stream */
    struct tern_sched_cap cap;  /* the cap of all processes during the brownout */
    uint32_t n;
    struct tern_saved {
        struct tern_process *proc;
        bool was; /* its owner had suspended the process before */
    } saved[];
};

/** Takes the processes into a new saving. proc->making keeps them alive until tern_migrate_go_on or
 *  tern_migrate_end. -EIO, -ENOMEM. */
int tern_saving_open(struct tern_process *const *procs, uint32_t n, struct tern_saving **out);
/** Suspends (`all`) or resumes the processes that were not suspended before. -EIO. */
int tern_saving_suspend(struct tern_saving *m, bool all);
/** Begin a stream to which nothing was written yet, and end it. */
int tern_saving_begin(struct tern_saving *m, struct tern_stream *s);
void tern_saving_end(struct tern_saving *m);
/** Writes an image, of memory only or (work) of everything. The memories get slots of the sender. */
int tern_saving_image(struct tern_saving *m, bool work, struct tern_stream *s);

/* ---------------------------------------------------------------------- end.c: both sides; they take dev->lock */

/** Drops the completions of the process that have not been delivered, and delivers no more: its work goes on
 *  elsewhere, or was never submitted. */
void tern_migrate_silence(struct tern_process *proc);
/** Kills and destroys a process that was made by a migration and has not run. proc may be NULL. */
void tern_migrate_discard(struct tern_process *proc);

#endif
