/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler: decides which buffer an engine runs next (C3, C4), and knows nothing of registers or memory.
 *
 * Model. A context is an entity with one SW queue of jobs (DMA buffers), which run in order. A job is split into
 * *chunks* (chunk.c), and a chunk is what an HW queue takes: packets up to the next fence_wait, past the next
 * fence_signal, at most TERN_CHUNK_BYTES; fewer, or a part of a copy, if the caller wants it (struct tern_cut). So an
 * unsatisfied wait keeps no engine (S3), a signal is indicated at once, and device memory for buffers is bounded while
 * SW queues are not (C2).
 * What runs: docs/scheduling.md. The partition of the least vruntime; of it the highest band that is ready, but NORMAL
 * keeps its share of what FOCUS takes (S1); within a band the process of the least vruntime, all with the same weight;
 * of it the context of the least vruntime.
 * Preemption: when a quantum has passed and another entity would be picked, or a higher band is ready. A preempted
 * chunk is requeued in its context and goes on by `resume`, perhaps on another engine. The timeout is on the answer to
 * a preemption only (F2): long work that can be preempted runs as long as it likes.
 *
 * Alternatives dropped: handing whole jobs to engines and preempting those that wait (a save and a restore for every
 * wait, and engines that wait for each other); one queue for all engines (virtual times of engines drift apart).
 *
 * Locks: none; the caller serialises. No function blocks, except as its operations do.
 */
#ifndef TERN_OS_SCHED_H
#define TERN_OS_SCHED_H

#include "base/list.h"
#include "kmd/kmd.h"
#include "os/sched/cap.h"
#include "os/sched/fair.h"

#define TERN_CHUNK_BYTES (16384u - TERN_PKT_LINE_BYTES)
#define TERN_QUANTUM_DEFAULT (1ull << 20)
#define TERN_TIMEOUT_DEFAULT (1ull << 29) /**< 2 s at 250 MHz, about. */
#define TERN_BANDS 5u                     /**< enum tern_band, and above it paging. */
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
        /** Cycles before others of its band get the engine; but no less than four times what its last save took. */
        uint64_t quantum;
        /** Cycles a preempted chunk has to reach the end of its work-groups; 0: it is stopped at once. */
        uint64_t grace;
    } band[TERN_BANDS];
    uint64_t timeout;        /**< Cycles that a preemption may take (F2). */
    /**
     * If not 0: a chunk is preempted every so many cycles though no other needs the engine, and goes on elsewhere;
     * after every 64 preemptions half as often, so that it ends even if a restore takes longer than that.
     */
    uint64_t force_preempt;
    uint64_t cap_slice;      /**< Cycles that processes with a cap run at once, on an idle engine; > 0. */
    uint32_t depth;          /**< Chunks kept in an HW queue: 2, or 1 to see why 2. */
    uint32_t normal_percent; /**< What NORMAL keeps of an engine that FOCUS floods (S1). */
};
/** 2^20 cycles and no grace for each band, depth 2, 12 % (chunks end late: no less than 10), TERN_TIMEOUT_DEFAULT,
 *  TERN_CAP_SLICE. */
void tern_sched_config_default(struct tern_sched_config *out);

/* ------------------------------------------------------------------ the engines' side */

/** Of the box of a copy or fill packet, a part: bytes of a row, rows, slices; from where, and how many. */
struct tern_box {
    uint32_t from[3], size[3];
};

/** What of a job the next chunk is, if that is not for chunk.c to say. */
struct tern_cut {
    uint32_t size, packets; /**< Bytes of the job; 0: chunk.c says. */
    struct tern_box box;    /**< Of its only packet; no size: all packets are whole. */
    bool more;              /**< Of that packet there is more, for the next chunk. */
};

