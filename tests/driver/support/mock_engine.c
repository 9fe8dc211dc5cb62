/* SPDX-License-Identifier: Apache-2.0 */
#include "mock_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

#define INSTRUCTION TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION
#define MOCK_CONTEXT(c) ((m)->of ? (m)->of(c) : TERN_LIST_ENTRY(c, struct mock_context, sched))

static void check(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "mock engine: %s\n", what);
        abort();
    }
}

static struct mock_work *work_of(const struct mock_queue *q)
{
    return q->chunk[0].job->user;
}

/* ------------------------------------------------------------------- indications */

static void shift(struct mock_queue *q)
{
    q->chunk[0] = q->chunk[1];
    q->n--;
    q->running = false;
    q->at = 0;
    q->saving = q->restoring = 0;
}

static struct tern_sched_indication *tell(struct mock_queue *q, enum tern_sched_kind kind, uint64_t fence)
{
    check(q->inds < sizeof q->ind / sizeof *q->ind, "indications pile up");
    struct tern_sched_indication *i = &q->ind[q->inds++];
    *i = (struct tern_sched_indication){.kind = kind, .fence = fence, .last_completed = q->last_completed};
    return i;
}

static void ended(struct mock_queue *q, enum tern_sched_kind kind, uint64_t now)
{
    struct tern_sched_indication *i = tell(q, kind, q->chunk[0].id);
    i->begin = q->begin;
    i->end = now;
    if (kind == TERN_SCHED_COMPLETED) {
        q->last_completed = q->chunk[0].id;
    } else {
        i->fault = (struct tern_indication){.fault = TERN_FAULT_PAGE, .offset = q->at * TERN_PKT_LINE_BYTES};
    }
    shift(q);
}

/** Saves the running chunk to the save area of its context. */
static void save(const struct mock *m, const struct mock_queue *q, uint32_t engine)
{
    struct mock_context *c = MOCK_CONTEXT(q->chunk[0].context);
    check(!c->save.valid, "a save area that holds state is written");
    c->save.valid = true;
    c->save.job = q->chunk[0].job;
    c->save.start = q->chunk[0].start;
    c->save.slot = q->chunk[0].slot;
    c->save.engine = engine;
    c->save.at = q->at;
    c->save.left = q->left;
}

/** The running chunk needs a page: all of the queue is returned, one indication each. */
static void asked(struct mock *m, uint32_t engine, uint64_t now)
{
    struct mock_queue *q = &m->queue[engine];
    struct tern_sched_indication *i = tell(q, TERN_SCHED_RETURNED, q->chunk[0].id);
    i->preempted.began = true;
    i->preempted.offset = q->at * TERN_PKT_LINE_BYTES;
    i->begin = q->begin;
    i->end = now;
    i->fault = (struct tern_indication){.fault = TERN_FAULT_PAGE_ABSENT, .offset = i->preempted.offset};
    save(m, q, engine);
    for (shift(q); q->n; shift(q)) {
        tell(q, TERN_SCHED_RETURNED, q->chunk[0].id);
    }
}

/** The queue is preempted. The running chunk is saved. */
static void stopped(struct mock *m, uint32_t engine, uint64_t now)
{
    struct mock_queue *q = &m->queue[engine];
    struct tern_sched_indication *i = tell(q, TERN_SCHED_PREEMPTED, q->stopping);
    if (q->n) {
        i->preempted.fence = q->chunk[0].id;
        i->preempted.began = q->running;
        i->begin = q->running ? q->begin : 0;
        i->end = q->running ? now : 0;
        i->preempted.offset = q->at * TERN_PKT_LINE_BYTES;
        if (q->running) {
            save(m, q, engine);
        }
    }
    while (q->n) {
        shift(q);
    }
    q->stopping = 0;
}

/* ------------------------------------------------------------------- time */

static void begin_chunk(struct mock *m, uint32_t engine, uint64_t now)
{
    struct mock_queue *q = &m->queue[engine];
    const struct tern_chunk *s = &q->chunk[0];
    struct mock_context *c = MOCK_CONTEXT(s->context);
    q->running = true;
    q->begin = now;
    q->left = s->job->null ? 0 : work_of(q)->cost;
    check(s->resume == c->save.valid, s->resume ? "resumed from an empty save area" : "saved state is forgotten");
    if (s->resume) {
        check(c->save.job == s->job && c->save.start == s->start && c->save.slot == s->slot,
              "resumed from another chunk's state");
        check(s->resume_at == c->save.at * TERN_PKT_LINE_BYTES, "resumed at another offset");
        q->at = c->save.at;
        q->left = c->save.left;
        q->restoring = m->restore_cycles;
        c->save.valid = false;
        m->resumed++;
        m->moved += c->save.engine != engine;
    }
}

