/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler: decides which buffer an engine runs next (C3, C4), and knows nothing of registers or memory.
 *
 * Model. A context's jobs (DMA buffers) run in order. What goes to an HW queue is a *slice*: packets of a job up to the
 * next fence_wait, at most TERN_SLICE_BYTES. Slices give three things for one mechanism: a wait that is not satisfied
 * keeps no engine (S3), device memory for buffers is bounded while SW queues are not (C2), and long buffers share.
 * Fairness per engine is by virtual time in measured engine cycles: first among processes, all alike, then among the
 * contexts of the process by weight. What is in flight is charged by estimate and corrected when it ends; who wakes up
 * starts at the present, so sleep earns nothing. Processes marked `system` (paging) come first.
 * Preemption is at packet boundaries: after `quantum` cycles if somebody else wants the engine. A cut job goes on at the
 * packet that the indication names, so no executor state needs to be restored.
 * Timeout, until preemption within a kernel exists: a slice that runs longer than `timeout` is asked to stop at a packet
 * boundary, and if it does not within timeout / 16 the engine is reset and the front job's process is in error (F3).
 *
 * Alternative dropped: handing whole jobs to engines and preempting those that wait. It needs a context-save round trip
 * for every wait, and two engines waiting for each other's queued work would have to be found and untangled.
 *
 * Locks: none; the owner serialises. No function blocks, except as its operations do.
 */
#ifndef TERN_OS_SCHED_H
#define TERN_OS_SCHED_H

#include "base/list.h"
#include "kmd/kmd.h"

#define TERN_SLICE_BYTES (16384u - TERN_PKT_LINE_BYTES)
#define TERN_QUANTUM_DEFAULT (1ull << 20)

struct tern_job;

/** What the scheduler knows of a process. */
struct tern_sched_process {
    bool system; /**< Paging: before all others, never in error. */
    bool error;  /**< Its jobs are aborted. */
    int64_t vtime[TERN_ENGINES_MAX], floor[TERN_ENGINES_MAX];
    uint32_t live[TERN_ENGINES_MAX]; /**< Contexts that could run or are running. */
};

/** Of a context. Its list holds all jobs that have not ended, oldest first. */
struct tern_sched_context {
    struct tern_sched_process *process;
    struct tern_list node; /**< In its engine's list while it has jobs. */
    struct tern_list jobs;
    struct tern_job *next; /**< The job that the next slice is cut from; NULL: all is in flight. */
    uint32_t engine, weight, inflight, slot;
    bool live, runnable;
    int64_t vtime, estimate;
};

struct tern_job {
    struct tern_list node;
    struct tern_sched_context *context;
    uint32_t size, sent; /**< Bytes; sent: already cut into slices. */
    bool begun;
    enum tern_result result;
    uint64_t submitted, begin, end, cycles;
    uint64_t fence, seq; /**< The owner's: fence id in the context, order in the process. */
    void (*done)(struct tern_job *job); /**< The owner's: how an internal job ends. */
    void *user;
    const char *label;
    uint32_t packets[];
};

/** A piece of a job, in an HW queue. */
struct tern_slice {
    struct tern_sched_context *context;
    struct tern_job *job;
    uint32_t start, size, slot; /**< Bytes; slot alternates 0, 1 within a context: one of two places for the packets. */
    uint32_t packets;
    int64_t charged;
    uint64_t id; /**< Fence id in the HW queue. */
};

/** How engines are driven. Each gives 0 or -errno; an errno means that the device is lost. */
struct tern_sched_ops {
    int (*submit)(void *user, uint32_t engine, const struct tern_slice *slice);
    int (*poll)(void *user, uint32_t engine, struct tern_indication *out); /**< 1: taken. Offsets are within the slice. */
    int (*preempt)(void *user, uint32_t engine);
    int (*reset)(void *user, uint32_t engine);
    int (*time)(void *user, uint64_t *now);
    /** 1 if the fence_wait packet is satisfied, or can only be judged by the engine; 0 if it is to wait. */
    int (*satisfied)(void *user, const struct tern_sched_context *context, const uint32_t *packet);
    /** The job's process has just gone into error. ind: the fault, or NULL after a timeout. */
    void (*fault)(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind);
};

struct tern_sched_engine {
    struct tern_list contexts;
    struct tern_slice inflight[TERN_HW_QUEUE];
    uint32_t n;
    bool stopping; /**< A preemption is under way: nothing is submitted until it has emptied the HW queue. */
    bool timed_out;
    uint64_t next_id, front_since, stop_since, resets, preemptions;
    int64_t floor;
};

struct tern_sched {
    const struct tern_sched_ops *ops;
    void *user;
    uint32_t engines;
    uint64_t timeout, quantum, now;
    struct tern_list ended;
    struct tern_sched_engine engine[TERN_ENGINES_MAX];
};

void tern_sched_init(struct tern_sched *s, const struct tern_sched_ops *ops, void *user, uint32_t engines, uint64_t timeout,
                     uint64_t quantum);
void tern_sched_context_init(struct tern_sched_context *c, struct tern_sched_process *p, uint32_t engine, uint32_t weight);
/** Appends a job; it comes back through tern_sched_ended, in order within its context. */
void tern_sched_submit(struct tern_sched *s, struct tern_sched_context *c, struct tern_job *job);
/** Takes indications, judges timeouts, fills HW queues. 0, or -errno: the device is lost. */
int tern_sched_run(struct tern_sched *s);
/** Some job has not ended. */
bool tern_sched_pending(const struct tern_sched *s);
/** Something is in an HW queue. */
bool tern_sched_busy(const struct tern_sched *s);
/** The next job that has ended, or NULL. It is then the caller's. */
struct tern_job *tern_sched_ended(struct tern_sched *s);
/** Ends everything as aborted, in flight or not: the device is lost. */
void tern_sched_abort_all(struct tern_sched *s);
/** Aborts what the process has queued; what is in flight ends by itself. */
void tern_sched_abort(struct tern_sched *s, struct tern_sched_process *p);

/** How many bytes of the job, from `start` on, go into one slice (slice.c): > 0. packets: how many. */
uint32_t tern_slice_cut(const struct tern_job *job, uint32_t start, uint32_t *packets);

#endif
