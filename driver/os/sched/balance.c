/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Section 7 of docs/scheduling.md: on which engine a context queues, if it is not bound to one.
 *
 * A context's *part* is what its weight is of its process's in the band, times what the process weighs. When a clock
 * leads by a quantum of the engine behind, a context goes from there to the one that leads, and keeps its place: it
 * runs until it has caught up. By this alone three equal contexts get two thirds of two engines each; loads only say
 * which context, and keep one that would meet a greater load there until the lead is twice that. A lead is legitimate
 * where nothing can be done: one context deserves more than an engine, others are bound. Then it is forgotten, but for
 * some quanta.
 * Clocks jump by the chunks of contexts: so what has moved runs before it moves again, and what an engine is about to
 * run stays.
 *
 * Alternatives dropped: placing by load alone (300, 200, 200 cannot be dealt to two engines); one queue for
 * all engines (a context that is bound or deserves more than an engine makes a time of all engines meaningless, and two
 * engines would stop for one waiter).
 */
#include "os/sched/sched_internal.h"

#define ALIKE (1ull << 16) /* loads that differ by less differ by rounding */
#define LEAD 1             /* quanta */
#define LEAD_FORCES 2
#define LEAD_MOST 8

/** A partition on an engine. */
struct side {
    const struct tern_sched *s;
    struct tern_sched_engine *engine;
    struct tern_sched_part *part;
    const struct tern_fair_queue *paging; /* of all partitions */
};

static struct side side_of(struct tern_sched *s, struct tern_sched_partition *p, uint32_t engine)
{
    return (struct side){s, &s->engine[engine], &p->on[engine], &s->main.on[engine].band[TERN_BAND_PAGING].queue};
}

/** Of this band and those above. */
static uint64_t load(const struct side *e, uint32_t band)
{
    uint64_t sum = e->paging->load;
    for (uint32_t b = band; b < TERN_BAND_PAGING; b++) {
        sum += e->part->band[b].queue.load;
    }
    return sum;
}

static uint32_t present(const struct side *e, uint32_t band)
{
    uint32_t n = e->paging->live;
    for (uint32_t b = band; b < TERN_BAND_PAGING; b++) {
        n += e->part->band[b].queue.live;
    }
    return n;
}

/** Of all partitions. */
static uint32_t present_in_all(const struct side *e)
{
    const ptrdiff_t engine = e->engine - e->s->engine;
    uint32_t n = e->paging->live;
    TERN_LIST_EACH(node, &e->s->partitions)
    {
        n += TERN_LIST_ENTRY(node, struct tern_sched_partition, node)->on[engine].live;
    }
    return n;
}

/** Partitions that have something there, but for this one. */
static uint32_t others(const struct side *e)
{
    const ptrdiff_t engine = e->engine - e->s->engine;
    uint32_t n = 0;
    TERN_LIST_EACH(node, &e->s->partitions)
    {
        const struct tern_sched_part *p = &TERN_LIST_ENTRY(node, struct tern_sched_partition, node)->on[engine];
        n += p != e->part && p->live;
    }
    return n;
}

uint32_t tern_sched_select_engine(struct tern_sched *s, const struct tern_sched_context *c)
{
    uint32_t best = c->engine;
    for (uint32_t e = 0; e < s->engines && c->affinity == TERN_ENGINE_ANY; e++) {
        const struct side here = side_of(s, c->process->partition, e), there = side_of(s, c->process->partition, best);
        const uint64_t a = load(&here, c->band), b = load(&there, c->band);
        const uint64_t all_a = load(&here, 0), all_b = load(&there, 0);
        if (a + ALIKE < b || (a < b + ALIKE && all_a + ALIKE < all_b) ||
            (a < b + ALIKE && all_a < all_b + ALIKE && others(&here) < others(&there))) {
            best = e;
        }
    }
    return best;
}

/** Would the context have no more beside it there than it has here? strictly: less. */
static bool fits(const struct tern_sched_context *c, const struct side *from, const struct side *to, bool strictly)
{
    const uint64_t then = load(to, c->band) + tern_fair_load(c), now = load(from, c->band);
    return strictly ? then + ALIKE < now : then <= now + ALIKE;
}