static void packet_done(struct mock *m, struct mock_queue *q, uint64_t now)
{
    const struct tern_chunk *s = &q->chunk[0];
    struct mock_work *w = work_of(q);
    uint32_t packet = s->start / TERN_PKT_LINE_BYTES + q->at;
    const uint32_t *words = &s->job->packets[packet * 16];
    if (s->job->null) {
        ended(q, TERN_SCHED_COMPLETED, now);
        return;
    }
    w->executed[packet]++;
    if ((words[0] & TERN_PKT_OPCODE_MASK) == TERN_PKT_FENCE_SIGNAL) {
        m->fence[words[1] / 8] = words[3] | (uint64_t)words[4] << 32;
    }
    if (w->fault_at == (int32_t)packet) {
        ended(q, TERN_SCHED_FAULTED, now);
    } else if (++q->at == s->packets) {
        ended(q, TERN_SCHED_COMPLETED, now);
    } else {
        q->left = w->cost;
    }
}

/** Cycles that the front of the queue still runs before it honours the request to stop. */
static uint64_t until_stop(const struct mock_queue *q)
{
    const struct mock_work *w = work_of(q);
    if (!q->running) {
        return 0;
    }
    if (w->unstoppable || (w->cost == MOCK_HANG && q->granularity != INSTRUCTION)) {
        return UINT64_MAX;
    }
    return q->granularity == INSTRUCTION ? 0 : q->left == w->cost ? 0 : w->group ? q->left % w->group : q->left;
}

/** Does one step of an engine, of at most `most` cycles. Returns the cycles that it took. */
static uint64_t step(struct mock *m, uint32_t engine, uint64_t now, uint64_t most)
{
    struct mock_queue *q = &m->queue[engine];
    if (m->deaf && engine == 0) {
        return most;
    }
    if (q->saving) {
        uint64_t n = tern_min_u64(most, q->saving);
        q->saving -= n;
        if (!q->saving) {
            stopped(m, engine, now + n);
        }
        return n;
    }
    if (q->stopping && until_stop(q) == 0) {
        q->saving = q->running ? m->save_cycles : 0;
        if (!q->saving) {
            stopped(m, engine, now);
        }
        return 0;
    }
    if (!q->running) {
        begin_chunk(m, engine, now);
    }
    if (q->restoring) {
        uint64_t n = tern_min_u64(most, q->restoring);
        q->restoring -= n;
        return n;
    }
    const bool lacks = m->lacks && !q->chunk[0].job->null && m->lacks(m, &q->chunk[0]);
    if (lacks || (!q->chunk[0].job->null && work_of(q)->asks && q->left == work_of(q)->cost)) {
        work_of(q)->asks -= !lacks;
        asked(m, engine, now);
        return 0;
    }
    uint64_t n = tern_min_u64(most, q->left);
    if (m->lacks && work_of(q)->group) { /* each work-group checks for its page */
        n = tern_min_u64(n, work_of(q)->group);
    }
    n = q->stopping ? tern_min_u64(n, until_stop(q)) : n;
    q->left -= q->left == MOCK_HANG ? 0 : n;
    q->busy += n;
    if (!q->left) {
        packet_done(m, q, now + n);
    }
    return n;
}

void mock_advance(struct mock *m, uint64_t cycles)
{
    for (uint32_t e = 0; e < m->sched.engines; e++) {
        struct mock_queue *q = &m->queue[e];
        uint64_t t = 0;
        while (t < cycles && (q->n || q->stopping)) {
            if (q->n || (m->deaf && e == 0)) {
                t += step(m, e, m->now + t, cycles - t);
            } else {
                stopped(m, e, m->now + t);
            }
        }
        q->idle += cycles - t;
    }
    m->now += cycles;
}

