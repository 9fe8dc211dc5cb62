/* SPDX-License-Identifier: Apache-2.0 */
/** The end of chunks (completed, preempted, faulted, returned, lost to a reset), and the end of jobs with them. */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "os/sched/sched_internal.h"

/* -------------------------------------------------------------------- jobs */

static struct tern_job *oldest_job(const struct tern_sched_context *c)
{
    return TERN_LIST_ENTRY(c->jobs.next, struct tern_job, node);
}

/** Makes the context's queued jobs and chunks unavailable for dispatch. */
static void withdraw(struct tern_sched *s, struct tern_sched_context *c)
{
    c->requeued_count = 0;
    tern_list_remove(&c->update);
    if (c->state != TERN_SCHED_EMPTY) {
        tern_sched_set_state(s, c, TERN_SCHED_EMPTY);
    }
    tern_fair_settle(s, c);
}

/** Sets the result of a job. The first result that is not COMPLETED is kept. */
static void set_result(struct tern_job *job, enum tern_result result)
{
    job->result = job->result == TERN_COMPLETED ? result : job->result;
}

/** Moves the job from its context to the list of ended jobs. The jobs of a context are in order there, because they end
 *  in order. */
static void end_job(struct tern_sched *s, struct tern_job *job, enum tern_result result)
{
    struct tern_sched_context *c = job->context;
    set_result(job, result);
    job->engine = c->engine;
    tern_sched_forget_signals(s, job);
    tern_list_remove(&job->node);
    tern_list_append(&s->ended, &job->node);
    s->pending--;
    *(job->result == TERN_COMPLETED ? &c->stats.completed : &c->stats.aborted) += 1;
    if (tern_list_empty(&c->jobs)) { /* nothing refers to the context after this: the caller may free it */
        tern_list_remove(&c->node);
        withdraw(s, c);
    }
}

/** Ends all jobs of a context that has no chunk in flight. */
static void abort_queued(struct tern_sched *s, struct tern_sched_context *c)
{
    withdraw(s, c);
    while (!tern_list_empty(&c->jobs)) {
        end_job(s, oldest_job(c), TERN_ABORTED);
    }
}

void tern_sched_abort(struct tern_sched *s, struct tern_sched_process *p)
{
    for (struct tern_list *node = p->contexts.next, *next; node != &p->contexts; node = next) {
        struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
        next = node->next;
        if (c->inflight) {
            /* the chunks in flight end first, to keep the order, and are preempted, so that they end soon */
            s->engine[c->engine].preempt_now = true;
            withdraw(s, c);
        } else {
            abort_queued(s, c);
        }
    }
}

static void end_preemption(struct tern_sched_engine *e)
{
    e->preemption = 0;
    e->forced = e->preempt_now = false;
}

