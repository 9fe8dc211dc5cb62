/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler's calls, the dispatch of chunks, and the preemption of engines (docs/scheduling.md, section 9). */
#include "os/sched/sched.h"

#include "base/minmax.h"
#include "os/sched/sched_internal.h"

void tern_sched_config_default(struct tern_sched_config *out)
{
    *out = (struct tern_sched_config){.timeout = TERN_TIMEOUT_DEFAULT, .cap_slice = TERN_CAP_SLICE,
                                      .depth = TERN_HW_QUEUE, .normal_percent = 12};
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        out->band[b].quantum = TERN_QUANTUM_DEFAULT;
    }
}

void tern_sched_init(struct tern_sched *s, const struct tern_sched_ops *ops, void *user, uint32_t engines,
                     const struct tern_sched_config *config)
{
    *s = (struct tern_sched){.ops = ops, .user = user, .engines = engines};
    tern_sched_config_default(&s->config);
    if (config) {
        s->config = *config;
    }
    tern_list_init(&s->ended);
    tern_list_init(&s->processes);
    tern_list_init(&s->partitions);
    tern_list_init(&s->caps);
    tern_list_init(&s->update);
    tern_list_init(&s->signalled);
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        s->engine[e].next_id = 1;
        s->engine[e].parts.comparisons = &s->comparisons;
    }
    tern_sched_partition_init(s, &s->main, TERN_WEIGHT_NORMAL);
}

void tern_sched_partition_init(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share)
{
    *p = (struct tern_sched_partition){.share = share};
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        for (uint32_t b = 0; b < TERN_BANDS; b++) {
            tern_fair_band_init(&p->on[e].band[b], &s->comparisons);
        }
    }
    tern_list_append(&s->partitions, &p->node);
}

void tern_sched_partition_fini(struct tern_sched_partition *p)
{
    tern_list_remove(&p->node);
}

void tern_sched_partition_set(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share)
{
    tern_fair_set_share(s, p, share);
}

void tern_sched_process_init(struct tern_sched *s, struct tern_sched_process *p, bool system)
{
    *p = (struct tern_sched_process){.sched = s, .system = system, .partition = &s->main};
    tern_list_init(&p->contexts);
    tern_list_init(&p->signalled);
    tern_list_init(&p->capped);
    tern_list_append(&s->processes, &p->node);
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
            tern_fair_group_init(&p->group[b][e], p, &s->comparisons);
        }
    }
}

void tern_sched_process_fini(struct tern_sched_process *p)
{
    tern_list_remove(&p->signalled);
    tern_list_remove(&p->capped);
    tern_list_remove(&p->node);
}

void tern_sched_context_init(struct tern_sched *s, struct tern_sched_context *c, struct tern_sched_process *p,
                             int32_t engine, uint32_t band, uint32_t weight)
{
    *c = (struct tern_sched_context){.process = p, .affinity = engine, .weight = weight, .estimate = 1,
                                     .number = ++s->order};
    c->entity.order = c->number;
    c->base_band = c->band = p->system ? TERN_BAND_PAGING : band;
    c->engine = engine < 0 ? 0 : (uint32_t)engine;
    tern_list_init(&c->node);
    tern_list_init(&c->jobs);
    tern_list_init(&c->movable);
    tern_list_init(&c->update);
    tern_list_init(&c->waiter);
    tern_list_init(&c->waiters);
}

void tern_sched_context_set(struct tern_sched *s, struct tern_sched_context *c, uint32_t band, uint32_t weight)
{
    tern_fair_set_weight(s, c, weight);
    if (!c->process->system) {
        c->base_band = band;
        tern_sched_update_band(s, c);
    }
}

/** Begins or ends the suspension of a context. */
static void set_suspended(struct tern_sched *s, struct tern_sched_context *c, bool suspended)
{
    c->suspended = suspended;
    if (!tern_list_empty(&c->jobs)) {
        tern_sched_update_later(s, c);
    }
}

uint64_t tern_sched_context_suspend(struct tern_sched *s, struct tern_sched_context *c)
{
    set_suspended(s, c, true);
    if (c->inflight) {
        s->engine[c->engine].preempt_now = true;
    }
    return ++c->suspend_fence;
}