uint64_t mock_next(const struct mock *m)
{
    uint64_t at = UINT64_MAX;
    for (uint32_t e = 0; e < m->sched.engines; e++) {
        const struct mock_queue *q = &m->queue[e];
        const struct mock_work *w = q->n ? work_of(q) : NULL;
        if (q->inds) {
            return 0;
        }
        if (q->stopping && (!q->n || q->saving || until_stop(q) != UINT64_MAX)) {
            at = tern_min_u64(at, q->saving + (q->n && !q->saving ? until_stop(q) : 0) + 1);
        }
        if (q->n && q->chunk[0].job->null) {
            at = tern_min_u64(at, 1);
        } else if (q->n && w->cost != MOCK_HANG) {
            uint64_t begun = q->running ? q->left + (q->chunk[0].packets - q->at - 1) * w->cost
                                        : q->chunk[0].packets * w->cost;
            at = tern_min_u64(at, q->restoring + (w->asks ? 0 : begun) + 1);
        }
    }
    return at;
}

/* ------------------------------------------------------------------- operations */

static int op_submit(void *user, uint32_t engine, const struct tern_chunk *s)
{
    struct mock *m = user;
    struct mock_queue *q = &m->queue[engine];
    if (m->fail) {
        return m->fail;
    }
    check(q->n < TERN_HW_QUEUE, "a third chunk in the HW queue (C6)");
    check(!q->stopping, "a submission while a preemption is under way");
    check(s->context->process->system || !MOCK_CONTEXT(s->context)->absent, "a submission of what waits for a page");
    check(s->context->affinity == TERN_ENGINE_ANY || s->context->affinity == (int32_t)engine,
          "a bound context elsewhere");
    mock_advance(m, m->post);
    check(s->id > q->last_completed, "an id that has completed");
    check(q->n == 0 || s->id > q->chunk[0].id, "ids out of order");
    check(q->n == 0 || q->chunk[0].context != s->context || q->chunk[0].slot != s->slot, "two chunks in one slot");
    for (uint32_t e = 0; e < m->sched.engines; e++) {
        for (uint32_t i = 0; i < m->queue[e].n; i++) {
            check(e == engine || m->queue[e].chunk[i].context != s->context, "one context on two engines");
        }
    }
    q->chunk[q->n++] = *s;
    q->last_submitted = s->id > q->last_submitted ? s->id : q->last_submitted;
    m->deepest = q->n > m->deepest ? q->n : m->deepest;
    return 0;
}

static int op_poll(void *user, uint32_t engine, struct tern_sched_indication *out)
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

static int op_preempt(void *user, uint32_t engine, uint64_t fence, uint32_t granularity)
{
    struct mock *m = user;
    struct mock_queue *q = &m->queue[engine];
    check(!q->stopping || (fence == q->stopping && granularity > q->granularity),
          "a second request that is not a finer one");
    m->finer += q->stopping != 0;
    m->preemptions += q->stopping == 0;
    q->stopping = fence;
    q->granularity = granularity;
    if (!m->fail && !q->n) {
        stopped(m, engine, m->now); /* P4 */
    }
    return m->fail;
}

static int op_reset(void *user, uint32_t engine, bool begin, uint64_t *last_aborted)
{
    struct mock *m = user;
    check(begin == (m->reset_begun == 0), "a reset is asked for twice, or was not begun");
    m->reset_begun = begin ? m->now : m->reset_begun;
    if (m->now - m->reset_begun < m->reset_cycles) {
        return 1;
    }
    m->reset_begun = 0;
    for (uint32_t e = 0; e < m->sched.engines; e++) {
        struct mock_queue *q = &m->queue[e];
        if (e == engine || (m->dependent[engine] >> e & 1)) {
            while (q->n && !m->refuse_reset) {
                if (q->running && q->chunk[0].resume) { /* the save area still holds the state that was resumed */
                    MOCK_CONTEXT(q->chunk[0].context)->save.valid = !q->chunk[0].context->process->system;
                }
                shift(q);
            }
            q->stopping = 0;
            q->last_completed = q->last_submitted;
        }
    }
    m->deaf = m->deaf && engine != 0;
    *last_aborted = m->queue[engine].last_submitted;
    m->resets++;
    return m->fail;
}

static int op_idle(void *user, uint32_t engine)
{
    struct mock *m = user;
    const struct mock_queue *q = &m->queue[engine];
    return m->fail ? m->fail : !q->n && !q->running;
}

static uint32_t op_dependent(void *user, uint32_t engine)
{
    struct mock *m = user;
    return m->dependent[engine] | 1u << engine;
}

