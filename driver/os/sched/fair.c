/* SPDX-License-Identifier: Apache-2.0 */
/** docs/scheduling.md in code: the queue, weights, charge, place, pick, migrate, in the order of that page. */
#include "os/sched/sched_internal.h"

#define LITTLE 64 /* corrections of less than this part of a quantum wait until the context is put back anyway */

/* --------------------------------------------------------------- the queue */

static int compare(const struct tern_fair_entity *a, const struct tern_fair_entity *b)
{
    ++*a->queue->comparisons;
    if (a->vruntime != b->vruntime) {
        return tern_fair_before(a->vruntime, b->vruntime) ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/* not RB_GENERATE_STATIC: in libbsd 0.11 that takes a macro that libbsd does not define */
RB_GENERATE_INTERNAL(tern_fair_tree, tern_fair_entity, node, compare, static __attribute__((unused)))

static void insert(struct tern_fair_queue *q, struct tern_fair_entity *e)
{
    e->queue = q;
    RB_INSERT(tern_fair_tree, &q->tree, e);
}

static void take_out(struct tern_fair_entity *e)
{
    RB_REMOVE(tern_fair_tree, &e->queue->tree, e);
    e->queue = NULL;
}

/** Its vruntime or order has changed. Mostly it stays between its neighbours, and a new search is not needed. */
static void reposition(struct tern_fair_entity *e)
{
    if (!e->queue) {
        return;
    }
    struct tern_fair_tree *tree = &e->queue->tree;
    const struct tern_fair_entity *prev = RB_PREV(tern_fair_tree, tree, e), *next = RB_NEXT(tern_fair_tree, tree, e);
    if ((prev && compare(prev, e) > 0) || (next && compare(e, next) > 0)) {
        RB_REMOVE(tern_fair_tree, tree, e);
        RB_INSERT(tern_fair_tree, tree, e);
    }
}

static void raise(int64_t *time, int64_t to)
{
    if (tern_fair_before(*time, to)) {
        *time = to;
    }
}

static int64_t within(int64_t time, int64_t middle, int64_t most)
{
    return tern_fair_before(middle + most, time) ? middle + most : tern_fair_before(time, middle - most)
        ? middle - most : time;
}

void tern_fair_band_init(struct tern_fair_band *b, uint64_t *comparisons)
{
    *b = (struct tern_fair_band){.queue.comparisons = comparisons};
    tern_list_init(&b->movable);
}

void tern_fair_group_init(struct tern_fair_group *g, struct tern_sched_process *p, uint64_t *comparisons)
{
    *g = (struct tern_fair_group){.process = p, .queue.comparisons = comparisons};
}

struct tern_fair_group *tern_fair_group_of(const struct tern_sched_context *c)
{
    return &c->process->group[c->band][c->engine];
}

static struct tern_fair_band *band_of(struct tern_sched *s, const struct tern_sched_context *c)
{
    return &s->engine[c->engine].band[c->band];
}

static struct tern_sched_context *context_of(const struct tern_fair_entity *e)
{
    return TERN_LIST_ENTRY(e, struct tern_sched_context, entity);
}

/**
 * Place among those of equal vruntime: the end. But paging that came back keeps its fence id (P6), and so must keep its
 * order: it is placed by that id, which is less than whatever is new gets.
 */
static uint64_t next_order(struct tern_sched *s, const struct tern_sched_context *c)
{
    return c->backs && c->back[0].id ? c->back[0].id : ++s->order;
}

/* ----------------------------------------------------------------- weights */

uint64_t tern_fair_load(uint64_t weight, const struct tern_sched_process *p, uint32_t band)
{
    return p->weight[band] ? weight * TERN_FAIR_LOAD_ONE / p->weight[band] : 0;
}

/** So much weight more, or less, is live where the context is. */
static void add_weight(struct tern_sched *s, const struct tern_sched_context *c, int64_t more)
{
    struct tern_sched_process *p = c->process;
    const uint32_t band = c->band;
    for (uint32_t e = 0; e < s->engines; e++) {
        s->engine[e].band[band].queue.load -= tern_fair_load(p->group[band][e].queue.load, p, band);
    }
    tern_fair_group_of(c)->queue.load += (uint64_t)more;
    p->weight[band] += (uint64_t)more;
    for (uint32_t e = 0; e < s->engines; e++) {
        s->engine[e].band[band].queue.load += tern_fair_load(p->group[band][e].queue.load, p, band);
    }
}

/** A mean after something of this weight has come to others of the weight `others`. Negative: has gone from them. */
static int64_t with(int64_t mean, int64_t place, int64_t weight, int64_t others)
{
    return others ? mean + (place - mean) * weight / (others + weight) : place;
}

static int64_t without(int64_t mean, int64_t place, int64_t weight, int64_t others)
{
    return others ? mean - (place - mean) * weight / others : mean;
}

/** It is live on its engine now. */
static void enter(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    g->mean = with(g->mean, c->entity.vruntime, c->weight, (int64_t)g->queue.load);
    g->rest = 0;
    g->queue.live++;
    band_of(s, c)->queue.live++;
    add_weight(s, c, c->weight);
    c->live = true;
}

static void leave(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    add_weight(s, c, -(int64_t)c->weight);
    g->mean = without(g->mean, c->entity.vruntime, c->weight, (int64_t)g->queue.load);
    g->rest = 0;
    g->queue.live--;
    band_of(s, c)->queue.live--;
    c->live = false;
}

/** Gives the process another vruntime on an engine, on which so much of its weight is. */
static void set_vruntime(struct tern_sched *s, struct tern_sched_process *p, uint32_t band, uint32_t engine,
                         int64_t vruntime, uint64_t here)
{
    struct tern_fair_group *g = &p->group[band][engine];
    const int64_t most = tern_fair_times((int64_t)s->config.band[band].quantum, TERN_FAIR_LAG_MAX * TERN_FAIR_SCALE);
    const int64_t rate = here ? (int64_t)((p->weight[band] + here - 1) / here) : 1;
    g->entity.vruntime = within(vruntime, s->engine[engine].band[band].queue.min_vruntime, tern_fair_times(most, rate));
    reposition(&g->entity);
}

/**
 * The weights of a context's process have changed, from these: what the process is ahead or behind on each engine stays
 * the same in cycles. Else who ran while little of the process's weight was there would wait as long as that weight
 * deserves, whatever it is now. Where nothing of the process is, its time counts cycles.
 */
static void reweight(struct tern_sched *s, const struct tern_sched_context *c, uint64_t all, uint64_t here)
{
    struct tern_sched_process *p = c->process;
    for (uint32_t e = 0; e < s->engines; e++) {
        const struct tern_fair_group *g = &p->group[c->band][e];
        const uint64_t was = e == c->engine ? here : g->queue.load, is = g->queue.load;
        const uint64_t more = (is ? p->weight[c->band] : 1) * (was ? was : 1), less = (is ? is : 1) * (was ? all : 1);
        const int64_t min = s->engine[e].band[c->band].queue.min_vruntime, ahead = g->entity.vruntime - min;
        if (more != less && ahead) {
            set_vruntime(s, p, c->band, e, min + (int64_t)((__int128)ahead * more / less), is);
        }
    }
}

void tern_fair_set_weight(struct tern_sched *s, struct tern_sched_context *c, uint32_t weight)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    const int64_t min = g->queue.min_vruntime, debt = c->entity.vruntime - min;
    const uint64_t all = c->process->weight[c->band], here = g->queue.load;
    const bool live = c->live;
    tern_fair_dequeue(s, c);
    if (live) {
        leave(s, c);
    }
    if (debt > 0) {
        c->entity.vruntime = min + debt * (int64_t)c->weight / (int64_t)weight; /* the same cycles */
    }
    c->weight = weight;
    if (live) {
        enter(s, c);
        reweight(s, c, all, here);
    }
    tern_fair_enqueue(s, c);
}

/* ------------------------------------------------------------------ charge */

static void add_time(struct tern_sched_context *c, int64_t cycles)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    const int64_t here = (int64_t)g->queue.load, all = (int64_t)c->process->weight[c->band];
    cycles = (c->band == TERN_BAND_PAGING ? 0 : cycles + c->late) * TERN_FAIR_SCALE;
    c->late = 0;
    const int64_t more = cycles * (int64_t)TERN_WEIGHT_NORMAL / (int64_t)c->weight;
    /* exact: errors would add up for as long as it is live */
    const int64_t sum = more * (int64_t)c->weight + g->rest;
    c->entity.vruntime += more;
    g->entity.vruntime += (int64_t)((__int128)cycles * all / here);
    g->mean += sum / here;
    g->rest = sum % here;
}

