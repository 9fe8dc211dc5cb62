/* SPDX-License-Identifier: Apache-2.0 */
/** Section 10 of docs/scheduling.md: budgets of processes that may use only a part of each engine (cap.h). */
#include "os/sched/cap.h"

#include "os/sched/sched_internal.h"

static struct tern_sched_cap *cap_of(struct tern_list *node)
{
    return TERN_LIST_ENTRY(node, struct tern_sched_cap, node);
}

/** The budget at which processes that are held back run again. */
static int64_t slice(const struct tern_sched *s)
{
    return tern_fair_times((int64_t)s->config.cap_slice, TERN_CAP_WHOLE);
}

/** Budget that a run from begin to end costs. Cycles before the cap began cost nothing. */
static int64_t ran(const struct tern_sched_cap *cap, uint64_t begin, uint64_t end)
{
    begin = begin > cap->begun ? begin : cap->begun;
    return end > begin ? tern_fair_times((int64_t)(end - begin), TERN_CAP_WHOLE) : 0;
}

/** The budget as if the front ended now. */
static int64_t budget_now(const struct tern_sched *s, const struct tern_sched_cap *cap, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    const bool runs = e->n && e->inflight[0].context->process->cap == cap;
    return cap->on[engine].budget - (runs ? ran(cap, e->front_since, s->now) : 0);
}

/** Calls f for each context of the cap's processes that has jobs. */
static void each_context(struct tern_sched *s, const struct tern_sched_cap *cap,
                         void (*f)(struct tern_sched *s, struct tern_sched_context *c))
{
    TERN_LIST_EACH(p, &cap->processes)
    {
        TERN_LIST_EACH(c, &TERN_LIST_ENTRY(p, struct tern_sched_process, capped)->contexts)
        {
            f(s, TERN_LIST_ENTRY(c, struct tern_sched_context, node));
        }
    }
}

/* ------------------------------------------------------------------- calls */

void tern_sched_cap_begin(struct tern_sched *s, struct tern_sched_cap *cap, uint32_t part)
{
    *cap = (struct tern_sched_cap){.part = part, .begun = s->now};
    tern_list_init(&cap->processes);
    tern_list_append(&s->caps, &cap->node);
    for (uint32_t e = 0; e < s->engines; e++) {
        cap->on[e].counted = s->now;
    }
}

/** Takes the context out of its trees and lists and puts it into those that it belongs to, after the cap of its process
 *  has changed. */
static void list_anew(struct tern_sched *s, struct tern_sched_context *c)
{
    tern_fair_dequeue(s, c);
    tern_fair_enqueue(s, c);
    tern_sched_update_later(s, c);
}

void tern_sched_cap_add(struct tern_sched *s, struct tern_sched_cap *cap, struct tern_sched_process *p)
{
    p->cap = cap;
    tern_list_append(&cap->processes, &p->capped);
    TERN_LIST_EACH(c, &p->contexts)
    {
        list_anew(s, TERN_LIST_ENTRY(c, struct tern_sched_context, node));
    }
}

void tern_sched_cap_set(struct tern_sched_cap *cap, uint32_t part)
{
    cap->part = part;
}

void tern_sched_cap_end(struct tern_sched *s, struct tern_sched_cap *cap)
{
    TERN_LIST_EACH(p, &cap->processes)
    {
        TERN_LIST_ENTRY(p, struct tern_sched_process, capped)->cap = NULL;
    }
    each_context(s, cap, list_anew);
    while (!tern_list_empty(&cap->processes)) {
        tern_list_remove(cap->processes.next);
    }
    tern_list_remove(&cap->node);
}

/* ----------------------------------------------------------- the scheduler */

bool tern_cap_holds(const struct tern_sched_context *c)
{
    return c->process->cap && c->process->cap->on[c->engine].off;
}

void tern_cap_ran(const struct tern_sched_context *c, uint32_t engine, uint64_t begin, uint64_t end)
{
    struct tern_sched_cap *cap = c->process->cap;
    if (cap) {
        cap->on[engine].budget -= ran(cap, begin, end);
    }
}

/** The largest budget: that of one quantum of NORMAL, which others may keep the engine, but at least two slices. */
static int64_t most(const struct tern_sched *s)
{
    const int64_t quantum = tern_fair_times((int64_t)s->config.band[TERN_BAND_NORMAL].quantum, TERN_CAP_WHOLE);
    return quantum > 2 * slice(s) ? quantum : 2 * slice(s);
}

static bool count(const struct tern_sched *s, struct tern_sched_cap *cap, uint32_t engine)
{
    struct tern_sched_capped *on = &cap->on[engine];
    const uint64_t passed = on->wanted ? s->now - on->counted : 0;
    const bool was = on->off;
    on->budget += tern_fair_times((int64_t)passed, cap->part);
    on->counted = s->now;
    int64_t now = budget_now(s, cap, engine);
    if (now > most(s)) {
        on->budget -= now - most(s);
        now = most(s);
    }
    on->off = was ? now < slice(s) : now <= 0;
    return on->off != was;
}

void tern_cap_count(struct tern_sched *s)
{
    TERN_LIST_EACH(node, &s->caps)
    {
        struct tern_sched_cap *cap = cap_of(node);
        bool changed = false;
        for (uint32_t e = 0; e < s->engines; e++) {
            changed = count(s, cap, e) || changed;
        }
        if (changed) {
            each_context(s, cap, tern_sched_update_later);
        }
    }
}

static void note(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_capped *on = &c->process->cap->on[c->engine];
    (void)s;
    on->wanted = on->wanted || c->live || c->state == TERN_SCHED_CAPPED;
}

void tern_cap_note(struct tern_sched *s)
{
    TERN_LIST_EACH(node, &s->caps)
    {
        for (uint32_t e = 0; e < s->engines; e++) {
            cap_of(node)->on[e].wanted = false;
        }
        each_context(s, cap_of(node), note);
    }
}

/** Cycles until the budget of the engine reaches the value that changes `off`; UINT64_MAX: it does not change. */
static uint64_t change_after(const struct tern_sched *s, const struct tern_sched_cap *cap, uint32_t engine)
{
    const struct tern_sched_engine *e = &s->engine[engine];
    const struct tern_sched_capped *on = &cap->on[engine];
    const int64_t now = budget_now(s, cap, engine);
    const bool runs = e->n && e->inflight[0].context->process->cap == cap;
    if (on->off && on->wanted) {
        return now < slice(s) ? ((uint64_t)(slice(s) - now) + cap->part - 1) / cap->part : 0;
    }
    if (!on->off && runs && !e->preemption) {
        return now > 0 ? (uint64_t)now / (TERN_CAP_WHOLE - cap->part) + 1 : 0;
    }
    return UINT64_MAX;
}

uint64_t tern_cap_due(const struct tern_sched *s)
{
    uint64_t least = UINT64_MAX;
    TERN_LIST_EACH(node, &s->caps)
    {
        for (uint32_t e = 0; e < s->engines; e++) {
            const uint64_t after = change_after(s, cap_of(node), e);
            least = after < least ? after : least;
        }
    }
    return least == UINT64_MAX ? least : s->now + least;
}

bool tern_cap_waits(const struct tern_sched *s)
{
    TERN_LIST_EACH(node, &s->caps)
    {
        for (uint32_t e = 0; e < s->engines; e++) {
            if (cap_of(node)->on[e].off && cap_of(node)->on[e].wanted) {
                return true;
            }
        }
    }
    return false;
}