/** Consecutive packets of a job, in an HW queue or to be submitted to one again; or a part of one packet. */
struct tern_chunk {
    struct tern_sched_context *context;
    struct tern_job *job;
    uint32_t start, size; /**< Bytes of the job. */
    uint32_t packets;
    struct tern_box box;  /**< As in its cut, */
    bool more;            /**< likewise. */
    uint32_t slot;        /**< 0 or 1: buffer of the context for the packets; the chunk's until it ends. */
    uint64_t id;          /**< Fence id in the HW queue. Paging keeps it when it is requeued (P6). */
    bool resume;          /**< Goes on from the context-save area; its packets are still in its slot. */
    bool resubmitted;     /**< Was in an HW queue before (P6). */
    uint32_t resume_at, preempted_on; /**< With resume: byte offset in the chunk, and the engine that it was on. */
    uint32_t preemptions; /**< How often it was preempted, */
    uint64_t save_cycles; /**< and what that took the last time. */
    uint64_t seq;         /**< Order within the context. */
    int64_t charged;      /**< Cycles: the estimate, or what it has run if that is more. */
};

enum tern_sched_kind {
    TERN_SCHED_COMPLETED = 1,
    TERN_SCHED_PREEMPTED,
    TERN_SCHED_FAULTED,
    TERN_SCHED_RETURNED, /**< Stopped by the engine: it waits for a page; or never began, being behind one that does. */
};

/** What an engine indicates, in submission order (C5, P3). One PREEMPTED answers a preemption, unless a reset does. */
struct tern_sched_indication {
    enum tern_sched_kind kind;
    uint64_t fence;          /**< The chunk; of PREEMPTED the preemption fence id. */
    uint64_t last_completed; /**< PREEMPTED: fence id (P5). What was submitted later has left the HW queue. */
    uint64_t begin, end;     /**< Times of the chunk that ended or was preempted; zero if it had not begun. */
    struct {
        uint64_t fence;  /**< The oldest chunk that had not completed; 0: all had (P4). */
        uint32_t offset; /**< Byte offset in the chunk of the packet to go on with. */
        bool began;      /**< It is to be resumed from the save area; else it runs as if never submitted. */
    } preempted; /**< Also of RETURNED, but for the fence. */
    struct tern_indication fault; /**< FAULTED, and RETURNED that began: the details, offset within the chunk. */
};

/* ------------------------------------------------------------------ events */

enum tern_sched_event_kind {
    TERN_EV_SUBMIT,          /**< A job entered its SW queue. */
    TERN_EV_START,           /**< A chunk began to run. Emitted when it has ended, with the time of its begin. */
    TERN_EV_RESUMED,         /**< The same, from the context-save area. */
    TERN_EV_COMPLETED,       /**< A chunk ended; last: its job too. */
    TERN_EV_FAULTED,         /**< Its job ended with a fault. */
    TERN_EV_PREEMPT_REQUEST, /**< An engine was asked to stop; context, job: what was in front. */
    TERN_EV_PREEMPTED,       /**< A chunk that had begun was preempted. */
    TERN_EV_PAGE_REQUEST,    /**< A chunk that had begun stopped by itself: it needs the page at `address`. */
    TERN_EV_RESET,           /**< An engine was reset; context, job: the guilty one, or NULL, 0. */
    TERN_EV_WAIT,            /**< A context waits for a fence from here on. */
    TERN_EV_WAKE,            /**< It does no longer. */
};

struct tern_sched_event {
    enum tern_sched_event_kind kind;
    uint32_t engine; /**< SUBMIT, WAIT, WAKE: where the context is queued. */
    uint64_t time;   /**< Cycles. In order for each engine, but for START and RESUMED. */
    const struct tern_sched_context *context;
    const struct tern_sched_process *process;
    uint64_t job;    /**< Fence id of the job in its context. */
    uint32_t offset; /**< Of the chunk in the job, bytes. */
    uint32_t band;   /**< The context's now, inherited or its own. */
    uint32_t address; /**< PAGE_REQUEST: of the access. */
    bool last;
};