void tern_fair_charge(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    int64_t little = (int64_t)(s->config.band[c->band].quantum / LITTLE);
    c->late += cycles;
    if (c->late >= -little && c->late <= little) {
        return;
    }
    add_time(c, 0);
    reposition(&c->entity);
    reposition(&tern_fair_group_of(c)->entity);
}

/* ------------------------------------------------------------------- place */

/** The engine gets a context of the band: if it is the first, its clock is set to the others'. */
static void join(struct tern_sched *s, uint32_t engine, uint32_t band)
{
    struct tern_fair_band *here = &s->engine[engine].band[band];
    bool any = false;
    int64_t now = 0;
    for (uint32_t e = 0; e < s->engines && !here->queue.live; e++) {
        const struct tern_fair_band *there = &s->engine[e].band[band];
        if (e != engine && there->queue.live) {
            now = any && tern_fair_before(tern_fair_clock(there), now) ? now : tern_fair_clock(there);
            any = true;
        }
    }
    here->offset = any ? here->queue.min_vruntime - now : here->offset;
}

/** Counts it as live on its engine, or not. Who comes starts at min_vruntime at least, and behind its equals. */
static void set_live(struct tern_sched *s, struct tern_sched_context *c, bool live)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    const uint64_t all = c->process->weight[c->band], here = g->queue.load;
    if (live && !c->live) {
        join(s, c->engine, c->band);
        if (g->queue.live == 0) {
            raise(&g->entity.vruntime, band_of(s, c)->queue.min_vruntime);
            g->entity.order = ++s->order;
        }
        raise(&c->entity.vruntime, g->queue.min_vruntime);
        c->entity.order = next_order(s, c);
        enter(s, c);
        reweight(s, c, all, here);
    } else if (!live && c->live) {
        leave(s, c);
        reweight(s, c, all, here);
    }
}

