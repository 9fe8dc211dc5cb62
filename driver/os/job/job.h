/* SPDX-License-Identifier: Apache-2.0 */
/** Jobs (DMA buffers), of users and of the driver itself. */
#ifndef TERN_OS_JOB_JOB_H
#define TERN_OS_JOB_JOB_H

#include "os/state/state.h"

/* job.c; requires dev->lock, unless the job is not submitted */
/** Make a job from copies of packets, data and label (may be NULL). NULL: no memory. */
struct tern_job *tern_job_create(const void *packets, uint32_t size, const char *label);
struct tern_job *tern_job_create_data(const void *packets, uint32_t size, const void *data, uint32_t data_size,
                                      const char *label);
/** Makes room for the scheduler's index of the job's fence_signals, by which a context that waits for a fence lends
 *  the job its band. False: no memory. */
bool tern_job_make_room(struct tern_job *job);
void tern_job_free(struct tern_job *job);
/** Drops a reference to a set, which may be NULL. The last one frees it. */
void tern_set_release(struct tern_set *set);

/* paging.c; requires dev->lock */
/** The first paging buffer of an engine: it flushes translations of an earlier owner and makes the context-save area
 *  valid. NULL: no memory. */
struct tern_job *tern_job_clean(struct tern_device *dev, uint32_t engine);
/** Queues a paging job on an engine. job->done takes the job when it ends. The device must not be lost. */
void tern_paging_submit(struct tern_device *dev, uint32_t engine, struct tern_job *job);
/** Engine for the process's next change of page tables. Changes that have not ended stay on one engine, in order. */
uint32_t tern_paging_engine(struct tern_process *proc);
/** Runs a paging buffer to its end; releases dev->lock meanwhile. -ENOMEM: nothing ran; -EIO: it may have run in
 *  part. */
int tern_paging_run(struct tern_process *proc, struct tern_paging *p, const char *label);
/** As tern_paging_run, for a job, which it frees. 0 or -EIO. */
int tern_paging_run_job(struct tern_process *proc, struct tern_job *job);
/** Runs the jobs, one on each engine, to their ends; releases dev->lock meanwhile. -EIO. */
int tern_paging_run_all(struct tern_device *dev, struct tern_job **jobs);

/* data.c */
/** Copies the packets of a chunk as its engine needs them: offsets into the data become addresses. */
void tern_data_resolve(const struct tern_chunk *s, uint32_t *out);

/* box.c; requires no lock */
/**
 * The boxes of copy and fill packets. A box is three-dimensional: bytes of a row, rows of a slice, slices. A *part* of
 * it is also a box: some bytes of one row, some whole rows of one slice, or some whole slices. Several packets, one for
 * each part, have the same effect as the whole packet. Parts follow each other in the order of slice, row, byte.
 * Addresses wrap at 2^32, so a stride may be negative.
 *
 * Example: a copy of 100 bytes x 8 rows x 2 slices is cut after 3 rows. The parts, as (byte, row, slice):
 *
 *     part   begins at   size
 *     1      0, 0, 0     100 x 3 x 1
 *     2      0, 3, 0     100 x 5 x 1
 *     3      0, 0, 1     100 x 8 x 1
 */

/** The source or destination of a packet. */
struct tern_side {
    uint32_t at, row, slice; /**< Address of the first byte, and strides in bytes between rows and between slices. */
};

/** The bytes that a copy or fill packet accesses. */
struct tern_boxes {
    struct tern_side side[2];
    uint32_t sides;
    uint32_t size[3]; /**< Bytes of a row, rows of a slice, slices. */
};

/** Reads the boxes of a packet. False: the packet is no copy or fill, is malformed, or has a size of 0. */
bool tern_boxes_of(uint32_t opcode, const uint32_t *packet, struct tern_boxes *out);
/** The part that is the whole box. */
struct tern_box tern_box_all(const struct tern_boxes *b);
/** The addresses [*first, *end) that enclose a part of a side. False: the addresses wrap, so the part may be
 *  anywhere. */
bool tern_box_span(const struct tern_side *side, const struct tern_box *part, uint64_t *first, uint64_t *end);
/** Begin of the part that follows this one. False: this part is the last. */
bool tern_box_behind(const struct tern_boxes *b, const struct tern_box *part, uint32_t from[3]);
/** Number of bytes from `from` on up to the end of the row, or to the next address that is a multiple of `unit` on
 *  any side, whichever comes first. */
uint32_t tern_box_row_piece(const struct tern_boxes *b, const uint32_t from[3], uint32_t unit);
/** Changes the packet so that it executes the part only. */
void tern_box_apply(const struct tern_box *part, uint32_t opcode, uint32_t *packet);

#endif
