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
#include "os/os.h"

typedef unsigned long long ull;

#define FOCUS_STAYS 8u   /* how much longer FOCUS stays if NORMAL wants its place (S1) */
#define UNBEGUN_STAYS 8u /* work that does not come to run although it could loses its place after so many */

/** A call that waits. */
struct wish {
    struct tern_list node;
    struct tern_process *proc;
    struct tern_allocation *a; /* to be brought in; NULL: any room */
    bool done;
    int result;
    char why[200];
};

enum outcome { NOTHING_TO_DO, AGAIN, LATER };

/* ------------------------------------------------------------------- victims */

/** How dear an allocation is: less is evicted first. */
struct price {
    bool in_use;
    uint32_t band;
    uint64_t used;
};

static bool cheaper(const struct price *a, const struct price *b)
{
    if (a->in_use != b->in_use) {
        return b->in_use;
    }
    return a->band != b->band ? a->band < b->band : a->used < b->used;
}

/** Does what the context has on an engine, or would put there next, use it? */
static bool in_use_by(const struct tern_context *c, const struct tern_allocation *a)
{
    const struct tern_sched_context *s = &c->sched;
    const bool known = tern_list_empty(&s->update); /* else it has perhaps just been let go */
    if (tern_list_empty(&s->jobs) || (known && s->state != TERN_SCHED_READY && !s->inflight)) {
        return false;
    }
    const struct tern_job *next = tern_sched_next_job(s);
    TERN_LIST_EACH(node, &s->jobs)
    {
        const struct tern_job *job = TERN_LIST_ENTRY(node, struct tern_job, node);
        if (tern_residency_uses(job, a)) {
            return true;
        }
        if (job == next) {
            return false;
        }
    }
    return false;
}

static struct price price_of(const struct tern_allocation *a)
{
    const struct tern_process *proc = a->proc;
    struct price p = {.used = a->used > proc->used ? a->used : proc->used};
    TERN_LIST_EACH(node, &proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const bool uses = in_use_by(c, a);
        if (uses && !p.in_use) {
            p.band = 0;
        }
        p.band = (uses || !p.in_use) && c->sched.band > p.band ? c->sched.band : p.band;
        p.in_use = p.in_use || uses;
    }
    return p;
}

/** Has the process, whose work in this band runs, had its time with what was brought in for it? */
static bool had_stay(const struct tern_process *proc, uint32_t theirs, uint32_t wants)
{
    const struct tern_device *dev = proc->dev;
    const uint64_t now = dev->sched.now;
    uint64_t stay = dev->policy.stay ? dev->policy.stay : dev->sched.config.band[theirs].quantum;
    if (theirs > wants) {
        if (theirs != TERN_BAND_FOCUS || wants != TERN_BAND_NORMAL) {
            return false;
        }
        stay *= FOCUS_STAYS;
    }
    return theirs < wants || !proc->paged || (proc->began ? now + 1 - proc->began >= stay
                                                              : now - proc->paged >= UNBEGUN_STAYS * stay);
}

/** The cheapest allocation that may go; *later: there is one that may only later. for_job: what it uses stays. */
static struct tern_allocation *victim(struct tern_device *dev, const struct tern_process *proc,
                                      const struct tern_job *job, const struct tern_allocation *keep, uint32_t band,
                                      bool *later)
{
    struct tern_allocation *best = NULL;
    struct price least = {0};
    *later = !tern_list_empty(&dev->retiring);
    TERN_LIST_EACH(node, &dev->processes)
    {
        struct tern_process *p = TERN_LIST_ENTRY(node, struct tern_process, node);
        for (uint32_t i = 0; i < p->va.n; i++) {
            struct tern_allocation *a = p->va.range[i].owner;
            if (a->movable && a->resident && tern_list_empty(&a->node)) { /* it is being made */
                *later = true;
                continue;
            }
            if (!a->movable || a->pins || !a->resident || a->begun || a->failed || a == keep ||
                (job && p == proc && tern_residency_uses(job, a))) {
                continue;
            }
            const struct price price = price_of(a);
            if (price.in_use && !had_stay(p, price.band, band)) {
                *later = true;
            } else if (!best || cheaper(&price, &least)) {
                best = a;
                least = price;
            }
        }
    }
    return best;
}

/** Makes room: AGAIN, something went; LATER; NOTHING_TO_DO: nothing can go, or (*r) memory of the host is lacking. */
static enum outcome make_room(struct tern_device *dev, const struct tern_process *proc, const struct tern_job *job,
                              const struct tern_allocation *keep, uint32_t band, int *r)
{
    bool later;
    struct tern_allocation *a = victim(dev, proc, job, keep, band, &later);
    if (!a) {
        *r = -ENOSPC;
        return later ? LATER : NOTHING_TO_DO;
    }
    *r = tern_move_out(a);
    return *r == -ENOMEM ? NOTHING_TO_DO : AGAIN;
}