/** How engines are driven. Each int is 0 or -errno unless it says more; an errno means that the device is lost. */
struct tern_sched_ops {
    int (*submit)(void *user, uint32_t engine, const struct tern_chunk *chunk);
    /** Always succeeds (P4). Again with the same fence and a finer granularity
     * (TERN_ENGINE_COMMAND_GRANULARITY_*) if grace ran out. */
    int (*preempt)(void *user, uint32_t engine, uint64_t fence, uint32_t granularity);
    int (*poll)(void *user, uint32_t engine, struct tern_sched_indication *out); /**< 1: taken; 0: there is none. */
    /**
     * Begins a reset, or (begin false) asks whether the one that has begun is over: 1, not yet; -ETIMEDOUT: it never
     * will be. Then the engine is back with an empty, ready HW queue (F3). last_aborted: last fence id that the reset
     * took. What had ended before is still polled.
     */
    int (*reset)(void *user, uint32_t engine, bool begin, uint64_t *last_aborted);
    int (*idle)(void *user, uint32_t engine); /**< 1: its HW queue is empty and it runs nothing; 0: not so. */
    /** Bits of the engines that are lost with a reset of this one. */
    uint32_t (*dependent)(void *user, uint32_t engine);
    int (*time)(void *user, uint64_t *now);
    /** Value of a monitored fence: 1; 0: it cannot be read (not mapped, ...), and the engine will fault at it. */
    int (*fence_value)(void *user, const struct tern_sched_context *context, uint32_t address, uint64_t *value);
    /** The job's process has just gone into error. ind: the fault with its offset in the
     * job, or NULL after a timeout. */
    void (*fault)(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind);
    /** A preemption has not been answered in time: the engine is about to be reset. True: not in this
     * run. For a dump; may be NULL. */
    bool (*stuck)(void *user, uint32_t engine, struct tern_job *front);
    void (*event)(void *user, const struct tern_sched_event *event); /**< May be NULL. */
    /** Is all memory there that the job, the context's next, may use? False: the context is not dispatched until
     * tern_sched_context_recheck. May be NULL: always. */
    bool (*resident)(void *user, struct tern_sched_context *context, struct tern_job *job);
    /** The job, which was in front, waits for the page that ind names: `resident` says when it can go on. False: there
     *  is no such page for it, and this is a fault. May be NULL: there are no such engines. */
    bool (*page)(void *user, struct tern_sched_context *context, struct tern_job *job,
                 const struct tern_indication *ind);
    /** May work of the context come back just now, to wait for a page? Then nothing of it is dispatched behind that: an
     *  engine that has given it back is empty, and would run what comes next at once, before it and into its save area.
     *  May be NULL: it never does. */
    bool (*returns)(void *user, const struct tern_sched_context *context);
};

/* ------------------------------------------------------------------ objects */

RB_HEAD(tern_sched_waits, tern_sched_context);
RB_HEAD(tern_sched_signals, tern_sched_signal);

/** A fence_signal packet of a queued job: its context inherits the band of the contexts that wait for it. */
struct tern_sched_signal {
    RB_ENTRY(tern_sched_signal) node; /**< In its process, by address, value, age. */
    struct tern_job *job;
    uint64_t value, order;
    uint32_t address;
};

/** A partition on one engine. */
struct tern_sched_part {
    struct tern_fair_entity entity; /**< In the engine's queue while a context of it, but for paging, is ready. */
    struct tern_fair_band band[TERN_BANDS];
    uint32_t live, groups; /**< Contexts that are live; processes that can be picked, each once a band. */
    int64_t budget;        /**< Of NORMAL's server (bands.c), in cycles times percent. */
    bool serving;          /**< NORMAL goes before FOCUS. */
    uint64_t balanced;     /**< When it last took a context that left it with more load than the other (balance.c). */
};

/** What has a share of each engine, whatever others do: bands, users and processes are compared within it only. */
struct tern_sched_partition {
    uint32_t share;        /**< Of TERN_WEIGHT_NORMAL; 1 to TERN_WEIGHT_MAX. */
    uint64_t cycles;       /**< Run, on all engines; */
    uint64_t focus;        /**< and of these by FOCUS. */
    struct tern_list node; /**< In the scheduler. */
    struct tern_sched_part on[TERN_ENGINES_MAX];
};