void tern_sched_context_recheck(struct tern_sched *s, struct tern_sched_context *c, bool preempt)
{
    if (preempt && c->inflight) {
        s->engine[c->engine].preempt_now = true;
    }
    if (!tern_list_empty(&c->jobs)) {
        tern_sched_update_later(s, c);
    }
}

bool tern_sched_context_suspended(const struct tern_sched_context *c, uint64_t fence)
{
    return c->suspended && !c->inflight && fence == c->suspend_fence;
}

bool tern_sched_context_resume(struct tern_sched *s, struct tern_sched_context *c, uint64_t fence)
{
    const bool last = c->suspended && fence == c->suspend_fence;
    if (last) {
        set_suspended(s, c, false);
    }
    return last;
}

void tern_sched_submit(struct tern_sched *s, struct tern_sched_context *c, struct tern_job *job)
{
    job->context = c;
    job->result = TERN_COMPLETED;
    if (tern_list_empty(&c->jobs)) {
        tern_list_append(&c->process->contexts, &c->node);
    }
    tern_list_append(&c->jobs, &job->node);
    c->stats.submitted++;
    s->pending++;
    tern_sched_emit_job(s, TERN_EV_SUBMIT, c->engine, c, job, job->submitted);
    tern_sched_index_signals(s, job);
    if (c->process->error) {
        tern_sched_abort(s, c->process);
    } else if (c->state == TERN_SCHED_EMPTY) {
        tern_sched_update_later(s, c);
    }
}

/** True: an engine has a chunk in its HW queue or a preemption that is not answered. */
static bool in_flight(const struct tern_sched *s)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        if (s->engine[e].n || s->engine[e].preemption) {
            return true;
        }
    }
    return false;
}

bool tern_sched_busy(const struct tern_sched *s)
{
    return in_flight(s) || tern_cap_waits(s);
}

bool tern_sched_held(const struct tern_sched *s)
{
    return !in_flight(s) && tern_cap_waits(s);
}

bool tern_sched_pending(const struct tern_sched *s)
{
    return s->pending || tern_sched_busy(s);
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

static void emit(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine, const struct tern_chunk *chunk,
                 uint64_t time, uint32_t address)
{
    if (s->ops->event) {
        const struct tern_sched_context *c = chunk->context;
        const struct tern_job *job = chunk->job;
        s->ops->event(s->user, &(struct tern_sched_event){
            .kind = kind, .engine = engine, .time = time, .context = c, .process = c ? c->process : NULL,
            .job = job ? job->fence : 0, .offset = chunk->start, .band = c ? c->band : 0, .address = address,
            .last = chunk->size && tern_chunk_is_last(chunk)});
    }
}

void tern_sched_emit(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                     const struct tern_chunk *chunk, uint64_t time)
{
    emit(s, kind, engine, chunk, time, 0);
}

void tern_sched_emit_page(struct tern_sched *s, uint32_t engine, const struct tern_chunk *chunk, uint64_t time,
                          uint32_t address)
{
    emit(s, TERN_EV_PAGE_REQUEST, engine, chunk, time, address);
}

/* ---------------------------------------------------------------- dispatch */

static struct tern_chunk next_chunk(struct tern_sched_context *c)
{
    struct tern_chunk chunk = c->requeued[0];
    if (c->requeued_count) {
        c->requeued[0] = c->requeued[1];
        c->requeued_count--;
        return chunk;
    }
    struct tern_job *job = tern_sched_next_job(c);
    chunk = (struct tern_chunk){.context = c, .job = job, .start = job->sent, .seq = ++c->chunks};
    chunk.slot = !(chunk.seq % TERN_HW_QUEUE);
    if (job->cut.size) {
        chunk.size = job->cut.size;
        chunk.packets = job->cut.packets;
        chunk.box = job->cut.box;
        chunk.more = job->cut.more;
    } else {
        chunk.size = tern_chunk_split(job, job->sent, &chunk.packets);
    }
    job->sent += chunk.more ? 0 : chunk.size;
    job->last = chunk.more ? chunk.box : (struct tern_box){0};
    job->cut = (struct tern_cut){0};
    return chunk;
}

static int dispatch(struct tern_sched *s, uint32_t engine, struct tern_sched_context *c)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_chunk *chunk = &e->inflight[e->n];
    int64_t quantum = (int64_t)s->config.band[c->band].quantum;
    *chunk = next_chunk(c);
    chunk->id = chunk->id ? chunk->id : e->next_id++;
    chunk->charged = c->estimate < quantum ? c->estimate : quantum;
    tern_fair_dispatched(s, c, chunk->charged);
    if (e->n++ == 0) {
        e->front_since = s->now;
        e->quantum_end = s->now + tern_sched_quantum(s, chunk);
    }
    int r = s->ops->submit(s->user, engine, chunk);
    return r ? r : tern_sched_update(s, c);
}

