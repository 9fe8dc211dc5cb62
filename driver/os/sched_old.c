/* SPDX-License-Identifier: Apache-2.0 */
/** The choice of what runs next, and the engine's side: submission, timeouts. Indications are in sched_retire.c. */
#include "os/sched_old.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "os/sched_old_internal.h"

#define SCALE 1024 /* virtual time has ten bits after the point */
#define WEIGHT_UNIT 100

void tern_sched_init(struct tern_sched *s, const struct tern_sched_ops *ops, void *user, uint32_t engines, uint64_t timeout,
                     uint64_t quantum)
{
    *s = (struct tern_sched){.ops = ops, .user = user, .engines = engines, .timeout = timeout, .quantum = quantum};
    tern_list_init(&s->ended);
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        tern_list_init(&s->engine[e].contexts);
        s->engine[e].next_id = 1;
    }
}

void tern_sched_context_init(struct tern_sched_context *c, struct tern_sched_process *p, uint32_t engine, uint32_t weight)
{
    *c = (struct tern_sched_context){.process = p, .engine = engine, .weight = weight, .estimate = 1};
    tern_list_init(&c->node);
    tern_list_init(&c->jobs);
}

void tern_sched_submit(struct tern_sched *s, struct tern_sched_context *c, struct tern_job *job)
{
    job->context = c;
    job->result = TERN_COMPLETED;
    if (tern_list_empty(&c->jobs)) {
        tern_list_append(&s->engine[c->engine].contexts, &c->node);
    }
    tern_list_append(&c->jobs, &job->node);
    c->next = c->next ? c->next : job;
    if (c->process->error && c->inflight == 0) {
        tern_sched_abort(s, c->process);
    }
}

bool tern_sched_pending(const struct tern_sched *s)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        if (!tern_list_empty(&s->engine[e].contexts)) {
            return true;
        }
    }
    return false;
}

bool tern_sched_busy(const struct tern_sched *s)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        if (s->engine[e].n) {
            return true;
        }
    }
    return false;
}

struct tern_job *tern_sched_ended(struct tern_sched *s)
{
    if (tern_list_empty(&s->ended)) {
        return NULL;
    }
    struct tern_job *job = TERN_LIST_ENTRY(s->ended.next, struct tern_job, node);
    tern_list_remove(&job->node);
    return job;
}

/* ------------------------------------------------------------ virtual time */

void tern_sched_charge(struct tern_sched_context *c, int64_t cycles)
{
    c->process->vtime[c->engine] += cycles * SCALE;
    c->vtime += cycles * SCALE * WEIGHT_UNIT / (int64_t)c->weight;
}

/** A context that can run again, and a process of which nothing could, start at the present. */
void tern_sched_set_live(struct tern_sched *s, struct tern_sched_context *c, bool live)
{
    struct tern_sched_process *p = c->process;
    uint32_t e = c->engine;
    if (live && !c->live) {
        if (p->live[e]++ == 0 && p->vtime[e] < s->engine[e].floor) {
            p->vtime[e] = s->engine[e].floor;
        }
        if (c->vtime < p->floor[e]) {
            c->vtime = p->floor[e];
        }
    } else if (!live && c->live) {
        p->live[e]--;
    }
    c->live = live;
}

/* ------------------------------------------------------------------ choice */

/** Are the waits that the next slice begins with satisfied? */
static int ready(struct tern_sched *s, const struct tern_sched_context *c, bool *out)
{
    const struct tern_job *j = c->next;
    *out = j != NULL && !c->process->error;
    for (uint32_t at = j ? j->sent : 0; *out && at < j->size; at += TERN_PKT_LINE_BYTES) {
        if ((j->packets[at / 4] & TERN_PKT_OPCODE_MASK) != TERN_PKT_FENCE_WAIT) {
            break;
        }
        int r = s->ops->satisfied(s->user, c, &j->packets[at / 4]);
        if (r <= 0) {
            *out = false;
            return r;
        }
    }
    return 0;
}

static int refresh(struct tern_sched *s, uint32_t engine)
{
    TERN_LIST_EACH(node, &s->engine[engine].contexts)
    {
        struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
        int r = ready(s, c, &c->runnable);
        if (r) {
            return r;
        }
        tern_sched_set_live(s, c, c->runnable || c->inflight);
    }
    return 0;
}

