/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Moving a block between device and host (residency.h). What may go wrong is done first: host memory and paging
 * buffers are made before anything has changed. A process that is killed or in error meanwhile waits for the end of the
 * move, which then does not copy.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/os.h"

/** The tables are in doubt: no work may use them any more. */
static void fail(struct tern_process *proc, const char *what)
{
    struct tern_fault f = {.code = TERN_FAULT_DEVICE};
    snprintf(f.message, sizeof f.message, "process '%.40s': memory could not be %s: %.200s", proc->name, what,
             tern_last_error());
    tern_process_fail(proc, &f);
}

/** Pages of the block that lie side by side from `page` on, to or from the host, with the hal lock held: *count. */
static int copy_run(struct tern_block *b, bool in, uint32_t page, uint32_t *count)
{
    struct tern_device *dev = b->a->proc->dev;
    uint64_t row;
    const uint64_t at = tern_block_physical(b, (uint64_t)page * TERN_PAGE, &row);
    uint32_t n = (uint32_t)(row / TERN_PAGE);
    uint8_t *const host = b->host + (uint64_t)page * TERN_PAGE;
    const struct tern_iovec piece = {at, host, (uint64_t)n * TERN_PAGE};
    uint32_t none[TERN_PAGES_SPAN / 32] = {0};
    int r = in ? tern_device_write(dev, &piece, 1) : tern_device_read(dev, at, host, piece.size);
    if (!r && !in) {
        r = tern_survey_ask(dev, at, n, false, page, b->written);
    } else if (!r && dev->info.dirty_page_bytes == TERN_PAGE) { /* what was written is known by b->written */
        r = tern_survey_ask(dev, at, n, true, 0, none);
    }
    *count = n;
    return r;
}

/** Copies the block; the lock is released meanwhile. -EIO: killed, or the device is lost. */
static int copy(struct tern_block *b, bool in)
{
    struct tern_process *proc = b->a->proc;
    struct tern_device *dev = proc->dev;
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    int r = proc->killed ? tern_error(-EIO, "the process was killed") : 0;
    for (uint32_t done = 0, n; !r && done < b->pages; done += n) {
        r = copy_run(b, in, done, &n);
    }
    b->on_host = r ? b->on_host : !in;
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    if (r && !proc->killed) {
        tern_device_lose(dev, tern_last_error());
    }
    return r;
}

/** Nothing of it is on the device any more, as far as host access is concerned. */
static void all_on_host(struct tern_block *b)
{
    struct tern_device *dev = b->a->proc->dev;
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    b->on_host = true;
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
}

/** And nothing on the host: 0; or 1: the host has just written to what was zero, and that is to be copied. */
static int all_on_device(struct tern_block *b)
{
    struct tern_device *dev = b->a->proc->dev;
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    const int more = b->host && b->on_host;
    if (!more) {
        b->on_host = false;
        free(b->host);
        b->host = NULL;
    }
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    return more;
}

/** A free that was asked for meanwhile can begin. */
static void done(struct tern_allocation *a)
{
    struct tern_process *proc = a->proc;
    a->moving = false;
    tern_retire_look(proc);
    tern_process_leave(proc);
    pthread_cond_broadcast(&proc->dev->changed);
}

static void begin(struct tern_allocation *a)
{
    a->moving = true;
    a->proc->making++; /* it is not killed to its end before this is over */
}

/* ----------------------------------------------------------------- to the host */

/** Takes work that needs it off the engines, and keeps it off. */
static void hold_users(const struct tern_block *b)
{
    struct tern_process *proc = b->a->proc;
    struct tern_sched *s = &proc->dev->sched;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const struct tern_sched_engine *e = &s->engine[c->sched.engine];
        bool there = false;
        for (uint32_t i = 0; i < e->n; i++) {
            there = there || (e->inflight[i].context == &c->sched && tern_demand_needs(e->inflight[i].job, b));
        }
        tern_sched_context_recheck(s, &c->sched, there);
    }
    tern_device_kick(proc->dev);
}

static bool on_engine(const struct tern_block *b)
{
    const struct tern_process *proc = b->a->proc;
    const struct tern_device *dev = proc->dev;
    for (uint32_t k = 0; k < dev->kmd.engines; k++) {
        const struct tern_sched_engine *e = &dev->sched.engine[k];
        for (uint32_t i = 0; i < e->n; i++) {
            const struct tern_sched_context *c = e->inflight[i].context;
            if (c->process == &proc->sched && tern_demand_needs(e->inflight[i].job, b)) {
                return true;
            }
        }
    }
    return false;
}