static void list_movable(struct tern_sched *s, struct tern_sched_context *c)
{
    if (c->state == TERN_SCHED_READY && c->affinity == TERN_ENGINE_ANY && !c->inflight) {
        tern_list_append(&band_of(s, c)->movable, &c->movable);
    }
}

void tern_fair_dequeue(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    (void)s;
    if (c->entity.queue) {
        take_out(&c->entity);
        tern_list_remove(&c->movable);
        if (RB_EMPTY(&g->queue.tree)) {
            take_out(&g->entity);
        }
    }
}

void tern_fair_enqueue(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    set_live(s, c, c->state == TERN_SCHED_READY || c->inflight);
    if (c->state == TERN_SCHED_READY) {
        insert(&g->queue, &c->entity);
        list_movable(s, c);
        if (!g->entity.queue) {
            insert(&band_of(s, c)->queue, &g->entity);
        }
    }
}

/* -------------------------------------------------------------------- pick */

struct tern_sched_context *tern_fair_pick(const struct tern_fair_band *b)
{
    struct tern_fair_tree groups = b->queue.tree;
    const struct tern_fair_entity *first = RB_MIN(tern_fair_tree, &groups);
    if (!first) {
        return NULL;
    }
    struct tern_fair_tree contexts = TERN_LIST_ENTRY(first, struct tern_fair_group, entity)->queue.tree;
    return context_of(RB_MIN(tern_fair_tree, &contexts));
}

