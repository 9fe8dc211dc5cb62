/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Engines with no device behind them: a two-deep HW queue each, time that passes only in mock_advance, and for each
 * job a cost in cycles per packet. They stop, save and resume as the hardware does, and check what the scheduler owes
 * it: that a chunk that was cut comes back from the save area of its context and no other does, that the queue never
 * holds more than two, that fence ids grow. Every packet counts how often it ran. For tests of the scheduler, which
 * sees only its operations table.
 */
#ifndef MOCK_ENGINE_H
#define MOCK_ENGINE_H

#include "fair_check.h"
#include "os/sched/sched.h"

#define MOCK_HANG UINT64_MAX
#define MOCK_PACKETS 512
#define MOCK_FENCES 64

/** What a job does; job->user points to it. Several jobs may share one. */
struct mock_work {
    uint64_t cost;   /**< Cycles of a packet; MOCK_HANG: never ends. */
    uint64_t group;  /**< Cycles of a work-group: where it stops at granularity group. 0: at the end of the packet. */
    int32_t fault_at; /**< Packet that faults, or -1. */
    bool unstoppable; /**< Does not answer a preemption while it runs. */
    uint32_t asks;    /**< How often it stops at the beginning of a packet, because it needs a page. */
    uint32_t executed[MOCK_PACKETS];
};

/** A context with its save area. */
struct mock_context {
    struct tern_sched_context sched;
    bool absent; /**< It waits for a page, until mock_page_comes. */
    struct {
        bool valid;
        const struct tern_job *job;
        uint32_t engine, start, slot, at;
        uint64_t left;
    } save;
};

struct mock_queue {
    struct tern_chunk chunk[TERN_HW_QUEUE];
    uint32_t n, at; /**< at: packet of chunk 0 that runs. */
    bool running;
    uint64_t left, begin, saving, restoring; /**< Cycles that are left of each. */
    uint64_t stopping; /**< Preemption fence; 0: none. */
    uint32_t granularity;
    uint64_t last_submitted, last_completed;
    struct tern_sched_indication ind[8];
    uint32_t inds;
    uint64_t busy; /**< Cycles in which a chunk ran, moves of state not included. */
    uint64_t idle; /**< Cycles with an empty queue. */
};

struct mock {
    struct tern_sched sched;
    struct fair_seen seen;
    struct mock_queue queue[TERN_ENGINES_MAX];
    uint64_t now;
    uint64_t fence[MOCK_FENCES];  /**< Memory of fences: address / 8. */
    uint64_t save_cycles, restore_cycles;
    uint64_t reset_cycles, reset_begun; /**< How long a reset takes; reset_begun: 0, or since when there is one. */
    uint32_t dependent[TERN_ENGINES_MAX];
    uint32_t resets, preemptions, finer, faults, stucks, deepest, reads; /**< reads: of fences. */
    uint64_t asked;          /**< Pages that were asked for. */
    bool no_page;            /**< There is none of those that are asked for. */
    bool returns;            /**< All work may come back for a page, which the scheduler is told. */
    uint64_t post;           /**< Cycles that pass before a submission has reached the queue. */
    uint64_t resumed, moved; /**< Chunks that went on; that did so on another engine. */
    uint32_t later;          /**< How often a reset is put off. */
    int fail;                /**< If not 0, what every operation returns. */
    bool deaf;               /**< Engine 0 does nothing any more until it is reset. */
    bool refuse_reset;       /**< Engines come out of reset with something in the queue. */
    void (*event)(struct mock *m, const struct tern_sched_event *event);
    /* For contexts of the driver, whose scheduler is not m->sched; NULL: as above. */
    struct mock_context *(*of)(const struct tern_sched_context *c);
    bool (*lacks)(struct mock *m, const struct tern_chunk *chunk); /**< Does what runs need a page that is absent? */
    bool (*resident)(struct tern_sched_context *c, struct tern_job *job);
    bool (*page)(struct tern_sched_context *c, struct tern_job *job);
};

/** One engine or more, the default configuration but for what `config` (may be NULL) says. */
void mock_init(struct mock *m, uint32_t engines, const struct tern_sched_config *config);
/** Lets cycles pass on all engines. */
void mock_advance(struct mock *m, uint64_t cycles);
/** Cycles until some engine has something to tell, if nothing is asked of it; UINT64_MAX: never. */
uint64_t mock_next(const struct mock *m);
/** The page that the context waits for is there. */
void mock_page_comes(struct mock *m, struct mock_context *c);
/** A job of so many nop packets. */
struct tern_job *mock_job(struct mock_work *work, uint32_t packets, uint64_t fence);
/** Makes packet i a fence_wait or a fence_signal. */
void mock_job_wait(struct tern_job *job, uint32_t i, uint32_t address, uint64_t value);
void mock_job_signal(struct tern_job *job, uint32_t i, uint32_t address, uint64_t value);

#endif
