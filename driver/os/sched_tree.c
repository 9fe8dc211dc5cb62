/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who is furthest behind: for each engine and band a tree of processes, for each of these a tree of ready contexts, both by
 * virtual time. A decision is two minima; what is launched is put back by two insertions: O(log n).
 *
 * Engines have trees of their own, since their virtual times drift apart; a context that is not bound goes where fewer are
 * when it wakes up, and a less loaded engine takes one that waits from a more loaded one: at once if that helps by two,
 * once a quantum if by one, so that three equal contexts get two thirds of two engines each.
 */
#include "os/sched_internal.h"

#define SCALE 16  /* virtual time has four bits after the point */
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

/** Counts it as present on its engine, or not. Who comes starts at the present, and behind its equals. */
static void set_live(struct tern_sched *s, struct tern_sched_context *c, bool live)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    struct tern_sched_engine *e = &s->engine[c->engine];
    if (live && !c->live) {
        if (share->live++ == 0) {
            raise(&share->vtime, e->floor[c->band]);
            share->order = ++s->order;
        }
        raise(&c->vtime, share->floor);
        c->order = tern_sched_order(s, c);
        e->live[c->band]++;
    } else if (!live && c->live) {
        share->live--;
        e->live[c->band]--;
    }
    c->live = live;
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

static void add_time(struct tern_sched_context *c, int64_t cycles)
{
    cycles = c->band == TERN_BAND_PAGING ? 0 : cycles + c->late;
    c->late = 0;
    tern_sched_share_of(c)->vtime += cycles * SCALE;
    c->vtime += cycles * SCALE * (int64_t)TERN_WEIGHT_NORMAL / (int64_t)c->weight;
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

void tern_sched_move(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine, uint32_t band)
{
    int64_t debt = c->vtime - tern_sched_share_of(c)->floor;
    bool live = c->live;
    tern_sched_detach(s, c);
    set_live(s, c, false);
    c->engine = engine;
    c->band = band;
    set_live(s, c, live);
    c->vtime = tern_sched_share_of(c)->floor + (debt > 0 ? debt : 0);
    tern_sched_attach(s, c);
}

void tern_sched_launch(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles)
{
    struct tern_sched_share *share = tern_sched_share_of(c);
    tern_sched_detach(s, c);
    bool others = share->queued;
    raise(&s->engine[c->engine].floor[c->band], share->vtime);
    raise(&share->floor, c->vtime);
    share->order = ++s->order;
    c->order = tern_sched_order(s, c);
    add_time(c, cycles);
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

static struct tern_sched_context *first_of(struct tern_sched_shares *band)
{
    struct tern_sched_share *share = RB_MIN(tern_sched_shares, band);
    return share ? RB_MIN(tern_sched_contexts, &share->ready) : NULL;
}

struct tern_sched_context *tern_sched_best(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    struct tern_sched_context *best = NULL;
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        struct tern_sched_shares band = e->ready[b];
        if (!RB_EMPTY(&band) && (!best || tern_sched_rank(e, b) > tern_sched_rank(e, best->band))) {
            best = first_of(&band);
        }
    }
    return best;
}

/** Contexts that are present in this band and above. */
static uint32_t load(const struct tern_sched_engine *e, uint32_t band)
{
    uint32_t n = 0;
    for (uint32_t b = band; b < TERN_BANDS; b++) {
        n += e->live[b];
    }
    return n;
}

uint32_t tern_sched_settle(const struct tern_sched *s, const struct tern_sched_context *c)
{
    uint32_t best = c->engine;
    for (uint32_t e = 0; e < s->engines && c->affinity == TERN_ENGINE_ANY; e++) {
        uint32_t here = load(&s->engine[e], c->band), there = load(&s->engine[best], c->band);
        if (here < there || (here == there && load(&s->engine[e], 0) < load(&s->engine[best], 0))) {
            best = e;
        }
    }
    return best;
}

void tern_sched_balance(struct tern_sched *s, uint32_t engine)
{
    struct tern_sched_engine *e = &s->engine[engine];
    bool empty = load(e, 0) == 0;
    for (uint32_t b = TERN_BAND_PAGING; b-- > 0;) {
        uint32_t most = load(e, b) + (s->now - e->balanced < s->config.band[b].quantum), from = engine;
        most = most ? most : 1; /* nobody gives its only one away */
        for (uint32_t f = 0; f < s->engines; f++) {
            uint32_t theirs = load(&s->engine[f], empty ? 0 : b); /* one that has nothing takes what it gets */
            if (!tern_list_empty(&s->engine[f].movable[b]) && theirs > most) {
                most = theirs;
                from = f;
            }
        }
        if (from != engine) {
            struct tern_list *first = s->engine[from].movable[b].next;
            tern_sched_move(s, TERN_LIST_ENTRY(first, struct tern_sched_context, movable), engine, b);
            e->balanced = s->now;
            return;
        }
    }
}
