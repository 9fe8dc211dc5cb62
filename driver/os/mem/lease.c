/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Residency leases: contexts whose working sets do not fit together alternate in time. A context that finds a block
 * absent takes a *ticket*. When all its blocks are resident, its *lease* begins: the time in which they are not evicted
 * for contexts that come later. The ticket ends with the lease. The pager serves one ticket at a time, and a block is
 * evicted only from contexts that come later in one order:
 *   1. higher bands first;
 *   2. contexts with a lease, the oldest lease first;
 *   3. contexts that wait, those that want fewer pages first, then the older ticket.
 * The first context in this order loses no block, gets all that it waits for, and its lease ends.
 * docs/decisions/residency-leases.md has the proof.
 *
 * Aging. A ticket *overtakes* if it is served while an older one of its band waits. When AGING_FACTOR pages for each
 * page of the oldest ticket have been moved for tickets that overtake it, the oldest joins the order as if its lease
 * had begun.
 *
 * Length. A lease ends when the context has run for `lease` cycles. Device time is not the measure, because moves and
 * other work use it up. A lease is at least as long as the moves before it took, and at least four times the last
 * context save. Otherwise a device whose time passes by itself would do nothing but copy. Others wait for a lease of at
 * most tern_lease_bound of device time in which the work could have run, of at most 64 stops for pages, and of moves of
 * at most twice the pages that the work uses. A context that neither runs, nor could run, nor waits for memory has no
 * lease.
 *
 * Bands. A band takes memory from lower bands at once, and never waits for them. When FOCUS has run for eight leases,
 * the first ticket of NORMAL counts as FOCUS's (S1).
 *
 * Locks: functions require dev->lock.
 */
#include "os/mem/mem.h"

#include "base/minmax.h"

/* bound of a lease in device time, in leases: a context that could run but does not keeps its memory for so long */
#define BOUND_LEASES 8u
#define LEASE_STOPS_MAX 64u /* stops for pages after which a lease ends; each takes the time of one or two moves */
#define AGING_FACTOR 32u   /* pages moved for tickets that overtake the oldest, for each page that the oldest wants */
#define FOCUS_LEASES 8u     /* leases of FOCUS for one lease of NORMAL */

static uint64_t policy(const struct tern_device *dev, uint32_t band)
{
    return dev->policy.lease ? dev->policy.lease : dev->sched.config.band[band].quantum;
}

static uint64_t bound(const struct tern_device *dev, uint32_t band, uint64_t lease)
{
    /* the context may wait for a quantum before it runs */
    lease = tern_max_u64(lease, dev->sched.config.band[band].quantum);
    return BOUND_LEASES * tern_min_u64(lease, UINT64_MAX / BOUND_LEASES / FOCUS_LEASES);
}

/** Cycles of the context's last save, of its chunks that are requeued or in flight. */
static uint64_t save_of(const struct tern_sched *s, const struct tern_sched_context *c)
{
    const struct tern_sched_engine *e = &s->engine[c->engine];
    uint64_t save = 0;
    for (uint32_t i = 0; i < c->requeued_count; i++) {
        save = tern_max_u64(save, c->requeued[i].save_cycles);
    }
    for (uint32_t i = 0; i < e->n; i++) {
        save = tern_max_u64(save, e->inflight[i].context == c ? e->inflight[i].save_cycles : 0);
    }
    return save;
}

uint64_t tern_lease_length(const struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_device *dev = c->proc->dev;
    return tern_max_u64(tern_max_u64(policy(dev, c->sched.band), c->lease.cost), 4 * save_of(&dev->sched, &c->sched));
}

uint64_t tern_lease_bound(const struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    return bound(c->proc->dev, c->sched.band, tern_lease_length(c));
}

uint64_t tern_lease_ran(const struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_sched *s = &c->proc->dev->sched;
    const struct tern_sched_engine *e = &s->engine[c->sched.engine];
    const bool runs = e->n && e->inflight[0].context == &c->sched && s->now > e->front_since;
    return c->sched.stats.cycles + (runs ? s->now - e->front_since : 0);
}

/* ------------------------------------------------------------------- tickets */

/** True: the lease of the context has ended. The cycles of a running context are an estimate. */
static bool has_ended(const struct tern_context *c)
{
    const uint64_t ran = tern_lease_ran(c), before = c->lease.cycles;
    return c->lease.ready && (c->lease.stops >= LEASE_STOPS_MAX || c->lease.pages >= 2 * c->lease.wanted ||
                             (ran >= before && ran - before >= tern_lease_length(c)) ||
                             c->proc->dev->sched.now - c->lease.ready >= tern_lease_bound(c));
}

static bool has_ticket(const struct tern_context *c)
{
    return c->lease.ticket.number && (c->lease.held || !has_ended(c));
}

