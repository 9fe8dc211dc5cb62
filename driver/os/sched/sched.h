/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler: decides which buffer an engine runs next (C3, C4). Registers and memory are accessed only by
 * operations of its caller (struct tern_sched_ops).
 *
 * Model. A context is an entity with one SW queue of jobs (DMA buffers), which run in order. A job is split into
 * *chunks* (chunk.c). An HW queue takes chunks: a chunk has the packets up to the next fence_wait or past the next
 * fence_signal, TERN_CHUNK_BYTES at most. The caller may choose a smaller chunk, or a part of a copy (struct tern_cut).
 * Splitting has three effects: an unsatisfied wait keeps no engine (S3), a signal is indicated at once, and device
 * memory for buffers is bounded although SW queues are not (C2).
 *
 * Order (docs/scheduling.md). An engine picks, at each level among those that have a ready context:
 *   1. the partition with the least vruntime;
 *   2. in it the highest band, except that NORMAL keeps its share of what FOCUS takes (S1);
 *   3. in the band the process with the least vruntime;
 *   4. of the process the context with the least vruntime.
 *
 * Preemption. The running chunk is preempted when its quantum has passed and another entity would be picked, or when a
 * higher band is ready. A preempted chunk is requeued in its context and is resumed later, perhaps on another engine.
 * The timeout limits the answer to a preemption only (F2): work that can be preempted may run for any time.
 *
 * Alternatives dropped. Engines that take whole jobs and are preempted when a job waits: every wait would cost a save
 * and a restore, and engines could wait for each other. One queue for all engines: their virtual times drift apart.
 *
 * Locks. The scheduler takes none. The caller serialises all calls for one struct tern_sched (the driver holds
 * dev->lock), and the same lock guards all structures below. No function blocks, except in operations of the caller.
 */
#ifndef TERN_OS_SCHED_H
#define TERN_OS_SCHED_H

#include "base/list.h"
#include "kmd/kmd.h"
#include "os/sched/cap.h"
#include "os/sched/fair.h"

#define TERN_CHUNK_BYTES (16384u - TERN_PKT_LINE_BYTES)
#define TERN_QUANTUM_DEFAULT (1ull << 20)
#define TERN_TIMEOUT_DEFAULT (1ull << 29) /**< Cycles: about 2 s at 250 MHz. */
#define TERN_BANDS 5u                     /**< The bands of enum tern_band, and paging above them. */
#define TERN_BAND_PAGING 4u
#define TERN_ENGINE_ANY (-1)

struct tern_job;
struct tern_sched;
struct tern_sched_context;
struct tern_sched_partition;
struct tern_sched_process;

/* ------------------------------------------------------------------ configuration */

struct tern_sched_config {
    struct {
        /** Cycles that a chunk keeps the engine while others of its band are ready. The quantum is at least four times
         *  the cycles that the chunk's last save took. */
        uint64_t quantum;
        /** Cycles that a preempted chunk has to reach the end of its work-groups; 0: it is stopped at once. */
        uint64_t grace;
    } band[TERN_BANDS];
    uint64_t timeout;        /**< Cycles that an engine may take to answer a preemption (F2). */
    /**
     * Cycles after which a chunk is preempted although no other context needs the engine, for tests; 0: never. The
     * chunk's context goes on at the next engine. The number doubles after every 64 preemptions of a chunk, so that the
     * chunk ends even if a restore takes longer than that.
     */
    uint64_t force_preempt;
    uint64_t cap_slice;      /**< Cycles that processes with a cap run without a pause on an idle engine; > 0. */
    uint32_t depth;          /**< Chunks kept in an HW queue: 2, or 1 to measure what the second one gains. */
    uint32_t normal_percent; /**< Percent of an engine that NORMAL keeps while FOCUS always has work (S1). */
};
/** The defaults: quantum 2^20 cycles and grace 0 for each band, depth 2, TERN_TIMEOUT_DEFAULT, TERN_CAP_SLICE, and 12 %
 *  for NORMAL. The rule asks for 10 %; chunks end late, so 12 % are configured. */
