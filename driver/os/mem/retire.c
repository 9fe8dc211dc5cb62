/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Frees device memory that work may still use (A7). A free has three steps:
 *   1. All work that the process submitted before ends.
 *   2. One engine clears the entries and flushes; then all other engines flush.
 *   3. Pages and virtual addresses are free.
 * If a paging buffer faults, pages that some engine may still reach are never given to another process. A paging buffer
 * that a reset of all engines aborted does no harm: engines forget all translations at the reset.
 *
 * Cost. The frees of a process are in the order of their calls, its unfinished jobs in the order of submission. A free
 * can begin when the oldest job is younger than its call, which is one comparison whenever a job ends.
 *
 * Waiting. A free *has begun* once its first paging buffer is queued. Such a free ends by itself: paging precedes all
 * work, and an engine that does not stop for it is reset (F2, F3). A free that has not begun depends on work of its
 * process, which may run for ever. A call that lacks memory therefore waits only for two kinds of frees:
 *   - frees that had begun when the call was made;
 *   - frees that its own process had asked for by then, unless they depend on a fence that only the CPU can signal.
 * Later frees do not prolong the wait.
 *
 * Locks: functions require dev->lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/job/job.h"
#include "os/mem/mem.h"

#define FIRST_FREE(list) TERN_LIST_ENTRY((list)->next, struct tern_allocation, node)

/** Step 3: the addresses and the pages are free. */
static void finish(struct tern_allocation *a)
{
    struct tern_process *proc = a->proc;
    if (!a->failed || proc->dev->lost) {
        tern_vaspace_give(&proc->va, a->va);
    }
    tern_residency_remove(a);
    proc->retiring--;
    tern_list_remove(&a->node);
    pthread_cond_broadcast(&proc->dev->changed);
    if (a->counted) { /* the process was killed before the user destroyed the allocation */
        a->gone = true;
        tern_list_append(&proc->remains, &a->node);
    } else {
        tern_allocation_free(a);
    }
}

/** Called when an engine has flushed. */
static void flushed(struct tern_job *job)
{
    struct tern_allocation *a = job->user;
    /* an aborted job was lost to a reset of all engines, which forgets the translations */
    a->failed = a->failed || job->result == TERN_FAULTED;
    free(job);
    if (--a->pending == 0) {
        a->proc->paging_out--;
        finish(a);
    }
}

/** Called when the first engine has cleared the entries and flushed. */
static void unmapped(struct tern_job *job)
{
    struct tern_allocation *a = job->user;
    struct tern_device *dev = a->proc->dev;
    uint32_t here = job->context->engine;
    for (uint32_t e = 0; e < dev->kmd.engines && !dev->lost; e++) {
        if (e != here) {
            struct tern_job *f = a->flush[e];
            a->flush[e] = NULL;
            f->done = flushed;
            f->user = a;
            a->pending++;
            tern_paging_submit(dev, e, f);
        }
    }
    flushed(job);
}

/** Step 2: queues the job that clears the entries. */
static void begin(struct tern_allocation *a)
{
    struct tern_device *dev = a->proc->dev;
    tern_list_remove(&a->node);
    tern_residency_begin(a);
    if (dev->lost) {
        finish(a);
        return;
    }
    struct tern_job *job = a->unmap;
    a->unmap = NULL;
    a->begun = ++dev->frees_begun;
    a->pending = 1;
    tern_list_append(&a->proc->partition->retiring, &a->node);
    job->done = unmapped;
    job->user = a;
    uint32_t engine = tern_paging_engine(a->proc);
    a->proc->paging_out++;
    tern_paging_submit(dev, engine, job);
}

/** True: all jobs that the process submitted before the destroy have ended, and the memory is not being moved. */
static bool unused(const struct tern_allocation *a)
{
    const struct tern_list *jobs = &a->proc->jobs;
    return !a->mem->moving &&
           (tern_list_empty(jobs) || TERN_LIST_ENTRY(jobs->next, struct tern_job, live)->seq > a->retire_seq);
}

