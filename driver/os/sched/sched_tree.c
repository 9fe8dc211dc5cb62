/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who is furthest behind: for each engine and band a tree of processes, for each of these a tree of ready contexts,
 * both by virtual time. A decision is two minima; what is launched is put back by two insertions: O(log n).
 *
 * Engines have trees of their own, since their virtual times drift apart where contexts are bound; sched_place.c keeps
 * them together where they are not. A process that has a part of its weight on an engine has that part of a claim
 * there: its time on that engine goes the faster for it.
 */
#include "os/sched/sched_internal.h"

/* quanta that who comes to an engine may be ahead or behind there: what rounds and estimates do must not add up */
#define MOST 16
#define LITTLE 64 /* corrections of less than this part of a quantum wait until the context is put back anyway */

static int by_time(int64_t a, int64_t b, uint64_t order_a, uint64_t order_b)
{
    if (a != b) {
        return tern_sched_before(a, b) ? -1 : 1;
    }
    return order_a < order_b ? -1 : order_a > order_b;
}

static int compare_contexts(const struct tern_sched_context *a, const struct tern_sched_context *b)
{
    a->process->sched->comparisons++;
    return by_time(a->vtime, b->vtime, a->order, b->order);
}

static int compare_shares(const struct tern_sched_share *a, const struct tern_sched_share *b)
{
    a->process->sched->comparisons++;
    return by_time(a->vtime, b->vtime, a->order, b->order);
}

/* not RB_GENERATE_STATIC: in libbsd 0.11 that takes a macro that libbsd does not define */
RB_GENERATE_INTERNAL(tern_sched_contexts, tern_sched_context, ready, compare_contexts, static __attribute__((unused)))
RB_GENERATE_INTERNAL(tern_sched_shares, tern_sched_share, node, compare_shares, static __attribute__((unused)))

void tern_sched_detach(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    if (c->state == TERN_SCHED_READY) {
        RB_REMOVE(tern_sched_contexts, &share->ready, c);
        tern_list_remove(&c->movable);
        if (RB_EMPTY(&share->ready)) {
            RB_REMOVE(tern_sched_shares, &s->engine[c->engine].ready[c->band], share);
            share->queued = false;
        }
    }
}

static void raise(int64_t *time, int64_t present)
{
    if (tern_sched_before(*time, present)) {
        *time = present;
    }
}

uint64_t tern_sched_order(struct tern_sched *s, const struct tern_sched_context *c)
{
    return c->backs && c->back[0].id ? c->back[0].id : ++s->order;
}

/** A context's time has changed. Mostly it stays between its neighbours, and a new search is not needed. */
static void replace_context(struct tern_sched_share *share, struct tern_sched_context *c)
{
    const struct tern_sched_context *prev = RB_PREV(tern_sched_contexts, &share->ready, c);
    const struct tern_sched_context *next = RB_NEXT(tern_sched_contexts, &share->ready, c);
    if ((prev && compare_contexts(prev, c) > 0) || (next && compare_contexts(c, next) > 0)) {
        RB_REMOVE(tern_sched_contexts, &share->ready, c);
        RB_INSERT(tern_sched_contexts, &share->ready, c);
    }
}

