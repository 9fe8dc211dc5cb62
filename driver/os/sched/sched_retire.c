/* SPDX-License-Identifier: Apache-2.0 */
/** How slices end: completed, preempted, faulted, lost to a reset; and how jobs end with them. */
#include <errno.h>

#include "base/error.h"
#include "os/sched/sched_internal.h"

typedef unsigned long long ull;

/* -------------------------------------------------------------------- jobs */

static struct tern_job *following(const struct tern_job *job)
{
    return job->node.next == &job->context->jobs ? NULL : TERN_LIST_ENTRY(job->node.next, struct tern_job, node);
}

/** Nothing that the context has queued is started any more. */
static void withdraw(struct tern_sched *s, struct tern_sched_context *c)
{
    c->backs = 0;
    c->next = NULL;
    tern_list_remove(&c->judge);
    if (c->state != TERN_SCHED_EMPTY) {
        tern_sched_set_state(s, c, TERN_SCHED_EMPTY);
    }
}

/** The job leaves its context. The list of ended jobs is in order, because a context's jobs end in order. */
static void end_job(struct tern_sched *s, struct tern_job *job, enum tern_result result)
{
    struct tern_sched_context *c = job->context;
    job->result = job->result == TERN_COMPLETED ? result : job->result;
    job->engine = c->engine;
    c->next = c->next == job ? following(job) : c->next;
    tern_sched_forget_signals(s, job);
    tern_list_remove(&job->node);
    tern_list_append(&s->ended, &job->node);
    s->pending--;
    *(job->result == TERN_COMPLETED ? &c->stats.completed : &c->stats.aborted) += 1;
    if (tern_list_empty(&c->jobs)) { /* then the owner may free it: nothing refers to it any more */
        tern_list_remove(&c->node);
        withdraw(s, c);
    }
}

/** Ends all jobs of a context of which nothing is in flight. */
static void abort_queued(struct tern_sched *s, struct tern_sched_context *c)
{
    withdraw(s, c);
    while (!tern_list_empty(&c->jobs)) {
        end_job(s, TERN_LIST_ENTRY(c->jobs.next, struct tern_job, node), TERN_ABORTED);
    }
}

void tern_sched_abort(struct tern_sched *s, struct tern_sched_process *p)
{
    for (struct tern_list *node = p->contexts.next, *next; node != &p->contexts; node = next) {
        struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
        next = node->next;
        if (c->inflight) {
            /* these end first, to keep the order, and soon: nothing of a process in error keeps an engine */
            s->engine[c->engine].evict = true;
            withdraw(s, c);
        } else {
            abort_queued(s, c);
        }
    }
}

void tern_sched_abort_all(struct tern_sched *s)
{
    for (uint32_t i = 0; i < s->engines; i++) {
        struct tern_sched_engine *e = &s->engine[i];
        for (uint32_t k = 0; k < e->n; k++) {
            tern_fair_returned(s, e->inflight[k].context);
        }
        e->n = 0;
        e->stopping = 0;
        e->evict = e->forced = e->resetting = false;
        e->last_completed = e->next_id - 1;
    }
    TERN_LIST_EACH(node, &s->processes)
    {
        struct tern_sched_process *p = TERN_LIST_ENTRY(node, struct tern_sched_process, node);
        while (!tern_list_empty(&p->contexts)) {
            abort_queued(s, TERN_LIST_ENTRY(p->contexts.next, struct tern_sched_context, node));
        }
    }
}

/* ------------------------------------------------------------------ slices */

/** The first run of a job, on an engine or (null) at the time it would have run. */
static void begin_job(struct tern_sched_context *c, struct tern_job *job, uint64_t begin)
{
    uint64_t waited = begin > job->submitted ? begin - job->submitted : 0;
    job->begin = begin;
    job->begun = true;
    c->stats.waited += waited;
    c->stats.longest_wait = waited > c->stats.longest_wait ? waited : c->stats.longest_wait;
}

