/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_client.h"

struct mock mock;

void (*judge_end)(const struct client *c, const struct tern_job *job);

struct client *client_of(const struct tern_sched_context *c)
{
    return TERN_LIST_ENTRY(c, struct client, mock.sched);
}

void client_init(struct client *c, struct tern_sched_process *p, int32_t engine, uint32_t band,
                 uint32_t weight, uint64_t cost)
{
    *c = (struct client){.work = {.cost = cost, .fault_at = -1}, .packets = 1};
    tern_sched_context_init(&mock.sched, &c->mock.sched, p, engine, band, weight);
}

struct tern_job *client_job(struct client *c, uint32_t packets)
{
    struct tern_job *job = mock_job(&c->work, packets, ++c->submitted);
    job->submitted = mock.now;
    return job;
}

void client_send(struct client *c, struct tern_job *job)
{
    tern_sched_submit(&mock.sched, &c->mock.sched, job);
}

struct tern_job *client_submit(struct client *c, uint32_t packets)
{
    struct tern_job *job = client_job(c, packets);
    client_send(c, job);
    return job;
}

/** Checks that the scheduler keeps no reference to a context without jobs. */
static void expect_unreferenced(const struct tern_sched_context *c)
{
    assert_true(tern_list_empty(&c->jobs) && c->state == TERN_SCHED_EMPTY && !c->live && !c->inflight);
    assert_true(!c->requeued_count && !tern_sched_next_job(c));
    assert_true(tern_list_empty(&c->node) && tern_list_empty(&c->movable) && tern_list_empty(&c->update));
    assert_true(!c->blocked_on && tern_list_empty(&c->waiter) && tern_list_empty(&c->waiters));
}

void client_backlog(struct client *c, uint32_t refill)
{
    c->refill = refill;
    while (c->submitted - c->ended < refill) {
        client_submit(c, c->packets);
    }
}

void take_ended(void)
{
    struct tern_job *job;
    while ((job = tern_sched_ended(&mock.sched))) {
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

void run_once(void)
{
    assert_int_equal(tern_sched_run(&mock.sched), 0);
    const char *broken = fair_check_now_and_then(&mock.sched, &mock.seen);
    if (broken) {
        fail_msg("%s", broken);
    }
    take_ended();
}

void run(uint64_t cycles)
{
    uint64_t until = mock.now + cycles;
    run_once();
    while (mock.now < until) {
        uint64_t step = until - mock.now, next = mock_next(&mock), due = tern_sched_deadline(&mock.sched);
        step = next < step ? next : step;
        step = due < step ? due : step;
        mock_advance(&mock, step ? step : 1);
        run_once();
    }
}

void run_until_idle(const struct client *c, bool all, uint64_t step)
{
    const struct tern_sched_context *s = &c->mock.sched;
    const uint64_t begin = mock.now;
    while (s->inflight || (all && !tern_list_empty(&s->jobs))) {
        run(step);
        if (mock.now - begin > 100000000) {
            fail_msg("a client's work has not ended in %llu cycles", (unsigned long long)(mock.now - begin));
        }
    }
}

void drain(void)
{
    run_once();
    for (int i = 0; tern_sched_pending(&mock.sched); i++) {
        uint64_t next = mock_next(&mock), due = tern_sched_deadline(&mock.sched);
        if (i >= 1000000) {
            fail_msg("jobs do not end (%u pending)", mock.sched.pending);
        }
        next = due < next ? due : next;
        mock_advance(&mock, next == UINT64_MAX || !next ? 1 : next);
        run_once();
    }
}

void end_backlogs(struct client *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        c[i].refill = 0;
    }
}

double jain(const double *x, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : 0;
}
