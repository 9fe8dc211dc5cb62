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

/** Of this band and those above. */
static uint64_t load(const struct tern_sched_engine *e, uint32_t band)
{
    uint64_t sum = 0;
    for (uint32_t b = band; b < TERN_BANDS; b++) {
        sum += e->band[b].queue.load;
    }
    return sum;
}

static uint32_t present(const struct tern_sched_engine *e, uint32_t band)
{
    uint32_t n = 0;
    for (uint32_t b = band; b < TERN_BANDS; b++) {
        n += e->band[b].queue.live;
    }
    return n;
}

uint32_t tern_sched_select_engine(const struct tern_sched *s, const struct tern_sched_context *c)
{
    uint32_t best = c->engine;
    for (uint32_t e = 0; e < s->engines && c->affinity == TERN_ENGINE_ANY; e++) {
        const struct tern_sched_engine *here = &s->engine[e], *there = &s->engine[best];
        const uint64_t a = load(here, c->band), b = load(there, c->band);
        if (a + ALIKE < b || (a < b + ALIKE && load(here, 0) + ALIKE < load(there, 0))) {
            best = e;
        }
    }
    return best;
}

/** Would the context have no more beside it there than it has here? strictly: less. */
static bool fits(const struct tern_sched_context *c, const struct tern_sched_engine *from,
                 const struct tern_sched_engine *to, bool strictly)
{
    const uint64_t then = load(to, c->band) + tern_fair_load(c), now = load(from, c->band);
    return strictly ? then + ALIKE < now : then <= now + ALIKE;
}

/** The one furthest behind, or the one that has waited longest, or if neither fits the lighter: what
 * goes to the other engine. */
static struct tern_sched_context *chosen(const struct tern_sched_engine *from, const struct tern_sched_engine *to,
                                         uint32_t band)
{
    const struct tern_list *list = &from->band[band].movable;
    struct tern_sched_context *oldest = TERN_LIST_ENTRY(list->next, struct tern_sched_context, movable);
    struct tern_sched_context *first = tern_fair_pick(&from->band[band]);
    if (tern_list_empty(&first->movable)) {
        return oldest;
    }
    if (fits(first, from, to, false) || fits(oldest, from, to, false)) {
        return fits(first, from, to, false) ? first : oldest;
    }
    return tern_fair_load(first) <= tern_fair_load(oldest) ? first : oldest;
}

/** What a quantum adds to the engine's clock, and no less than to that of one with the load 1. */
static int64_t quantum_of(const struct tern_sched *s, const struct tern_sched_engine *e, uint32_t band)
{
    const int64_t quantum = tern_fair_times((int64_t)s->config.band[band].quantum, TERN_FAIR_SCALE);
    const int64_t whole = (int64_t)(TERN_FAIR_LOAD_ONE / ALIKE);
    const int64_t part_here = (int64_t)(e->band[band].queue.load / ALIKE) + 1;
    return part_here < whole ? tern_fair_times(quantum, whole) / part_here : quantum;
}

/** Lets a context go from an engine to another, if it should. */
static bool give(struct tern_sched *s, uint32_t giver, uint32_t taker, uint32_t band)
{
    struct tern_sched_engine *from = &s->engine[giver], *to = &s->engine[taker];
    const uint64_t quantum = s->config.band[band].quantum;
    const int64_t unit = quantum_of(s, from, band), most = tern_fair_times(LEAD_MOST, unit);
    const bool idle = !present(to, 0), both = from->band[band].queue.live && to->band[band].queue.live;
    int64_t lead = tern_fair_clock(&to->band[band]) - tern_fair_clock(&from->band[band]);
    if (both && lead > most) {
        from->band[band].offset -= lead - most;
        lead = most;
    }
    if (!from->n || tern_list_empty(&from->band[band].movable) || present(from, idle ? 0 : band) < 2) {
        return false; /* it will run next; or it is the only one there */
    }
    if (both && !idle && lead <= tern_fair_times(LEAD, unit)) {
        return false;
    }
    struct tern_sched_context *c = chosen(from, to, band);
    if (!idle && c->moved && lead < most) {
        return false; /* first it shall run where it is */
    }
    if (!idle && !fits(c, from, to, !both)) {
        const bool most_of_it = 2 * tern_fair_load(c) > load(from, band) + ALIKE;
        if (!both || most_of_it || lead <= tern_fair_times(LEAD_FORCES, unit) || s->now - to->balanced < quantum) {
            return false;
        }
        to->balanced = s->now; /* clocks need time to show what that changes */
    }
    tern_fair_migrate(s, c, taker);
    return true;
}

bool tern_sched_balance(struct tern_sched *s, uint32_t engine)
{
    for (uint32_t b = TERN_BAND_PAGING; b-- > 0;) {
        for (uint32_t f = 0; f < s->engines; f++) {
            if (f != engine && (give(s, f, engine, b) || give(s, engine, f, b))) {
                return true;
            }
        }
    }
    return false;
}