/** Brings an allocation in, or makes room for it. */
static enum outcome bring(struct tern_allocation *a, const struct tern_job *job, uint32_t band, int *r)
{
    struct tern_process *proc = a->proc;
    struct tern_device *dev = proc->dev;
    *r = tern_pages_free_count(proc->partition->pages) < a->pages ? -ENOSPC : tern_move_in(a);
    return *r == 0 ? AGAIN : *r == -ENOSPC ? make_room(dev, proc, job, a, band, r) : NOTHING_TO_DO;
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

static enum outcome grant(struct tern_device *dev, struct wish *w)
{
    int r = w->proc->killed || dev->lost ? tern_process_check(w->proc) : 0;
    enum outcome o = NOTHING_TO_DO;
    if (!r && w->a && !w->a->resident) {
        o = bring(w->a, NULL, TERN_BAND_NORMAL, &r);
    } else if (!r && !w->a) {
        o = make_room(dev, w->proc, NULL, NULL, TERN_BAND_NORMAL, &r);
    }
    if (o == LATER) {
        return LATER;
    }
    if (o == NOTHING_TO_DO || !w->a || w->a->resident) {
        fulfil(dev, w, o == NOTHING_TO_DO && !r && w->a && !w->a->resident ? -EIO : r);
    }
    return AGAIN;
}

static int wish(struct tern_process *proc, struct tern_allocation *a)
{
    struct tern_device *dev = proc->dev;
    struct wish w = {.proc = proc, .a = a};
    int r = tern_pager_start(dev);
    if (r) {
        return r;
    }
    tern_list_append(&dev->pager.wishes, &w.node);
    pthread_cond_signal(&dev->pager.wake);
    while (!w.done) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    return w.result ? tern_error(w.result, "%s", w.why) : 0;
}

int tern_pager_make_room(struct tern_process *proc)
{
    return wish(proc, NULL);
}

int tern_pager_bring(struct tern_allocation *a)
{
    return wish(a->proc, a);
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

/** Lets go those for whom all is there, and takes out those that want nothing any more. The most urgent of the rest. */
static struct tern_context *most_urgent(struct tern_device *dev)
{
    struct tern_context *best = NULL;
    for (struct tern_list *node = dev->pager.contexts.next, *next; node != &dev->pager.contexts; node = next) {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, absent);
        const struct tern_job *job = held_for(c);
        next = node->next;
        if (!job || !tern_residency_missing(c->proc, job)) {
            tern_list_remove(&c->absent);
            tern_sched_context_recheck(&dev->sched, &c->sched, false);
            tern_device_kick(dev);
        } else if (!best || c->sched.band > best->sched.band) {
            best = c;
        }
    }
    return best;
}

/** Its set cannot be resident: the process is in error. */
static void give_up(struct tern_context *c, int r)
{
    const struct tern_partition *part = c->proc->partition;
    struct tern_fault f = {.code = TERN_FAULT_MEMORY, .fence = held_for(c)->fence};
    snprintf(f.message, sizeof f.message, "process '%.40s': the memory that the work of context '%.40s' uses cannot be "
             "on the device at once: %llu of %llu KiB can be evicted or are free%s%.200s", c->proc->name, c->name,
             (ull)(part->movable + tern_pages_free_count(part->pages)) * 4, (ull)part->count * 4,
             r == -ENOSPC ? "" : "; ", r == -ENOSPC ? "" : tern_last_error());
    tern_list_remove(&c->absent);
    tern_process_fail(c->proc, &f);
}

static enum outcome serve(struct tern_device *dev, struct tern_context *c)
{
    struct tern_process *proc = c->proc;
    struct tern_job *job = held_for(c);
    const uint32_t band = c->sched.band;
    struct tern_allocation *a = tern_residency_missing(proc, job);
    struct tern_set *set = job->set; /* may outlive the job: a killed one ends meanwhile */
    if (set) {
        set->refs++;
    }
    const struct tern_job like = {.set = set, .seq = job->seq};
    const uint64_t before = dev->pager.brought;
    int r = 0;
    proc->making++; /* nor does the process end */
    enum outcome o = bring(a, &like, band, &r);
    if (dev->pager.brought != before) {
        proc->paged = dev->sched.now ? dev->sched.now : 1;
        proc->began = 0;
    }
    tern_set_release(set);
    tern_process_leave(proc);
    pthread_cond_broadcast(&dev->changed);
    if (o == NOTHING_TO_DO && r != -EIO) { /* with the lock released meanwhile: is it still held? */
        TERN_LIST_EACH(node, &dev->pager.contexts)
        {
            if (TERN_LIST_ENTRY(node, struct tern_context, absent) == c && held_for(c)) {
                give_up(c, r);
                break;
            }
        }
    }
    return o == LATER ? LATER : AGAIN;
}

/* ------------------------------------------------------------------------ thread */

static enum outcome step(struct tern_device *dev)
{
    if (!tern_list_empty(&dev->pager.wishes)) {
        return grant(dev, TERN_LIST_ENTRY(dev->pager.wishes.next, struct wish, node));
    }
    struct tern_context *c = most_urgent(dev);
    return c && !dev->lost ? serve(dev, c) : NOTHING_TO_DO;
}

static void *pager(void *arg)
{
    struct tern_device *dev = arg;
    pthread_mutex_lock(&dev->lock);
    while (!dev->pager.stop) {
        switch (step(dev)) {
        case AGAIN:
            break;
        case LATER:
            dev->frees_waiters++; /* told after each round */
            pthread_cond_wait(&dev->changed, &dev->lock);
            dev->frees_waiters--;
            break;
        default:
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
