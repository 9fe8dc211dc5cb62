/* SPDX-License-Identifier: Apache-2.0 */
#include "mock_engine.h"

#include <stdlib.h>
#include <string.h>

static uint32_t first_packet(const struct tern_slice *s)
{
    return s->start / TERN_PKT_LINE_BYTES;
}

static void start_packet(struct mock_queue *q)
{
    const struct mock_work *w = q->slice[0].job->user;
    q->left = w->cost;
}

static void indicate(struct mock *m, struct mock_queue *q, uint32_t kind, uint32_t packets)
{
    q->ind[q->inds++] = (struct tern_indication){
        .kind = kind,
        .fence = q->slice[0].id,
        .offset = packets * TERN_PKT_LINE_BYTES,
        .fault = kind == TERN_ENGINE_IND_INFO_KIND_FAULTED ? TERN_FAULT_PAGE : 0,
        .begin = q->running ? q->begin : 0,
        .end = m->now,
    };
    q->slice[0] = q->slice[1];
    q->n--;
    q->running = false;
    q->at = 0;
}

static void one_cycle(struct mock *m, struct mock_queue *q)
{
    if (!q->n) {
        return;
    }
    struct mock_work *w = q->slice[0].job->user;
    bool between = !q->running || q->left == w->cost;
    if (q->stopping && (between || w->cost == MOCK_HANG) && !(q->running && w->cost == MOCK_HANG)) {
        uint32_t at = q->at;
        indicate(m, q, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, at);
        while (q->n) {
            indicate(m, q, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0);
        }
        q->stopping = false;
        return;
    }
    if (!q->running) {
        q->running = true;
        q->begin = m->now;
        start_packet(q);
    }
    if (w->cost == MOCK_HANG || --q->left) {
        return;
    }
    uint32_t packet = first_packet(&q->slice[0]) + q->at;
    w->executed[packet]++;
    if (w->fault_at == (int32_t)packet) {
        indicate(m, q, TERN_ENGINE_IND_INFO_KIND_FAULTED, q->at);
    } else if (++q->at == q->slice[0].packets) {
        indicate(m, q, TERN_ENGINE_IND_INFO_KIND_COMPLETED, q->at);
    } else {
        start_packet(q);
    }
}

void mock_advance(struct mock *m, uint64_t cycles)
{
    while (cycles--) {
        m->now++;
        for (uint32_t e = 0; e < m->sched.engines; e++) {
            one_cycle(m, &m->queue[e]);
        }
    }
}

static int op_submit(void *user, uint32_t engine, const struct tern_slice *slice)
{
    struct mock *m = user;
    struct mock_queue *q = &m->queue[engine];
    if (m->fail || q->n == TERN_HW_QUEUE) {
        return m->fail ? m->fail : -EAGAIN;
    }
    q->slice[q->n++] = *slice;
    m->deepest = q->n > m->deepest ? q->n : m->deepest;
    return 0;
}

static int op_poll(void *user, uint32_t engine, struct tern_indication *out)
{
    struct mock *m = user;
    struct mock_queue *q = &m->queue[engine];
    if (m->fail || !q->inds) {
        return m->fail;
    }
    *out = q->ind[0];
    memmove(&q->ind[0], &q->ind[1], --q->inds * sizeof q->ind[0]);
    return 1;
}

static int op_preempt(void *user, uint32_t engine)
{
    struct mock *m = user;
    m->queue[engine].stopping = m->queue[engine].n != 0;
    m->preemptions++;
    return m->fail;
}

static int op_reset(void *user, uint32_t engine)
{
    struct mock *m = user;
    struct mock_queue *q = &m->queue[engine];
    q->n = q->at = 0;
    q->running = q->stopping = false;
    m->resets++;
    return m->fail;
}

static int op_time(void *user, uint64_t *now)
{
    struct mock *m = user;
    *now = m->now;
    return m->fail;
}

static int op_satisfied(void *user, const struct tern_sched_context *c, const uint32_t *packet)
{
    struct mock *m = user;
    (void)c;
    return m->fail ? m->fail : m->value >= packet[3];
}

static void op_fault(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind)
{
    struct mock *m = user;
    (void)engine;
    (void)job;
    (void)ind;
    m->faults++;
}

static const struct tern_sched_ops ops = {op_submit, op_poll, op_preempt, op_reset, op_time, op_satisfied, op_fault};

void mock_init(struct mock *m, uint32_t engines, uint64_t timeout, uint64_t quantum)
{
    *m = (struct mock){.now = 1};
    tern_sched_init(&m->sched, &ops, m, engines, timeout, quantum);
}

struct tern_job *mock_job(struct mock_work *work, uint32_t packets, uint64_t fence)
{
    struct tern_job *job = calloc(1, sizeof *job + packets * TERN_PKT_LINE_BYTES);
    if (!job) {
        abort();
    }
    tern_list_init(&job->node);
    job->size = packets * TERN_PKT_LINE_BYTES;
    job->fence = fence;
    job->user = work;
    for (uint32_t i = 0; i < packets; i++) {
        job->packets[i * 16] = TERN_PKT_NOP | 1u << TERN_PKT_LINES_SHIFT;
    }
    return job;
}

void mock_job_wait(struct tern_job *job, uint32_t i, uint32_t value)
{
    job->packets[i * 16] = TERN_PKT_FENCE_WAIT | 1u << TERN_PKT_LINES_SHIFT;
    job->packets[i * 16 + 3] = value;
}