static bool before(const struct tern_sched_context *a, const struct tern_sched_context *b)
{
    uint32_t e = a->engine;
    if (a->process->system != b->process->system) {
        return a->process->system;
    }
    if (a->process != b->process && a->process->vtime[e] != b->process->vtime[e]) {
        return a->process->vtime[e] < b->process->vtime[e];
    }
    return a->process == b->process && a->vtime < b->vtime;
}

/**
 * The runnable context that is furthest behind. Ties go to the one that was chosen longer ago: a chosen context moves to
 * the end of the list.
 */
static struct tern_sched_context *choose(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_context *best = NULL;
    TERN_LIST_EACH(node, &s->engine[engine].contexts)
    {
        struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
        if (c->runnable && (!best || before(c, best))) {
            best = c;
        }
    }
    return best;
}

static int start(struct tern_sched *s, uint32_t engine, struct tern_sched_context *c)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_job *j = c->next;
    struct tern_slice *slice = &e->inflight[e->n];
    *slice = (struct tern_slice){.context = c, .job = j, .start = j->sent, .slot = c->slot, .id = e->next_id};
    slice->size = tern_slice_cut(j, j->sent, &slice->packets);
    slice->charged = c->process->system ? 0 : c->estimate;
    int r = s->ops->submit(s->user, engine, slice);
    if (r) {
        return r;
    }
    if (!c->process->system) {
        if (c->process->vtime[engine] > e->floor) {
            e->floor = c->process->vtime[engine];
        }
        if (c->vtime > c->process->floor[engine]) {
            c->process->floor[engine] = c->vtime;
        }
    }
    tern_sched_charge(c, slice->charged);
    e->next_id++;
    if (e->n++ == 0) {
        e->front_since = s->now;
    }
    c->slot ^= 1;
    c->inflight++;
    j->sent += slice->size;
    if (j->sent == j->size) {
        c->next = j->node.next == &c->jobs ? NULL : TERN_LIST_ENTRY(j->node.next, struct tern_job, node);
    }
    tern_list_remove(&c->node);
    tern_list_append(&e->contexts, &c->node);
    return 0;
}

static int fill(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    int r = refresh(s, engine);
    while (!r && !e->stopping && e->n < TERN_HW_QUEUE) {
        struct tern_sched_context *c = choose(s, engine);
        if (!c) {
            break;
        }
        r = start(s, engine, c);
        r = r ? r : ready(s, c, &c->runnable);
    }
    return r;
}

/* -------------------------------------------------- quantum and timeouts */

static bool wanted_by_another(const struct tern_sched_engine *e)
{
    const struct tern_sched_context *front = e->inflight[0].context;
    TERN_LIST_EACH(node, &e->contexts)
    {
        const struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
        if (c != front && c->live) {
            return true;
        }
    }
    return false;
}

static int stop(struct tern_sched *s, uint32_t engine, bool timed_out)
{
    struct tern_sched_engine *e = &s->engine[engine];
    e->timed_out = e->timed_out || timed_out;
    if (timed_out || !e->stopping) {
        e->stop_since = s->now;
    }
    if (e->stopping) {
        return 0;
    }
    e->stopping = true;
    e->preemptions++;
    return s->ops->preempt(s->user, engine);
}

static int judge(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    uint64_t ran = s->now > e->front_since ? s->now - e->front_since : 0;
    if (!e->n) {
        return 0;
    }
    if (e->timed_out) {
        return s->now - e->stop_since > s->timeout / 16 ? tern_sched_reset(s, engine) : 0;
    }
    if (ran > s->timeout) {
        return stop(s, engine, true);
    }
    if (ran > s->quantum && e->inflight[0].packets > 1 && !e->inflight[0].context->process->system && !e->stopping &&
        wanted_by_another(e)) {
        return stop(s, engine, false);
    }
    return 0;
}

int tern_sched_run(struct tern_sched *s)
{
    int r = s->ops->time(s->user, &s->now);
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        r = tern_sched_collect(s, e);
        r = r ? r : judge(s, e);
    }
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        r = fill(s, e);
    }
    return r;
}
