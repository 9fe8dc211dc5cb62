/* SPDX-License-Identifier: Apache-2.0 */
/** Sections 1 to 6 of docs/scheduling.md, in the same order. */
#include "os/sched/sched_internal.h"

/* ------------------------------------------------------------ 1. entities and queues */

static int compare(const struct tern_fair_entity *a, const struct tern_fair_entity *b)
{
    ++*a->queue->comparisons;
    if (a->vruntime != b->vruntime) {
        return tern_fair_before(a->vruntime, b->vruntime) ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The functions are not static, because RB_GENERATE_STATIC of libbsd 0.11 needs a macro that it does not define. */
RB_GENERATE(tern_fair_tree, tern_fair_entity, node, compare)

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

/** Restores the order of the tree after vruntime or order of e has changed. Mostly e stays between its neighbours, and
 *  no search is needed. */
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

struct tern_sched_part *tern_fair_part_of(const struct tern_sched_context *c)
{
    return &c->process->partition->on[c->engine];
}

static struct tern_fair_band *band_of(const struct tern_sched_context *c)
{
    return &tern_fair_part_of(c)->band[c->band];
}

static struct tern_sched_context *context_of(const struct tern_fair_entity *e)
{
    return TERN_LIST_ENTRY(e, struct tern_sched_context, entity);
}

/**
 * Order of a context among those of equal vruntime: the last. Paging that was requeued is an exception: it keeps its
 * fence id (P6) and therefore its order. The id serves as the order, and is less than that of any newer context.
 */
static uint64_t next_order(struct tern_sched *s, const struct tern_sched_context *c)
{
    return c->requeued_count && c->requeued[0].id ? c->requeued[0].id : ++s->order;
}

/* -------------------------------------------------------------- 2. weights */

/** A weight is part / whole. */
struct weight {
    int64_t part, whole;
};

static struct weight part_weight(uint32_t share)
{
    return (struct weight){share, TERN_WEIGHT_NORMAL};
}

static struct weight context_weight(const struct tern_sched_context *c)
{
    return (struct weight){c->weight, TERN_WEIGHT_NORMAL};
}

/** W(p): the weight of a process on all engines, which is an equal part of its user's. */
static struct weight process_weight(const struct tern_sched_process *p, uint32_t band)
{
    const struct tern_sched_user *u = p->user;
    const uint32_t n = u && u->processes[band] ? u->processes[band] : 1;
    return u ? (struct weight){u->share, (int64_t)TERN_WEIGHT_NORMAL * n} : (struct weight){1, 1};
}

/** W(p,e) / W(p): the part of the weights of the process's live contexts that is on this engine; 1 if none is there. */
static struct weight group_part(const struct tern_sched_process *p, uint32_t band, uint32_t engine)
{
    const uint64_t here = p->group[band][engine].queue.load;
    return here ? (struct weight){(int64_t)here, (int64_t)p->weight[band]} : (struct weight){1, 1};
}

static struct weight group_weight(const struct tern_sched_process *p, uint32_t band, uint32_t engine)
{
    const struct weight all = process_weight(p, band), part = group_part(p, band, engine);
    return (struct weight){all.part * part.part, all.whole * part.whole};
}

/** Load of live contexts with this sum of weights, as if their process weighed 1. */
static uint64_t load_of(uint64_t weight, const struct tern_sched_process *p, uint32_t band)
{
    return p->weight[band] ? weight * TERN_FAIR_LOAD_ONE / p->weight[band] : 0;
}

static uint64_t weighted(uint64_t load, const struct tern_sched_process *p, uint32_t band)
{
    const struct weight w = process_weight(p, band);
    return load * (uint64_t)w.part / (uint64_t)w.whole;
}

uint64_t tern_fair_load(const struct tern_sched_context *c)
{
    return weighted(load_of(c->weight, c->process, c->band), c->process, c->band);
}

/** The part of an engine's load that is due to the process, or, if it has a user, to all processes of the user. */
static uint64_t load_on(const struct tern_sched_process *p, uint32_t band, uint32_t engine)
{
    return p->user ? weighted(p->user->load[band][engine], p, band)
                   : load_of(p->group[band][engine].queue.load, p, band);
}

/** Counts the process among those of its user that have live contexts in the band. had: it was counted before. */
static void count_process(const struct tern_sched_process *p, uint32_t band, bool had)
{
    const bool has = p->weight[band] != 0;
    if (p->user && has && !had) {
        p->user->processes[band]++;
    } else if (p->user && had && !has) {
        p->user->processes[band]--;
    }
}

/** Adds to the live weight of the context's process on the context's engine. more < 0 takes from it. */
static void add_weight(struct tern_sched *s, const struct tern_sched_context *c, int64_t more)
{
    struct tern_sched_process *p = c->process;
    const uint32_t band = c->band;
    const bool had = p->weight[band] != 0;
    for (uint32_t e = 0; e < s->engines; e++) {
        p->partition->on[e].band[band].queue.load -= load_on(p, band, e);
        if (p->user) {
            p->user->load[band][e] -= load_of(p->group[band][e].queue.load, p, band);
        }
    }
    tern_fair_group_of(c)->queue.load += (uint64_t)more;
    p->weight[band] += (uint64_t)more;
    count_process(p, band, had);
    for (uint32_t e = 0; e < s->engines; e++) {
        if (p->user) {
            p->user->load[band][e] += load_of(p->group[band][e].queue.load, p, band);
        }
        p->partition->on[e].band[band].queue.load += load_on(p, band, e);
    }
}

/** Makes the context live on its engine, or not live, in the sums of section 2 and in that of its process (I4). */
static void count_live(struct tern_sched *s, struct tern_sched_context *c, bool live)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    const int sign = live ? 1 : -1;
    g->sum += (__int128)(c->entity.vruntime - g->queue.min_vruntime) * c->weight * sign;
    g->queue.live += (uint32_t)sign;
    band_of(c)->queue.live += (uint32_t)sign;
    tern_fair_part_of(c)->live += c->band == TERN_BAND_PAGING ? 0 : (uint32_t)sign;
    add_weight(s, c, sign * (int64_t)c->weight);
    c->live = live;
}

/** Sets the vruntime of e to min_vruntime + ahead. The clamp of section 4 limits ahead, which is negative if e is owed
 *  service. w is the weight of e in q. */
static void place(struct tern_sched *s, uint32_t band, const struct tern_fair_queue *q, struct tern_fair_entity *e,
                  int64_t ahead, struct weight w)
{
    const int64_t quantum = (int64_t)s->config.band[band].quantum;
    const __int128 all = (__int128)tern_fair_times(quantum, TERN_FAIR_LAG_MAX * TERN_FAIR_SCALE) * w.whole / w.part;
    const int64_t most = all < (int64_t)1 << 60 ? (int64_t)all : (int64_t)1 << 60;
    e->vruntime = q->min_vruntime + (ahead > most ? most : ahead < -most ? -most : ahead);
    reposition(e);
}

/** Changes the weight of e from was * of to is * of. The lag of e stays the same in cycles. */
static void reweight(struct tern_sched *s, uint32_t band, const struct tern_fair_queue *q, struct tern_fair_entity *e,
                     struct weight was, struct weight is, struct weight of)
{
    const __int128 more = (__int128)was.part * is.whole, less = (__int128)was.whole * is.part;
    const int64_t ahead = e->vruntime - q->min_vruntime;
    if (more != less && ahead) {
        place(s, band, q, e, (int64_t)(ahead * more / less),
              (struct weight){is.part * of.part, is.whole * of.whole});
    }
}

/** The context has become live or not, or has another weight, which changes the weights of its process on all engines.
 *  was[e] is the part (group_part) that engine e had before. */
static void reweight_groups(struct tern_sched *s, const struct tern_sched_context *c, const struct weight *was)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        const struct tern_fair_queue *q = &c->process->partition->on[e].band[c->band].queue;
        reweight(s, c->band, q, &c->process->group[c->band][e].entity, was[e], group_part(c->process, c->band, e),
                 process_weight(c->process, c->band));
    }
}