bool tern_fair_behind(const struct tern_sched_context *a, const struct tern_sched_context *b)
{
    const struct tern_fair_group *p = tern_fair_group_of(a), *q = tern_fair_group_of(b);
    return p == q ? !tern_fair_before(b->entity.vruntime, a->entity.vruntime)
                  : !tern_fair_before(q->entity.vruntime, p->entity.vruntime);
}

void tern_fair_raise_min(struct tern_sched *s, const struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    raise(&band_of(s, c)->queue.min_vruntime, g->entity.vruntime);
    raise(&g->queue.min_vruntime, c->entity.vruntime);
}

void tern_fair_dispatched(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    tern_fair_dequeue(s, c);
    tern_fair_raise_min(s, c);
    g->entity.order = ++s->order;
    c->entity.order = next_order(s, c);
    add_time(c, cycles);
    c->moved = false;
    c->inflight++;
    reposition(&g->entity);
    tern_fair_enqueue(s, c);
}

void tern_fair_returned(struct tern_sched *s, struct tern_sched_context *c)
{
    c->inflight--;
    set_live(s, c, c->state == TERN_SCHED_READY || c->inflight);
    list_movable(s, c);
}

/* ----------------------------------------------------------------- migrate */

/**
 * To another engine, where it is as far ahead or behind in the time of all engines. That is its process's time there
 * and what it is ahead of the mean of those contexts that are there too; which go on where they are.
 */
static void move_live(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine)
{
    struct tern_sched_process *p = c->process;
    struct tern_fair_group *g = tern_fair_group_of(c);
    const int64_t all = (int64_t)p->weight[c->band], normal = TERN_WEIGHT_NORMAL;
    int64_t place = g->entity.vruntime + (c->entity.vruntime - g->mean) * all / normal;
    leave(s, c);
    set_vruntime(s, p, c->band, c->engine, without(g->entity.vruntime, place, c->weight, (int64_t)g->queue.load),
                 g->queue.load);
    place -= band_of(s, c)->offset;
    join(s, engine, c->band);
    c->engine = engine;
    place += band_of(s, c)->offset;
    c->moved = true;
    g = tern_fair_group_of(c);
    /* two of one vruntime and one order would be one to the tree */
    g->entity.order = g->queue.live ? g->entity.order : ++s->order;
    const int64_t min = g->queue.min_vruntime, quantum = (int64_t)s->config.band[c->band].quantum;
    const int64_t vruntime = g->queue.live ? g->mean + (place - g->entity.vruntime) * normal / all : min;
    c->entity.vruntime =
        within(vruntime, min, tern_fair_times(quantum, TERN_FAIR_LAG_MAX * TERN_FAIR_SCALE * normal) / c->weight);
    place = with(g->entity.vruntime, place, c->weight, (int64_t)g->queue.load);
    enter(s, c);
    set_vruntime(s, p, c->band, engine, place, g->queue.load);
}

/** To another engine or band as if it had slept: what it has had too much goes along. */
static void move_idle(struct tern_sched_context *c, uint32_t engine, uint32_t band)
{
    const int64_t debt = c->entity.vruntime - tern_fair_group_of(c)->queue.min_vruntime;
    c->engine = engine;
    c->band = band;
    c->entity.vruntime = tern_fair_group_of(c)->queue.min_vruntime + (debt > 0 ? debt : 0);
}

void tern_fair_set_band(struct tern_sched *s, struct tern_sched_context *c, uint32_t band)
{
    tern_fair_dequeue(s, c);
    set_live(s, c, false);
    move_idle(c, c->engine, band);
    tern_fair_enqueue(s, c);
}

void tern_fair_migrate(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine)
{
    if (engine == c->engine) {
        return;
    }
    tern_fair_dequeue(s, c);
    if (c->live) {
        move_live(s, c, engine);
    } else {
        move_idle(c, engine, c->band);
    }
    tern_fair_enqueue(s, c);
}