static int op_time(void *user, uint64_t *now)
{
    struct mock *m = user;
    *now = m->now;
    return m->fail;
}

static int op_fence_value(void *user, const struct tern_sched_context *c, uint32_t address, uint64_t *value)
{
    struct mock *m = user;
    (void)c;
    m->reads++;
    if (m->fail || address / 8 >= MOCK_FENCES) {
        return m->fail;
    }
    *value = m->fence[address / 8];
    return 1;
}

static void op_fault(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind)
{
    struct mock *m = user;
    (void)engine;
    (void)job;
    (void)ind;
    m->faults++;
}

static bool op_stuck(void *user, uint32_t engine, struct tern_job *front)
{
    struct mock *m = user;
    (void)engine;
    (void)front;
    m->stucks++;
    return m->later && m->later--;
}

static void op_event(void *user, const struct tern_sched_event *event)
{
    struct mock *m = user;
    if (m->event) {
        m->event(m, event);
    }
}

static bool op_resident(void *user, struct tern_sched_context *c, struct tern_job *job)
{
    const struct mock *m = user;
    return m->resident ? m->resident(c, job) : !MOCK_CONTEXT(c)->absent;
}

static bool op_returns(void *user, const struct tern_sched_context *c)
{
    const struct mock *m = user;
    (void)c;
    return m->returns;
}

static bool op_page(void *user, struct tern_sched_context *c, struct tern_job *job, const struct tern_indication *ind)
{
    struct mock *m = user;
    check(ind->fault == TERN_FAULT_PAGE_ABSENT && ind->offset % TERN_PKT_LINE_BYTES == 0 && ind->offset < job->size,
          "a page request without a place");
    check(!MOCK_CONTEXT(c)->absent, "a page request of what waits for one");
    m->asked++;
    if (m->page) {
        return m->page(c, job);
    }
    MOCK_CONTEXT(c)->absent = !m->no_page;
    return !m->no_page;
}

void mock_page_comes(struct mock *m, struct mock_context *c)
{
    c->absent = false;
    tern_sched_context_recheck(&m->sched, &c->sched, false);
}

static const struct tern_sched_ops ops = {
    .submit = op_submit,
    .preempt = op_preempt,
    .poll = op_poll,
    .reset = op_reset,
    .idle = op_idle,
    .dependent = op_dependent,
    .time = op_time,
    .fence_value = op_fence_value,
    .fault = op_fault,
    .stuck = op_stuck,
    .event = op_event,
    .resident = op_resident,
    .page = op_page,
    .returns = op_returns,
};

void mock_init(struct mock *m, uint32_t engines, const struct tern_sched_config *config)
{
    *m = (struct mock){.now = 1};
    tern_sched_init(&m->sched, &ops, m, engines, config);
}

/* ------------------------------------------------------------------- jobs */

struct tern_job *mock_job(struct mock_work *work, uint32_t packets, uint64_t fence)
{
    size_t bytes = packets * TERN_PKT_LINE_BYTES;
    struct tern_job *job = calloc(1, sizeof *job + bytes + packets * sizeof *job->signals);
    check(job != NULL, "no memory");
    tern_list_init(&job->node);
    job->size = (uint32_t)bytes;
    job->fence = fence;
    job->user = work;
    job->signals = (void *)((char *)job + sizeof *job + bytes);
    for (uint32_t i = 0; i < packets; i++) {
        job->packets[i * 16] = TERN_PKT_NOP | 1u << TERN_PKT_LINES_SHIFT;
    }
    return job;
}

void mock_job_wait(struct tern_job *job, uint32_t i, uint32_t address, uint64_t value)
{
    struct tern_pkt_fence_wait p = {.address_lo = address, .value_lo = (uint32_t)value,
                                    .value_hi = (uint32_t)(value >> 32)};
    check(tern_pkt_fence_wait_pack(&p, &job->packets[i * 16]) == 0, "fence_wait");
}

void mock_job_signal(struct tern_job *job, uint32_t i, uint32_t address, uint64_t value)
{
    struct tern_pkt_fence_signal p = {.address_lo = address, .value_lo = (uint32_t)value,
                                      .value_hi = (uint32_t)(value >> 32)};
    check(tern_pkt_fence_signal_pack(&p, &job->packets[i * 16]) == 0, "fence_signal");
}