static void group_parts(const struct tern_sched *s, const struct tern_sched_context *c, struct weight *out)
{
    for (uint32_t e = 0; e < s->engines; e++) {
        out[e] = group_part(c->process, c->band, e);
    }
}

void tern_fair_set_weight(struct tern_sched *s, struct tern_sched_context *c, uint32_t weight)
{
    struct weight groups[TERN_ENGINES_MAX];
    const struct weight was = context_weight(c);
    const bool live = c->live;
    group_parts(s, c, groups);
    tern_fair_dequeue(s, c);
    if (live) {
        count_live(s, c, false);
    }
    c->weight = weight;
    reweight(s, c->band, &tern_fair_group_of(c)->queue, &c->entity, was, context_weight(c),
             (struct weight){1, 1});
    if (live) {
        count_live(s, c, true);
        reweight_groups(s, c, groups);
    }
    tern_fair_enqueue(s, c);
}

/* --------------------------------------------------------------- 3. charge */

static int64_t vruntime_of(int64_t cycles, struct weight w)
{
    return (int64_t)((__int128)cycles * TERN_FAIR_SCALE * w.whole / w.part);
}

void tern_fair_charge(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    struct tern_sched_part *part = tern_fair_part_of(c);
    (void)s;
    if (c->band == TERN_BAND_PAGING || !cycles) {
        return; /* paging runs in the order of its ids */
    }
    const int64_t more = vruntime_of(cycles, context_weight(c));
    c->entity.vruntime += more;
    g->sum += (__int128)more * c->weight;
    g->entity.vruntime += vruntime_of(cycles, group_weight(c->process, c->band, c->engine));
    part->entity.vruntime += vruntime_of(cycles, part_weight(c->process->partition->share));
    reposition(&c->entity);
    reposition(&g->entity);
    reposition(&part->entity);
}

