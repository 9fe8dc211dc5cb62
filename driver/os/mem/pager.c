/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pager's thread (residency.h): one move at a time. After each it looks anew at what is wanted, since with the lock
 * released anything may have ended. If all it could evict has not had its stay, it looks again after each round of the
 * device's thread: work that keeps it waiting runs, so rounds come.
 */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/thread.h"
#include "os/mem/victim.h"
#include "os/os.h"

typedef unsigned long long ull;

/** A call that waits. */
struct wish {
    struct tern_list node;
    struct tern_process *proc;
    struct tern_allocation *a; /* all of it is to be brought in; NULL: */
    uint32_t pages;            /* a block is to go, unless so many pages are free */
    bool lent; /* it may take what FOCUS uses */
    bool done;
    int result;
    char why[200];
};

enum outcome { NOTHING_TO_DO, AGAIN, LATER };

/** Makes room: AGAIN, something went; LATER; NOTHING_TO_DO: nothing can go, or (*r) memory of the host is lacking. */
static enum outcome make_room(struct tern_device *dev, struct tern_search *s, int *r)
{
    tern_victim_find(dev, s);
    if (!s->best) {
        *r = -ENOSPC;
        return s->later ? LATER : NOTHING_TO_DO;
    }
    TERN_LIST_EACH(node, &s->best->m->mappings)
    {
        struct tern_process *other = TERN_LIST_ENTRY(node, struct tern_allocation, mapping)->proc;
        other->robbed += other != s->proc;
    }
    *r = tern_move_out(s->best);
    return *r == -ENOMEM ? NOTHING_TO_DO : AGAIN;
}

/** Brings a block in for a process, or makes room for it. */
static enum outcome bring(struct tern_device *dev, struct tern_search *s, struct tern_block *b, int *r)
{
    if (b->m->moving) { /* it is being imported: that ends */
        *r = 0;
        return LATER;
    }
    *r = tern_sparse_commit(b);
    if (*r) {
        return *r == -ENOSPC && !tern_list_empty(&s->proc->partition->retiring) ? LATER : NOTHING_TO_DO;
    }
    *r = tern_pages_free_count(b->m->partition->pages) < b->pages ? -ENOSPC : tern_move_in(b);
    return *r == 0 ? AGAIN : *r == -ENOSPC ? make_room(dev, s, r) : NOTHING_TO_DO;
}

/* -------------------------------------------------------------- calls that wait */

static void fulfil(struct tern_device *dev, struct wish *w, int r)
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

static enum outcome grant(struct tern_device *dev, struct wish *w, bool stuck)
{
    w->lent = w->lent || tern_stay_lend(dev, w->proc->partition);
    const struct tern_wants wants = {TERN_BAND_NORMAL, .lent = w->lent, .goes_on = true, .stuck = stuck};
    struct tern_search s = {.proc = w->proc, .wants = wants};
    int r = w->proc->killed || dev->lost ? tern_process_check(w->proc) : 0;
    enum outcome o = NOTHING_TO_DO;
    if (!r && w->a && !is_whole(w->a)) {
        o = bring(dev, &s, TERN_FIRST_BLOCK(&w->a->mem->away), &r);
    } else if (!r && !w->a && tern_pages_free_count(w->proc->partition->pages) < w->pages) {
        o = make_room(dev, &s, &r);
    }
    if (o == LATER) {
        return LATER;
    }
    if (o == NOTHING_TO_DO || !w->a || is_whole(w->a)) {
        fulfil(dev, w, o == NOTHING_TO_DO && !r && w->a && !is_whole(w->a) ? -EIO : r);
    }
    return AGAIN;
}

static int wish(struct tern_process *proc, struct tern_allocation *a, uint32_t pages)
{
    struct tern_device *dev = proc->dev;
    struct wish w = {.proc = proc, .a = a, .pages = pages};
    int r = tern_pager_start(dev);
    if (r) {
        return r;
    }
    tern_list_append(&proc->partition->wishes, &w.node);
    pthread_cond_signal(&dev->pager.wake);
    while (!w.done) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    return w.result ? tern_error(w.result, "%s", w.why) : 0;
}

int tern_pager_make_room(struct tern_process *proc, uint32_t pages)
{
    return wish(proc, NULL, pages);
}

int tern_pager_bring(struct tern_allocation *a)
{
    return wish(a->proc, a, 0);
}

/* ------------------------------------------------------------------ held contexts */

/** The job that the context is held for; NULL: none any more. */
static struct tern_job *held_for(const struct tern_context *c)
{
    const struct tern_sched_context *s = &c->sched;
    return tern_list_empty(&s->jobs) || c->proc->sched.error ? NULL
           : s->requeued_count                               ? s->requeued[0].job
                                                             : tern_sched_next_job(s);
}

/** Lets go those for whom all is there, and takes out those that want nothing any more. Of the rest the one whose turn
 *  it is; NULL: there is none. */
static struct tern_context *next_turn(struct tern_device *dev, struct tern_partition *part)
{
    struct tern_context *best = NULL, *normal = NULL;
    bool there = false;
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
            best = !best || tern_stay_rank(c) > tern_stay_rank(best) ? c : best;
            normal = !normal && c->sched.band == TERN_BAND_NORMAL ? c : normal;
        }
        there = there || (c == part->goes_on && !tern_list_empty(&c->absent));
    }
    part->goes_on = there ? part->goes_on : NULL;
    if (normal && tern_stay_lend(dev, part)) {
        tern_stay_lent(normal);
        best = tern_stay_rank(normal) > tern_stay_rank(best) ? normal : best;
    }
    return best;
}

