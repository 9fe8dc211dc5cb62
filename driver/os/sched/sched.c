/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler's calls, what is submitted when, and when an engine is asked to stop. */
#include "os/sched/sched.h"

#include <errno.h>

#include "os/sched/sched_internal.h"

void tern_sched_config_default(struct tern_sched_config *out)
{
    *out = (struct tern_sched_config){.timeout = TERN_TIMEOUT_DEFAULT, .depth = TERN_HW_QUEUE, .normal_percent = 12};
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
    tern_list_init(&s->judge);
    tern_list_init(&s->look);
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        s->engine[e].next_id = 1;
        for (uint32_t b = 0; b < TERN_BANDS; b++) {
            tern_fair_band_init(&s->engine[e].band[b], &s->comparisons);
        }
    }
}

void tern_sched_process_init(struct tern_sched *s, struct tern_sched_process *p, bool system)
{
    *p = (struct tern_sched_process){.sched = s, .system = system};
    tern_list_init(&p->contexts);
    tern_list_init(&p->look);
    tern_list_append(&s->processes, &p->node);
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
            tern_fair_group_init(&p->group[b][e], p, &s->comparisons);
        }
    }
}

void tern_sched_process_fini(struct tern_sched *s, struct tern_sched_process *p)
{
    (void)s;
    tern_list_remove(&p->look);
    tern_list_remove(&p->node);
}

void tern_sched_context_init(struct tern_sched *s, struct tern_sched_context *c, struct tern_sched_process *p,
                             int32_t engine, uint32_t band, uint32_t weight)
{
    *c = (struct tern_sched_context){.process = p, .affinity = engine, .weight = weight, .estimate = 1,
                                     .number = ++s->order};
    c->entity.order = c->number;
    c->own_band = c->band = p->system ? TERN_BAND_PAGING : band;
    c->engine = engine < 0 ? 0 : (uint32_t)engine;
    tern_list_init(&c->node);
    tern_list_init(&c->jobs);
    tern_list_init(&c->movable);
    tern_list_init(&c->judge);
    tern_list_init(&c->donor);
    tern_list_init(&c->donors);
}

void tern_sched_context_set(struct tern_sched *s, struct tern_sched_context *c, uint32_t band, uint32_t weight)
{
    tern_fair_set_weight(s, c, weight);
    if (!c->process->system) {
        c->own_band = band;
        tern_sched_reband(s, c);
    }
}

uint64_t tern_sched_context_suspend(struct tern_sched *s, struct tern_sched_context *c)
{
    c->held = true;
    if (c->inflight) {
        s->engine[c->engine].evict = true;
    }
    if (!tern_list_empty(&c->jobs)) {
        tern_sched_judge_later(s, c);
    }
    return ++c->hold;
}

bool tern_sched_context_suspended(const struct tern_sched_context *c, uint64_t fence)
{
    return c->held && !c->inflight && fence == c->hold;
}

bool tern_sched_context_resume(struct tern_sched *s, struct tern_sched_context *c, uint64_t fence)
{
    if (!c->held || fence != c->hold) {
        return false;
    }
    c->held = false;
    if (!tern_list_empty(&c->jobs)) {
        tern_sched_judge_later(s, c);
    }
    return true;
}

void tern_sched_submit(struct tern_sched *s, struct tern_sched_context *c, struct tern_job *job)
{
    job->context = c;
    job->result = TERN_COMPLETED;
    if (tern_list_empty(&c->jobs)) {
        tern_list_append(&c->process->contexts, &c->node);
    }
    tern_list_append(&c->jobs, &job->node);
    c->next = c->next ? c->next : job;
    c->stats.submitted++;
    s->pending++;
    tern_sched_tell(s, TERN_EV_SUBMIT, c->engine, c, job, job->submitted);
    tern_sched_index_signals(s, job);
    if (c->process->error) {
        tern_sched_abort(s, c->process);
    } else if (c->state == TERN_SCHED_EMPTY) {
        tern_sched_judge_later(s, c);
    }
}

bool tern_sched_busy(const struct tern_sched *s)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        if (s->engine[e].n || s->engine[e].stopping) {
            return true;
        }
    }
    return false;
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