struct tern_ticket tern_lease_ticket(const struct tern_process *proc, uint64_t pages)
{
    tern_assert_held(&proc->dev->lock);
    return (struct tern_ticket){pages + !pages, ++proc->dev->pager.tickets};
}

void tern_lease_come_first(struct tern_device *dev, struct tern_ticket *t)
{
    tern_assert_held(&dev->lock);
    *t = (struct tern_ticket){0, ++dev->pager.tickets};
}

uint64_t tern_lease_patience(const struct tern_ticket *t)
{
    return AGING_FACTOR * t->pages;
}

void tern_lease_wait(struct tern_context *c, const struct tern_job *job)
{
    tern_assert_held(&c->proc->dev->lock);
    const uint64_t now = c->proc->dev->sched.now;
    if (!has_ticket(c)) {
        const struct tern_ticket t = tern_lease_ticket(c->proc, tern_residency_pages(c, job->set));
        c->lease = (struct tern_lease){.ticket = t, .wanted = t.pages};
    }
    c->lease.held = now + !now;
}

void tern_lease_moved(struct tern_context *c, uint64_t pages)
{
    tern_assert_held(&c->proc->dev->lock);
    /* device time is up to date at the end of a move, and may be old before the first one */
    const uint64_t now = c->proc->dev->sched.now;
    c->lease.cost += !c->lease.ready && c->lease.moved && now > c->lease.moved ? now - c->lease.moved : 0;
    c->lease.moved = pages ? now : 0;
    c->lease.pages += c->lease.ready ? pages : 0;
}

void tern_lease_begin(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    const uint64_t now = c->proc->dev->sched.now;
    if (c->lease.ticket.number && !c->lease.ready) {
        c->lease.ready = now + !now;
        c->lease.cycles = tern_lease_ran(c);
        c->lease.ticket = (struct tern_ticket){0, ++c->proc->dev->pager.tickets};
        if (c->lease.boosted) {
            c->proc->partition->boost_lease = tern_lease_length(c);
        }
    } else if (c->lease.held) {
        c->lease.ready += now > c->lease.held ? now - c->lease.held : 0;
        c->lease.stops++;
    }
    c->lease.held = 0;
}

void tern_lease_end(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    c->lease.ticket.number = 0;
}

/** Band of the context in the order: FOCUS for a NORMAL context that counts as FOCUS. */
static uint32_t band_of(const struct tern_context *c)
{
    const bool boosted = c->lease.boosted && c->sched.band == TERN_BAND_NORMAL && has_ticket(c);
    return boosted ? TERN_BAND_FOCUS : c->sched.band;
}

struct tern_precedence tern_lease_precedence(const struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    return (struct tern_precedence){.band = band_of(c), .ticket = c->lease.ticket};
}

bool tern_lease_before(const struct tern_precedence *a, const struct tern_precedence *b)
{
    return a->band != b->band                   ? a->band > b->band
           : a->ticket.pages != b->ticket.pages ? a->ticket.pages < b->ticket.pages
                                                : a->ticket.number < b->ticket.number;
}

/** Makes the pager look again at the device time at which `cycles` more cycles may have run. */
static void look_after(struct tern_device *dev, uint64_t cycles)
{
    const uint64_t now = dev->sched.now, at = cycles < UINT64_MAX - now ? now + cycles : UINT64_MAX;
    dev->pager.look_at = at < dev->pager.look_at ? at : dev->pager.look_at;
}

bool tern_lease_keeps(const struct tern_context *c, const struct tern_precedence *precedence)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_ticket none = {.pages = UINT64_MAX, .number = UINT64_MAX};
    const struct tern_precedence own = {band_of(c), has_ticket(c) ? c->lease.ticket : none};
    const bool keeps = tern_lease_before(&own, precedence);
    if (keeps && own.band == precedence->band && !c->lease.held) {
        const uint64_t ran = tern_lease_ran(c), end = tern_lease_length(c) + c->lease.cycles;
        look_after(c->proc->dev, end > ran ? end - ran : 0);
    }
    return keeps;
}

/* -------------------------------------------------------------- FOCUS and NORMAL */

/** Cycles that contexts of FOCUS have run in the partition, including running chunks. */
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

bool tern_lease_boost(struct tern_device *dev, struct tern_partition *part)
{
    tern_assert_held(&dev->lock);
    const uint64_t ran = focus_of(&dev->sched, part->sched), now = dev->sched.now;
    const uint64_t lease = tern_max_u64(policy(dev, TERN_BAND_FOCUS), part->boost_lease);
    const uint64_t due = part->boost_focus + FOCUS_LEASES * tern_min_u64(lease, UINT64_MAX / 2 / FOCUS_LEASES);
    if (ran < due && now - part->boost_at < FOCUS_LEASES * bound(dev, TERN_BAND_FOCUS, lease)) {
        look_after(dev, due - ran);
        return false;
    }
    part->boost_focus = ran;
    part->boost_at = now;
    return true;
}