void tern_sched_config_default(struct tern_sched_config *out);

/* ------------------------------------------------------------------ the engines' side */

/** A part of the box of a copy or fill packet. Index 0 counts bytes of a row, index 1 rows, index 2 slices. */
struct tern_box {
    uint32_t from[3], size[3];
};

/** The next chunk of a job, if the caller chooses it (operation `resident`) instead of chunk.c. */
struct tern_cut {
    uint32_t size, packets; /**< size: bytes of the job; 0: chunk.c chooses. */
    struct tern_box box;    /**< Part of the only packet of the chunk; box.size[0] is 0 if all packets are whole. */
    bool more;              /**< The next chunk continues the same packet. */
};

/** Consecutive packets of a job, or a part of one packet, in an HW queue or to be submitted to one again. */
struct tern_chunk {
    struct tern_sched_context *context;
    struct tern_job *job;
    uint32_t start, size; /**< Bytes: where the chunk begins in the job, and how long it is. */
    uint32_t packets;
    struct tern_box box;  /**< As in struct tern_cut. */
    bool more;            /**< As in struct tern_cut. */
    uint32_t slot;        /**< Buffer of the context that holds the packets until the chunk ends, 0 or 1. */
    uint64_t id;          /**< Fence id in the HW queue; 0: none yet. A preempted paging chunk keeps its id (P6). */
    bool resume;          /**< The chunk goes on from the context-save area; its packets are still in its slot. */
    bool resubmitted;     /**< The chunk was in an HW queue before (P6). */
    /** With resume: byte offset in the chunk of the packet to go on with, and the engine that the chunk left. */
    uint32_t resume_at, preempted_on;
    uint32_t preemptions; /**< Number of times that the chunk was preempted. */
    uint64_t save_cycles; /**< Cycles that the last preemption of the chunk took. */
    uint64_t seq;         /**< Number of the chunk within its context, from 1. */
    int64_t charged;      /**< Cycles charged for the chunk: the estimate, or what it has run if that is more. */
};

enum tern_sched_kind {
    TERN_SCHED_COMPLETED = 1,
    TERN_SCHED_PREEMPTED,
    TERN_SCHED_FAULTED,
    /** The engine stopped the chunk without a request: the chunk waits for a page, or is behind one that does and never
     *  began. */
    TERN_SCHED_RETURNED,
};

/** Indication of an engine. Indications come in submission order (C5, P3). Each preemption is answered by one PREEMPTED
 *  or by a reset. */
struct tern_sched_indication {
    enum tern_sched_kind kind;
    uint64_t fence;          /**< Fence id of the chunk; PREEMPTED: fence id of the preemption. */
    uint64_t last_completed; /**< PREEMPTED: last chunk that completed (P5). All later ones have left the HW queue. */
    uint64_t begin, end;     /**< Device times, in cycles, of the chunk that ended or was preempted; 0: never begun. */
    struct {
        uint64_t fence;  /**< PREEMPTED: fence id of the oldest chunk that had not completed; 0: all had (P4). */
        uint32_t offset; /**< Byte offset in the chunk of the packet to go on with. */
        bool began;      /**< True: the chunk resumes from the save area. False: it runs as if never submitted. */
    } preempted;         /**< PREEMPTED and RETURNED. */
    struct tern_indication fault; /**< FAULTED, and RETURNED with began: details; the offset is within the chunk. */
};

/* ------------------------------------------------------------------ events */