static void tell(struct tern_sched *s, struct tern_sched_event event)
{
    if (s->ops->event) {
        event.process = event.context ? event.context->process : NULL;
        event.band = event.context ? event.context->band : 0;
        s->ops->event(s->user, &event);
    }
}

void tern_sched_tell(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                     const struct tern_sched_context *c, const struct tern_job *job, uint64_t time)
{
    tell(s, (struct tern_sched_event){.kind = kind, .engine = engine, .time = time, .context = c,
                                      .job = job ? job->fence : 0});
}

void tern_sched_tell_slice(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                           const struct tern_slice *slice, uint64_t time)
{
    bool last = slice->start + slice->size == slice->job->size;
    tell(s, (struct tern_sched_event){.kind = kind, .engine = engine, .time = time, .context = slice->context,
                                      .job = slice->job->fence, .offset = slice->start, .last = last});
}

/* ------------------------------------------------------------------ submission */

static struct tern_slice next_slice(struct tern_sched_context *c)
{
    struct tern_slice slice = c->back[0];
    if (c->backs) {
        c->back[0] = c->back[1];
        c->backs--;
        return slice;
    }
    struct tern_job *j = c->next;
    slice = (struct tern_slice){.context = c, .job = j, .start = j->sent, .slot = c->slot, .seq = ++c->slices};
    slice.size = tern_slice_cut(j, j->sent, &slice.packets);
    slice.paging = c->process->system;
    slice.null = j->null;
    c->slot ^= 1;
    j->sent += slice.size;
    if (j->sent == j->size) {
        c->next = j->node.next == &c->jobs ? NULL : TERN_LIST_ENTRY(j->node.next, struct tern_job, node);
    }
    return slice;
}

static int start(struct tern_sched *s, uint32_t engine, struct tern_sched_context *c)
{
    struct tern_sched_engine *e = &s->engine[engine];
    struct tern_slice *slice = &e->inflight[e->n];
    int64_t quantum = (int64_t)s->config.band[c->band].quantum;
    *slice = next_slice(c);
    slice->id = slice->id ? slice->id : e->next_id++;
    slice->charged = c->estimate < quantum ? c->estimate : quantum;
    tern_fair_dispatched(s, c, slice->charged);
    if (e->n++ == 0) {
        e->front_since = s->now;
        e->quantum_end = s->now + tern_sched_quantum(s, slice);
    }
    int r = s->ops->submit(s->user, engine, slice);
    return r ? r : tern_sched_judge(s, c);
}

/** Starts one slice on an engine that has fewer than `depth`, if there is one for it. more: something has changed. */
static int fill_one(struct tern_sched *s, uint32_t engine, uint32_t depth, bool *more)
{
    struct tern_sched_engine *e = &s->engine[engine];
    if (e->stopping || (e->evict && e->n) || e->n >= depth) {
        return 0;
    }
    *more = tern_sched_balance(s, engine) || *more;
    struct tern_sched_context *c = tern_bands_pick(e);
    *more = c || *more;
    return c ? start(s, engine, c) : 0;
}

/** Engines that have nothing come first, so that nothing waits in one HW queue while another is empty. */
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

/* ------------------------------------------------------------------ preemption */

static int stop(struct tern_sched *s, uint32_t engine, uint64_t grace)
{
    struct tern_sched_engine *e = &s->engine[engine];
    e->stopping = e->stopping ? e->stopping : ++e->next_preempt;
    e->granularity = grace ? TERN_ENGINE_COMMAND_GRANULARITY_GROUP : TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
    e->stop_since = s->now;
    e->grace_end = s->now + grace;
    return s->ops->preempt(s->user, engine, e->stopping, e->granularity);
}

/** Brings the account of what runs up to now. */
static void charge_front(struct tern_sched *s, struct tern_sched_engine *e, uint64_t ran)
{
    struct tern_slice *front = &e->inflight[0];
    int64_t more = (int64_t)ran - front->charged;
    if (more > 0) {
        front->charged += more;
        tern_fair_charge(s, front->context, more);
    }
}

/** Cycles after which the front is cut for nobody; UINT64_MAX: never. */
static uint64_t forced_after(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    const uint32_t halvings = e->inflight[0].cuts / 64;
    const uint64_t most = UINT64_MAX >> 1 >> halvings % 32;
    return !s->config.force_preempt || halvings > 20 || s->config.force_preempt > most ? UINT64_MAX
                                                                                       : s->config.force_preempt <<
                                                                                       halvings;
}

