/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The states of contexts: waits for monitored fences (S3), and priority inheritance.
 *
 * Waits. A context whose next chunk begins with an unsatisfied wait is not in an engine's tree, but in its process's
 * tree of waits, by address and value. Fences belong to an address space: only chunks of the process and the host write
 * them. The fences are read again when a chunk of the process leaves an HW queue for any reason, and when the host may
 * have written (tern_sched_signalled). A chunk ends behind its fence_signals. No wake-up is lost: a value is read after
 * every event that can have changed it, and a context enters the tree only on a value read after the last such event.
 *
 * Inheritance. The fence_signals of queued jobs are in a tree of the process. A waiting context is blocked on the
 * context whose signal has its address and the least sufficient value. That context has at least the band of the waiter
 * until the wait or the job ends. The same holds for the context on which that one is blocked, and so on. Bands only
 * rise along this chain, so the walk ends even if contexts wait for each other in a circle.
 */
#include "os/sched/sched_internal.h"

/** Orders waits, and signals, by address, then value, then age. */
static int compare(uint32_t address_a, uint32_t address_b, uint64_t value_a, uint64_t value_b, uint64_t age_a,
                   uint64_t age_b)
{
    const uint64_t a = address_a != address_b ? address_a : value_a != value_b ? value_a : age_a;
    const uint64_t b = address_a != address_b ? address_b : value_a != value_b ? value_b : age_b;
    return a < b ? -1 : a > b;
}

static int compare_waits(const struct tern_sched_context *a, const struct tern_sched_context *b)
{
    return compare(a->wait_address, b->wait_address, a->wait_value, b->wait_value, a->number, b->number);
}

static int compare_signals(const struct tern_sched_signal *a, const struct tern_sched_signal *b)
{
    return compare(a->address, b->address, a->value, b->value, a->order, b->order);
}

RB_GENERATE(tern_sched_waits, tern_sched_context, wait, compare_waits)
RB_GENERATE(tern_sched_signals, tern_sched_signal, node, compare_signals)

/* ------------------------------------------------------------- inheritance */

/** The highest of the context's own band and the bands of its waiters. */
static uint32_t effective_band(const struct tern_sched_context *c)
{
    uint32_t band = TERN_BANDS - 1;
    while (band > c->base_band && !c->waiter_bands[band]) {
        band--;
    }
    return band;
}

void tern_sched_update_band(struct tern_sched *s, struct tern_sched_context *c)
{
    for (; c && effective_band(c) != c->band; c = c->blocked_on) {
        uint32_t before = c->band;
        tern_fair_set_band(s, c, effective_band(c));
        if (c->blocked_on) {
            c->blocked_on->waiter_bands[before]--;
            c->blocked_on->waiter_bands[c->band]++;
        }
    }
}

/** Sets the context on which c, which waits, is blocked; NULL: none. */
static void set_blocked_on(struct tern_sched *s, struct tern_sched_context *c, struct tern_sched_context *on)
{
    struct tern_sched_context *before = c->blocked_on;
    if (on == before) {
        return;
    }
    c->blocked_on = NULL;
    if (before) {
        tern_list_remove(&c->waiter);
        before->waiter_bands[c->band]--;
        tern_sched_update_band(s, before);
    }
    if (on) {
        c->blocked_on = on;
        tern_list_append(&on->waiters, &c->waiter);
        on->waiter_bands[c->band]++;
        tern_sched_update_band(s, on);
    }
}

/** Finds the context that will signal the fence for which c waits. */
static void find_signal(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_signal key = {.address = c->wait_address, .value = c->wait_value};
    struct tern_sched_signal *signal = RB_NFIND(tern_sched_signals, &c->process->signals, &key);
    struct tern_sched_context *on = signal && signal->address == key.address ? signal->job->context : NULL;
    set_blocked_on(s, c, on == c ? NULL : on);
}