/* ---------------------------------------------------------------- 4. place */

/** A context of the partition becomes live on the engine. If it is the first of its band there, the clock is set to the
 *  fastest clock of the other engines (section 7). */
static void join(struct tern_sched *s, struct tern_sched_partition *p, uint32_t engine, uint32_t band)
{
    struct tern_sched_part *part = &p->on[engine];
    struct tern_fair_band *here = &part->band[band];
    bool any = false;
    int64_t now = 0;
    for (uint32_t e = 0; e < s->engines && !here->queue.live; e++) {
        const struct tern_fair_band *there = &p->on[e].band[band];
        if (e != engine && there->queue.live) {
            now = any && tern_fair_before(tern_fair_clock(there), now) ? now : tern_fair_clock(there);
            any = true;
        }
    }
    here->offset = any ? here->queue.min_vruntime - now : here->offset;
    if (!part->live) { /* sleep earns nothing: this holds for partitions as well */
        raise(&part->entity.vruntime, s->engine[engine].parts.min_vruntime);
        part->entity.order = ++s->order;
    }
}

/** Makes the context live on its engine, or not live. One that wakes up gets at least min_vruntime, and goes behind its
 *  equals. */
static void set_live(struct tern_sched *s, struct tern_sched_context *c, bool live)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    struct weight groups[TERN_ENGINES_MAX];
    if (live == c->live) {
        return;
    }
    group_parts(s, c, groups);
    if (live) {
        join(s, c->process->partition, c->engine, c->band);
        if (g->queue.live == 0) {
            raise(&g->entity.vruntime, band_of(c)->queue.min_vruntime);
            g->entity.order = ++s->order;
        }
        raise(&c->entity.vruntime, g->queue.min_vruntime);
        c->entity.order = next_order(s, c);
    }
    count_live(s, c, live);
    reweight_groups(s, c, groups);
}

