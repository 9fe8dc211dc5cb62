/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Engines without a device: each has a two-deep HW queue, and a job has a cost in cycles per packet. Time passes only
 * in mock_advance. The engines stop, save and resume as the hardware does, and check the scheduler: a preempted chunk
 * is resumed from the save area of its context, and nothing else is; the queue never holds more than two buffers; fence
 * ids grow. Each packet counts how often it ran. The scheduler's tests use the engines through its operations table.
 */
#ifndef MOCK_ENGINE_H
#define MOCK_ENGINE_H

#include "fair_check.h"
#include "os/sched/sched.h"

#define MOCK_HANG UINT64_MAX
#define MOCK_PACKETS 512
#define MOCK_FENCES 64

/** Behaviour of a job, whose `user` points to it. Several jobs may share one. */
struct mock_work {
    uint64_t cost;   /**< Cycles of a packet; MOCK_HANG: the packet never ends. */
    /** Cycles of a work-group, at whose end a packet stops at that granularity. 0: at the packet's end. */
    uint64_t group;
    int32_t fault_at; /**< Packet that faults; -1: none. */
    bool unstoppable; /**< The work does not answer a preemption while it runs. */
    uint32_t asks;    /**< Number of stops at the beginning of a packet for an absent page. */
    uint32_t executed[MOCK_PACKETS];
};

/** A context and its save area. */
struct mock_context {
    struct tern_sched_context sched;
    bool absent; /**< The context waits for a page, until mock_page_comes. */
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
    /** Cycles left of the packet, of saving and of restoring. begin: time at which the chunk began. */
    uint64_t left, begin, saving, restoring;
    uint64_t stopping; /**< Preemption fence of the request to stop; 0: none. */
    uint32_t granularity;
    uint64_t last_submitted, last_completed;
    struct tern_sched_indication ind[8];
    uint32_t inds;
    uint64_t busy; /**< Cycles in which a chunk ran, without saves and restores of state. */
    uint64_t idle; /**< Cycles with an empty queue. */
};

struct mock {
    struct tern_sched sched;
    struct fair_seen seen;
    struct mock_queue queue[TERN_ENGINES_MAX];
    uint64_t now;
    uint64_t fence[MOCK_FENCES];  /**< Memory of fences, indexed by address / 8. */
    uint64_t save_cycles, restore_cycles;
    uint64_t reset_cycles, reset_begun; /**< Cycles of a reset; reset_begun: when the current one began, 0: none. */
    uint32_t dependent[TERN_ENGINES_MAX];
    uint32_t resets, preemptions, finer, faults, stucks, deepest, reads; /**< reads: number of fence reads. */
    uint64_t asked;          /**< Number of pages that were asked for. */
    bool no_page;            /**< A page that is asked for does not exist. */
    bool returns;            /**< Any work may be returned for a page; the scheduler is told so. */
    uint64_t post;           /**< Cycles from a submission until it reaches the queue. */
    uint64_t resumed, moved; /**< Chunks that were resumed, and those of them on another engine. */
    uint32_t later;          /**< Number of times that a reset is postponed. */
    int fail;                /**< Result of every operation if not 0. */
    bool deaf;               /**< Engine 0 stands still until it is reset. */
    bool refuse_reset;       /**< Engines come out of reset with a queue that is not empty. */
    void (*event)(struct mock *m, const struct tern_sched_event *event);
    /* For contexts of the driver, whose scheduler is not m->sched. NULL: the context is part of a struct
     * mock_context. */
    struct mock_context *(*of)(const struct tern_sched_context *c);
    bool (*lacks)(struct mock *m, const struct tern_chunk *chunk); /**< Does the chunk need a page that is absent? */
    bool (*resident)(struct tern_sched_context *c, struct tern_job *job);
    bool (*page)(struct tern_sched_context *c, struct tern_job *job);
};

/** Initialises one or more engines. `config` may be NULL for the default configuration. */
void mock_init(struct mock *m, uint32_t engines, const struct tern_sched_config *config);
/** Lets so many cycles pass on all engines. */
void mock_advance(struct mock *m, uint64_t cycles);
/** Cycles until an engine has an indication if nothing is asked of it; UINT64_MAX: never. */
uint64_t mock_next(const struct mock *m);
/** Brings the page that the context waits for. */
void mock_page_comes(struct mock *m, struct mock_context *c);
/** Makes a job of so many nop packets. */
struct tern_job *mock_job(struct mock_work *work, uint32_t packets, uint64_t fence);
/** Makes packet i a fence_wait or a fence_signal. */
void mock_job_wait(struct tern_job *job, uint32_t i, uint32_t address, uint64_t value);
void mock_job_signal(struct tern_job *job, uint32_t i, uint32_t address, uint64_t value);

#endif