void tern_sched_index_signals(struct tern_sched *s, struct tern_job *job)
{
    struct tern_sched_process *p = job->context->process;
    job->signal_count = job->signals ? tern_job_signals(job, job->signals) : 0;
    for (uint32_t i = 0; i < job->signal_count; i++) {
        job->signals[i].job = job;
        job->signals[i].order = ++s->order;
        RB_INSERT(tern_sched_signals, &p->signals, &job->signals[i]);
    }
    if (job->signal_count) {
        tern_sched_signalled(s, p);
    }
}

void tern_sched_forget_signals(struct tern_sched *s, struct tern_job *job)
{
    struct tern_sched_context *c = job->context;
    if (!job->signal_count) {
        return;
    }
    for (uint32_t i = 0; i < job->signal_count; i++) {
        RB_REMOVE(tern_sched_signals, &c->process->signals, &job->signals[i]);
    }
    job->signal_count = 0;
    while (!tern_list_empty(&c->waiters)) {
        set_blocked_on(s, TERN_LIST_ENTRY(c->waiters.next, struct tern_sched_context, waiter), NULL);
    }
    tern_sched_signalled(s, c->process);
}

/* ------------------------------------------------------------------ states */

void tern_sched_set_state(struct tern_sched *s, struct tern_sched_context *c, enum tern_sched_state state)
{
    if (c->state == TERN_SCHED_WAITING) {
        RB_REMOVE(tern_sched_waits, &c->process->waits, c);
        set_blocked_on(s, c, NULL);
        tern_sched_emit_job(s, TERN_EV_WAKE, c->engine, c, tern_sched_next_job(c), s->now);
    }
    const bool placed = c->state == TERN_SCHED_READY || c->state == TERN_SCHED_CAPPED;
    if (state == TERN_SCHED_READY && !placed && !c->live) { /* live: it comes back to its engine, or moves on */
        tern_fair_migrate(s, c, tern_sched_select_engine(s, c));
    }
    state = state == TERN_SCHED_READY && tern_cap_holds(c) ? TERN_SCHED_CAPPED : state;
    tern_fair_dequeue(s, c);
    c->state = state;
    tern_fair_enqueue(s, c);
    if (state == TERN_SCHED_WAITING) {
        RB_INSERT(tern_sched_waits, &c->process->waits, c);
        find_signal(s, c);
        tern_sched_emit_job(s, TERN_EV_WAIT, c->engine, c, tern_sched_next_job(c), s->now);
    }
}

struct wait {
    uint32_t address;
    uint64_t value;
};

/** Reads the fences of the waits at the beginning of the job's next chunk. 1: *out is the first unsatisfied wait. */
static int first_wait(struct tern_sched *s, const struct tern_job *j, struct wait *out)
{
    for (uint32_t at = j->sent; at < j->size; at += TERN_PKT_LINE_BYTES) {
        struct tern_pkt_fence_wait p;
        uint64_t value = 0;
        if ((j->packets[at / 4] & TERN_PKT_OPCODE_MASK) != TERN_PKT_FENCE_WAIT ||
            tern_pkt_fence_wait_unpack(&p, &j->packets[at / 4]) || p.address_hi || p.address_lo % 8) {
            return 0; /* not a wait, or one at which the engine faults */
        }
        *out = (struct wait){p.address_lo, p.value_lo | (uint64_t)p.value_hi << 32};
        int r = s->ops->fence_value(s->user, j->context, p.address_lo, &value);
        if (r <= 0 || value < out->value) {
            return r <= 0 ? r : 1;
        }
    }
    return 0;
}

static bool resident(const struct tern_sched *s, struct tern_sched_context *c, struct tern_job *next)
{
    struct tern_job *const job = c->requeued_count ? c->requeued[0].job : next;
    return !s->ops->resident || c->process->system || job->null || s->ops->resident(s->user, c, job);
}

/** True: a chunk of the context is in flight that its engine may return. The next chunk waits until that one has left
 *  the HW queue (take_front). */
static bool is_early(const struct tern_sched *s, const struct tern_sched_context *c)
{
    return c->inflight && s->ops->returns && !c->process->system && s->ops->returns(s->user, c);
}

