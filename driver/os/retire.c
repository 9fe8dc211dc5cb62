/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Freeing device memory that work may still use: wait until the process's earlier work has ended; clear the entries and
 * flush on one engine; flush on all others; only then are pages and addresses free (A7). If a paging buffer fails, what
 * some engine may still reach is never given to anybody else.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/os.h"

static void finish(struct tern_allocation *a)
{
    struct tern_process *proc = a->proc;
    if (!a->failed || proc->dev->lost) {
        tern_map_give_pages(a);
        tern_vaspace_give(&proc->va, a->va);
    }
    proc->retiring--;
    tern_list_remove(&a->node);
    pthread_cond_broadcast(&proc->dev->changed);
    tern_allocation_free(a);
}

static void flushed(struct tern_job *job)
{
    struct tern_allocation *a = job->user;
    a->failed = a->failed || job->result != TERN_COMPLETED;
    free(job);
    if (--a->pending == 0) {
        a->proc->paging_out--;
        finish(a);
    }
}

static void unmapped(struct tern_job *job)
{
    struct tern_allocation *a = job->user;
    struct tern_device *dev = a->proc->dev;
    uint32_t here = job->context->engine;
    a->failed = job->result != TERN_COMPLETED;
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

void tern_retire(struct tern_allocation *a)
{
    a->retire_seq = a->proc->seq;
    a->proc->retiring++;
    tern_list_append(&a->proc->dev->retiring, &a->node);
    tern_device_kick(a->proc->dev);
}

/** Has all that the process submitted before the allocation was destroyed come to its end? */
static bool unused(const struct tern_allocation *a)
{
    TERN_LIST_EACH(node, &a->proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        if (!tern_list_empty(&c->sched.jobs) &&
            TERN_LIST_ENTRY(c->sched.jobs.next, struct tern_job, node)->seq <= a->retire_seq) {
            return false;
        }
    }
    return true;
}

void tern_retire_run(struct tern_device *dev)
{
    for (struct tern_list *node = dev->retiring.next, *next; node != &dev->retiring; node = next) {
        struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, node);
        next = node->next;
        if (a->started || !unused(a)) {
            continue;
        }
        if (dev->lost) {
            finish(a);
            continue;
        }
        struct tern_job *job = a->unmap;
        a->unmap = NULL;
        a->started = true;
        a->pending = 1;
        job->done = unmapped;
        job->user = a;
        uint32_t engine = tern_paging_engine(a->proc);
        a->proc->paging_out++;
        tern_paging_submit(dev, engine, job);
    }
}

bool tern_retire_wait(struct tern_device *dev)
{
    bool any = false;
    TERN_LIST_EACH(node, &dev->retiring)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, node);
        any = any || a->started || !dev->idle || dev->kick;
    }
    if (any) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    return any;
}

int tern_retire_take(struct tern_device *dev, uint32_t count, const char *what, struct tern_run *out)
{
    int r;
    do {
        r = dev->lost ? tern_error(-EIO, "%s", dev->lost_why) : tern_pages_take_span(dev->pages, count, out);
    } while (r == -ENOSPC && tern_retire_wait(dev));
    return r == -ENOSPC ? tern_error(r, "device memory is full: %s needs %u page%s in a row, and %u are free here and there", what, count,
                                     count == 1 ? "" : "s", tern_pages_free_count(dev->pages))
                        : r;
}