/** The processes of a user in a partition, which weigh together as much as it may have, however many there are. */
struct tern_sched_user {
    uint32_t share;                              /**< Of TERN_WEIGHT_NORMAL; 1 to TERN_WEIGHT_MAX. */
    uint32_t processes[TERN_BANDS];              /**< That have live contexts. */
    uint64_t load[TERN_BANDS][TERN_ENGINES_MAX]; /**< Of all its processes, as if each weighed 1. */
};

struct tern_sched_process {
    bool system;        /**< Paging: before all others, never in error. Set after init, before the first context. */
    bool error;         /**< Its jobs are aborted. */
    uint32_t faults;    /**< Chunks of it that faulted, or were guilty of a reset. */
    struct tern_sched *sched;
    struct tern_sched_partition *partition; /**< The first one, unless it is set, as system is. */
    struct tern_sched_user *user; /**< NULL: it weighs 1. Set as system is. */
    struct tern_sched_cap *cap;   /**< What it has of engines at most, with others; NULL: what it can get. */
    struct tern_list capped;      /**< In the cap. */
    struct tern_list node, contexts; /**< contexts: those with jobs. */
    struct tern_list signalled;      /**< In the scheduler's list while the fences of its waits are to be read again. */
    struct tern_sched_waits waits;   /**< Its contexts that wait, by address, value, age. */
    struct tern_sched_signals signals;
    struct tern_fair_group group[TERN_BANDS][TERN_ENGINES_MAX];
    uint64_t weight[TERN_BANDS]; /**< Of its live contexts on all engines. */
};

/** Statistics. Cycles are the device's. */
struct tern_sched_stats {
    uint64_t submitted, completed, aborted; /**< Jobs; aborted: or faulted. */
    uint64_t preempted, moved;              /**< Chunks preempted after they had begun; that went on elsewhere. */
    uint64_t page_requests;                 /**< How often a chunk stopped because it needed a page. */
    uint64_t cycles;                        /**< Run, */
    uint64_t engine_cycles[TERN_ENGINES_MAX]; /**< and of these on each engine. */
    uint64_t waited, longest_wait;          /**< From submission of a job to its begin: sum, maximum. */
};

/** Of the next chunk of a context. EMPTY: there is none; SUSPENDED: by tern_sched_context_suspend; ABSENT: memory that
 *  it needs is not on the device; CAPPED: its process has had what it may of the engine. */
enum tern_sched_state {
    TERN_SCHED_EMPTY,
    TERN_SCHED_READY,
    TERN_SCHED_WAITING,
    TERN_SCHED_SUSPENDED,
    TERN_SCHED_ABSENT,
    TERN_SCHED_CAPPED,
};

struct tern_sched_context {
    struct tern_sched_process *process;
    struct tern_list node; /**< In its process while it has jobs. */
    struct tern_list jobs; /**< All that have not ended, oldest first. */
    struct tern_chunk requeued[TERN_HW_QUEUE]; /**< Chunks that left an HW queue unfinished: they run first. */
    uint32_t requeued_count, inflight, weight;
    int32_t affinity;           /**< Engine, or TERN_ENGINE_ANY. */
    uint32_t engine;            /**< Where it is queued or ran last. */
    uint32_t base_band, band;   /**< Its own; the highest of that and of those of the contexts that wait for it. */
    enum tern_sched_state state;
    bool live, moved;           /**< moved: to this engine, and has not run here. */
    bool alone;                 /**< The caller's: it has a job that is. */
    bool suspended;
    uint64_t suspend_fence;     /**< Of the last suspension (P8). */
    struct tern_fair_entity entity;
    int64_t estimate;           /**< Cycles that its next chunk will take. */
    uint64_t chunks;            /**< That its jobs have been split into so far. */
    uint64_t number;            /**< By age: decides between equals as an address does, but in each run alike. */
    struct tern_list movable;   /**< In its engine's list while it is ready and may go elsewhere. */
    struct tern_list update;    /**< In the scheduler's list while its state is to be found anew. */
    /* While it waits. */
    RB_ENTRY(tern_sched_context) wait;
    uint32_t wait_address;
    uint64_t wait_value;
    struct tern_sched_context *blocked_on; /**< Has a job that will signal the fence, and inherits this one's band. */
    struct tern_list waiter;               /**< In the waiters of that context. */
    struct tern_list waiters;              /**< The contexts that are blocked on this one, */
    uint32_t waiter_bands[TERN_BANDS];     /**< and how many of each band. */
    struct tern_sched_stats stats;
    uint64_t cycles_brought;               /**< The caller's: of stats.cycles, those that it came with. */
};