enum tern_sched_event_kind {
    TERN_EV_SUBMIT,          /**< A job entered its SW queue. */
    TERN_EV_START,           /**< A chunk began to run. Emitted when it has ended, with the time of its begin. */
    TERN_EV_RESUMED,         /**< As START, for a chunk that began from the context-save area. */
    TERN_EV_COMPLETED,       /**< A chunk completed; if `last`, its job did as well. */
    TERN_EV_FAULTED,         /**< A chunk faulted, which ended its job. */
    TERN_EV_PREEMPT_REQUEST, /**< An engine was asked to stop; context and job are those of the front. */
    TERN_EV_PREEMPTED,       /**< A chunk that had begun was preempted. */
    TERN_EV_PAGE_REQUEST,    /**< A chunk that had begun was stopped by its engine: it needs the page at `address`. */
    TERN_EV_RESET,           /**< An engine was reset; context and job are the guilty ones, or NULL and 0. */
    TERN_EV_WAIT,            /**< A context began to wait for a fence. */
    TERN_EV_WAKE,            /**< A context no longer waits for a fence. */
};

struct tern_sched_event {
    enum tern_sched_event_kind kind;
    uint32_t engine; /**< SUBMIT, WAIT, WAKE: engine on which the context is queued. */
    uint64_t time;   /**< Cycles. Times of one engine are in order, except those of START and RESUMED. */
    const struct tern_sched_context *context;
    const struct tern_sched_process *process;
    uint64_t job;    /**< Fence id of the job in its context. */
    uint32_t offset; /**< Byte offset of the chunk in the job. */
    uint32_t band;   /**< Band of the context at this time, its own or an inherited one. */
    uint32_t address; /**< PAGE_REQUEST: virtual address of the access. */
    bool last;       /**< The chunk is the last one of its job. */
};

/** The operations by which engines are driven. An int is 0 or -errno, unless the operation says more; -errno means that
 *  the device is lost. */
struct tern_sched_ops {
    int (*submit)(void *user, uint32_t engine, const struct tern_chunk *chunk);
    /** Asks an engine to stop, which is always answered (P4). Called again with the same fence and a finer granularity
     *  (TERN_ENGINE_COMMAND_GRANULARITY_*) if the grace period has passed. */
    int (*preempt)(void *user, uint32_t engine, uint64_t fence, uint32_t granularity);
    int (*poll)(void *user, uint32_t engine, struct tern_sched_indication *out); /**< 1: taken; 0: there is none. */
    /**
     * Begins a reset, or, with begin false, asks whether the reset under way is over. 1: not yet; -ETIMEDOUT: it never
     * will be; 0: the engine is back with an empty, ready HW queue (F3), and *last_aborted is the last fence id that
     * the reset aborted. Chunks that ended before the reset are still to be polled.
     */
    int (*reset)(void *user, uint32_t engine, bool begin, uint64_t *last_aborted);
    int (*idle)(void *user, uint32_t engine); /**< 1: its HW queue is empty and it runs nothing; 0: otherwise. */
    /** Mask of the engines that lose their work when this one is reset. */
    uint32_t (*dependent)(void *user, uint32_t engine);
    int (*time)(void *user, uint64_t *now);
    /** Reads a monitored fence. 1: *value is its value. 0: it cannot be read (not mapped, for example), and the engine
     *  will fault at it. */
    int (*fence_value)(void *user, const struct tern_sched_context *context, uint32_t address, uint64_t *value);
    /** The job's process has just gone into error. ind is the fault with its offset in the job, or NULL after a
     *  timeout. */
    void (*fault)(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind);
    /** Called before an engine is reset that did not answer a preemption in time, so that a dump can be written. True
     *  defers the reset to a later run. May be NULL. */
    bool (*stuck)(void *user, uint32_t engine, struct tern_job *front);
    void (*event)(void *user, const struct tern_sched_event *event); /**< May be NULL. */
    /** True: all memory that the context's next job may use is on the device. False: the context is not dispatched
     *  until tern_sched_context_recheck. NULL stands for true. */
    bool (*resident)(void *user, struct tern_sched_context *context, struct tern_job *job);
    /** The job, which was in front, waits for the page that ind names; `resident` says when it can go on. False: the
     *  job has no such page, so the request is a fault. NULL: no engine requests pages. */
    bool (*page)(void *user, struct tern_sched_context *context, struct tern_job *job,
                 const struct tern_indication *ind);
    /** True: an engine may return a chunk of the context that is in flight, because the chunk needs a page. No other
     *  chunk of the context is dispatched behind it: the engine would run that chunk before the returned one, and into
     *  the same save area. NULL stands for false. */
    bool (*returns)(void *user, const struct tern_sched_context *context);
};