void tern_sched_abort_all(struct tern_sched *s)
{
    for (uint32_t i = 0; i < s->engines; i++) {
        struct tern_sched_engine *e = &s->engine[i];
        while (e->n) {
            tern_fair_returned(s, e->inflight[--e->n].context);
        }
        end_preemption(e);
        e->resetting = false;
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

/* ------------------------------------------------------------------ chunks */

/** Notes the begin of a job, unless it has begun. A null job begins when it would have run. */
static void begin_job(struct tern_sched_context *c, struct tern_job *job, uint64_t begin)
{
    if (job->begun) {
        return;
    }
    const int64_t since = (int64_t)(begin - job->submitted); /* submitted < 0: submitted on another device */
    uint64_t waited = since > 0 ? (uint64_t)since : 0;
    job->begin = begin;
    job->begun = true;
    c->stats.waited += waited;
    c->stats.longest_wait = waited > c->stats.longest_wait ? waited : c->stats.longest_wait;
}

/** Accounts a run of the chunk on the engine. begin and end are device times. */
static void account(struct tern_sched *s, uint32_t engine, const struct tern_chunk *chunk, uint64_t begin, uint64_t end)
{
    struct tern_sched_context *c = chunk->context;
    uint64_t cycles = end - begin;
    begin_job(c, chunk->job, begin);
    c->estimate = (int64_t)cycles; /* the next chunk is expected to be like the last: right for work that repeats */
    chunk->job->end = end;
    chunk->job->cycles += cycles;
    c->stats.cycles += cycles;
    c->stats.engine_cycles[engine] += cycles;
    s->engine[engine].busy += cycles;
    tern_bands_account(s, tern_fair_part_of(c), c->band, cycles);
    tern_cap_ran(c, engine, begin, end);
    c->process->partition->cycles += c->band == TERN_BAND_PAGING ? 0 : cycles;
    c->process->partition->focus += c->band == TERN_BAND_FOCUS ? cycles : 0;
    c->stats.moved += chunk->resume && chunk->preempted_on != engine;
    tern_sched_emit(s, chunk->resume ? TERN_EV_RESUMED : TERN_EV_START, engine, chunk, begin);
}

/** Takes the front out of the HW queue and charges it for the time from begin to end; begin 0: it has not run. */
static struct tern_chunk take_front(struct tern_sched *s, uint32_t engine, uint64_t begin, uint64_t end)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_chunk chunk = e->inflight[0];
    struct tern_sched_context *c = chunk.context;
    bool run = begin && end >= begin;
    tern_fair_charge(s, c, (run ? (int64_t)(end - begin) : 0) - chunk.charged);
    tern_fair_returned(s, c);
    chunk.charged = 0;
    if (run) {
        account(s, engine, &chunk, begin, end);
    }
    if (!c->inflight && c->state == TERN_SCHED_ABSENT) {
        tern_sched_update_later(s, c);
    }
    e->n--;
    e->inflight[0] = e->inflight[1];
    e->front_since = run ? end : s->now;
    e->quantum_end = e->front_since + (e->n ? tern_sched_quantum(s, &e->inflight[0]) : 0);
    tern_sched_signalled(s, c->process); /* the chunk may have written fences */
    return chunk;
}

/** Takes the front, which comes back unfinished, out of the HW queue. The chunk's context stays live, and keeps the
 *  service that it is owed. */
static struct tern_chunk take_back(struct tern_sched *s, uint32_t engine, uint64_t begin, uint64_t end)
{
    tern_sched_update_later(s, s->engine[engine].inflight[0].context);
    return take_front(s, engine, begin, end);
}

static bool in_flight(const struct tern_sched_engine *e, const struct tern_job *job)
{
    return (e->n > 0 && e->inflight[0].job == job) || (e->n > 1 && e->inflight[1].job == job);
}

/**
 * Aborts a job: none of its chunks is dispatched any more, and it ends when its last chunk in flight does. If its
 * process is in error, this holds for all jobs of the context.
 */
static void abort_job(struct tern_sched *s, struct tern_job *job)
{
    struct tern_sched_context *c = job->context;
    uint32_t kept = 0;
    set_result(job, TERN_ABORTED);
    if (c->process->error) {
        if (!c->inflight) {
            abort_queued(s, c);
        }
        return;
    }
    job->sent = job->size;
    for (uint32_t i = 0; i < c->requeued_count; i++) {
        if (c->requeued[i].job != job) {
            c->requeued[kept++] = c->requeued[i];
        }
    }
    c->requeued_count = kept;
    tern_sched_update_later(s, c);
    if (!in_flight(&s->engine[c->engine], job)) {
        end_job(s, job, TERN_ABORTED);
    }
}

static bool failed(const struct tern_chunk *chunk)
{
    return chunk->context->process->error || chunk->job->result != TERN_COMPLETED;
}

/** Puts the process of a chunk into error (F1, F3). ind: the chunk's fault, or NULL if its engine was reset because it
 *  did not answer. */
static void blame(struct tern_sched *s, uint32_t engine, const struct tern_chunk *chunk,
                  const struct tern_indication *ind)
{
    struct tern_sched_process *p = chunk->context->process;
    const bool first = !p->error;
    p->faults++;
    p->error = !p->system;
    tern_sched_emit(s, TERN_EV_FAULTED, engine, chunk, chunk->job->begun ? chunk->job->end : s->now);
    set_result(chunk->job, first ? TERN_FAULTED : TERN_ABORTED);
    if (first) {
        s->ops->fault(s->user, engine, chunk->job, ind);
    }
    abort_job(s, chunk->job);
    if (p->error) {
        tern_sched_abort(s, p);
    }
}

static void complete(struct tern_sched *s, uint32_t engine, const struct tern_chunk *chunk, uint64_t end)
{
    struct tern_job *job = chunk->job;
    tern_sched_emit(s, TERN_EV_COMPLETED, engine, chunk, end);
    if (failed(chunk)) {
        abort_job(s, job);
    } else if (tern_chunk_is_last(chunk)) {
        begin_job(chunk->context, job, end); /* a null job has not run */
        job->end = end;
        end_job(s, job, TERN_COMPLETED);
    }
}

/** Puts a chunk that has not ended back into its context, before all younger chunks. */
static void requeue(struct tern_sched *s, struct tern_chunk *chunk)
{
    struct tern_sched_context *c = chunk->context;
    if (failed(chunk)) {
        abort_job(s, chunk->job);
        return;
    }
    const uint32_t at = c->requeued_count && c->requeued[0].seq < chunk->seq;
    if (at == 0) {
        c->requeued[1] = c->requeued[0];
    }
    chunk->resubmitted = true;
    tern_fair_dequeue(s, c);
    c->requeued[at] = *chunk;
    c->requeued_count++;
    c->entity.order = c->requeued[0].id ? c->requeued[0].id : c->entity.order; /* paging keeps its order (P6) */
    tern_fair_enqueue(s, c);
    tern_sched_update_later(s, c);
}

/* ------------------------------------------------------------- indications */

/** Moves a context to the next engine after a forced preemption, if it is not bound to one. */
static void move_on(struct tern_sched *s, struct tern_sched_context *c)
{
    if (c->affinity == TERN_ENGINE_ANY && !c->inflight && !c->process->error) {
        tern_fair_migrate(s, c, (c->engine + 1) % s->engines);
    }
}

/** Marks a chunk whose state was saved: it is resumed at the packet at `offset`. */
static void was_saved(uint32_t engine, struct tern_chunk *chunk, uint32_t offset)
{
    chunk->resume = true;
    chunk->resume_at = offset;
    chunk->preempted_on = engine;
}

static int preempted(struct tern_sched *s, uint32_t engine, const struct tern_sched_indication *ind)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_sched_context *ran = NULL;
    uint64_t oldest = e->n ? e->inflight[0].id : 0, end = e->n ? oldest : e->next_id;
    if (ind->fence != e->preemption || ind->preempted.fence != oldest || ind->last_completed < e->last_completed ||
        ind->last_completed >= end) {
        return tern_error(-EPROTO, "engine %u answers preemption %" PRIu64 " (%" PRIu64 " completed, %" PRIu64
                          " preempted); requested was %" PRIu64 ", %" PRIu64 " is the oldest", engine, ind->fence,
                          ind->last_completed, ind->preempted.fence, e->preemption, oldest);
    }
    const bool forced = e->forced;
    end_preemption(e);
    for (bool began = ind->preempted.began; e->n; began = false) {
        struct tern_chunk chunk = take_back(s, engine, began ? ind->begin : 0, began ? ind->end : 0);
        if (began) {
            ran = chunk.context;
            chunk.preemptions++;
            chunk.save_cycles = ind->end > e->preempt_since ? ind->end - e->preempt_since : 0;
            ran->stats.preempted++;
            was_saved(engine, &chunk, ind->preempted.offset);
            tern_sched_emit(s, TERN_EV_PREEMPTED, engine, &chunk, ind->end);
        }
        chunk.id = chunk.context->process->system ? chunk.id : 0; /* P6 */
        requeue(s, &chunk);
    }
    if (forced && ran) {
        move_on(s, ran);
    }
    return 0;
}