struct tern_job {
    struct tern_list node;
    struct tern_sched_context *context;
    uint32_t size, sent; /**< Bytes; sent: already split into chunks. */
    bool begun, null;    /**< null: the caller's (C10). */
    enum tern_result result;
    bool alone;          /**< The caller's: its first chunk begins in an empty HW queue, so at once. */
    uint32_t engine;     /**< Where it ended. */
    uint64_t submitted, begin, end, cycles;
    uint64_t fence, seq; /**< The caller's: fence id in the context, order in the process; */
    struct tern_list live; /**< and a list of its own. */
    void (*done)(struct tern_job *job); /**< The caller's: how an internal job ends. */
    void *user;
    const char *label;
    struct tern_set *set; /**< The caller's: the memory that it uses; */
    struct tern_needs *needs; /**< and, if its kernels ask for that page by page, what is to be there before. */
    struct tern_cut cut;      /**< The next chunk; the caller's, in its operation `resident`. */
    struct tern_box last;     /**< Of the packet at `sent`: the part that was put into a chunk last; no size: none. */
    struct tern_sched_signal *signals; /**< The caller's: room for tern_job_signals of them; NULL: no inheritance. */
    uint32_t signal_count;
    uint32_t data_size; /**< Bytes of data behind the packets, a multiple of a line: each chunk takes them along. */
    uint32_t packets[];
};

struct tern_sched_engine {
    struct tern_fair_queue parts; /**< The partitions, but for paging, which is in the first one and goes before all. */
    struct tern_chunk inflight[TERN_HW_QUEUE]; /**< What is in the HW queue; [0], the *front*, runs. */
    uint32_t n;
    uint64_t next_id, last_completed;
    uint64_t front_since, quantum_end; /**< When the front came to be so, and when its quantum will have passed. */
    uint64_t preemption;    /**< Fence id of the one under way; 0: none. Nothing is submitted until it is answered. */
    uint64_t next_preemption, preempt_since, grace_end;
    uint32_t granularity;   /**< Of the preemption under way. */
    bool forced;            /**< It is for no other context (config.force_preempt). */
    bool preempt_now;       /**< A chunk in flight must leave: its process is in error, or its context suspended. */
    bool resetting;         /**< A reset has begun; until it is over nothing is asked of the engine. */
    uint64_t reset_since;
    uint64_t resets, preemptions, busy;
};

struct tern_sched {
    const struct tern_sched_ops *ops;
    void *user;
    uint32_t engines;
    struct tern_sched_config config;
    uint64_t now, order;
    uint32_t pending;      /**< Jobs that have not ended. */
    uint32_t paging_lost;  /**< Paging chunks lost to resets (F4). */
    uint64_t comparisons;  /**< In trees: what decisions cost. */
    struct tern_list ended, processes, partitions, caps;
    struct tern_list update;    /**< Contexts whose state is to be found anew in the next run. */
    struct tern_list signalled; /**< Processes with contexts that wait, whose fences may have been written. */
    struct tern_sched_engine engine[TERN_ENGINES_MAX];
    struct tern_sched_partition main; /**< The first partition. */
};

/* ------------------------------------------------------------------ calls */

/** config NULL: the default. */
void tern_sched_init(struct tern_sched *s, const struct tern_sched_ops *ops, void *user, uint32_t engines,
                     const struct tern_sched_config *config);
void tern_sched_partition_init(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share);
/** No process is in it. */
void tern_sched_partition_fini(struct tern_sched_partition *p);
/** Another share from now on. */
void tern_sched_partition_set(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share);
void tern_sched_process_init(struct tern_sched *s, struct tern_sched_process *p, bool system);
/** Its contexts have no jobs. */
void tern_sched_process_fini(struct tern_sched_process *p);
/**
 * engine: or TERN_ENGINE_ANY. band: enum tern_band (of a system process: ignored). Whenever all its jobs have ended,
 * the scheduler refers to the context no more: there is nothing to undo before it is freed.
 */