/* ------------------------------------------------------------------ objects */

RB_HEAD(tern_sched_waits, tern_sched_context);
RB_HEAD(tern_sched_signals, tern_sched_signal);

/** A fence_signal packet of a queued job. The job's context inherits the band of the contexts that wait for it. */
struct tern_sched_signal {
    RB_ENTRY(tern_sched_signal) node; /**< Node of process->signals, by address, value, age. */
    struct tern_job *job;
    uint64_t value, order;            /**< order: age of the signal, counted by tern_sched.order. */
    uint32_t address;
};

/** A partition on one engine. */
struct tern_sched_part {
    struct tern_fair_entity entity; /**< In the engine's queue while a context of a band below paging is ready. */
    struct tern_fair_band band[TERN_BANDS];
    /** live: number of live contexts. groups: number of processes that can be picked, summed over the bands. Neither
     *  counts paging. */
    uint32_t live, groups;
    int64_t budget;        /**< Budget of NORMAL's server (bands.c), in cycles times percent. */
    bool serving;          /**< NORMAL goes before FOCUS. */
    uint64_t balanced;     /**< Device time at which balance.c last moved a context here although it left more load
                            *   here than there. */
};

/** A partition has its share of each engine, whatever others do. Bands, users and processes are compared only with
 *  those of their own partition. */
struct tern_sched_partition {
    uint32_t share;        /**< Weight, 1 to TERN_WEIGHT_MAX; TERN_WEIGHT_NORMAL is the weight 1. */
    uint64_t cycles;       /**< Cycles run on all engines, without those of paging. */
    uint64_t focus;        /**< Of `cycles`, those that the band FOCUS ran. */
    struct tern_list node; /**< Node of the scheduler's list. */
    struct tern_sched_part on[TERN_ENGINES_MAX];
};

/** The processes of one user in one partition. Their weights sum up to the user's share, however many they are. */
struct tern_sched_user {
    uint32_t share;                              /**< As in struct tern_sched_partition. */
    uint32_t processes[TERN_BANDS];              /**< Number of its processes that have live contexts in the band. */
    uint64_t load[TERN_BANDS][TERN_ENGINES_MAX]; /**< Sum of the loads of its processes, as if each weighed 1. */
};

struct tern_sched_process {
    bool system;        /**< The paging process: it goes before all others and is never in error. */
    bool error;         /**< The process is in error: its jobs are aborted. */
    uint32_t faults;    /**< Number of its chunks that faulted or were guilty of a reset. */
    struct tern_sched *sched;
    /** The scheduler's first partition by default. The caller may set it, and `user`, after tern_sched_process_init and
     *  before the first context. */
    struct tern_sched_partition *partition;
    struct tern_sched_user *user; /**< NULL: the process weighs 1. */
    struct tern_sched_cap *cap;   /**< Limit that it shares with other processes; NULL: none. */
    struct tern_list capped;      /**< Node of cap->processes. */
    struct tern_list node, contexts; /**< contexts: those that have jobs. */
    struct tern_list signalled;      /**< Node of the scheduler's list while fences of its waits are to be read. */
    struct tern_sched_waits waits;   /**< Contexts of the process that wait for fences, by address, value, age. */
    struct tern_sched_signals signals;
    struct tern_fair_group group[TERN_BANDS][TERN_ENGINES_MAX];
    uint64_t weight[TERN_BANDS]; /**< Sum of the weights of its live contexts on all engines. */
};

