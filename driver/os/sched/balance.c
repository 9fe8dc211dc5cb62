/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Section 7 of docs/scheduling.md: the choice of the engine for contexts that are not bound to one.
 *
 *     load of context c = W(p) * w(c) / (sum of w of the live contexts of its process p in the band)
 *
 * Rules. The clock of an engine leads if it is ahead of that of another engine; leads are measured in quanta of the
 * slower engine.
 *   - An idle engine takes a context that waits behind another one.
 *   - Lead > 1: a context moves from the slower engine to the leading one, keeps its place, and runs there until it has
 *     caught up. This rule alone gives three equal contexts two thirds of an engine each on two engines.
 *   - Loads choose the context. A context that would meet a greater load stays until the lead is > 2.
 *   - Lead > 8: the excess is forgotten. Some leads cannot be repaid, because one context deserves more than an engine
 *     or the others are bound.
 * Clocks jump by whole chunks. Therefore a context that has moved runs before it moves again, and a context that its
 * engine is about to run stays.
 *
 * Alternatives dropped. Placing by load alone: the loads 300, 200 and 200 cannot be divided evenly between two engines.
 * One queue for all engines: a context that is bound or deserves more than an engine makes a common time meaningless,
 * and two engines would stop for one waiter.
 */
#include "os/sched/sched_internal.h"

#define LOAD_TOLERANCE (1ull << 16) /* a smaller difference of loads is due to rounding */
#define LEAD_MIN_QUANTA 1    /* a larger lead moves a context that fits */
#define LEAD_FORCED_QUANTA 2 /* a larger lead moves one that does not fit */
#define LEAD_MAX_QUANTA 8    /* a larger lead is cut down to this */

/** A partition on an engine. */
struct side {
    const struct tern_sched *s;
    struct tern_sched_engine *engine;
    struct tern_sched_part *part;
    const struct tern_fair_queue *paging; /* paging work of all partitions */
};

static struct side side_of(struct tern_sched *s, struct tern_sched_partition *p, uint32_t engine)
{
    return (struct side){s, &s->engine[engine], &p->on[engine], &s->main.on[engine].band[TERN_BAND_PAGING].queue};
}

/** Sum of the loads of this band and of those above it, paging included. */
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

/** Number of live contexts of all partitions on the engine. */
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

/** Number of other partitions that have live contexts on the engine. */
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
        if (a + LOAD_TOLERANCE < b || (a < b + LOAD_TOLERANCE && all_a + LOAD_TOLERANCE < all_b) ||
            (a < b + LOAD_TOLERANCE && all_a < all_b + LOAD_TOLERANCE && others(&here) < others(&there))) {
            best = e;
        }
    }
    return best;
}

/** True: the load on `to`, with the context, would be no greater than that on `from` is now; strictly: less. */
static bool fits(const struct tern_sched_context *c, const struct side *from, const struct side *to, bool strictly)
{
    const uint64_t then = load(to, c->band) + tern_fair_load(c), now = load(from, c->band);
    return strictly ? then + LOAD_TOLERANCE < now : then <= now + LOAD_TOLERANCE;
}

/** The context to move: the one furthest behind if it fits, else the one that has been ready longest if that fits, else
 *  the one of the two with the smaller load. */
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

/** A quantum in units of the engine's clock: quantum / load, but at least the quantum itself. */
static int64_t quantum_of(const struct tern_sched *s, const struct tern_sched_part *e, uint32_t band)
{
    const int64_t quantum = tern_fair_times((int64_t)s->config.band[band].quantum, TERN_FAIR_SCALE);
    const int64_t whole = (int64_t)(TERN_FAIR_LOAD_ONE / LOAD_TOLERANCE);
    const int64_t part_here = (int64_t)(e->band[band].queue.load / LOAD_TOLERANCE) + 1;
    return part_here < whole ? tern_fair_times(quantum, whole) / part_here : quantum;
}

/** Moves a context of the partition from one engine to another, if the rules of this file say so. True: it did. */
static bool give(struct tern_sched *s, struct tern_sched_partition *p, uint32_t giver, uint32_t taker, uint32_t band)
{
    const struct side from_side = side_of(s, p, giver), to_side = side_of(s, p, taker);
    struct tern_sched_part *from = from_side.part, *to = to_side.part;
    const uint64_t quantum = s->config.band[band].quantum;
    const int64_t unit = quantum_of(s, from, band), most = tern_fair_times(LEAD_MAX_QUANTA, unit);
    const bool idle = !present_in_all(&to_side), both = from->band[band].queue.live && to->band[band].queue.live;
    int64_t lead = tern_fair_clock(&to->band[band]) - tern_fair_clock(&from->band[band]);
    if (both && lead > most) {
        from->band[band].offset -= lead - most;
        lead = most;
    }
    if (!from_side.engine->n || tern_list_empty(&from->band[band].movable) ||
        (idle ? present_in_all(&from_side) : present(&from_side, band)) < 2) {
        return false; /* the context will run next here, or is the only one here */
    }
    if (both && !idle && lead <= tern_fair_times(LEAD_MIN_QUANTA, unit)) {
        return false;
    }
    struct tern_sched_context *c = chosen(&from_side, &to_side, band);
    if (!idle && c->moved && lead < most) {
        return false; /* a context that has moved runs here before it moves again */
    }
    if (!idle && !fits(c, &from_side, &to_side, !both)) {
        const bool most_of_it = 2 * tern_fair_load(c) > load(&from_side, band) + LOAD_TOLERANCE;
        if (!both || most_of_it || lead <= tern_fair_times(LEAD_FORCED_QUANTA, unit) ||
            s->now - to->balanced < quantum) {
            return false;
        }
        to->balanced = s->now; /* clocks show the effect of this move only after some time */
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