static void ran(struct tern_sched *s, uint32_t engine, const struct tern_slice *slice, uint64_t begin, uint64_t end)
{
    struct tern_sched_context *c = slice->context;
    uint64_t cycles = end - begin;
    if (!slice->job->begun) {
        begin_job(c, slice->job, begin);
    }
    c->estimate = (int64_t)cycles; /* the next is like the last: simple, and right for all that repeats */
    slice->job->end = end;
    slice->job->cycles += cycles;
    c->stats.cycles += cycles;
    c->stats.engine_cycles[engine] += cycles;
    s->engine[engine].busy += cycles;
    tern_bands_account(s, &s->engine[engine], c->band, cycles);
    c->stats.moved += slice->resume && slice->cut_on != engine;
    tern_sched_tell_slice(s, slice->resume ? TERN_EV_RESUMED : TERN_EV_START, engine, slice, begin);
}

/** Takes the front slice out of the HW queue's image and settles its account. */
static struct tern_slice take_front(struct tern_sched *s, uint32_t engine, uint64_t begin, uint64_t end)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_slice slice = e->inflight[0];
    struct tern_sched_context *c = slice.context;
    bool run = begin && end >= begin;
    tern_fair_charge(s, c, (run ? (int64_t)(end - begin) : 0) - slice.charged);
    tern_fair_returned(s, c);
    slice.charged = 0;
    if (run) {
        ran(s, engine, &slice, begin, end);
    }
    e->n--;
    e->inflight[0] = e->inflight[1];
    e->front_since = run ? end : s->now;
    e->quantum_end = e->front_since + (e->n ? tern_sched_quantum(s, &e->inflight[0]) : 0);
    tern_sched_signalled(s, c->process); /* it may have written fences */
    return slice;
}

/** A slice that came back unfinished: it runs before whatever of its context is younger. */
static void put_back(struct tern_sched *s, struct tern_slice *slice)
{
    struct tern_sched_context *c = slice->context;
    uint32_t at = c->backs && c->back[0].seq < slice->seq ? 1 : 0;
    if (at == 0) {
        c->back[1] = c->back[0];
    }
    slice->resubmitted = true;
    tern_fair_dequeue(s, c);
    c->back[at] = *slice;
    c->backs++;
    c->entity.order = c->back[0].id ? c->back[0].id : c->entity.order; /* paging: as before (P6) */
    tern_fair_enqueue(s, c);
}

static bool of_job(const struct tern_sched_engine *e, const struct tern_job *job)
{
    for (uint32_t i = 0; i < e->n; i++) {
        if (e->inflight[i].job == job) {
            return true;
        }
    }
    return false;
}

/** Its slices that came back will not run; those of younger jobs will. */
static void drop_back(struct tern_sched_context *c, const struct tern_job *job)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->backs; i++) {
        if (c->back[i].job != job) {
            c->back[kept++] = c->back[i];
        }
    }
    c->backs = kept;
}

/** A job that cannot go on ends with its last slice in flight; with its process in error, so does all behind it. */
static void fail(struct tern_sched *s, const struct tern_slice *slice, enum tern_result result)
{
    struct tern_sched_context *c = slice->context;
    struct tern_job *job = slice->job;
    job->result = job->result == TERN_COMPLETED ? result : job->result;
    if (c->process->error) {
        if (!c->inflight) {
            abort_queued(s, c);
        }
        return;
    }
    job->sent = job->size;
    c->next = c->next == job ? following(job) : c->next;
    drop_back(c, job);
    tern_sched_judge_later(s, c);
    if (!of_job(&s->engine[c->engine], job)) {
        end_job(s, job, job->result);
    }
}