/** Statistics of a context. Cycles are those of the device. */
struct tern_sched_stats {
    uint64_t submitted, completed, aborted; /**< Numbers of jobs; aborted includes faulted ones. */
    uint64_t preempted, moved; /**< Numbers of preemptions of chunks that had begun, and of resumes elsewhere. */
    uint64_t page_requests;                 /**< Number of times that a chunk stopped because it needed a page. */
    uint64_t cycles;                        /**< Cycles run on all engines. */
    uint64_t engine_cycles[TERN_ENGINES_MAX]; /**< Cycles run on each engine. */
    uint64_t waited, longest_wait; /**< Cycles from the submission of a job to its begin: sum and maximum. */
};

/** State of a context, which is that of its next chunk. */
enum tern_sched_state {
    TERN_SCHED_EMPTY,     /**< There is no next chunk. */
    TERN_SCHED_READY,     /**< The chunk can be dispatched. */
    TERN_SCHED_WAITING,   /**< The chunk waits for a fence. */
    TERN_SCHED_SUSPENDED, /**< tern_sched_context_suspend was called. */
    TERN_SCHED_ABSENT,    /**< Memory that the chunk needs is not on the device. */
    TERN_SCHED_CAPPED,    /**< The cap of the process leaves it nothing of the engine now. */
};

struct tern_sched_context {
    struct tern_sched_process *process;
    struct tern_list node; /**< Node of process->contexts while it has jobs. */
    struct tern_list jobs; /**< All jobs that have not ended, oldest first. */
    struct tern_chunk requeued[TERN_HW_QUEUE]; /**< Chunks that left an HW queue unfinished; they run first. */
    uint32_t requeued_count, inflight, weight; /**< inflight: number of its chunks in an HW queue. */
    int32_t affinity;           /**< Engine that it is bound to, or TERN_ENGINE_ANY. */
    uint32_t engine;            /**< Engine on which it is queued or ran last. */
    uint32_t base_band, band;   /**< Its own band; the highest of its own and of those of its waiters. */
    enum tern_sched_state state;
    bool live, moved;           /**< live: ready or in flight. moved: to this engine, where it has not run yet. */
    bool alone;                 /**< One of its jobs has `alone` set. Set and cleared by the caller. */
    bool suspended;
    uint64_t suspend_fence;     /**< Suspend fence of the last suspension (P8). */
    struct tern_fair_entity entity;
    int64_t estimate;           /**< Cycles that its next chunk will probably take. */
    uint64_t chunks;            /**< Number of chunks that its jobs have been split into so far. */
    uint64_t number;            /**< Number by age. Breaks ties, and in each run alike, which an address would not. */
    struct tern_list movable;   /**< Node of its band's list while it is ready and may go to another engine. */
    struct tern_list update;    /**< Node of the scheduler's list while its state has to be found again. */
    /* While it waits for a fence: */
    RB_ENTRY(tern_sched_context) wait;
    uint32_t wait_address;
    uint64_t wait_value;
    struct tern_sched_context *blocked_on; /**< Context whose job will signal the fence; inherits this one's band. */
    struct tern_list waiter;               /**< Node of blocked_on->waiters. */
    struct tern_list waiters;              /**< Contexts that are blocked on this one. */
    uint32_t waiter_bands[TERN_BANDS];     /**< Number of the waiters of each band. */
    struct tern_sched_stats stats;
    uint64_t cycles_brought;               /**< Of stats.cycles, those run on another device. Set by the caller. */
};

