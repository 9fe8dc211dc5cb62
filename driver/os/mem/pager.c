/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread of the pager (mem.h), which makes one move at a time. dev->lock is released during a move, so after
 * each move the pager looks again at what contexts and calls want. If every block that could be evicted is leased, the
 * pager looks again after each round of the device thread. Such rounds come, because the work with the lease runs.
 *
 * Locks: functions require dev->lock.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/thread.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/mem/victim.h"

/** A request of a call that waits. Owned by the call; in partition->reclaim_requests until `done`. */
struct reclaim_request {
    struct tern_list node;
    struct tern_process *proc;
    struct tern_allocation *a; /* allocation whose blocks are all paged in; NULL: a request for free pages */
    uint32_t pages;            /* with a NULL: number of free pages wanted; one block is evicted if fewer are free */
    struct tern_precedence precedence;
    bool done;
    int result;
    char why[200];
};

/** Evicts the block that tern_victim_find chooses. TERN_AGAIN: a block was evicted, or the eviction failed with *r =
 *  -EIO. TERN_LATER: none may be evicted now. TERN_NOTHING: none can be evicted (*r = -ENOSPC), or host memory is
 *  lacking (-ENOMEM). */
static enum tern_outcome make_room(struct tern_device *dev, struct tern_search *s, int *r)
{
    tern_victim_find(dev, s);
    if (!s->best) {
        *r = -ENOSPC;
        return s->later ? TERN_LATER : TERN_NOTHING;
    }
    *r = tern_move_out(s->best);
    return *r == -ENOMEM ? TERN_NOTHING : TERN_AGAIN;
}

/** Pages in a block, or evicts a block if there is no room for it. Results as of make_room. */
static enum tern_outcome bring(struct tern_device *dev, struct tern_search *s, struct tern_block *b, int *r)
{
    if (b->m->moving) { /* an import is in progress, which ends by itself */
        *r = 0;
        return TERN_LATER;
    }
    *r = tern_sparse_commit(b);
    if (*r) {
        return *r == -ENOSPC && !tern_list_empty(&s->proc->partition->retiring) ? TERN_LATER : TERN_NOTHING;
    }
    *r = tern_pages_free_count(b->m->partition->pages) < b->pages ? -ENOSPC : tern_move_in(b);
    return *r == 0 ? TERN_AGAIN : *r == -ENOSPC ? make_room(dev, s, r) : TERN_NOTHING;
}

/* -------------------------------------------------------------- calls that wait */

static void fulfil(struct tern_device *dev, struct reclaim_request *w, int r)
{
    w->result = r;
    if (r) {
        snprintf(w->why, sizeof w->why, "%s", tern_last_error());
    }
    w->done = true;
    tern_list_remove(&w->node);
    pthread_cond_broadcast(&dev->changed);
}

static bool is_whole(const struct tern_allocation *a)
{
    return tern_list_empty(&a->mem->away);
}

static enum tern_outcome grant(struct tern_device *dev, struct reclaim_request *w)
{
    if (w->precedence.band != TERN_BAND_FOCUS && tern_lease_boost(dev, w->proc->partition)) {
        w->precedence.band = TERN_BAND_FOCUS;
    }
    struct tern_search s = {.proc = w->proc, .precedence = w->precedence};
    int r = w->proc->killed || dev->lost ? tern_process_check(w->proc) : 0;
    enum tern_outcome o = TERN_NOTHING;
    if (!r && w->a && !is_whole(w->a)) {
        o = bring(dev, &s, TERN_FIRST_BLOCK(&w->a->mem->away), &r);
    } else if (!r && !w->a && tern_pages_free_count(w->proc->partition->pages) < w->pages) {
        o = make_room(dev, &s, &r);
    }
    if (o == TERN_LATER) {
        return TERN_LATER;
    }
    if (o == TERN_NOTHING || !w->a || is_whole(w->a)) {
        fulfil(dev, w, o == TERN_NOTHING && !r && w->a && !is_whole(w->a) ? -EIO : r);
    }
    return TERN_AGAIN;
}

static int reclaim(struct tern_process *proc, struct tern_allocation *a, uint32_t pages)
{
    struct tern_device *dev = proc->dev;
    tern_assert_held(&dev->lock);
    struct reclaim_request w = {.proc = proc, .a = a, .pages = pages};
    int r = tern_pager_start(dev);
    if (r) {
        return r;
    }
    w.precedence = (struct tern_precedence){TERN_BAND_NORMAL, .ticket = tern_lease_ticket(proc, a ? a->pages : pages)};
    tern_list_append(&proc->partition->reclaim_requests, &w.node);
    pthread_cond_signal(&dev->pager.wake);
    while (!w.done) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    return w.result ? tern_error(w.result, "%s", w.why) : 0;
}

int tern_pager_make_room(struct tern_process *proc, uint32_t pages)
{
    tern_assert_held(&proc->dev->lock);
    return reclaim(proc, NULL, pages);
}

int tern_pager_bring(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    return reclaim(a->proc, a, 0);
}

