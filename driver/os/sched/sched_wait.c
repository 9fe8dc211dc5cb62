/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Waits for monitored fences (S3), and what they do to priority.
 *
 * A context whose next slice begins with an unsatisfied wait is in no engine's tree, but in its process's tree of
 * waits, by address and value. Fences belong to an address space: only the process's own slices and the host
 * write them. So its waits are judged again when a slice of it comes back from an engine, in whatever way, and
 * when the owner says that the host wrote; a slice ends behind its fence_signals. That no wake-up is lost
 * follows: a value is read after every event that can have changed it, and a context enters the tree only on a
 * value read after the last such event.
 *
 * Inheritance: the fence_signals of queued jobs are in a tree of the process. A context that waits takes the one
 * with its address and the least value that is enough; whose job that is, it has the waiter's band until the wait
 * ends, the job does or the waiter's band changes; and so on along the chain. Bands only rise along it, so a
 * circle of waits ends the walk.
 */
#include "os/sched/sched_internal.h"

static int compare_waits(const struct tern_sched_context *a, const struct tern_sched_context *b)
{
    if (a->wait_address != b->wait_address) {
        return a->wait_address < b->wait_address ? -1 : 1;
    }
    if (a->wait_value != b->wait_value) {
        return a->wait_value < b->wait_value ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_signals(const struct tern_sched_signal *a, const struct tern_sched_signal *b)
{
    if (a->address != b->address) {
        return a->address < b->address ? -1 : 1;
    }
    if (a->value != b->value) {
        return a->value < b->value ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

RB_GENERATE_INTERNAL(tern_sched_waits, tern_sched_context, wait, compare_waits, static __attribute__((unused)))
RB_GENERATE_INTERNAL(tern_sched_signals, tern_sched_signal, node, compare_signals, static __attribute__((unused)))

/* ------------------------------------------------------------ inheritance */

static uint32_t deserved(const struct tern_sched_context *c)
{
    uint32_t band = c->own_band;
    for (uint32_t b = band + 1; b < TERN_BANDS; b++) {
        band = c->donated[b] ? b : band;
    }
    return band;
}

/** Gives c the band it deserves now, and so on along its chain. */
static void reband(struct tern_sched *s, struct tern_sched_context *c)
{
    while (c && deserved(c) != c->band) {
        uint32_t before = c->band;
        tern_fair_set_band(s, c, deserved(c));
        struct tern_sched_context *next = c->blocker;
        if (next) {
            next->donated[before]--;
            next->donated[c->band]++;
        }
        c = next;
    }
}

void tern_sched_reband(struct tern_sched *s, struct tern_sched_context *c)
{
    reband(s, c);
}

static void unblock(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_context *b = c->blocker;
    if (b) {
        c->blocker = NULL;
        tern_list_remove(&c->donor);
        b->donated[c->band]--;
        reband(s, b);
    }
}

/** Finds whom the waiting context waits for. */
static void resolve(struct tern_sched *s, struct tern_sched_context *c)
{
    struct tern_sched_signal key = {.address = c->wait_address, .value = c->wait_value};
    struct tern_sched_signal *signal = RB_NFIND(tern_sched_signals, &c->process->signals, &key);
    struct tern_sched_context *to = signal && signal->address == key.address ? signal->job->context : NULL;
    if (to == c->blocker) {
        return;
    }
    unblock(s, c);
    if (to && to != c) {
        c->blocker = to;
        tern_list_append(&to->donors, &c->donor);
        to->donated[c->band]++;
        reband(s, to);
    }
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
    while (!tern_list_empty(&c->donors)) {
        unblock(s, TERN_LIST_ENTRY(c->donors.next, struct tern_sched_context, donor));
    }
    tern_sched_signalled(s, c->process);
}

/* ------------------------------------------------------------------ states */

void tern_sched_set_state(struct tern_sched *s, struct tern_sched_context *c, enum tern_sched_state state)
{
    if (c->state == TERN_SCHED_WAITING) {
        RB_REMOVE(tern_sched_waits, &c->process->waits, c);
        unblock(s, c);
        tern_sched_tell(s, TERN_EV_WAKE, c->engine, c, c->next, s->now);
    }
    if (state == TERN_SCHED_READY && c->state != TERN_SCHED_READY && !c->inflight) {
        tern_fair_migrate(s, c, tern_sched_settle(s, c));
    }
    tern_fair_dequeue(s, c);
    c->state = state;
    tern_fair_enqueue(s, c);
    if (state == TERN_SCHED_WAITING) {
        RB_INSERT(tern_sched_waits, &c->process->waits, c);
        resolve(s, c);
        tern_sched_tell(s, TERN_EV_WAIT, c->engine, c, c->next, s->now);
    }
}

struct wait {
    uint32_t address;
    uint64_t value;
};

/** Goes through the waits that the next slice begins with. 1: this one is not satisfied. */
static int first_wait(struct tern_sched *s, const struct tern_sched_context *c, struct wait *out)
{
    const struct tern_job *j = c->next;
    for (uint32_t at = j->sent; at < j->size; at += TERN_PKT_LINE_BYTES) {
        struct tern_pkt_fence_wait p;
        uint64_t value = 0;
        if ((j->packets[at / 4] & TERN_PKT_OPCODE_MASK) != TERN_PKT_FENCE_WAIT ||
            tern_pkt_fence_wait_unpack(&p, &j->packets[at / 4]) || p.address_hi || p.address_lo % 8) {
            return 0; /* none, or one at which the engine faults */
        }
        *out = (struct wait){p.address_lo, p.value_lo | (uint64_t)p.value_hi << 32};
        int r = s->ops->fence_value(s->user, c, p.address_lo, &value);
        if (r <= 0 || value < out->value) {
            return r <= 0 ? r : 1;
        }
    }
    return 0;
}

int tern_sched_judge(struct tern_sched *s, struct tern_sched_context *c)
{
    enum tern_sched_state state = TERN_SCHED_READY;
    struct wait w = {0};
    tern_list_remove(&c->judge);
    if (!c->backs && !c->next) {
        state = TERN_SCHED_EMPTY;
    } else if (c->held || c->process->error) {
        state = TERN_SCHED_HELD;
    } else if (!c->backs && !c->process->system && !c->next->null) {
        int r = first_wait(s, c, &w);
        if (r < 0) {
            return r;
        }
        state = r ? TERN_SCHED_WAITING : TERN_SCHED_READY;
    }
    bool another = state == TERN_SCHED_WAITING && (w.address != c->wait_address || w.value != c->wait_value);
    if (another && c->state == TERN_SCHED_WAITING) {
        tern_sched_set_state(s, c, TERN_SCHED_EMPTY); /* leaves the tree under its old key */
    }
    if (another) {
        c->wait_address = w.address;
        c->wait_value = w.value;
    }
    if (state != c->state) {
        tern_sched_set_state(s, c, state);
    }
    return 0;
}

void tern_sched_judge_later(struct tern_sched *s, struct tern_sched_context *c)
{
    if (tern_list_empty(&c->judge)) {
        tern_list_append(&s->judge, &c->judge);
    }
}

/** It waits, has been judged, and stays where it is until a fence is signalled. */
static bool waits(const struct tern_sched_context *c)
{
    return !c->inflight && tern_list_empty(&c->judge) && tern_list_empty(&c->process->look) && !c->process->error &&
           (c->state == TERN_SCHED_WAITING || c->state == TERN_SCHED_HELD);
}

bool tern_sched_stuck(const struct tern_sched_context *c)
{
    const struct tern_sched_context *slow = c;
    for (bool odd = false; waits(c); odd = !odd) {
        c = c->blocker;
        slow = odd ? slow->blocker : slow;
        if (!c || c == slow) {
            return true; /* nobody in the queues signals it; or they wait for each other */
        }
    }
    return false;
}

/* ------------------------------------------------------------- looking again */

void tern_sched_signalled(struct tern_sched *s, struct tern_sched_process *p)
{
    if (tern_list_empty(&p->look) && !RB_EMPTY(&p->waits)) {
        tern_list_append(&s->look, &p->look);
    }
}

/** Reads each fence that somebody waits for once. */
static int look_at(struct tern_sched *s, struct tern_sched_process *p)
{
    struct tern_sched_context *c, *next;
    uint64_t value = 0;
    uint32_t address = 0;
    bool known = false, readable = false;
    for (c = RB_MIN(tern_sched_waits, &p->waits); c; c = next) {
        next = RB_NEXT(tern_sched_waits, &p->waits, c);
        if (!known || c->wait_address != address) {
            address = c->wait_address;
            int r = s->ops->fence_value(s->user, c, address, &value);
            if (r < 0) {
                return r;
            }
            readable = r > 0;
            known = true;
        }
        if (!readable || value >= c->wait_value) {
            int r = tern_sched_judge(s, c);
            if (r < 0) {
                return r;
            }
        } else if (!c->blocker) {
            resolve(s, c);
        }
    }
    return 0;
}

int tern_sched_look(struct tern_sched *s)
{
    int r = 0;
    while (!r && !tern_list_empty(&s->judge)) {
        r = tern_sched_judge(s, TERN_LIST_ENTRY(s->judge.next, struct tern_sched_context, judge));
    }
    while (!r && !tern_list_empty(&s->look)) {
        struct tern_sched_process *p = TERN_LIST_ENTRY(s->look.next, struct tern_sched_process, look);
        tern_list_remove(&p->look);
        r = look_at(s, p);
    }
    return r;
}