/** The one furthest behind, or the one that has waited longest, or if neither fits the lighter: what
 * goes to the other engine. */
static struct tern_sched_context *chosen(const struct side *from, const struct side *to, uint32_t band)
{
    const struct tern_list *list = &from->part->band[band].movable;
    struct tern_sched_context *oldest = TERN_LIST_ENTRY(list->next, struct tern_sched_context, movable);
    struct tern_sched_context *first = tern_fair_pick(&from->part->band[band]);
    if (tern_list_empty(&first->movable)) {
        return oldest;
    }
    if (fits(first, from, to, false) || fits(oldest, from, to, false)) {
        return fits(first, from, to, false) ? first : oldest;
    }
    return tern_fair_load(first) <= tern_fair_load(oldest) ? first : oldest;
}

/** What a quantum adds to the engine's clock, and no less than to that of one with the load 1. */
static int64_t quantum_of(const struct tern_sched *s, const struct tern_sched_part *e, uint32_t band)
{
    const int64_t quantum = tern_fair_times((int64_t)s->config.band[band].quantum, TERN_FAIR_SCALE);
    const int64_t whole = (int64_t)(TERN_FAIR_LOAD_ONE / ALIKE);
    const int64_t part_here = (int64_t)(e->band[band].queue.load / ALIKE) + 1;
    return part_here < whole ? tern_fair_times(quantum, whole) / part_here : quantum;
}

/** Lets a context of the partition go from an engine to another, if it should. */
static bool give(struct tern_sched *s, struct tern_sched_partition *p, uint32_t giver, uint32_t taker, uint32_t band)
{
    const struct side from_side = side_of(s, p, giver), to_side = side_of(s, p, taker);
    struct tern_sched_part *from = from_side.part, *to = to_side.part;
    const uint64_t quantum = s->config.band[band].quantum;
    const int64_t unit = quantum_of(s, from, band), most = tern_fair_times(LEAD_MOST, unit);
    const bool idle = !present_in_all(&to_side), both = from->band[band].queue.live && to->band[band].queue.live;
    int64_t lead = tern_fair_clock(&to->band[band]) - tern_fair_clock(&from->band[band]);
    if (both && lead > most) {
        from->band[band].offset -= lead - most;
        lead = most;
    }
    if (!from_side.engine->n || tern_list_empty(&from->band[band].movable) ||
        (idle ? present_in_all(&from_side) : present(&from_side, band)) < 2) {
        return false; /* it will run next; or it is the only one there */
    }
    if (both && !idle && lead <= tern_fair_times(LEAD, unit)) {
        return false;
    }
    struct tern_sched_context *c = chosen(&from_side, &to_side, band);
    if (!idle && c->moved && lead < most) {
        return false; /* first it shall run where it is */
    }
    if (!idle && !fits(c, &from_side, &to_side, !both)) {
        const bool most_of_it = 2 * tern_fair_load(c) > load(&from_side, band) + ALIKE;
        if (!both || most_of_it || lead <= tern_fair_times(LEAD_FORCES, unit) || s->now - to->balanced < quantum) {
            return false;
        }
        to->balanced = s->now; /* clocks need time to show what that changes */
    }
    tern_fair_migrate(s, c, taker);
    return true;
}

static bool balance(struct tern_sched *s, struct tern_sched_partition *p, uint32_t engine)
{
    for (uint32_t b = TERN_BAND_PAGING; b-- > 0;) {
        for (uint32_t f = 0; f < s->engines; f++) {
            if (f != engine && (give(s, p, f, engine, b) || give(s, p, engine, f, b))) {
                return true;
            }
        }
    }
    return false;
}

bool tern_sched_balance(struct tern_sched *s, uint32_t engine)
{
    TERN_LIST_EACH(node, &s->partitions)
    {
        if (balance(s, TERN_LIST_ENTRY(node, struct tern_sched_partition, node), engine)) {
            return true;
        }
    }
    return false;
}