/** The engine returned the front without a request. The chunk is requeued; one that had begun waits for its page. */
static int returned(struct tern_sched *s, uint32_t engine, const struct tern_sched_indication *ind)
{
    struct tern_indication in_job = ind->fault;
    struct tern_chunk chunk = take_back(s, engine, ind->begin, ind->end);
    struct tern_sched_context *c = chunk.context;
    const bool asks = ind->preempted.began && s->ops->page && !c->process->system;
    if (ind->preempted.began) {
        in_job.offset += chunk.start;
        was_saved(engine, &chunk, ind->preempted.offset);
        tern_sched_emit_page(s, engine, &chunk, ind->end, in_job.va);
        c->stats.page_requests++;
    }
    if (ind->preempted.began && !failed(&chunk) && !(asks && s->ops->page(s->user, c, chunk.job, &in_job))) {
        blame(s, engine, &chunk, &in_job);
        return 0;
    }
    chunk.id = c->process->system ? chunk.id : 0; /* P6 */
    requeue(s, &chunk);
    return 0;
}

static int indicated(struct tern_sched *s, uint32_t engine, const struct tern_sched_indication *ind)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_indication in_job = ind->fault;
    if (ind->kind == TERN_SCHED_PREEMPTED && e->preemption) {
        return preempted(s, engine, ind);
    }
    if (!e->n || ind->fence != e->inflight[0].id || ind->kind == TERN_SCHED_PREEMPTED ||
        ind->kind < TERN_SCHED_COMPLETED || ind->kind > TERN_SCHED_RETURNED) {
        return tern_error(-EPROTO, "engine %u indicates fence %" PRIu64 " (kind %d), but %" PRIu64 " is the oldest "
                          "submitted", engine, ind->fence, (int)ind->kind, e->n ? e->inflight[0].id : 0);
    }
    if (ind->kind == TERN_SCHED_RETURNED) {
        return returned(s, engine, ind);
    }
    struct tern_chunk chunk = take_front(s, engine, ind->begin, ind->end);
    if (ind->kind == TERN_SCHED_COMPLETED) {
        e->last_completed = chunk.id;
        complete(s, engine, &chunk, ind->end);
    } else {
        in_job.offset += chunk.start;
        blame(s, engine, &chunk, &in_job);
    }
    return 0;
}

