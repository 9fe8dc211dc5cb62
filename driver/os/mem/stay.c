/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stays: work whose memory excludes that of others takes turns with them. In a partition one context of a band has its
 * *turn* at a time: the one that has waited longest. What is brought for it is kept from others of its band, but for
 * those in a stay, until all of it is there; then its *stay* begins, in which they take nothing of what it uses. Work
 * that asks for pages, and has many turns, has a stay in one after others have taken something of its process.
 *
 * A stay ends when the context has run `stay` cycles since: not with device time, which moves and others use up. It is
 * no shorter than what the moves of the turn took, and than four times the last save, as a quantum: else a device whose
 * time passes by itself does nothing but copy. Others wait for no stay longer than tern_stay_bound of device time in
 * which the work could run, whatever keeps it from that, and 64 stops for pages; and work that itself waits for memory,
 * and can be given none, keeps nothing.
 *
 * A band takes from lower ones at once, and waits for none. But when FOCUS has run for eight stays since it last did
 * so, it lends NORMAL a turn and the stay that follows (S1).
 */
#include "os/os.h"

#define BOUND_STAYS 8u /* of device time: work that does not come to run although it could keeps its memory so long */
#define STOPS 64u      /* for pages, after which a stay ends: each takes the time of a move or two */
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

/* --------------------------------------------------------------------- turns */

void tern_stay_wait(struct tern_context *c)
{
    const uint64_t now = c->proc->dev->sched.now;
    c->stay.turn = false;
    c->stay.held = now + !now;
}

void tern_stay_turn(struct tern_context *c)
{
    if (!c->stay.turn) {
        c->stay.turn = true;
        c->stay.lent = false;
        c->stay.cost = c->stay.moved = 0;
    }
}

void tern_stay_moved(struct tern_context *c, bool moved)
{
    const uint64_t now = c->proc->dev->sched.now; /* at the end of a move it is true, before the first perhaps old */
    c->stay.cost += c->stay.turn && c->stay.moved && now > c->stay.moved ? now - c->stay.moved : 0;
    c->stay.moved = moved ? now : 0;
}

/** Does its work ask for pages one by one? */
static bool asks(const struct tern_context *c)
{
    const struct tern_list *jobs = &c->sched.jobs;
    return !tern_list_empty(jobs) && TERN_LIST_ENTRY(jobs->next, struct tern_job, node)->needs;
}

void tern_stay_begin(struct tern_context *c)
{
    const uint64_t now = c->proc->dev->sched.now;
    const bool turn = c->stay.turn;
    c->stay.turn = false;
    if (turn && !(asks(c) && c->stay.ready && c->stay.robbed == c->proc->robbed)) {
        c->stay.robbed = c->proc->robbed;
        c->stay.ready = now + !now;
        c->stay.cycles = tern_stay_ran(c);
        c->stay.stops = 0;
        if (c->stay.lent) {
            c->proc->partition->lent_stay = tern_stay_length(c);
        }
    } else if (c->stay.held && c->stay.ready) {
        c->stay.ready += now > c->stay.held ? now - c->stay.held : 0;
        c->stay.stops++;
    }
    c->stay.held = 0;
}

bool tern_stay_in_turn(const struct tern_context *c)
{
    return c->stay.turn && !tern_list_empty(&c->absent);
}

/* --------------------------------------------------------------------- stays */

static bool has_stay(const struct tern_context *c)
{
    const uint64_t ran = tern_stay_ran(c), before = c->stay.cycles; /* the time of what runs is not exact */
    return c->stay.ready && c->stay.stops < STOPS && (ran < before || ran - before < tern_stay_length(c)) &&
           (c->stay.held ? c->stay.held : c->proc->dev->sched.now) - c->stay.ready < tern_stay_bound(c);
}

/** Is it NORMAL in FOCUS's place? */
static bool is_lent(const struct tern_context *c)
{
    return c->stay.lent && c->sched.band == TERN_BAND_NORMAL && (tern_stay_in_turn(c) || has_stay(c));
}

struct tern_wants tern_stay_wants(const struct tern_context *c)
{
    const bool goes_on = !tern_stay_in_turn(c) && has_stay(c);
    return (struct tern_wants){.band = c->sched.band, .lent = is_lent(c), .goes_on = goes_on, .stuck = false};
}

/** The pager is to look again when so many cycles may have run. */
static void look_after(struct tern_device *dev, uint64_t cycles)
{
    const uint64_t now = dev->sched.now, at = cycles < UINT64_MAX - now ? now + cycles : UINT64_MAX;
    dev->pager.look_at = at < dev->pager.look_at ? at : dev->pager.look_at;
}

bool tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants)
{
    const uint32_t theirs = c->sched.band;
    const bool focus = (theirs == TERN_BAND_FOCUS && wants->lent) || (wants->band == TERN_BAND_FOCUS && is_lent(c));
    if (wants->stuck && !tern_list_empty(&c->absent)) {
        return false;
    }
    if (theirs != wants->band && !focus) {
        return theirs > wants->band;
    }
    if (tern_stay_in_turn(c)) {
        return !wants->goes_on;
    }
    const bool keeps = has_stay(c);
    if (keeps) {
        const uint64_t ran = tern_stay_ran(c), left = tern_stay_length(c) + c->stay.cycles;
        look_after(c->proc->dev, left > ran ? left - ran : 0);
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

uint32_t tern_stay_rank(const struct tern_context *c)
{
    return 2 * c->sched.band + (is_lent(c) ? 3 : 0);
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

void tern_stay_lent(struct tern_context *c)
{
    tern_stay_turn(c);
    c->stay.lent = true;
}