void tern_fair_settle(struct tern_sched *s, struct tern_sched_context *c)
{
    const bool live = c->state == TERN_SCHED_READY || c->inflight;
    if (live || tern_list_empty(&c->update)) {
        set_live(s, c, live);
    }
}

static void list_movable(struct tern_sched_context *c)
{
    const bool goes = c->affinity == TERN_ENGINE_ANY && !c->process->cap;
    if (c->state == TERN_SCHED_READY && goes && !c->inflight) {
        tern_list_append(&band_of(c)->movable, &c->movable);
    }
}

/** Counts one process more, or less, of the partition that can be picked on the context's engine. */
static void count_group(struct tern_sched *s, const struct tern_sched_context *c, int sign)
{
    struct tern_sched_part *part = tern_fair_part_of(c);
    if (c->band == TERN_BAND_PAGING) {
        return;
    }
    part->groups += (uint32_t)sign;
    if (part->groups && !part->entity.queue) {
        insert(&s->engine[c->engine].parts, &part->entity);
    } else if (!part->groups) {
        take_out(&part->entity);
    }
}

void tern_fair_dequeue(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    if (c->entity.queue) {
        take_out(&c->entity);
        tern_list_remove(&c->movable);
        if (RB_EMPTY(&g->queue.tree)) {
            take_out(&g->entity);
            count_group(s, c, -1);
        }
    }
}

void tern_fair_enqueue(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    tern_fair_settle(s, c);
    if (c->state == TERN_SCHED_READY) {
        insert(&g->queue, &c->entity);
        list_movable(c);
        if (!g->entity.queue) {
            insert(&band_of(c)->queue, &g->entity);
            count_group(s, c, 1);
        }
    }
}

void tern_fair_set_share(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share)
{
    const uint32_t was = p->share;
    p->share = share;
    for (uint32_t e = 0; e < s->engines; e++) {
        struct tern_fair_entity *it = &p->on[e].entity;
        const int64_t ahead = it->vruntime - s->engine[e].parts.min_vruntime;
        it->vruntime = s->engine[e].parts.min_vruntime + (int64_t)((__int128)ahead * was / share);
        reposition(it);
    }
}

/* ----------------------------------------------------------------- 5. pick */

struct tern_sched_part *tern_fair_pick_part(const struct tern_sched_engine *e)
{
    struct tern_fair_tree parts = e->parts.tree;
    const struct tern_fair_entity *first = RB_MIN(tern_fair_tree, &parts);
    return first ? TERN_LIST_ENTRY(first, struct tern_sched_part, entity) : NULL;
}

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
    const struct tern_sched_part *of_a = tern_fair_part_of(a), *of_b = tern_fair_part_of(b);
    return of_a != of_b ? !tern_fair_before(of_b->entity.vruntime, of_a->entity.vruntime)
           : p == q ? !tern_fair_before(b->entity.vruntime, a->entity.vruntime)
                    : !tern_fair_before(q->entity.vruntime, p->entity.vruntime);
}

void tern_fair_raise_min(struct tern_sched *s, const struct tern_sched_context *c)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    const int64_t min = g->queue.min_vruntime;
    if (c->band != TERN_BAND_PAGING) {
        raise(&s->engine[c->engine].parts.min_vruntime, tern_fair_part_of(c)->entity.vruntime);
    }
    raise(&band_of(c)->queue.min_vruntime, g->entity.vruntime);
    raise(&g->queue.min_vruntime, c->entity.vruntime);
    g->sum -= (__int128)(g->queue.min_vruntime - min) * (int64_t)g->queue.load;
}