void tern_sched_context_init(struct tern_sched *s, struct tern_sched_context *c, struct tern_sched_process *p,
                             int32_t engine, uint32_t band, uint32_t weight);
/** Another band or weight from now on. */
void tern_sched_context_set(struct tern_sched *s, struct tern_sched_context *c, uint32_t band, uint32_t weight);
/** Nothing of it is dispatched, and what runs is preempted. The suspend fence tells answers apart (P8). */
uint64_t tern_sched_context_suspend(struct tern_sched *s, struct tern_sched_context *c);
/** The device has no reference to it since the suspension with this fence. */
bool tern_sched_context_suspended(const struct tern_sched_context *c, uint64_t fence);
/** What `resident` says of it may have changed. preempt: also for what it has on an engine. */
void tern_sched_context_recheck(struct tern_sched *s, struct tern_sched_context *c, bool preempt);
/** It may be dispatched again; false: this is not its last suspend fence. */
bool tern_sched_context_resume(struct tern_sched *s, struct tern_sched_context *c, uint64_t fence);
/** It is suspended, or waits for a fence that no queued signal of its process will come to. */
bool tern_sched_stuck(const struct tern_sched_context *c);

/** Appends a job, with job->submitted set; it comes back through tern_sched_ended, in order within its context. */
void tern_sched_submit(struct tern_sched *s, struct tern_sched_context *c, struct tern_job *job);
/** A fence of the process may have been written: those that its contexts wait for are read again in the next run. */
void tern_sched_signalled(struct tern_sched *s, struct tern_sched_process *p);
/**
 * Takes indications, finds the states of contexts anew, preempts by quantum, grace and timeout, fills HW queues. 0, or
 * -errno: the device is lost; -ENOTRECOVERABLE: all of it is to be reset (F3: an engine's reset failed; F4). Then
 * tern_sched_abort_all.
 */
int tern_sched_run(struct tern_sched *s);
/** Cycles until it must run again, should nothing be indicated, submitted or signalled; UINT64_MAX: never. */
uint64_t tern_sched_deadline(const struct tern_sched *s);
/** Some job has not ended, or a preemption is not answered. */
bool tern_sched_pending(const struct tern_sched *s);
/** Something is in an HW queue, or a preemption is not answered, or a cap holds what could run: time has to pass. */
bool tern_sched_busy(const struct tern_sched *s);
/** It is busy with the last of these only. */
bool tern_sched_held(const struct tern_sched *s);
/** The next job that has ended, or NULL. It is then the caller's. */
struct tern_job *tern_sched_ended(struct tern_sched *s);
/** Ends everything as aborted, in flight or not: the device is lost. */
void tern_sched_abort_all(struct tern_sched *s);
/** The process is in error: aborts what it has queued, preempts what is in flight, which then ends as aborted. */
void tern_sched_abort(struct tern_sched *s, struct tern_sched_process *p);

/* chunk.c */

/** How many bytes of the job, from `start` on, go into one chunk: > 0. packets: how many. */
uint32_t tern_chunk_split(const struct tern_job *job, uint32_t start, uint32_t *packets);
/** Opcode of the job's packet at byte `at`, and its bytes; a line, if no engine would take it. */
uint32_t tern_job_packet(const struct tern_job *job, uint32_t at, uint32_t *bytes);
/** How many fence_signal packets there are. out, if not NULL: room for them; job, address, value are set. */
uint32_t tern_job_signals(const struct tern_job *job, struct tern_sched_signal *out);
/** The oldest job that is not split to its end, or NULL. */
struct tern_job *tern_sched_next_job(const struct tern_sched_context *c);
/** Is it the last of its job? */
static inline bool tern_chunk_is_last(const struct tern_chunk *chunk)
{
    return chunk->start + chunk->size == chunk->job->size && !chunk->more;
}

#endif