/* ------------------------------------------------------------------ held contexts */

/** The job for which the context is held; NULL: the context has no job, or its process is in error. */
static struct tern_job *held_for(const struct tern_context *c)
{
    const struct tern_sched_context *s = &c->sched;
    return tern_list_empty(&s->jobs) || c->proc->sched.error ? NULL
           : s->requeued_count                               ? s->requeued[0].job
                                                             : tern_sched_next_job(s);
}

static struct tern_context *earlier(struct tern_context *a, struct tern_context *b)
{
    const struct tern_precedence theirs = a ? tern_lease_precedence(a) : (struct tern_precedence){0};
    const struct tern_precedence own = tern_lease_precedence(b);
    return a && !tern_lease_before(&own, &theirs) ? a : b;
}

/** Releases contexts whose memory is resident, and removes those that want none. Returns the first of the others in
 *  the order of lease.c, or NULL. */
static struct tern_context *first_waiting(struct tern_device *dev, struct tern_partition *part)
{
    struct tern_context *first = NULL, *normal = NULL;
    for (struct tern_list *node = part->absent.next, *next; node != &part->absent; node = next) {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, absent);
        const struct tern_job *job = held_for(c);
        next = node->next;
        if (!job || !tern_residency_missing(c, job)) {
            tern_list_remove(&c->absent);
            tern_demand_ready(c);
            tern_sched_context_recheck(&dev->sched, &c->sched, false);
            tern_device_kick(dev);
        } else {
            first = earlier(first, c);
            normal = c->sched.band == TERN_BAND_NORMAL ? earlier(normal, c) : normal;
        }
    }
    if (normal && !normal->lease.boosted && tern_lease_boost(dev, part)) {
        normal->lease.boosted = true;
        first = earlier(first, normal);
    }
    return first;
}

/** The working set cannot be resident, or a block of it not be committed: puts the process in error. */
static void give_up(struct tern_context *c, int r)
{
    const struct tern_partition *part = c->proc->partition;
    const struct tern_block *b = tern_residency_missing(c, held_for(c));
    struct tern_fault f = {.code = TERN_FAULT_MEMORY, .fence = held_for(c)->fence};
    if (b && tern_sparse_lacks(b)) {
        f.address = c->wanted.page * TERN_PAGE;
        snprintf(f.message, sizeof f.message, "process '%.40s': work of context '%.40s' uses memory for which there is "
                 "no room: %.320s", c->proc->name, c->name, tern_last_error());
    } else {
        snprintf(f.message, sizeof f.message, "process '%.40s': the memory that the work of context '%.40s' uses "
                 "cannot be on the device at once: %" PRIu64 " of %" PRIu64 " KiB can be evicted or are free%s%.200s",
                 c->proc->name, c->name, tern_pages_kib(part->movable + tern_pages_free_count(part->pages)),
                 tern_pages_kib(part->count), r == -ENOSPC ? "" : "; ", r == -ENOSPC ? "" : tern_last_error());
    }
    tern_list_remove(&c->absent);
    tern_process_fail(c->proc, &f);
}

/** Makes the job of the context run in steps. False: the device has no page requests, or the job runs in steps
 *  already. */
static bool settle_for_less(struct tern_context *c)
{
    struct tern_job *job = held_for(c);
    if (!c->proc->dev->kmd.page_requests || job->needs || tern_demand_begin(job)) {
        return false;
    }
    tern_steps_plan(c, job);
    return true;
}

/** True: the context still exists and is held. Needed after dev->lock was released. */
static bool is_held(const struct tern_partition *part, const struct tern_context *c)
{
    TERN_LIST_EACH(node, &part->absent)
    {
        if (TERN_LIST_ENTRY(node, struct tern_context, absent) == c) {
            return held_for(c);
        }
    }
    return false;
}

/** Pages moved since the device was opened. */
static uint64_t pages_moved(const struct tern_device *dev)
{
    return dev->pager.brought + dev->pager.evicted;
}

/** Makes one move for a context that is held. */
static enum tern_outcome serve(struct tern_device *dev, struct tern_context *c)
{
    struct tern_process *proc = c->proc;
    /* valid after the lock was released, because proc->making keeps the process */
    struct tern_partition *part = proc->partition;
    struct tern_job *job = held_for(c);
    struct tern_block *b = tern_residency_missing(c, job);
    struct tern_set *set = job->set; /* a reference, because a kill ends the job while the lock is released */
    if (set) {
        set->refs++;
    }
    struct tern_needs needs = job->needs ? *job->needs : (struct tern_needs){0};
    const struct tern_job like = {.set = set, .needs = job->needs ? &needs : NULL, .seq = job->seq};
    struct tern_search s = {.proc = proc, .job = &like, .precedence = tern_lease_precedence(c),
                            .wanted = c->wanted.page};
    int r = 0;
    const uint64_t before = pages_moved(dev);
    proc->making++; /* keeps the process while the lock is released */
    enum tern_outcome o = bring(dev, &s, b, &r);
    if (is_held(part, c)) {
        tern_lease_moved(c, pages_moved(dev) - before);
    }
    tern_set_release(set);
    tern_process_leave(proc);
    pthread_cond_broadcast(&dev->changed);
    if (o == TERN_NOTHING && r != -EIO && is_held(part, c) && !settle_for_less(c)) {
        give_up(c, r);
    }
    return o == TERN_LATER ? TERN_LATER : TERN_AGAIN;
}