static void guilty(struct tern_sched *s, uint32_t engine, const struct tern_slice *slice,
                   const struct tern_indication *ind)
{
    struct tern_sched_process *p = slice->context->process;
    bool first = !p->error;
    p->faults++;
    p->error = !p->system;
    tern_sched_tell_slice(s, TERN_EV_FAULTED, engine, slice, slice->job->begun ? slice->job->end : s->now);
    slice->job->result = slice->job->result == TERN_COMPLETED ? (first ? TERN_FAULTED : TERN_ABORTED)
                                                              : slice->job->result;
    if (first) {
        s->ops->fault(s->user, engine, slice->job, ind);
    }
    fail(s, slice, TERN_ABORTED);
    if (p->error) {
        tern_sched_abort(s, p);
    }
}

static bool failed(const struct tern_slice *slice)
{
    return slice->context->process->error || slice->job->result != TERN_COMPLETED;
}

static void completed(struct tern_sched *s, uint32_t engine, const struct tern_slice *slice, uint64_t end)
{
    struct tern_sched_context *c = slice->context;
    bool last = slice->start + slice->size == slice->job->size;
    tern_sched_tell_slice(s, TERN_EV_COMPLETED, engine, slice, end);
    if (failed(slice)) {
        fail(s, slice, TERN_ABORTED);
    } else if (last) {
        if (!slice->job->begun) {
            begin_job(c, slice->job, end); /* null */
        }
        slice->job->end = end;
        end_job(s, slice->job, TERN_COMPLETED);
    }
}

static void came_back(struct tern_sched *s, struct tern_slice *slice)
{
    if (failed(slice)) {
        fail(s, slice, TERN_ABORTED);
    } else {
        put_back(s, slice);
        tern_sched_judge_later(s, slice->context);
    }
}

/** The context goes on at the next engine, if it may. */
static void push_on(struct tern_sched *s, struct tern_sched_context *c)
{
    if (c->affinity == TERN_ENGINE_ANY && !c->inflight && !c->process->error) {
        tern_fair_migrate(s, c, (c->engine + 1) % s->engines);
    }
}

static int preempted(struct tern_sched *s, uint32_t engine, const struct tern_sched_indication *ind)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_sched_context *cut = NULL;
    uint64_t oldest = e->n ? e->inflight[0].id : 0, end = e->n ? oldest : e->next_id;
    if (ind->fence != e->stopping || ind->cut.fence != oldest || ind->last_completed < e->last_completed ||
        ind->last_completed >= end) {
        return tern_error(-EPROTO, "engine %u answers preemption %llu (%llu completed, %llu cut); asked was %llu, %llu "
                          "is the oldest", engine, (ull)ind->fence, (ull)ind->last_completed, (ull)ind->cut.fence,
                          (ull)e->stopping, (ull)oldest);
    }
    bool began = ind->cut.began, forced = e->forced;
    e->stopping = 0;
    e->forced = e->evict = false;
    for (bool first = true; e->n; first = false) {
        bool was_running = first && began;
        struct tern_slice slice = take_front(s, engine, was_running ? ind->begin : 0, was_running ? ind->end : 0);
        if (was_running) {
            slice.resume = true;
            slice.at = ind->cut.offset;
            slice.cut_on = engine;
            slice.cuts++;
            slice.save_cycles = ind->end > e->stop_since ? ind->end - e->stop_since : 0;
            slice.context->stats.preempted++;
            cut = slice.context;
            tern_sched_tell_slice(s, TERN_EV_PREEMPTED, engine, &slice, ind->end);
        }
        if (!slice.paging) {
            slice.id = 0; /* P6 */
        }
        came_back(s, &slice);
    }
    if (forced && cut) {
        push_on(s, cut);
    }
    return 0;
}