/** True: the context's next chunk must be dispatched to an empty HW queue. */
static bool waits_alone(const struct tern_sched_context *c)
{
    const struct tern_job *job = !c->alone ? NULL : c->requeued_count ? c->requeued[0].job : tern_sched_next_job(c);
    return job && job->alone;
}

/** Dispatches one chunk to an engine whose HW queue has fewer than `depth`. *more is set if something has changed. */
static int fill_one(struct tern_sched *s, uint32_t engine, uint32_t depth, bool *more)
{
    struct tern_sched_engine *e = &s->engine[engine];
    if (e->preemption || (e->preempt_now && e->n) || e->n >= depth) {
        return 0;
    }
    *more = tern_sched_balance(s, engine) || *more;
    struct tern_sched_context *c = tern_bands_pick(s, engine);
    if (c && e->n && waits_alone(c)) {
        return 0;
    }
    *more = c || *more;
    return c ? dispatch(s, engine, c) : 0;
}

/** Fills the HW queues. Empty ones come first, so that no chunk waits in one HW queue while another is empty. */
static int fill(struct tern_sched *s)
{
    int r = 0;
    for (bool more = true; !r && more;) {
        more = false;
        for (uint32_t depth = 1; depth <= s->config.depth; depth++) {
            for (uint32_t e = 0; !r && e < s->engines; e++) {
                r = fill_one(s, e, depth, &more);
            }
        }
    }
    return r;
}

/* -------------------------------------------------------------- preemption */

/** Asks the engine to stop. If it was asked before and has not answered, this repeats the request without grace. */
static int preempt(struct tern_sched *s, uint32_t engine, uint64_t grace)
{
    struct tern_sched_engine *e = &s->engine[engine];
    e->preemption = e->preemption ? e->preemption : ++e->next_preemption;
    e->granularity = grace ? TERN_ENGINE_COMMAND_GRANULARITY_GROUP : TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
    e->preempt_since = s->now;
    e->grace_end = s->now + grace;
    return s->ops->preempt(s->user, engine, e->preemption, e->granularity);
}

/** Charges the front with the cycles that it has run beyond those already charged. */
static void charge_front(struct tern_sched *s, struct tern_sched_engine *e, uint64_t ran)
{
    struct tern_chunk *front = &e->inflight[0];
    int64_t more = (int64_t)ran - front->charged;
    if (more > 0) {
        front->charged += more;
        tern_fair_charge(s, front->context, more);
    }
}

/** Cycles after which the front is preempted though no other context needs the engine; UINT64_MAX: never. */
static uint64_t forced_after(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    const uint32_t doublings = e->inflight[0].preemptions / 64;
    const uint64_t cycles = s->config.force_preempt, most = UINT64_MAX >> 1 >> doublings % 32;
    return !cycles || doublings > 20 || cycles > most ? UINT64_MAX : cycles << doublings;
}

enum rival { NO_RIVAL, SAME_BAND, HIGHER_BAND };

/** Finds out whether another context should run instead of the front: a ready one, or the one behind the front in the
 *  HW queue. */
static enum rival find_rival(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    const struct tern_sched_context *front = e->inflight[0].context;
    const struct tern_sched_part *part = tern_fair_part_of(front);
    const struct tern_sched_context *other[] = {tern_bands_pick(s, engine), tern_bands_pick_of(part),
                                                e->n > 1 ? e->inflight[1].context : NULL};
    const uint32_t rank = tern_bands_rank(part, front->band);
    enum rival rival = NO_RIVAL;
    for (int i = 0; i < 3; i++) {
        if (other[i] && other[i] != front) {
            const bool paging = other[i]->band == TERN_BAND_PAGING || front->band == TERN_BAND_PAGING;
            const bool comparable = paging || tern_fair_part_of(other[i]) == part; /* bands: within a partition */
            const uint32_t its = comparable ? tern_bands_rank(part, other[i]->band) : rank;
            if (its > rank) {
                return HIGHER_BAND;
            }
            rival = its == rank && tern_fair_behind(other[i], front) ? SAME_BAND : rival;
        }
    }
    return rival;
}