/* ------------------------------------------------------------------------ thread */

/** The oldest ticket of a band whose holder has no lease yet, among the contexts and w, the first call; NULL: there is
 *  none. */
static struct tern_ticket *oldest(const struct tern_partition *part, struct reclaim_request *w, uint32_t band)
{
    struct tern_ticket *old = w && w->precedence.band == band && w->precedence.ticket.pages ? &w->precedence.ticket
                                                                                            : NULL;
    TERN_LIST_EACH(node, &part->absent)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, absent);
        struct tern_ticket *t = &c->lease.ticket;
        old = tern_lease_precedence(c).band == band && t->pages && (!old || t->number < old->number) ? t : old;
    }
    return old;
}

/** Makes one move for the first context or call of the partition in the order of lease.c. While a context waits, only
 *  the first call is looked at besides: it may find pages that have become free. */
static enum tern_outcome step(struct tern_device *dev, struct tern_partition *part)
{
    struct tern_context *const c = first_waiting(dev, part);
    struct tern_list *const requests = &part->reclaim_requests;
    struct reclaim_request *const w =
        tern_list_empty(requests) ? NULL : TERN_LIST_ENTRY(requests->next, struct reclaim_request, node);
    const struct tern_precedence precedence = c ? tern_lease_precedence(c) : (struct tern_precedence){0};
    const bool work = c && !dev->lost && (!w || tern_lease_before(&precedence, &w->precedence));
    const struct tern_precedence first = work ? precedence : w ? w->precedence : (struct tern_precedence){0};
    struct tern_ticket *const old = first.ticket.pages ? oldest(part, w, first.band) : NULL;
    const bool overtakes = old && old->number < first.ticket.number;
    if (overtakes && part->overtaken >= tern_lease_patience(old)) {
        part->overtaken = 0;
        tern_lease_come_first(dev, old);
        return TERN_AGAIN;
    }
    const uint64_t before = pages_moved(dev);
    const enum tern_outcome o = work ? serve(dev, c) : TERN_LATER;
    const enum tern_outcome all = w && o == TERN_LATER ? grant(dev, w) : work ? o : TERN_NOTHING;
    part->overtaken += overtakes ? pages_moved(dev) - before : 0;
    return all;
}

/** The partition that was looked at longest ago, or NULL. */
static struct tern_partition *next_partition(const struct tern_device *dev)
{
    struct tern_partition *next = NULL;
    TERN_LIST_EACH(node, &dev->partitions)
    {
        struct tern_partition *p = TERN_LIST_ENTRY(node, struct tern_partition, node);
        next = next && next->paged <= p->paged ? next : p;
    }
    return next;
}

enum tern_outcome tern_pager_look(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    const uint64_t round = ++dev->pager.rounds;
    enum tern_outcome all = TERN_NOTHING;
    for (struct tern_partition *p; p = next_partition(dev), p->paged != round;) {
        p->paged = round;
        const enum tern_outcome o = step(dev, p);
        if (o == TERN_AGAIN) {
            return o;
        }
        all = o == TERN_LATER ? TERN_LATER : all;
    }
    return all;
}

static void *pager(void *arg)
{
    struct tern_device *dev = arg;
    pthread_mutex_lock(&dev->lock);
    while (!dev->pager.stop) {
        const uint64_t before = dev->pager.look_at;
        dev->pager.look_at = UINT64_MAX;
        switch (tern_pager_look(dev)) {
        case TERN_AGAIN:
            break;
        case TERN_LATER:
            if (dev->pager.look_at < before) {
                tern_device_kick(dev); /* the device thread must wake earlier than it planned */
            }
            dev->frees_waiters++; /* asks for `changed` after each round of the device thread */
            pthread_cond_wait(&dev->changed, &dev->lock);
            dev->frees_waiters--;
            break;
        default:
            dev->pager.look_at = UINT64_MAX;
            pthread_cond_wait(&dev->pager.wake, &dev->lock);
        }
    }
    pthread_mutex_unlock(&dev->lock);
    return NULL;
}

int tern_pager_start(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    if (!dev->pager.started) {
        const int r = tern_thread_start(&dev->pager.thread, pager, dev);
        if (r) {
            return tern_error(r, "the thread that moves memory cannot be started");
        }
        pthread_setname_np(dev->pager.thread, "tern-pager");
        dev->pager.started = true;
    }
    return 0;
}

void tern_pager_stop(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->lock);
    const bool started = dev->pager.started;
    dev->pager.stop = true;
    pthread_cond_signal(&dev->pager.wake);
    pthread_mutex_unlock(&dev->lock);
    if (started) {
        pthread_join(dev->pager.thread, NULL);
    }
}