void tern_fair_dispatched(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    tern_fair_dequeue(s, c);
    tern_fair_raise_min(s, c);
    g->entity.order = ++s->order;
    c->entity.order = next_order(s, c);
    c->moved = false;
    c->inflight++;
    if (c->band != TERN_BAND_PAGING) {
        tern_fair_part_of(c)->entity.order = ++s->order;
    }
    tern_fair_charge(s, c, cycles);
    reposition(&g->entity);
    reposition(&tern_fair_part_of(c)->entity);
    tern_fair_enqueue(s, c);
}

void tern_fair_returned(struct tern_sched *s, struct tern_sched_context *c)
{
    c->inflight--;
    tern_fair_settle(s, c);
    list_movable(c);
}

/* -------------------------------------------------------------- 6. migrate */

/** A weighted mean of the sum of weights `load`, after a place with this weight has been added; weight < 0: removed. */
static int64_t mean_with(int64_t mean, int64_t place, int64_t weight, uint64_t load)
{
    const int64_t sum = (int64_t)load + weight;
    return sum ? mean + (int64_t)((__int128)(place - mean) * weight / sum) : mean;
}

/** The mean of the contexts' vruntimes, by weight. */
static int64_t avg_vruntime(const struct tern_fair_group *g)
{
    return g->queue.min_vruntime + (g->queue.load ? (int64_t)(g->sum / (int64_t)g->queue.load) : 0);
}

static void place_group(struct tern_sched *s, const struct tern_sched_context *c, int64_t vruntime)
{
    struct tern_fair_group *g = tern_fair_group_of(c);
    const struct tern_fair_queue *q = &band_of(c)->queue;
    place(s, c->band, q, &g->entity, vruntime - q->min_vruntime, group_weight(c->process, c->band, c->engine));
}

/**
 * Moves a live context to another engine and keeps its place in the time of all engines (section 6):
 *     place(c) = vruntime(p,e) + (vruntime(c) - V) * all / normal
 * V is the mean vruntime of the process's contexts on the engine. The contexts that stay keep their vruntimes.
 */
static void move_live(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine)
{
    struct tern_sched_process *p = c->process;
    struct tern_fair_group *g = tern_fair_group_of(c);
    const struct weight w = process_weight(p, c->band);
    const __int128 all = (__int128)p->weight[c->band] * w.whole, normal = (__int128)TERN_WEIGHT_NORMAL * w.part;
    const int64_t weight = c->weight;
    const int64_t ahead = c->entity.vruntime - avg_vruntime(g);
    int64_t at = g->entity.vruntime + (int64_t)(ahead * all / normal);
    int64_t mean = mean_with(g->entity.vruntime, at, -weight, g->queue.load);
    count_live(s, c, false);
    place_group(s, c, mean);
    at -= band_of(c)->offset;
    join(s, p->partition, engine, c->band);
    c->engine = engine;
    c->moved = true;
    at += band_of(c)->offset;
    g = tern_fair_group_of(c);
    const int64_t vruntime = avg_vruntime(g) + (int64_t)((at - g->entity.vruntime) * normal / all);
    mean = mean_with(g->entity.vruntime, at, weight, g->queue.load);
    if (g->queue.live == 0) {
        g->entity.order = ++s->order; /* the tree needs entities to differ in vruntime or order */
    }
    place(s, c->band, &g->queue, &c->entity, g->queue.live ? vruntime - g->queue.min_vruntime : 0, context_weight(c));
    count_live(s, c, true);
    place_group(s, c, mean);
}

/** Moves a context that is not live to another engine or band. The context keeps the service that it owes, and loses
 *  the service that it is owed. */
static void move_idle(struct tern_sched_context *c, uint32_t engine, uint32_t band)
{
    const int64_t ahead = c->entity.vruntime - tern_fair_group_of(c)->queue.min_vruntime;
    c->engine = engine;
    c->band = band;
    c->entity.vruntime = tern_fair_group_of(c)->queue.min_vruntime + (ahead > 0 ? ahead : 0);
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