/** A job. The caller sets the fields that say so, before tern_sched_submit. */
struct tern_job {
    struct tern_list node;
    struct tern_sched_context *context;
    uint32_t size, sent; /**< Bytes of packets, set by the caller; sent: bytes that were split into chunks. */
    bool begun, null;    /**< null: completes without being run (C10). Set by the caller. */
    enum tern_result result;
    bool alone;          /**< The job's first chunk is dispatched to an empty HW queue, to run at once. The caller's. */
    uint32_t engine;     /**< Engine on which it ended. */
    uint64_t submitted, begin, end, cycles; /**< Device times, and the cycles that its chunks ran. */
    uint64_t fence, seq;   /**< Fence id in the context, and order in the process. The caller's. */
    struct tern_list live; /**< Node of a list of the caller. */
    void (*done)(struct tern_job *job); /**< Called by the caller when an internal job has ended. The caller's. */
    void *user;
    const char *label;
    struct tern_set *set;     /**< Memory that the job uses. The caller's. */
    struct tern_needs *needs; /**< Memory that must be there before kernels that request pages begin. The caller's. */
    struct tern_cut cut;      /**< The next chunk, set by the operation `resident`. */
    struct tern_box last;     /**< Part of the packet at `sent` that the last chunk took; size[0] is 0 if none. */
    struct tern_sched_signal *signals; /**< Room for tern_job_signals() signals, the caller's; NULL: no inheritance. */
    uint32_t signal_count;
    uint32_t data_size; /**< Bytes of data behind the packets, a multiple of a line. Each chunk takes them along. */
    uint32_t packets[];
};

struct tern_sched_engine {
    struct tern_fair_queue parts; /**< Partitions that can be picked. Paging is apart, in the first one's last band. */
    struct tern_chunk inflight[TERN_HW_QUEUE]; /**< Chunks in the HW queue; [0], the *front*, runs. */
    uint32_t n;                                /**< Number of chunks in the HW queue. */
    uint64_t next_id, last_completed;          /**< Fence ids of chunks. */
    uint64_t front_since, quantum_end;         /**< Device times: when the front began, when its quantum ends. */
    /** Fence id of the preemption under way; 0: none. Nothing is submitted until it is answered. */
    uint64_t preemption;
    /** Fence id of the last preemption; device times of its last request and of the end of its grace. */
    uint64_t next_preemption, preempt_since, grace_end;
    uint32_t granularity;   /**< Granularity of the preemption under way. */
    bool forced;            /**< The preemption under way is due to config.force_preempt alone. */
    bool preempt_now;       /**< A chunk in flight must leave: its process is in error, or its context suspended. */
    bool resetting;         /**< A reset is under way. Until it is over the engine gets no requests. */
    uint64_t reset_since;   /**< Device time at which the reset began. */
    uint64_t resets, preemptions, busy; /**< Statistics; busy: cycles. */
};

struct tern_sched {
    const struct tern_sched_ops *ops;
    void *user;
    uint32_t engines;
    struct tern_sched_config config;
    uint64_t now, order;   /**< now: device time of this run. order: counter for entities and signals. */
    uint32_t pending;      /**< Number of jobs that have not ended. */
    uint32_t paging_lost;  /**< Number of paging chunks lost to resets (F4). */
    uint64_t comparisons;  /**< Number of comparisons in trees, a measure of the cost of decisions. */
    struct tern_list ended, processes, partitions, caps;
    struct tern_list update;    /**< Contexts whose state the next run finds again. */
    struct tern_list signalled; /**< Processes whose contexts wait for fences that may have been written. */
    struct tern_sched_engine engine[TERN_ENGINES_MAX];
    struct tern_sched_partition main; /**< The first partition. */
};

/* ------------------------------------------------------------------ calls */

/** config NULL: the defaults of tern_sched_config_default. */
void tern_sched_init(struct tern_sched *s, const struct tern_sched_ops *ops, void *user, uint32_t engines,
                     const struct tern_sched_config *config);
void tern_sched_partition_init(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share);
/** The partition must have no process. */
void tern_sched_partition_fini(struct tern_sched_partition *p);
/** Changes the share. */
void tern_sched_partition_set(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share);
void tern_sched_process_init(struct tern_sched *s, struct tern_sched_process *p, bool system);
/** The contexts of the process must have no jobs. */
void tern_sched_process_fini(struct tern_sched_process *p);
/**
 * engine may be TERN_ENGINE_ANY. band is an enum tern_band, and ignored for a system process. There is no call that
 * undoes this one: while all its jobs have ended, the scheduler does not refer to the context, and it may be freed.
 */
void tern_sched_context_init(struct tern_sched *s, struct tern_sched_context *c, struct tern_sched_process *p,
                             int32_t engine, uint32_t band, uint32_t weight);