static void replace_share(struct tern_sched_shares *band, struct tern_sched_share *share)
{
    const struct tern_sched_share *prev = RB_PREV(tern_sched_shares, band, share);
    const struct tern_sched_share *next = RB_NEXT(tern_sched_shares, band, share);
    if ((prev && compare_shares(prev, share) > 0) || (next && compare_shares(share, next) > 0)) {
        RB_REMOVE(tern_sched_shares, band, share);
        RB_INSERT(tern_sched_shares, band, share);
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

/** It is present on its engine now. */
static void enter(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    share->mean = with(share->mean, c->vtime, c->weight, (int64_t)share->weight);
    share->rest = 0;
    share->live++;
    s->engine[c->engine].live[c->band]++;
    tern_sched_weigh(s, c, c->weight);
    c->live = true;
}

static void leave(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    tern_sched_weigh(s, c, -(int64_t)c->weight);
    share->mean = without(share->mean, c->vtime, c->weight, (int64_t)share->weight);
    share->rest = 0;
    share->live--;
    s->engine[c->engine].live[c->band]--;
    c->live = false;
}

static int64_t within(int64_t time, int64_t present, int64_t most)
{
    return tern_sched_before(present + most, time) ? present + most : tern_sched_before(time, present - most)
        ? present - most : time;
}

/** Gives the process another time on an engine, on which so much of its weight is. */
static void shift_share(struct tern_sched *s, struct tern_sched_process *p, uint32_t band, uint32_t engine,
                        int64_t vtime, uint64_t here)
{
    struct tern_sched_share *share = &p->share[band][engine];
    const int64_t most = tern_sched_times((int64_t)s->config.band[band].quantum, MOST * TERN_SCHED_SCALE);
    const int64_t rate = here ? (int64_t)((p->weight[band] + here - 1) / here) : 1;
    share->vtime = within(vtime, s->engine[engine].floor[band], tern_sched_times(most, rate));
    if (share->queued) {
        replace_share(&s->engine[engine].ready[band], share);
    }
}

/**
 * The weights of a context's process have changed, from these: what the process is ahead or behind on each engine stays
 * the same in cycles. Else who ran while little of the process's weight was there would wait as long as that weight
 * deserves, whatever it is now. Where nothing of the process is, its time counts cycles.
 */
static void rescale(struct tern_sched *s, const struct tern_sched_context *c, uint64_t all, uint64_t here)
{
    struct tern_sched_process *p = c->process;
    for (uint32_t e = 0; e < s->engines; e++) {
        struct tern_sched_share *share = &p->share[c->band][e];
        const uint64_t was = e == c->engine ? here : share->weight, is = share->weight;
        const uint64_t more = (is ? p->weight[c->band] : 1) * (was ? was : 1), less = (is ? is : 1) * (was ? all : 1);
        const int64_t floor = s->engine[e].floor[c->band], ahead = share->vtime - floor;
        if (more != less && ahead) {
            shift_share(s, p, c->band, e, floor + (int64_t)((__int128)ahead * more / less), is);
        }
    }
}

void tern_sched_set_weight(struct tern_sched *s, struct tern_sched_context *c, uint32_t weight)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    const int64_t debt = c->vtime - share->floor;
    const uint64_t all = c->process->weight[c->band], here = share->weight;
    const bool live = c->live;
    tern_sched_detach(s, c);
    if (live) {
        leave(s, c);
    }
    c->vtime = debt > 0 ? share->floor + debt * (int64_t)c->weight / (int64_t)weight : c->vtime; /* the same cycles */
    c->weight = weight;
    if (live) {
        enter(s, c);
        rescale(s, c, all, here);
    }
    tern_sched_attach(s, c);
}

/** Counts it as present on its engine, or not. Who comes starts at the present, and behind its equals. */
static void set_live(struct tern_sched *s, struct tern_sched_context *c, bool live)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    const uint64_t all = c->process->weight[c->band], here = share->weight;
    if (live && !c->live) {
        tern_sched_join(s, c->engine, c->band);
        if (share->live == 0) {
            raise(&share->vtime, s->engine[c->engine].floor[c->band]);
            share->order = ++s->order;
        }
        raise(&c->vtime, share->floor);
        c->order = tern_sched_order(s, c);
        enter(s, c);
        rescale(s, c, all, here);
    } else if (!live && c->live) {
        leave(s, c);
        rescale(s, c, all, here);
    }
}

void tern_sched_attach(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_engine *e = &s->engine[c->engine];
    struct tern_sched_share *share = tern_sched_share_of(c);
    set_live(s, c, c->state == TERN_SCHED_READY || c->inflight);
    if (c->state == TERN_SCHED_READY) {
        RB_INSERT(tern_sched_contexts, &share->ready, c);
        if (c->affinity == TERN_ENGINE_ANY && !c->inflight) {
            tern_list_append(&e->movable[c->band], &c->movable);
        }
    }
    if (c->state == TERN_SCHED_READY && !share->queued) {
        RB_INSERT(tern_sched_shares, &e->ready[c->band], share);
        share->queued = true;
    }
}

void tern_sched_land(struct tern_sched *s, struct tern_sched_context *c)
{
    bool ready = c->state == TERN_SCHED_READY;
    c->inflight--;
    set_live(s, c, ready || c->inflight);
    if (ready && c->affinity == TERN_ENGINE_ANY && !c->inflight) {
        tern_list_append(&s->engine[c->engine].movable[c->band], &c->movable);
    }
}

