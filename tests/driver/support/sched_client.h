/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients of the scheduler under test. Each is a context with a kind of work, in a process that several may share.
 * Every job is checked to end once and in order. Time passes only in run(): up to the next indication or deadline, so
 * that each run repeats exactly.
 */
#ifndef SUPPORT_SCHED_CLIENT_H
#define SUPPORT_SCHED_CLIENT_H

#include "check.h"
#include "mock_engine.h"

#define FOR_EVER ((uint64_t)1 << 40)
#define MS ((uint64_t)250000)

struct client {
    struct mock_context mock;
    struct mock_work work;
    uint64_t submitted, ended, cycles, first_begin;
    uint32_t results[3];
    uint32_t packets;  /**< Packets of each job of a backlog. */
    uint32_t refill;   /**< Number of jobs to keep queued. */
};

/** The engines and the scheduler under test, of which a test program has one at a time. */
extern struct mock mock;
/** Judges the end of each job; NULL: any end is accepted. */
extern void (*judge_end)(const struct client *c, const struct tern_job *job);
struct client *client_of(const struct tern_sched_context *c);
void client_init(struct client *c, struct tern_sched_process *p, int32_t engine, uint32_t band,
                 uint32_t weight, uint64_t cost);
/** Makes the client's next job. */
struct tern_job *client_job(struct client *c, uint32_t packets);
void client_send(struct client *c, struct tern_job *job);
/** Makes and sends the client's next job. */
struct tern_job *client_submit(struct client *c, uint32_t packets);
/** Keeps `refill` jobs of the client queued. */
void client_backlog(struct client *c, uint32_t refill);
/** Takes the jobs that have ended, which must be in order within each context. */
void take_ended(void);
/** Runs the scheduler, checks its invariants, and takes the jobs that have ended. */
void run_once(void);
/** Lets so many cycles pass. The scheduler runs at its deadlines and after each indication. */
void run(uint64_t cycles);
/** Runs until none of the client's chunks is in flight, and if `all`, until all of its jobs have ended. The condition
 *  is checked every `step` cycles. The test fails after 10^8 cycles without an end. */
void run_until_idle(const struct client *c, bool all, uint64_t step);
/** Runs until no event is pending. */
void drain(void);
/** Lets n clients submit no more jobs. */
void end_backlogs(struct client *c, size_t n);
/** Jain's index of fairness, which is 1 if all values are equal. */
double jain(const double *x, size_t n);

#endif