/** Changes band and weight. */
void tern_sched_context_set(struct tern_sched *s, struct tern_sched_context *c, uint32_t band, uint32_t weight);
/** Stops the context: no chunk of it is dispatched, and those in flight are preempted. Returns the suspend fence, by
 *  which suspensions are told apart (P8). */
uint64_t tern_sched_context_suspend(struct tern_sched *s, struct tern_sched_context *c);
/** True: this is the last suspend fence, the context is suspended, and none of its chunks is in flight. */
bool tern_sched_context_suspended(const struct tern_sched_context *c, uint64_t fence);
/** The answer of `resident` for the context may have changed. preempt: chunks in flight are preempted as well. */
void tern_sched_context_recheck(struct tern_sched *s, struct tern_sched_context *c, bool preempt);
/** Ends a suspension. False: this is not the context's last suspend fence, and nothing changes. */
bool tern_sched_context_resume(struct tern_sched *s, struct tern_sched_context *c, uint64_t fence);
/** True: the context is suspended, or waits for a fence that no queued job of its process will signal. */
bool tern_sched_stuck(const struct tern_sched_context *c);

/** Appends a job, with job->submitted set. tern_sched_ended returns it; jobs of one context in their order. */
void tern_sched_submit(struct tern_sched *s, struct tern_sched_context *c, struct tern_job *job);
/** A fence of the process may have been written: those that its contexts wait for are read again in the next run. */
void tern_sched_signalled(struct tern_sched *s, struct tern_sched_process *p);
/**
 * One run: takes indications, finds the states of contexts, preempts by quantum, grace and timeout, and fills HW
 * queues. -ENOTRECOVERABLE: the whole device is to be reset, because the reset of an engine failed (F3) or paging was
 * lost (F4). Any other -errno: the device is lost. After an error the caller calls tern_sched_abort_all.
 */
int tern_sched_run(struct tern_sched *s);
/** Cycles until the next run, if nothing is indicated, submitted or signalled before; UINT64_MAX: none is needed. */
uint64_t tern_sched_deadline(const struct tern_sched *s);
/** True: a job has not ended, or the scheduler is busy. */
bool tern_sched_pending(const struct tern_sched *s);
/** True: device time has to pass, because a chunk is in an HW queue, a preemption is not answered, or a cap holds back
 *  a context that is otherwise ready. */
bool tern_sched_busy(const struct tern_sched *s);
/** True: the scheduler is busy only because a cap holds back contexts. */
bool tern_sched_held(const struct tern_sched *s);
/** Takes the next job that has ended, or NULL. The caller owns the job from then on. */
struct tern_job *tern_sched_ended(struct tern_sched *s);
/** The device is lost: ends all jobs as aborted, those in flight as well. */
void tern_sched_abort_all(struct tern_sched *s);
/** The process is in error: aborts its queued jobs, and preempts those in flight, which then end as aborted. */
void tern_sched_abort(struct tern_sched *s, struct tern_sched_process *p);

/* chunk.c */

/** Bytes of the job, from `start` on, that go into one chunk, > 0; *packets is their number of packets. */
uint32_t tern_chunk_split(const struct tern_job *job, uint32_t start, uint32_t *packets);
/** Opcode of the job's packet at byte `at`; *bytes is its size, or one line if no engine would accept the packet. */
uint32_t tern_job_packet(const struct tern_job *job, uint32_t at, uint32_t *bytes);
/** Number of fence_signal packets of the job. out, if not NULL, has room for them; job, address and value are set. */
uint32_t tern_job_signals(const struct tern_job *job, struct tern_sched_signal *out);
/** The context's oldest job that is not yet split to its end, or NULL. */
struct tern_job *tern_sched_next_job(const struct tern_sched_context *c);
/** True: the chunk is the last one of its job. */
static inline bool tern_chunk_is_last(const struct tern_chunk *chunk)
{
    return chunk->start + chunk->size == chunk->job->size && !chunk->more;
}

#endif