int tern_sched_collect(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_sched_indication ind;
    int r = 1;
    while (r > 0 && !e->resetting && (e->n || e->preemption)) {
        r = s->ops->poll(s->user, engine, &ind);
        if (r > 0) {
            const int wrong = indicated(s, engine, &ind);
            r = wrong ? wrong : r;
        }
    }
    return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------- reset */

/** Takes back the chunks that an engine held when it was reset. guilty: fence id of the chunk that did not answer; 0:
 *  none. */
static int lost(struct tern_sched *s, uint32_t engine, uint64_t guilty)
{
    struct tern_sched_engine *e = &s->engine[engine];
    end_preemption(e);
    while (e->n) {
        const bool is_guilty = e->inflight[0].id == guilty;
        struct tern_chunk chunk = take_back(s, engine, is_guilty ? e->front_since : 0, is_guilty ? s->now : 0);
        chunk.id = 0;
        if (is_guilty && !chunk.context->process->system) {
            blame(s, engine, &chunk, NULL);
            continue;
        }
        if (is_guilty && ++s->paging_lost >= 2) { /* F4 */
            return tern_error(-ENOTRECOVERABLE, "engine %u was reset while it ran a paging buffer, the "
                              "second that is lost", engine);
        }
        chunk.resume = chunk.resume && !is_guilty; /* guilty here: a paging buffer, which is repeated from its begin */
        requeue(s, &chunk);
    }
    return 0;
}

int tern_sched_reset(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    uint64_t guilty = e->inflight[0].id, aborted = 0;
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
    /* Chunks that ended before the reset are still indicated. If the guilty one is among them, no process is guilty. */
    if (r == 0) {
        r = tern_sched_collect(s, engine);
    }
    const int idle = r ? r : s->ops->idle(s->user, engine);
    if (idle < 0) {
        return idle;
    }
    e->resets++;
    const bool is_there = e->n && e->inflight[0].id == guilty;
    tern_sched_emit_job(s, TERN_EV_RESET, engine, is_there ? e->inflight[0].context : NULL,
                        is_there ? e->inflight[0].job : NULL, s->now);
    if (!idle || aborted < e->last_completed || aborted >= e->next_id) {
        return tern_error(-ENOTRECOVERABLE, "engine %u is not empty after its reset, or aborted fence %" PRIu64
                          " of %" PRIu64 " to %" PRIu64, engine, aborted, e->last_completed, e->next_id - 1);
    }
    e->last_completed = aborted;
    r = lost(s, engine, guilty);
    for (uint32_t d = 0; !r && d < s->engines; d++) {
        if (others >> d & 1) {
            s->engine[d].last_completed = s->engine[d].next_id - 1;
            r = lost(s, d, 0);
        }
    }
    return r;
}