enum wish { NOBODY, HIGHER, EQUAL };

/** Does somebody want the engine instead of what is in front? */
static enum wish wanted(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    const struct tern_sched_context *front = e->inflight[0].context, *second = e->n > 1
        ? e->inflight[1].context : front;
    const struct tern_sched_context *best = tern_bands_pick(e);
    uint32_t mine = tern_bands_rank(e, front->band);
    const struct tern_sched_context *other[] = {best, second};
    enum wish wish = NOBODY;
    for (int i = 0; i < 2; i++) {
        if (!other[i] || other[i] == front) {
            continue;
        }
        uint32_t theirs = tern_bands_rank(e, other[i]->band);
        if (theirs > mine) {
            return HIGHER;
        }
        wish = theirs == mine && tern_fair_behind(other[i], front) ? EQUAL : wish;
    }
    return wish;
}

static bool urgent(const struct tern_sched_engine *e)
{
    const struct tern_sched_context *best = tern_bands_pick(e);
    return best && best->band >= TERN_BAND_REALTIME;
}

static int judge_stopping(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    if (e->resetting) {
        return tern_sched_reset(s, engine);
    }
    if (e->granularity != TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION) {
        return s->now >= e->grace_end || e->evict || urgent(e) ? stop(s, engine, 0) : 0;
    }
    return s->now - e->stop_since >= s->config.timeout ? tern_sched_reset(s, engine) : 0;
}

static int judge_engine(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    tern_bands_serve(s, e);
    if (e->stopping) {
        return judge_stopping(s, engine);
    }
    if (!e->n) {
        e->evict = false;
        return 0;
    }
    uint32_t band = e->inflight[0].context->band;
    uint64_t ran = tern_sched_front_ran(s, e);
    bool paging = band == TERN_BAND_PAGING, due = s->now >= e->quantum_end;
    if (due) {
        charge_front(s, e, ran);
    }
    enum wish wish = wanted(s, engine);
    e->forced = !paging && ran >= forced_after(s, e);
    if (e->evict || e->forced || wish == HIGHER || (due && wish == EQUAL && !paging) ||
        (paging && ran >= s->config.timeout)) {
        bool at_once = e->evict || e->forced || paging || urgent(e);
        e->forced = e->forced && wish == NOBODY;
        e->preemptions++;
        tern_sched_tell_slice(s, TERN_EV_PREEMPT_REQUEST, engine, &e->inflight[0], s->now);
        return stop(s, engine, at_once ? 0 : s->config.band[band].grace);
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
    r = r ? r : tern_sched_look(s);
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        r = judge_engine(s, e);
    }
    r = r ? r : tern_sched_look(s); /* a reset gave work back */
    return r ? r : fill(s);
}

/* ------------------------------------------------------------------ deadline */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/** When this engine wants to be judged, if nothing happens. */
static uint64_t due(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    if (e->resetting) {
        return s->now + TERN_RESET_LOOK;
    }
    if (e->stopping) {
        bool graceful = e->granularity != TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
        return graceful ? e->grace_end : e->stop_since + s->config.timeout;
    }
    if (!e->n || e->evict) {
        return e->n ? s->now : UINT64_MAX;
    }
    uint32_t band = e->inflight[0].context->band;
    uint64_t at = UINT64_MAX;
    if (band == TERN_BAND_PAGING) {
        return e->front_since + s->config.timeout;
    }
    if (forced_after(s, e) != UINT64_MAX) {
        at = e->front_since + forced_after(s, e);
    }
    if (tern_bands_pick(e) || (e->n > 1 && e->inflight[1].context != e->inflight[0].context)) {
        at = least(at, e->quantum_end);
    }
    return least(at, tern_bands_due(s, e));
}

uint64_t tern_sched_deadline(const struct tern_sched *s)
{
    uint64_t at = UINT64_MAX;
    if (!tern_list_empty(&s->judge) || !tern_list_empty(&s->look)) {
        return 0;
    }
    for (uint32_t e = 0; e < s->engines; e++) {
        at = least(at, due(s, e));
    }
    return at == UINT64_MAX ? at : at > s->now ? at - s->now : 0;
}
