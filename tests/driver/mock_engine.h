/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Engines with no device behind them: a two-deep HW queue each, time that passes only in mock_advance, and a cost in
 * cycles per packet that a job's `user` gives. For tests of the scheduler, which sees only its operations table.
 */
#ifndef MOCK_ENGINE_H
#define MOCK_ENGINE_H

#include "os/sched.h"

#define MOCK_HANG UINT64_MAX

/** What a job does; job->user points to it. */
struct mock_work {
    uint64_t cost;     /**< Cycles of a packet; MOCK_HANG: never ends and never stops. */
    int32_t fault_at;  /**< Packet that faults, or -1. */
    uint32_t executed[512]; /**< How often each packet ran. */
};

struct mock_queue {
    struct tern_slice slice[2];
    uint32_t n, at; /**< at: packet of slice 0 that runs. */
    uint64_t left, begin;
    bool stopping, running;
    struct tern_indication ind[4];
    uint32_t inds;
};

struct mock {
    struct tern_sched sched;
    struct mock_queue queue[TERN_ENGINES_MAX];
    uint64_t now, value; /**< value: what fence_wait packets compare with. */
    uint32_t resets, preemptions, faults, deepest;
    int fail;            /**< If not 0, what every operation returns. */
};

void mock_init(struct mock *m, uint32_t engines, uint64_t timeout, uint64_t quantum);
/** Lets cycles pass on all engines. */
void mock_advance(struct mock *m, uint64_t cycles);
/** A job of so many nop packets. */
struct tern_job *mock_job(struct mock_work *work, uint32_t packets, uint64_t fence);
/** Makes packet i a fence_wait for value. */
void mock_job_wait(struct tern_job *job, uint32_t i, uint32_t value);

#endif
