/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Moving an allocation between device and host (residency.h). What may go wrong is done first: host memory and paging
 * buffers are made before anything has changed. A process that is killed or in error meanwhile waits for the end of the
 * move, which then does not copy.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/os.h"

#define PIECE_PAGES TERN_PAGES_LARGE /* copied before the hal lock is handed on */
#define NEW_TABLE_WORDS (2 * TERN_PAGES_LARGE / 32)

/** The tables are in doubt: no work may use them any more. */
static void fail(struct tern_process *proc, const char *what)
{
    struct tern_fault f = {.code = TERN_FAULT_DEVICE};
    snprintf(f.message, sizeof f.message, "process '%.40s': memory could not be %s: %.200s", proc->name, what,
             tern_last_error());
    tern_process_fail(proc, &f);
}

/** At most `want` pages from `page` on that lie side by side, to or from the host, with the hal lock held. */
static int copy(struct tern_allocation *a, bool in, uint32_t page, uint32_t *want)
{
    struct tern_device *dev = a->proc->dev;
    uint64_t row;
    const uint64_t at = tern_allocation_physical(a, (uint64_t)page * TERN_PAGE, &row);
    uint32_t n = row / TERN_PAGE < *want ? (uint32_t)(row / TERN_PAGE) : *want;
    uint8_t *const host = a->host + (uint64_t)page * TERN_PAGE;
    const struct tern_iovec piece = {at, host, (uint64_t)n * TERN_PAGE};
    uint32_t none[PIECE_PAGES / 32] = {0};
    int r = in ? tern_device_write(dev, &piece, 1) : tern_device_read(dev, at, host, piece.size);
    if (!r && !in) {
        r = tern_survey_ask(dev, at, n, false, page, a->written);
    } else if (!r && dev->info.dirty_page_bytes == TERN_PAGE) { /* what was written is known by a->written */
        r = tern_survey_ask(dev, at, n, true, 0, none);
    }
    *want = n;
    return r;
}

/** The next piece: upwards to the host, downwards from it, so that what is on the host is always the lower part. */
static int copy_piece(struct tern_allocation *a, bool in)
{
    const uint32_t left = in ? a->split : a->pages - a->split, n = left < PIECE_PAGES ? left : PIECE_PAGES;
    const uint32_t first = in ? a->split - n : a->split;
    int r = 0;
    for (uint32_t done = 0, m; !r && done < n; done += m) {
        m = n - done;
        r = copy(a, in, first + done, &m);
    }
    a->split = r ? a->split : in ? first : first + n;
    return r;
}

/** Copies what is not yet where it is to be; the lock is released meanwhile. -EIO: killed, or the device is lost. */
static int copy_all(struct tern_allocation *a, bool in)
{
    struct tern_device *dev = a->proc->dev;
    int r = 0;
    pthread_mutex_unlock(&dev->lock);
    while (!r && a->split != (in ? 0 : a->pages)) {
        tern_ticket_lock(&dev->hal_lock);
        r = a->proc->killed ? tern_error(-EIO, "the process was killed") : copy_piece(a, in);
        tern_ticket_unlock(&dev->hal_lock);
    }
    pthread_mutex_lock(&dev->lock);
    if (r && !a->proc->killed) {
        tern_device_lose(dev, tern_last_error());
    }
    return r;
}

/** Nothing of it is on the device any more, as far as host access is concerned. */
static void all_on_host(struct tern_allocation *a)
{
    struct tern_device *dev = a->proc->dev;
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    a->split = a->pages;
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
}

/** And nothing on the host: 0; or 1: the host has just written to what was zero, and that is to be copied. */
static int all_on_device(struct tern_allocation *a)
{
    struct tern_device *dev = a->proc->dev;
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    const int more = a->host && a->split;
    if (!more) {
        a->split = 0;
        free(a->host);
        a->host = NULL;
    }
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    return more;
}