static int indicated(struct tern_sched *s, uint32_t engine, const struct tern_sched_indication *ind)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_indication in_job = ind->fault;
    if (ind->kind == TERN_SCHED_PREEMPTED && e->stopping) {
        return preempted(s, engine, ind);
    }
    if (!e->n || ind->fence != e->inflight[0].id ||
        (ind->kind != TERN_SCHED_COMPLETED && ind->kind != TERN_SCHED_FAULTED)) {
        return tern_error(-EPROTO, "engine %u indicates fence %llu (kind %d), but %llu is the oldest submitted", engine,
                          (ull)ind->fence, (int)ind->kind, (ull)(e->n ? e->inflight[0].id : 0));
    }
    struct tern_slice slice = take_front(s, engine, ind->begin, ind->end);
    if (ind->kind == TERN_SCHED_COMPLETED) {
        e->last_completed = slice.id;
        completed(s, engine, &slice, ind->end);
    } else {
        in_job.offset += slice.start;
        guilty(s, engine, &slice, &in_job);
    }
    return 0;
}

int tern_sched_collect(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_indication ind;
    int r = 0;
    if (s->engine[engine].resetting) {
        return 0;
    }
    while ((s->engine[engine].n || s->engine[engine].stopping) && (r = s->ops->poll(s->user, engine, &ind)) > 0) {
        r = indicated(s, engine, &ind);
        if (r) {
            return r;
        }
    }
    return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------- reset */

/** What an engine held when it was reset. blamed: id of the slice whose process is guilty, or 0. */
static int lost(struct tern_sched *s, uint32_t engine, uint64_t blamed)
{
    struct tern_sched_engine *e = &s->engine[engine];
    e->stopping = 0;
    e->forced = e->evict = false;
    while (e->n) {
        bool is_guilty = e->inflight[0].id == blamed;
        struct tern_slice slice = take_front(s, engine, is_guilty ? e->front_since : 0, is_guilty ? s->now : 0);
        slice.id = 0;
        if (is_guilty && !slice.paging) {
            guilty(s, engine, &slice, NULL);
            continue;
        }
        if (is_guilty && ++s->paging_lost >= 2) { /* F4 */
            return tern_error(-ENOTRECOVERABLE, "engine %u was reset while it ran a paging buffer, the "
                              "second that is lost", engine);
        }
        slice.resume = slice.resume && !is_guilty; /* paging can be repeated from its beginning */
        came_back(s, &slice);
    }
    return 0;
}

int tern_sched_reset(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_sched_status status = {0};
    uint64_t blamed = e->inflight[0].id, aborted = 0;
    const bool begin = !e->resetting;
    if (begin && s->ops->stuck && s->ops->stuck(s->user, engine, e->n ? e->inflight[0].job : NULL)) {
        return 0;
    }
    uint32_t others = s->ops->dependent(s->user, engine) & ~(1u << engine);
    e->reset_since = begin ? s->now : e->reset_since;
    int r = s->ops->reset(s->user, engine, begin, &aborted);
    e->resetting = r > 0;
    if (r > 0) {
        return s->now - e->reset_since < TERN_RESET_CYCLES ? 0 : tern_kmd_reset_failed(engine);
    }
    /* What had ended before the reset is still indicated. If the blamed slice is among it, nobody is guilty. */
    r = r ? r : tern_sched_collect(s, engine);
    r = r ? r : s->ops->status(s->user, engine, &status);
    if (r) {
        return r;
    }
    e->resets++;
    bool guilty_there = e->n && e->inflight[0].id == blamed;
    tern_sched_tell(s, TERN_EV_RESET, engine, guilty_there ? e->inflight[0].context : NULL,
                    guilty_there ? e->inflight[0].job : NULL, s->now);
    if (status.queued || status.busy || aborted < e->last_completed || aborted >= e->next_id) {
        return tern_error(-ENOTRECOVERABLE, "engine %u is not empty after its reset, or aborted fence %llu "
                          "of %llu to %llu", engine, (ull)aborted, (ull)e->last_completed, (ull)e->next_id - 1);
    }
    e->last_completed = aborted;
    r = lost(s, engine, blamed);
    for (uint32_t d = 0; !r && d < s->engines; d++) {
        if (others >> d & 1) {
            s->engine[d].last_completed = s->engine[d].next_id - 1;
            r = lost(s, d, 0);
        }
    }
    return r;
}