static void free_jobs(struct tern_job *unmap, struct tern_job **flush)
{
    tern_job_free(unmap);
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        tern_job_free(flush[e]);
    }
}

/** What takes the block out of the tables, and makes all engines forget it. */
static int make_jobs(const struct tern_block *b, struct tern_job **unmap, struct tern_job **flush)
{
    const struct tern_allocation *a = b->a;
    struct tern_paging clear = {0}, forget = {0};
    tern_map_leave(b, &clear);
    tern_paging_flush(&clear, a->proc->root, a->va + b->first, b->pages);
    tern_paging_flush(&forget, a->proc->root, a->va + b->first, b->pages);
    bool all = !tern_paging_error(&clear) && !tern_paging_error(&forget);
    *unmap = all ? tern_job_create(clear.words, clear.size, "evict") : NULL;
    all = *unmap != NULL;
    for (uint32_t e = 0; all && e < a->proc->dev->kmd.engines; e++) {
        flush[e] = tern_job_create(forget.words, forget.size, "evict");
        all = flush[e] != NULL;
    }
    tern_paging_free(&clear);
    tern_paging_free(&forget);
    return all ? 0 : tern_error_memory("paging buffers of an eviction");
}

int tern_move_out(struct tern_block *b)
{
    struct tern_allocation *a = b->a;
    struct tern_process *proc = a->proc;
    struct tern_device *dev = proc->dev;
    struct tern_job *unmap = NULL, *flush[TERN_ENGINES_MAX] = {0};
    const uint32_t resets = dev->tdr.adapter_resets;
    begin(a);
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_block_host_make(b);
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    r = r ? r : make_jobs(b, &unmap, flush);
    if (r) {
        goto end;
    }
    tern_residency_set(b, false);
    hold_users(b);
    while (on_engine(b) && !dev->lost) {
        dev->frees_waiters++;
        pthread_cond_wait(&dev->changed, &dev->lock);
        dev->frees_waiters--;
    }
    r = tern_paging_run_job(proc, unmap);
    unmap = NULL;
    r = r ? r : tern_paging_run_all(dev, flush);
    if (r && !dev->lost && resets == dev->tdr.adapter_resets) { /* some engine may still reach the pages */
        a->failed = true;
        tern_residency_set(b, true);
        fail(proc, "evicted");
        goto end;
    }
    if (copy(b, false)) { /* it is not read again */
        all_on_host(b);
    }
    dev->pager.evicted += b->pages;
    tern_residency_count(b, -1);
    tern_block_give(b, true);
    r = 0;
end:
    free_jobs(unmap, flush);
    done(a);
    return r;
}

/* --------------------------------------------------------------- to the device */

int tern_move_in(struct tern_block *b)
{
    struct tern_allocation *a = b->a;
    struct tern_process *proc = a->proc;
    struct tern_device *dev = proc->dev;
    struct tern_paging in = {0}, out = {0};
    struct tern_new_tables tables = {0};
    struct tern_job *map = NULL;
    const uint32_t resets = dev->tdr.adapter_resets;
    begin(a);
    int r = tern_process_check(proc);
    r = r ? r : tern_map_block(b, &in, &out, &tables);
    if (r) {
        goto end;
    }
    map = tern_job_create(in.words, in.size, "page in");
    if (!map) {
        tern_map_undo_block(b, &tables);
        r = tern_error_memory("a paging buffer of memory that is to be resident");
        goto end;
    }
    r = b->host ? copy(b, true) : 0; /* before work can reach the pages, which hold other data */
    if (r) {
        all_on_host(b);
        tern_map_undo_block(b, &tables);
        goto end;
    }
    r = tern_paging_run_job(proc, map);
    map = NULL;
    while (all_on_device(b) && copy(b, true) == 0) {
    }
    tern_map_retire_line(b, &out);
    tern_residency_set(b, true);
    if (r && !dev->lost && resets == dev->tdr.adapter_resets) {
        a->failed = true;
        fail(proc, "brought in");
    }
    dev->pager.brought += b->pages;
end:
    tern_job_free(map);
    tern_paging_free(&in);
    tern_paging_free(&out);
    done(a);
    return r;
}