static void set_resident(struct tern_allocation *a, bool resident)
{
    if (a->resident != resident) {
        a->resident = resident;
        a->proc->absent += resident ? -1u : 1u;
    }
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

/** Takes work that may use it off the engines, and keeps it off. */
static void hold_users(const struct tern_allocation *a)
{
    struct tern_sched *s = &a->proc->dev->sched;
    TERN_LIST_EACH(node, &a->proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const struct tern_sched_engine *e = &s->engine[c->sched.engine];
        bool there = false;
        for (uint32_t i = 0; i < e->n; i++) {
            there = there || (e->inflight[i].context == &c->sched && tern_residency_uses(e->inflight[i].job, a));
        }
        tern_sched_context_recheck(s, &c->sched, there);
    }
    tern_device_kick(a->proc->dev);
}

static bool on_engine(const struct tern_allocation *a)
{
    const struct tern_device *dev = a->proc->dev;
    for (uint32_t k = 0; k < dev->kmd.engines; k++) {
        const struct tern_sched_engine *e = &dev->sched.engine[k];
        for (uint32_t i = 0; i < e->n; i++) {
            const struct tern_sched_context *c = e->inflight[i].context;
            if (c->process == &a->proc->sched && tern_residency_uses(e->inflight[i].job, a)) {
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

/** Copies of the jobs of its retirement. */
static int copy_jobs(const struct tern_allocation *a, struct tern_job **unmap, struct tern_job **flush)
{
    *unmap = tern_job_create(a->unmap->packets, a->unmap->size, "evict");
    bool all = *unmap != NULL;
    for (uint32_t e = 0; e < a->proc->dev->kmd.engines; e++) {
        flush[e] = tern_job_create(a->flush[e]->packets, a->flush[e]->size, "evict");
        all = all && flush[e];
    }
    return all ? 0 : tern_error_memory("paging buffers of an eviction");
}

int tern_move_out(struct tern_allocation *a)
{
    struct tern_process *proc = a->proc;
    struct tern_device *dev = proc->dev;
    struct tern_job *unmap = NULL, *flush[TERN_ENGINES_MAX] = {0};
    const uint32_t resets = dev->tdr.adapter_resets;
    begin(a);
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_host_pages_make(a);
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    r = r ? r : copy_jobs(a, &unmap, flush);
    if (r) {
        goto end;
    }
    set_resident(a, false);
    hold_users(a);
    while (on_engine(a) && !dev->lost) {
        dev->frees_waiters++;
        pthread_cond_wait(&dev->changed, &dev->lock);
        dev->frees_waiters--;
    }
    r = tern_paging_run_job(proc, unmap);
    unmap = NULL;
    r = r ? r : tern_paging_run_all(dev, flush);
    if (r && !dev->lost && resets == dev->tdr.adapter_resets) { /* some engine may still reach the pages */
        a->failed = true;
        set_resident(a, true);
        fail(proc, "evicted");
        goto end;
    }
    if (copy_all(a, false)) { /* it is not read again */
        all_on_host(a);
    }
    dev->pager.evicted += a->pages;
    tern_map_give_pages(a);
    r = 0;
end:
    free_jobs(unmap, flush);
    done(a);
    return r;
}

/* --------------------------------------------------------------- to the device */

int tern_move_in(struct tern_allocation *a)
{
    struct tern_process *proc = a->proc;
    struct tern_device *dev = proc->dev;
    struct tern_paging in = {0}, out = {0};
    uint32_t new_tables[NEW_TABLE_WORDS];
    struct tern_job *map = NULL, *unmap = NULL;
    const uint32_t resets = dev->tdr.adapter_resets;
    begin(a);
    int r = tern_process_check(proc);
    r = r ? r : tern_map_prepare(a, &in, &out, new_tables);
    if (r) {
        goto end;
    }
    map = tern_job_create(in.words, in.size, "page in");
    unmap = tern_job_create(out.words, out.size, "unmap");
    if (!map || !unmap) {
        tern_map_undo(a, new_tables);
        r = tern_error_memory("paging buffers of an allocation that is to be resident");
        goto end;
    }
    r = a->host ? copy_all(a, true) : 0; /* before work can reach the pages, which hold other data */
    if (r) {
        all_on_host(a);
        tern_map_undo(a, new_tables);
        goto end;
    }
    r = tern_paging_run_job(proc, map);
    map = NULL;
    while (all_on_device(a) && copy_all(a, true) == 0) {
    }
    tern_job_free(a->unmap);
    a->unmap = unmap;
    unmap = NULL;
    set_resident(a, true);
    if (r && !dev->lost && resets == dev->tdr.adapter_resets) {
        a->failed = true;
        fail(proc, "brought in");
    }
    dev->pager.brought += a->pages;
end:
    tern_job_free(map);
    tern_job_free(unmap);
    tern_paging_free(&in);
    tern_paging_free(&out);
    done(a);
    return r;
}