static void add_time(struct tern_sched_context *c, int64_t cycles)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    const int64_t here = (int64_t)share->weight, all = (int64_t)c->process->weight[c->band];
    cycles = (c->band == TERN_BAND_PAGING ? 0 : cycles + c->late) * TERN_SCHED_SCALE;
    c->late = 0;
    const int64_t more = cycles * (int64_t)TERN_WEIGHT_NORMAL / (int64_t)c->weight;
    /* exact: errors would add up for as long as it is live */
    const int64_t sum = more * (int64_t)c->weight + share->rest;
    c->vtime += more;
    share->vtime += (int64_t)((__int128)cycles * all / here);
    share->mean += sum / here;
    share->rest = sum % here;
}

void tern_sched_charge(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    int64_t little = (int64_t)(s->config.band[c->band].quantum / LITTLE);
    c->late += cycles;
    if (c->late >= -little && c->late <= little) {
        return;
    }
    add_time(c, 0);
    if (c->state == TERN_SCHED_READY) {
        replace_context(share, c);
    }
    if (share->queued) {
        replace_share(&s->engine[c->engine].ready[c->band], share);
    }
}


/**
 * To another engine, where it is as far ahead or behind in the time of all engines. That is its process's time there
 * and what it is ahead of the mean of those contexts that are there too; which go on where they are.
 */
static void move_live(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine)
{
    struct tern_sched_process *p = c->process;
    struct tern_sched_share *share = tern_sched_share_of(c);
    const int64_t all = (int64_t)p->weight[c->band], normal = TERN_WEIGHT_NORMAL;
    int64_t place = share->vtime + (c->vtime - share->mean) * all / normal;
    leave(s, c);
    shift_share(s, p, c->band, c->engine, without(share->vtime, place, c->weight, (int64_t)share->weight),
                share->weight);
    place -= s->engine[c->engine].base[c->band];
    tern_sched_join(s, engine, c->band);
    place += s->engine[engine].base[c->band];
    c->engine = engine;
    c->moved = true;
    share = tern_sched_share_of(c);
    share->order = share->live ? share->order : ++s->order; /* two of one time and one order would be one to the tree */
    c->vtime = share->live ? share->mean + (place - share->vtime) * normal / all : share->floor;
    const int64_t quantum = (int64_t)s->config.band[c->band].quantum;
    c->vtime = within(c->vtime, share->floor, tern_sched_times(quantum, MOST * TERN_SCHED_SCALE * normal) / c->weight);
    const int64_t vtime = with(share->vtime, place, c->weight, (int64_t)share->weight);
    enter(s, c);
    shift_share(s, p, c->band, engine, vtime, share->weight);
}

void tern_sched_move(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine, uint32_t band)
{
    const int64_t debt = c->vtime - tern_sched_share_of(c)->floor;
    const bool live = c->live;
    tern_sched_detach(s, c);
    if (live && band == c->band && engine != c->engine) {
        move_live(s, c, engine);
    } else {
        set_live(s, c, false);
        c->engine = engine;
        c->band = band;
        c->vtime = tern_sched_share_of(c)->floor + (debt > 0 ? debt : 0);
        set_live(s, c, live);
    }
    tern_sched_attach(s, c);
}

void tern_sched_present(struct tern_sched *s, const struct tern_sched_context *c)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    raise(&s->engine[c->engine].floor[c->band], share->vtime);
    raise(&share->floor, c->vtime);
}

void tern_sched_launch(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    tern_sched_detach(s, c);
    bool others = share->queued;
    tern_sched_present(s, c);
    share->order = ++s->order;
    c->order = tern_sched_order(s, c);
    add_time(c, cycles);
    c->moved = false;
    c->inflight++;
    if (others) {
        replace_share(&s->engine[c->engine].ready[c->band], share);
    }
    tern_sched_attach(s, c);
}

uint32_t tern_sched_rank(const struct tern_sched_engine *e, uint32_t band)
{
    return 2 * band + (e->turn && band == TERN_BAND_NORMAL ? 3 : 0);
}

struct tern_sched_context *tern_sched_first(const struct tern_sched_engine *e, uint32_t band)
{
    struct tern_sched_shares shares = e->ready[band];
    struct tern_sched_share *share = RB_MIN(tern_sched_shares, &shares);
    return share ? RB_MIN(tern_sched_contexts, &share->ready) : NULL;
}

struct tern_sched_context *tern_sched_best(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    struct tern_sched_context *best = NULL;
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        if (!RB_EMPTY(&e->ready[b]) && (!best || tern_sched_rank(e, b) > tern_sched_rank(e, best->band))) {
            best = tern_sched_first(e, b);
        }
    }
    return best;
}
