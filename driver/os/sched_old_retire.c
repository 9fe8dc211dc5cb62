/* SPDX-License-Identifier: Apache-2.0 */
/** How slices end: completed, preempted, faulted, lost to a reset; and how jobs end with them. */
#include <errno.h>

#include "base/error.h"
#include "os/sched_old_internal.h"

static struct tern_job *following(const struct tern_job *job)
{
    return job->node.next == &job->context->jobs ? NULL : TERN_LIST_ENTRY(job->node.next, struct tern_job, node);
}

/** The job leaves its context. The list of ended jobs is in order, because a context's jobs end in order. */
static void end_job(struct tern_sched *s, struct tern_job *job, enum tern_result result)
{
    struct tern_sched_context *c = job->context;
    job->result = job->result == TERN_COMPLETED ? result : job->result;
    c->next = c->next == job ? following(job) : c->next;
    tern_list_remove(&job->node);
    tern_list_append(&s->ended, &job->node);
    if (tern_list_empty(&c->jobs)) {
        tern_list_remove(&c->node);
        c->runnable = false;
        tern_sched_set_live(s, c, false);
    }
}

static void abort_queued(struct tern_sched *s, struct tern_sched_context *c)
{
    while (!tern_list_empty(&c->jobs)) {
        end_job(s, TERN_LIST_ENTRY(c->jobs.next, struct tern_job, node), TERN_ABORTED);
    }
}

void tern_sched_abort(struct tern_sched *s, struct tern_sched_process *p)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        struct tern_list *list = &s->engine[e].contexts;
        for (struct tern_list *node = list->next, *next; node != list; node = next) {
            struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
            next = node->next;
            if (c->process == p) {
                c->next = NULL; /* nothing more is started; jobs in flight end first, to keep the order */
                if (c->inflight == 0) {
                    abort_queued(s, c);
                }
            }
        }
    }
}

void tern_sched_abort_all(struct tern_sched *s)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        struct tern_sched_engine *engine = &s->engine[e];
        for (uint32_t i = 0; i < engine->n; i++) {
            engine->inflight[i].context->inflight = 0;
        }
        engine->n = 0;
        while (!tern_list_empty(&engine->contexts)) {
            abort_queued(s, TERN_LIST_ENTRY(engine->contexts.next, struct tern_sched_context, node));
        }
    }
}

/** Takes the front slice out of the HW queue's image and settles its account. */
static struct tern_slice take_front(struct tern_sched *s, uint32_t engine, uint64_t begin, uint64_t end)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_slice slice = e->inflight[0];
    struct tern_sched_context *c = slice.context;
    bool ran = begin && end >= begin;
    int64_t cycles = ran ? (int64_t)(end - begin) : 0;
    if (!c->process->system) {
        tern_sched_charge(c, cycles - slice.charged);
    }
    if (ran) {
        c->estimate = (c->estimate * 3 + cycles) / 4 + 1;
        slice.job->begin = slice.job->begun ? slice.job->begin : begin;
        slice.job->begun = true;
        slice.job->end = end;
        slice.job->cycles += (uint64_t)cycles;
    }
    c->inflight--;
    e->n--;
    e->inflight[0] = e->inflight[1];
    e->front_since = ran ? end : s->now;
    e->timed_out = false; /* that was about the slice that has gone */
    e->stopping = e->stopping && e->n;
    return slice;
}

/** What comes back unfinished is cut again from `at`; an earlier job or offset of the context wins. */
static void put_back(const struct tern_slice *slice, uint32_t at)
{
    struct tern_sched_context *c = slice->context;
    if (at < slice->job->sent) {
        slice->job->sent = at;
    }
    if (!c->next || slice->job->fence < c->next->fence) {
        c->next = slice->job;
    }
}