int tern_sched_update(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_job *const next = tern_sched_next_job(c);
    enum tern_sched_state state = TERN_SCHED_READY;
    struct wait w = {0};
    tern_list_remove(&c->update);
    if (c->process->error || (!c->requeued_count && !next)) {
        state = TERN_SCHED_EMPTY;
    } else if (c->suspended) {
        state = TERN_SCHED_SUSPENDED;
    } else if (!c->requeued_count && !c->process->system && !next->null) {
        int r = first_wait(s, next, &w);
        if (r < 0) {
            return r;
        }
        state = r ? TERN_SCHED_WAITING : TERN_SCHED_READY;
    }
    if (state == TERN_SCHED_READY && (is_early(s, c) || !resident(s, c, next))) {
        state = TERN_SCHED_ABSENT;
    }
    if (state == TERN_SCHED_WAITING && (w.address != c->wait_address || w.value != c->wait_value)) {
        if (c->state == TERN_SCHED_WAITING) {
            tern_sched_set_state(s, c, TERN_SCHED_EMPTY); /* leaves the tree before its key changes */
        }
        c->wait_address = w.address;
        c->wait_value = w.value;
    }
    if (state != c->state || (state == TERN_SCHED_READY && tern_cap_holds(c))) {
        tern_sched_set_state(s, c, state);
    }
    tern_fair_settle(s, c);
    return 0;
}

void tern_sched_update_later(struct tern_sched *s, struct tern_sched_context *c)
{
    if (tern_list_empty(&c->update)) {
        tern_list_append(&s->update, &c->update);
    }
}

void tern_sched_signalled(struct tern_sched *s, struct tern_sched_process *p)
{
    if (tern_list_empty(&p->signalled) && !RB_EMPTY(&p->waits)) {
        tern_list_append(&s->signalled, &p->signalled);
    }
}

/** Reads each fence for which contexts of the process wait, once, and updates the contexts. */
static int update_waits(struct tern_sched *s, struct tern_sched_process *p)
{
    uint64_t value = 0;
    uint32_t address = 0;
    int read = -1; /* 1: `value` is the fence's at `address`; 0: it cannot be read */
    for (struct tern_sched_context *c = RB_MIN(tern_sched_waits, &p->waits), *next; c; c = next) {
        next = RB_NEXT(tern_sched_waits, &p->waits, c);
        if (read < 0 || c->wait_address != address) {
            address = c->wait_address;
            read = s->ops->fence_value(s->user, c, address, &value);
            if (read < 0) {
                return read;
            }
        }
        if (!read || value >= c->wait_value) {
            int r = tern_sched_update(s, c);
            if (r < 0) {
                return r;
            }
        } else if (!c->blocked_on) {
            find_signal(s, c);
        }
    }
    return 0;
}

int tern_sched_update_all(struct tern_sched *s)
{
    int r = 0;
    while (!r && !tern_list_empty(&s->update)) {
        r = tern_sched_update(s, TERN_LIST_ENTRY(s->update.next, struct tern_sched_context, update));
    }
    while (!r && !tern_list_empty(&s->signalled)) {
        struct tern_sched_process *p = TERN_LIST_ENTRY(s->signalled.next, struct tern_sched_process, signalled);
        tern_list_remove(&p->signalled);
        r = update_waits(s, p);
    }
    return r;
}

/** True: the context waits or is suspended, and its state is up to date: it stays so until a fence is signalled or the
 *  context is resumed. */
static bool is_blocked(const struct tern_sched_context *c)
{
    return !c->inflight && tern_list_empty(&c->update) && tern_list_empty(&c->process->signalled) &&
           !c->process->error && (c->state == TERN_SCHED_WAITING || c->state == TERN_SCHED_SUSPENDED);
}

bool tern_sched_stuck(const struct tern_sched_context *c)
{
    const struct tern_sched_context *slow = c;
    for (bool odd = false; is_blocked(c); odd = !odd) {
        c = c->blocked_on;
        slow = odd ? slow->blocked_on : slow;
        if (!c || c == slow) {
            return true; /* no queued job signals the fence, or contexts wait for each other */
        }
    }
    return false;
}