/** Its set cannot be resident, or something of it not be committed: the process is in error. */
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
                 "cannot be on the device at once: %llu of %llu KiB can be evicted or are free%s%.200s", c->proc->name,
                 c->name, (ull)(part->movable + tern_pages_free_count(part->pages)) * 4, (ull)part->count * 4,
                 r == -ENOSPC ? "" : "; ", r == -ENOSPC ? "" : tern_last_error());
    }
    tern_list_remove(&c->absent);
    tern_process_fail(c->proc, &f);
}

/** Then its kernels are to ask for it, if they can. */
static bool settle_for_less(struct tern_context *c)
{
    struct tern_job *job = held_for(c);
    if (!c->proc->dev->kmd.page_requests || job->needs || tern_demand_begin(job)) {
        return false;
    }
    tern_steps_plan(c, job);
    return true;
}

/** Is it held still? The lock was released meanwhile. */
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

/** A move for what a context waits for. stuck: what else is held cannot get on. */
static enum outcome serve(struct tern_device *dev, struct tern_context *c, bool stuck)
{
    struct tern_process *proc = c->proc;
    struct tern_partition *part = proc->partition; /* lives as long as the process, which `making` keeps */
    struct tern_job *job = held_for(c);
    struct tern_block *b = tern_residency_missing(c, job);
    struct tern_set *set = job->set; /* may outlive the job: a killed one ends meanwhile */
    if (set) {
        set->refs++;
    }
    struct tern_needs needs = job->needs ? *job->needs : (struct tern_needs){0};
    const struct tern_job like = {.set = set, .needs = job->needs ? &needs : NULL, .seq = job->seq};
    struct tern_search s = {.proc = proc, .job = &like, .wants = tern_stay_wants(c), .wanted = c->wanted.page};
    s.wants.stuck = stuck;
    int r = 0;
    proc->making++; /* nor does the process end */
    enum outcome o = bring(dev, &s, b, &r);
    if (is_held(part, c)) {
        tern_stay_moved(c, o == AGAIN);
    }
    tern_set_release(set);
    tern_process_leave(proc);
    pthread_cond_broadcast(&dev->changed);
    if (o == NOTHING_TO_DO && r != -EIO && is_held(part, c) && !settle_for_less(c)) {
        give_up(c, r);
    }
    return o == LATER ? LATER : AGAIN;
}

/* ------------------------------------------------------------------------ thread */

/** What is the most urgent waits for the stay of others. They may be held themselves, for a page, and run only when
 *  that comes: the first for which something can be done. LATER: nothing was done, and the lock was held. */
static enum outcome serve_pages(struct tern_device *dev, struct tern_partition *part, const struct tern_context *but)
{
    TERN_LIST_EACH(node, &part->absent)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, absent);
        const bool waits = c != but && !dev->lost && tern_demand_waits(c) && held_for(c) &&
                           tern_residency_missing(c, held_for(c));
        const enum outcome o = waits ? serve(dev, c, false) : LATER;
        if (o != LATER) {
            part->goes_on = c;
            return o;
        }
    }
    return LATER;
}

/** What may be done for calls, which come before work, or for the context whose turn it is. */
static enum outcome first_of(struct tern_device *dev, struct tern_partition *part, struct tern_context *c, bool stuck)
{
    if (!tern_list_empty(&part->wishes)) {
        return grant(dev, TERN_LIST_ENTRY(part->wishes.next, struct wish, node), stuck);
    }
    if (c && !dev->lost) {
        tern_stay_turn(c);
        return serve(dev, c, stuck);
    }
    return NOTHING_TO_DO;
}

static enum outcome step(struct tern_device *dev, struct tern_partition *part)
{
    struct tern_context *const c = next_turn(dev, part), *const first = part->goes_on;
    const bool calls = !tern_list_empty(&part->wishes);
    if (first && !calls && !dev->lost) {
        const enum outcome o = serve(dev, first, false);
        part->goes_on = o == AGAIN ? first : NULL;
        return AGAIN;
    }
    enum outcome o = first_of(dev, part, c, false);
    o = o == LATER ? serve_pages(dev, part, calls ? NULL : c) : o;
    return o == LATER ? first_of(dev, part, next_turn(dev, part), true) : o;
}

/** The partition that was looked at longest ago. */
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

/** One move for the first partition that has one to make; then others come first. */
static enum outcome look(struct tern_device *dev)
{
    const uint64_t round = ++dev->pager.rounds;
    enum outcome all = NOTHING_TO_DO;
    for (struct tern_partition *p; p = next_partition(dev), p->paged != round;) {
        p->paged = round;
        const enum outcome o = step(dev, p);
        if (o == AGAIN) {
            return o;
        }
        all = o == LATER ? LATER : all;
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
        switch (look(dev)) {
        case AGAIN:
            break;
        case LATER:
            if (dev->pager.look_at < before) {
                tern_device_kick(dev); /* else it would look later */
            }
            dev->frees_waiters++; /* told after each round */
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