/** A job that cannot go on ends with its last slice in flight; with its process in error, so does all behind it. */
static void fail(struct tern_sched *s, const struct tern_slice *slice, enum tern_result result)
{
    struct tern_sched_context *c = slice->context;
    struct tern_sched_engine *e = &s->engine[c->engine];
    bool more = false;
    for (uint32_t i = 0; i < e->n; i++) {
        more = more || e->inflight[i].job == slice->job;
    }
    slice->job->result = slice->job->result == TERN_COMPLETED ? result : slice->job->result;
    if (more) {
        slice->job->sent = slice->job->size;
        c->next = c->next == slice->job ? following(slice->job) : c->next;
    } else {
        end_job(s, slice->job, slice->job->result);
    }
    if (c->process->error && c->inflight == 0) {
        abort_queued(s, c);
    }
}

static void guilty(struct tern_sched *s, uint32_t engine, const struct tern_slice *slice, const struct tern_indication *ind)
{
    struct tern_sched_process *p = slice->context->process;
    bool first = !p->error;
    p->error = !p->system;
    fail(s, slice, first ? TERN_FAULTED : TERN_ABORTED);
    if (p->error) {
        tern_sched_abort(s, p);
    }
    if (first) {
        s->ops->fault(s->user, engine, slice->job, ind);
    }
}

static int indicated(struct tern_sched *s, uint32_t engine, const struct tern_indication *ind)
{
    struct tern_sched_engine *e = &s->engine[engine];
    if (!e->n || ind->fence != e->inflight[0].id) {
        return tern_error(-EPROTO, "engine %u indicates fence %llu, but %llu is the oldest submitted", engine,
                          (unsigned long long)ind->fence, e->n ? (unsigned long long)e->inflight[0].id : 0);
    }
    struct tern_slice slice = take_front(s, engine, ind->begin, ind->end);
    struct tern_indication in_job = *ind;
    bool failed = slice.context->process->error || slice.job->result != TERN_COMPLETED;
    switch (ind->kind) {
    case TERN_ENGINE_IND_INFO_KIND_COMPLETED:
        if (failed) {
            fail(s, &slice, TERN_ABORTED);
        } else if (slice.start + slice.size == slice.job->size) {
            end_job(s, slice.job, TERN_COMPLETED);
        }
        return 0;
    case TERN_ENGINE_IND_INFO_KIND_PREEMPTED:
        if (failed) {
            fail(s, &slice, TERN_ABORTED);
        } else {
            put_back(&slice, slice.start + (ind->offset < slice.size ? ind->offset : 0));
        }
        return 0;
    case TERN_ENGINE_IND_INFO_KIND_FAULTED:
        in_job.offset += slice.start;
        guilty(s, engine, &slice, &in_job);
        return 0;
    default:
        return tern_error(-EPROTO, "engine %u gives an indication of unknown kind %u", engine, ind->kind);
    }
}

int tern_sched_collect(struct tern_sched *s, uint32_t engine)
{
    struct tern_indication ind;
    int r = 0;
    while (s->engine[engine].n && (r = s->ops->poll(s->user, engine, &ind)) > 0) {
        r = indicated(s, engine, &ind);
        if (r) {
            return r;
        }
    }
    return r < 0 ? r : 0;
}

int tern_sched_reset(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    uint64_t blamed = e->inflight[0].id;
    int r = s->ops->reset(s->user, engine);
    /* What had ended before the reset is still indicated. If the blamed slice is among it, nobody is guilty. */
    r = r ? r : tern_sched_collect(s, engine);
    e->resets++;
    while (!r && e->n) {
        bool is_guilty = e->inflight[0].id == blamed;
        struct tern_slice slice = take_front(s, engine, is_guilty ? e->front_since : 0, is_guilty ? s->now : 0);
        if (is_guilty) {
            guilty(s, engine, &slice, NULL);
        } else if (slice.context->process->error || slice.job->result != TERN_COMPLETED) {
            fail(s, &slice, TERN_ABORTED);
        } else {
            put_back(&slice, slice.start);
        }
    }
    return r;
}