void tern_retire_look(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    while (!tern_list_empty(&proc->retired)) {
        struct tern_allocation *a = FIRST_FREE(&proc->retired);
        proc->dev->frees_looked++;
        if (!unused(a)) {
            return;
        }
        begin(a);
    }
}

void tern_retire(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    a->retire_seq = a->proc->seq;
    a->asked = ++a->proc->dev->frees_asked;
    tern_residency_leave(a);
    tern_share_end(a);
    a->proc->retiring++;
    tern_list_remove(&a->node);
    tern_list_append(&a->proc->retired, &a->node);
    tern_retire_look(a->proc);
}

/* ------------------------------------------------------------------ waiting */

struct tern_frees tern_frees_now(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    return (struct tern_frees){.own = proc, .asked = proc->dev->frees_asked, .begun = proc->dev->frees_begun};
}

bool tern_frees_has(const struct tern_frees *f, const struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    return (a->begun && a->begun <= f->begun) || (a->proc == f->own && a->asked && a->asked <= f->asked);
}

/** True: the oldest free of the process that has not begun will begin without a fence that only the CPU can signal. */
static bool will_begin(const struct tern_process *proc)
{
    if (tern_list_empty(&proc->retired)) {
        return false;
    }
    const uint64_t seq = FIRST_FREE(&proc->retired)->retire_seq;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const struct tern_list *jobs = &c->sched.jobs;
        if (!tern_list_empty(jobs) && TERN_LIST_ENTRY(jobs->next, struct tern_job, node)->seq <= seq &&
            tern_list_empty(&c->absent) && tern_sched_stuck(&c->sched)) {
            return false;
        }
    }
    return true;
}

/** Pages that frees of the list will give, of those in the set f. Sets *any if there are some. */
static uint64_t pages_of(const struct tern_frees *f, const struct tern_list *list, bool *any)
{
    uint64_t pages = 0;
    TERN_LIST_EACH(node, list)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, node);
        if (tern_frees_has(f, a)) {
            pages += a->mem->mapping_count > 1 ? 0 : a->mem->sparse ? a->mem->committed : a->pages;
            *any = true;
        }
    }
    return pages;
}

bool tern_frees_wait(const struct tern_frees *f, uint64_t pages)
{
    struct tern_device *dev = f->own->dev;
    tern_assert_held(&dev->lock);
    bool any = false;
    const struct tern_partition *part = f->own->partition;
    uint64_t sum = tern_pages_free_count(part->pages) + tern_residency_left(part) + pages_of(f, &part->retiring, &any);
    sum += will_begin(f->own) ? pages_of(f, &f->own->retired, &any) : 0;
    if (!any || sum < pages) {
        return false;
    }
    dev->frees_waiters++;
    pthread_cond_wait(&dev->changed, &dev->lock);
    dev->frees_waiters--;
    return true;
}

/** Takes `count` pages, in any number of runs of adjacent pages. -ENOSPC: so many are not free. */
static int take(struct tern_pages *p, uint32_t count, struct tern_run *out, uint32_t *runs)
{
    uint32_t taken = 0, n = 0;
    if (tern_pages_free_count(p) < count) {
        return -ENOSPC;
    }
    for (; taken < count; taken += out[n++].count) {
        tern_pages_take(p, count - taken, &out[n]);
    }
    *runs = n;
    return 0;
}

int tern_retire_take(struct tern_process *proc, uint32_t count, const char *what, struct tern_run *out, uint32_t *runs)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_device *dev = proc->dev;
    const struct tern_frees frees = tern_frees_now(proc);
    int r;
    do {
        r = dev->lost ? tern_error(-EIO, "%s", dev->lost_why) : take(proc->partition->pages, count, out, runs);
    } while (r == -ENOSPC && (tern_frees_wait(&frees, count) || tern_pager_make_room(proc, count) == 0));
    return r == -ENOSPC ? tern_error(r, "device memory is full: %s needs %u page%s, and %u are free", what, count,
                                     count == 1 ? "" : "s", tern_pages_free_count(proc->partition->pages))
                        : r;
}
