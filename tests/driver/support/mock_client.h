/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients of the scheduler under test. Each is a context with a kind of work, in a process that several may share.
 * Every job is checked to end once and in order. Time passes only in run(): up to the next indication or deadline, so
 * that each run repeats exactly.
 */
#ifndef MOCK_CLIENT_H
#define MOCK_CLIENT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "mock_engine.h"
#include "tern/tern.h"

#define FOR_EVER ((uint64_t)1 << 40)
#define MS ((uint64_t)250000)

struct client {
    struct mock_context mock;
    struct mock_work work;
    uint64_t submitted, ended, cycles, first_begin;
    uint32_t results[3];
    uint32_t packets;  /**< Packets of each job of a flood. */
    uint32_t refill;   /**< Number of jobs to keep queued. */
};

static struct mock m;
static void (*judge_end)(const struct client *c, const struct tern_job *job); /* NULL: any end is accepted */

static inline struct client *client_of(const struct tern_sched_context *c)
{
    return TERN_LIST_ENTRY(c, struct client, mock.sched);
}

static inline void client_init(struct client *c, struct tern_sched_process *p, int32_t engine, uint32_t band,
                               uint32_t weight, uint64_t cost)
{
    *c = (struct client){.work = {.cost = cost, .fault_at = -1}, .packets = 1};
    tern_sched_context_init(&m.sched, &c->mock.sched, p, engine, band, weight);
}

static inline struct tern_job *client_job(struct client *c, uint32_t packets)
{
    struct tern_job *job = mock_job(&c->work, packets, ++c->submitted);
    job->submitted = m.now;
    return job;
}

static inline void client_send(struct client *c, struct tern_job *job)
{
    tern_sched_submit(&m.sched, &c->mock.sched, job);
}

static inline struct tern_job *client_submit(struct client *c, uint32_t packets)
{
    struct tern_job *job = client_job(c, packets);
    client_send(c, job);
    return job;
}

/** Checks that the scheduler keeps no reference to a context without jobs. */
static inline void expect_unreferenced(const struct tern_sched_context *c)
{
    assert_true(tern_list_empty(&c->jobs) && c->state == TERN_SCHED_EMPTY && !c->live && !c->inflight);
    assert_true(!c->requeued_count && !tern_sched_next_job(c));
    assert_true(tern_list_empty(&c->node) && tern_list_empty(&c->movable) && tern_list_empty(&c->update));
    assert_true(!c->blocked_on && tern_list_empty(&c->waiter) && tern_list_empty(&c->waiters));
}

/** Takes the jobs that have ended, which must be in order within each context. */
static inline void take_ended(void)
{
    struct tern_job *job;
    while ((job = tern_sched_ended(&m.sched))) {
        struct client *c = client_of(job->context);
        assert_int_equal(job->fence, c->ended + 1);
        c->ended = job->fence;
        c->results[job->result]++;
        c->cycles += job->cycles;
        c->first_begin = c->first_begin ? c->first_begin : job->begin;
        if (judge_end) {
            judge_end(c, job);
        }
        free(job);
        if (tern_list_empty(&c->mock.sched.jobs)) {
            expect_unreferenced(&c->mock.sched);
        }
        while (c->submitted - c->ended < c->refill) {
            client_submit(c, c->packets);
        }
    }
}

static inline void run_once(void)
{
    assert_int_equal(tern_sched_run(&m.sched), 0);
    const char *broken = fair_check_now_and_then(&m.sched, &m.seen);
    if (broken) {
        fail_msg("%s", broken);
    }
    take_ended();
}

/** Keeps `refill` jobs of the client queued. */
static inline void client_flood(struct client *c, uint32_t refill)
{
    c->refill = refill;
    while (c->submitted - c->ended < refill) {
        client_submit(c, c->packets);
    }
}

/** Lets so many cycles pass. The scheduler runs at its deadlines and after each indication. */
static inline void run(uint64_t cycles)
{
    uint64_t until = m.now + cycles;
    run_once();
    while (m.now < until) {
        uint64_t step = until - m.now, next = mock_next(&m), due = tern_sched_deadline(&m.sched);
        step = next < step ? next : step;
        step = due < step ? due : step;
        mock_advance(&m, step ? step : 1);
        run_once();
    }
}

/** Runs until none of the client's chunks is in flight, and if `all`, until all of its jobs have ended. The condition
 *  is checked every `step` cycles. The test fails after 10^8 cycles without an end. */
static inline void run_until_idle(const struct client *c, bool all, uint64_t step)
{
    const struct tern_sched_context *s = &c->mock.sched;
    const uint64_t begin = m.now;
    while (s->inflight || (all && !tern_list_empty(&s->jobs))) {
        run(step);
        if (m.now - begin > 100000000) {
            fail_msg("a client's work has not ended in %llu cycles", (unsigned long long)(m.now - begin));
        }
    }
}

/** Runs until no event is pending. */
static inline void drain(void)
{
    run_once();
    for (int i = 0; tern_sched_pending(&m.sched); i++) {
        uint64_t next = mock_next(&m), due = tern_sched_deadline(&m.sched);
        if (i >= 1000000) {
            fail_msg("jobs do not end (%u pending)", m.sched.pending);
        }
        next = due < next ? due : next;
        mock_advance(&m, next == UINT64_MAX || !next ? 1 : next);
        run_once();
    }
}

static inline void stop_floods(struct client *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        c[i].refill = 0;
    }
}

/** Jain's index of fairness, which is 1 if all values are equal. */
static inline double jain(const double *x, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : 0;
}

#endif
