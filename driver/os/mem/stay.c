/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stays: contexts whose memory excludes each other take turns. A context that finds something absent takes a *ticket*;
 * when all of it is there, its *stay* begins, and the ticket ends with that. The pager serves one ticket at a time,
 * and a block is taken only from contexts that come later, in one order: higher bands; contexts in a stay, by age;
 * contexts that wait, those that want fewer pages first. When tickets that overtake the oldest ticket of a band have
 * had PATIENCE pages moved for each page of the oldest, the oldest comes first. The first context in this order loses
 * nothing, gets all that it waits for, and its stay ends: docs/decisions/stays.md has the argument.
 *
 * A stay ends when the context has run `stay` cycles since: not with device time, which moves and others use up. A
 * stay is no shorter than what the moves before it took, and than four times the last save, as a quantum: else a
 * device whose time passes by itself does nothing but copy. Others wait for no stay longer than tern_stay_bound of
 * device time in which the work could run, whatever keeps it from that, for 64 stops for pages, and for moves of twice
 * the pages that the work uses. Work that neither runs, nor could, nor waits for memory has no stay.
 *
 * A band takes from lower ones at once, and waits for none. When FOCUS has run for eight stays, it lends: NORMAL's
 * first ticket counts as FOCUS's (S1).
 */
#include "os/os.h"

#define BOUND_STAYS 8u /* of device time: work that does not come to run although it could keeps its memory so long */
#define STOPS 64u      /* for pages, after which a stay ends: each takes the time of a move or two */
#define PATIENCE 32u   /* pages moved for tickets that overtake the oldest, for each page that the oldest wants */
#define FOCUS_STAYS 8u /* that FOCUS has for one of NORMAL */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t policy(const struct tern_device *dev, uint32_t band)
{
    return dev->policy.stay ? dev->policy.stay : dev->sched.config.band[band].quantum;
}

static uint64_t bound(const struct tern_device *dev, uint32_t band, uint64_t stay)
{
    const uint64_t most = UINT64_MAX / BOUND_STAYS / FOCUS_STAYS;
    stay = larger(stay, dev->sched.config.band[band].quantum); /* it may wait for as much before it begins */
    return BOUND_STAYS * (stay < most ? stay : most);
}

/** What its last save took. */
static uint64_t save_of(const struct tern_sched *s, const struct tern_sched_context *c)
{
    const struct tern_sched_engine *e = &s->engine[c->engine];
    uint64_t save = 0;
    for (uint32_t i = 0; i < c->requeued_count; i++) {
        save = larger(save, c->requeued[i].save_cycles);
    }
    for (uint32_t i = 0; i < e->n; i++) {
        save = larger(save, e->inflight[i].context == c ? e->inflight[i].save_cycles : 0);
    }
    return save;
}

uint64_t tern_stay_length(const struct tern_context *c)
{
    const struct tern_device *dev = c->proc->dev;
    return larger(larger(policy(dev, c->sched.band), c->stay.cost), 4 * save_of(&dev->sched, &c->sched));
}

uint64_t tern_stay_bound(const struct tern_context *c)
{
    return bound(c->proc->dev, c->sched.band, tern_stay_length(c));
}

uint64_t tern_stay_ran(const struct tern_context *c)
{
    const struct tern_sched *s = &c->proc->dev->sched;
    const struct tern_sched_engine *e = &s->engine[c->sched.engine];
    const bool runs = e->n && e->inflight[0].context == &c->sched && s->now > e->front_since;
    return c->sched.stats.cycles + (runs ? s->now - e->front_since : 0);
}

/* ------------------------------------------------------------------- tickets */

/** Has its stay ended? The time of what runs is not exact. */
static bool has_ended(const struct tern_context *c)
{
    const uint64_t ran = tern_stay_ran(c), before = c->stay.cycles;
    return c->stay.ready && (c->stay.stops >= STOPS || c->stay.pages >= 2 * c->stay.wanted || (ran >= before && ran - before >= tern_stay_length(c)) ||
                             c->proc->dev->sched.now - c->stay.ready >= tern_stay_bound(c));
}

static bool has_ticket(const struct tern_context *c)
{
    return c->stay.ticket.number && (c->stay.held || !has_ended(c));
}

struct tern_ticket tern_stay_ticket(const struct tern_process *proc, uint64_t pages)
{
    return (struct tern_ticket){pages + !pages, ++proc->dev->pager.tickets};
}

void tern_stay_come_first(struct tern_device *dev, struct tern_ticket *t)
{
    *t = (struct tern_ticket){0, ++dev->pager.tickets};
}

uint64_t tern_stay_patience(const struct tern_ticket *t)
{
    return PATIENCE * t->pages;
}

