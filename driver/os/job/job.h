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

#endif