/** True: the best ready context is REALTIME or paging, which does not wait for the grace period. */
static bool urgent(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_context *best = tern_bands_pick(s, engine);
    return best && best->band >= TERN_BAND_REALTIME;
}

/** Checks whether the grace of the preemption under way has passed, or the time for its answer. */
static int check_answer(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    if (e->resetting) {
        return tern_sched_reset(s, engine);
    }
    if (e->granularity != TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION) {
        return s->now >= e->grace_end || e->preempt_now || urgent(s, engine) ? preempt(s, engine, 0) : 0;
    }
    return s->now - e->preempt_since >= s->config.timeout ? tern_sched_reset(s, engine) : 0;
}

static int check_preempt(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    tern_bands_serve(s, engine);
    if (e->preemption) {
        return check_answer(s, engine);
    }
    if (!e->n) {
        e->preempt_now = false;
        return 0;
    }
    const uint32_t band = e->inflight[0].context->band;
    const uint64_t ran = tern_sched_front_ran(s, e);
    const bool paging = band == TERN_BAND_PAGING, due = s->now >= e->quantum_end;
    if (due) {
        charge_front(s, e, ran);
    }
    const enum rival rival = find_rival(s, engine);
    const bool capped = tern_cap_holds(e->inflight[0].context);
    e->forced = !paging && ran >= forced_after(s, e);
    if (e->preempt_now || e->forced || capped || rival == HIGHER_BAND || (due && rival == SAME_BAND && !paging) ||
        (paging && ran >= s->config.timeout)) {
        const bool at_once = e->preempt_now || e->forced || paging || urgent(s, engine);
        e->forced = e->forced && !capped && rival == NO_RIVAL;
        e->preemptions++;
        tern_sched_emit(s, TERN_EV_PREEMPT_REQUEST, engine, &e->inflight[0], s->now);
        return preempt(s, engine, at_once ? 0 : s->config.band[band].grace);
    }
    if (due) {
        e->quantum_end = s->now + tern_sched_quantum(s, &e->inflight[0]);
        tern_fair_raise_min(s, e->inflight[0].context);
    }
    return 0;
}

int tern_sched_run(struct tern_sched *s)
{
    int r = s->ops->time(s->user, &s->now);
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        r = tern_sched_collect(s, e);
    }
    tern_cap_count(s);
    if (r == 0) {
        r = tern_sched_update_all(s);
    }
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        r = check_preempt(s, e);
    }
    if (r == 0) {
        r = tern_sched_update_all(s); /* a reset has requeued chunks */
    }
    if (r == 0) {
        r = fill(s);
    }
    tern_cap_note(s);
    return r;
}

/* ---------------------------------------------------------------- deadline */

/** Device time at which the engine must be checked again if nothing happens before; UINT64_MAX: never. */
static uint64_t due(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    if (e->resetting) {
        return s->now + TERN_RESET_POLL;
    }
    if (e->preemption) {
        bool graceful = e->granularity != TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
        return graceful ? e->grace_end : e->preempt_since + s->config.timeout;
    }
    if (!e->n || e->preempt_now) {
        return e->n ? s->now : UINT64_MAX;
    }
    if (e->inflight[0].context->band == TERN_BAND_PAGING) {
        return e->front_since + s->config.timeout;
    }
    const uint64_t forced = forced_after(s, e);
    uint64_t at = forced == UINT64_MAX ? forced : e->front_since + forced;
    if (tern_bands_pick(s, engine) || (e->n > 1 && e->inflight[1].context != e->inflight[0].context)) {
        at = tern_min_u64(at, e->quantum_end);
    }
    return tern_min_u64(at, tern_bands_due(s, e));
}

uint64_t tern_sched_deadline(const struct tern_sched *s)
{
    uint64_t at = tern_cap_due(s);
    if (!tern_list_empty(&s->update) || !tern_list_empty(&s->signalled)) {
        return 0;
    }
    for (uint32_t e = 0; e < s->engines; e++) {
        at = tern_min_u64(at, due(s, e));
    }
    return at == UINT64_MAX ? at : at > s->now ? at - s->now : 0;
}