void tern_stay_wait(struct tern_context *c, const struct tern_job *job)
{
    const uint64_t now = c->proc->dev->sched.now;
    if (!has_ticket(c)) {
        const struct tern_ticket t = tern_stay_ticket(c->proc, tern_residency_pages(c, job->set));
        c->stay = (struct tern_stay){.ticket = t, .wanted = t.pages};
    }
    c->stay.held = now + !now;
}

void tern_stay_moved(struct tern_context *c, uint64_t pages)
{
    const uint64_t now = c->proc->dev->sched.now; /* at the end of a move it is true, before the first perhaps old */
    c->stay.cost += !c->stay.ready && c->stay.moved && now > c->stay.moved ? now - c->stay.moved : 0;
    c->stay.moved = pages ? now : 0;
    c->stay.pages += c->stay.ready ? pages : 0;
}

void tern_stay_begin(struct tern_context *c)
{
    const uint64_t now = c->proc->dev->sched.now;
    if (c->stay.ticket.number && !c->stay.ready) {
        c->stay.ready = now + !now;
        c->stay.cycles = tern_stay_ran(c);
        c->stay.ticket = (struct tern_ticket){0, ++c->proc->dev->pager.tickets};
        if (c->stay.lent) {
            c->proc->partition->lent_stay = tern_stay_length(c);
        }
    } else if (c->stay.held) {
        c->stay.ready += now > c->stay.held ? now - c->stay.held : 0;
        c->stay.stops++;
    }
    c->stay.held = 0;
}

void tern_stay_end(struct tern_context *c)
{
    c->stay.ticket.number = 0;
}

/** NORMAL counts as FOCUS while it has what was lent to it. */
static uint32_t band_of(const struct tern_context *c)
{
    const bool lent = c->stay.lent && c->sched.band == TERN_BAND_NORMAL && has_ticket(c);
    return lent ? TERN_BAND_FOCUS : c->sched.band;
}

struct tern_wants tern_stay_wants(const struct tern_context *c)
{
    return (struct tern_wants){.band = band_of(c), .ticket = c->stay.ticket};
}

bool tern_stay_before(const struct tern_wants *a, const struct tern_wants *b)
{
    return a->band != b->band                   ? a->band > b->band
           : a->ticket.pages != b->ticket.pages ? a->ticket.pages < b->ticket.pages
                                                : a->ticket.number < b->ticket.number;
}

/** The pager is to look again when so many cycles may have run. */
static void look_after(struct tern_device *dev, uint64_t cycles)
{
    const uint64_t now = dev->sched.now, at = cycles < UINT64_MAX - now ? now + cycles : UINT64_MAX;
    dev->pager.look_at = at < dev->pager.look_at ? at : dev->pager.look_at;
}

bool tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants)
{
    const struct tern_ticket none = {.pages = UINT64_MAX, .number = UINT64_MAX};
    const struct tern_wants own = {band_of(c), has_ticket(c) ? c->stay.ticket : none};
    const bool keeps = tern_stay_before(&own, wants);
    if (keeps && own.band == wants->band && !c->stay.held) {
        const uint64_t ran = tern_stay_ran(c), end = tern_stay_length(c) + c->stay.cycles;
        look_after(c->proc->dev, end > ran ? end - ran : 0);
    }
    return keeps;
}

/* -------------------------------------------------------------- FOCUS and NORMAL */

/** Cycles that FOCUS has run in the partition. */
static uint64_t focus_of(const struct tern_sched *s, const struct tern_sched_partition *p)
{
    uint64_t cycles = p->focus;
    for (uint32_t i = 0; i < s->engines; i++) {
        const struct tern_sched_engine *e = &s->engine[i];
        const struct tern_sched_context *front = e->n ? e->inflight[0].context : NULL;
        if (front && front->process->partition == p && front->band == TERN_BAND_FOCUS && s->now > e->front_since) {
            cycles += s->now - e->front_since;
        }
    }
    return cycles;
}

bool tern_stay_lend(struct tern_device *dev, struct tern_partition *part)
{
    const uint64_t ran = focus_of(&dev->sched, part->sched), now = dev->sched.now;
    const uint64_t stay = larger(policy(dev, TERN_BAND_FOCUS), part->lent_stay), most = UINT64_MAX / 2 / FOCUS_STAYS;
    const uint64_t due = part->lent_focus + FOCUS_STAYS * (stay < most ? stay : most);
    if (ran < due && now - part->lent_at < FOCUS_STAYS * bound(dev, TERN_BAND_FOCUS, stay)) {
        look_after(dev, due - ran);
        return false;
    }
    part->lent_focus = ran;
    part->lent_at = now;
    return true;
}
