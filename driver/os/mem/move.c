/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Moves blocks between device and host (mem.h). Steps that can fail come first: host memory and paging buffers
 * are made before anything changes. A block moves in all processes that map its memory. A process that is killed or in
 * error meanwhile waits for the end of the move. The copy is skipped if no other process maps the memory.
 *
 * Locks: functions require dev->lock. Copies release it and hold dev->hal_lock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/job/job.h"
#include "os/mem/mem.h"

/** Puts the process in error because its tables may be wrong, so that no more work uses them. */
static void fail(struct tern_process *proc, const char *what)
{
    struct tern_fault f = {.code = TERN_FAULT_DEVICE};
    snprintf(f.message, sizeof f.message, "process '%.40s': memory could not be %s: %.200s", proc->name, what,
             tern_last_error());
    tern_process_fail(proc, &f);
}

/** Copies the contiguous pages of the block from `page` on, *count of them, to the device (`in`) or to the host.
 *  Requires dev->hal_lock, not dev->lock. Errors of the hal. */
static int copy_run(struct tern_block *b, bool in, uint32_t page, uint32_t *count)
{
    tern_assert_held(&b->m->dev->hal_lock);
    struct tern_device *dev = b->m->dev;
    uint64_t row;
    const uint64_t at = tern_block_physical(b, (uint64_t)page * TERN_PAGE, &row);
    uint32_t n = (uint32_t)(row / TERN_PAGE);
    uint8_t *const host = b->host + (uint64_t)page * TERN_PAGE;
    const struct tern_iovec piece = {at, host, (uint64_t)n * TERN_PAGE};
    uint32_t none[TERN_PAGES_SPAN / 32] = {0};
    int r = in ? tern_device_write(dev, &piece, 1) : tern_device_read(dev, at, host, piece.size);
    if (!r && !in) {
        r = tern_dirty_query(dev, at, n, false, page, b->written);
    /* clears the dirty bits that the copy set: b->written has those of the block */
    } else if (!r && dev->info.dirty_page_bytes == TERN_PAGE) {
        r = tern_dirty_query(dev, at, n, true, 0, none);
    }
    *count = n;
    return r;
}

/** True: a process that was not killed maps the memory. */
static bool wanted(const struct tern_memory *m)
{
    TERN_LIST_EACH(node, &m->mappings)
    {
        if (!TERN_LIST_ENTRY(node, struct tern_allocation, mapping)->proc->killed) {
            return true;
        }
    }
    return false;
}

/** Copies the block. Releases dev->lock meanwhile. -EIO: no process needs the bytes, or the device is lost. */
static TERN_LOCK_HANDED int copy(struct tern_block *b, bool in)
{
    struct tern_device *dev = b->m->dev;
    tern_assert_held(&dev->lock);
    if (!wanted(b->m)) {
        return tern_error(-EIO, "the process was killed");
    }
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    int r = 0;
    for (uint32_t done = 0, n; !r && done < b->pages; done += n) {
        r = copy_run(b, in, done, &n);
    }
    b->on_host = r ? b->on_host : !in;
    b->changes++;
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    if (r) {
        tern_device_lose(dev, tern_last_error());
    }
    return r;
}

/** Makes host access use the bytes on the host. Releases dev->lock meanwhile. */
static TERN_LOCK_HANDED void all_on_host(struct tern_block *b)
{
    struct tern_device *dev = b->m->dev;
    tern_assert_held(&dev->lock);
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    b->on_host = true;
    b->changes++;
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
}

/** Makes host access use the device pages, and frees the bytes on the host. Releases dev->lock meanwhile. Returns 1
 *  without a change if the host has written bytes that have to be copied first, else 0. */
static TERN_LOCK_HANDED int all_on_device(struct tern_block *b)
{
    struct tern_device *dev = b->m->dev;
    tern_assert_held(&dev->lock);
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    const int more = b->host && b->on_host;
    if (!more) {
        b->on_host = false;
        b->changes++;
        tern_block_host_set(b, NULL);
    }
    tern_ticket_unlock(&dev->hal_lock);
    return more;
}

/* --------------------------------------------------------------------- mappings */

/** The work of a move in one process. */
struct part {
    struct tern_allocation *a;
    struct tern_process *proc;
    /* the process's entries are not changed: they may be wrong, or its free has begun, and none of its work runs */
    bool skip;
    struct tern_new_tables tables;
    struct tern_paging line;
    struct tern_job *job, *flush[TERN_ENGINES_MAX];
};

struct move {
    struct tern_block *b;
    uint32_t n;
    struct part part[];
};

/** Begins a move. Until its end no mapping of the memory begins or ends, and no process that maps it ends. NULL: no
 *  memory. */
static struct move *begin(struct tern_block *b)
{
    struct tern_memory *m = b->m;
    struct move *v = calloc(1, sizeof *v + m->mapping_count * sizeof v->part[0]);
    if (!v) {
        tern_error_memory("a move");
        return NULL;
    }
    v->b = b;
    m->moving = true;
    TERN_LIST_EACH(node, &m->mappings)
    {
        struct part *p = &v->part[v->n++];
        p->a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        p->proc = p->a->proc;
        p->skip = p->a->failed || p->a->begun;
        p->proc->making++;
    }
    return v;
}

/** Ends a move, and begins the frees that it delayed. */
static void end(struct move *v)
{
    struct tern_device *dev = v->b->m->dev;
    v->b->m->moving = false;
    for (uint32_t i = 0; i < v->n; i++) {
        struct part *p = &v->part[i];
        tern_paging_free(&p->line);
        tern_job_free(p->job);
        for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
            tern_job_free(p->flush[e]);
        }
        tern_retire_look(p->proc);
        tern_process_leave(p->proc);
    }
    pthread_cond_broadcast(&dev->changed);
    free(v);
}

/** Paging buffers may not have run to their ends: the pages are never given to others, and all processes are in
 *  error. */
static void fail_all(struct move *v, const char *what)
{
    v->b->m->failed = true;
    for (uint32_t i = 0; i < v->n; i++) {
        v->part[i].a->failed = true;
        fail(v->part[i].proc, what);
    }
}

/* ----------------------------------------------------------------- to the host */

/** Preempts work that needs the block, and holds it. */
static void hold_users(const struct tern_allocation *a, const struct tern_block *b)
{
    struct tern_process *proc = a->proc;
    struct tern_sched *s = &proc->dev->sched;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const struct tern_sched_engine *e = &s->engine[c->sched.engine];
        bool there = false;
        for (uint32_t i = 0; i < e->n; i++) {
            there = there || (e->inflight[i].context == &c->sched && tern_demand_needs(e->inflight[i].job, a, b));
        }
        tern_sched_context_recheck(s, &c->sched, there);
    }
    tern_device_kick(proc->dev);
}

static bool on_engine(const struct tern_allocation *a, const struct tern_block *b)
{
    const struct tern_process *proc = a->proc;
    const struct tern_device *dev = proc->dev;
    for (uint32_t k = 0; k < dev->kmd.engines; k++) {
        const struct tern_sched_engine *e = &dev->sched.engine[k];
        for (uint32_t i = 0; i < e->n; i++) {
            const struct tern_sched_context *c = e->inflight[i].context;
            if (c->process == &proc->sched && tern_demand_needs(e->inflight[i].job, a, b)) {
                return true;
            }
        }
    }
    return false;
}

/** Makes, for each process, the paging buffers that clear the block's entries and flush all engines. -ENOMEM. */
static int make_jobs(struct move *v)
{
    const struct tern_block *b = v->b;
    bool all = true;
    for (uint32_t i = 0; all && i < v->n; i++) {
        struct part *p = &v->part[i];
        struct tern_paging clear = {0}, forget = {0};
        tern_map_leave(p->a, b, &clear);
        tern_paging_flush(&clear, p->proc->root, p->a->va + b->first, b->pages);
        tern_paging_flush(&forget, p->proc->root, p->a->va + b->first, b->pages);
        all = !tern_paging_error(&clear) && !tern_paging_error(&forget);
        p->job = all ? tern_job_create(clear.words, clear.size, "evict") : NULL;
        all = p->job != NULL;
        for (uint32_t e = 0; all && e < b->m->dev->kmd.engines; e++) {
            p->flush[e] = tern_job_create(forget.words, forget.size, "evict");
            all = p->flush[e] != NULL;
        }
        tern_paging_free(&clear);
        tern_paging_free(&forget);
    }
    return all ? 0 : tern_error_memory("paging buffers of an eviction");
}

static bool in_use(const struct move *v)
{
    bool on = false;
    for (uint32_t i = 0; i < v->n; i++) {
        on = on || on_engine(v->part[i].a, v->b);
    }
    return on;
}

/** Runs the buffers of make_jobs, one process after the other. -EIO. */
static int unmap(struct move *v)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < v->n; i++) {
        struct part *p = &v->part[i];
        if (!p->skip) {
            r = tern_paging_run_job(p->proc, p->job);
            p->job = NULL;
            if (r == 0) {
                r = tern_paging_run_all(v->b->m->dev, p->flush);
            }
        }
    }
    return r;
}

TERN_LOCK_HANDED int tern_move_out(struct tern_block *b)
{
    struct tern_device *dev = b->m->dev;
    tern_assert_held(&dev->lock);
    const uint32_t resets = dev->tdr.adapter_resets;
    struct move *v = begin(b);
    if (!v) {
        return -ENOMEM;
    }
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_block_host_make(b);
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    if (r == 0) {
        r = make_jobs(v);
    }
    if (r) {
        goto end;
    }
    tern_residency_set(b, false);
    for (uint32_t i = 0; i < v->n; i++) {
        hold_users(v->part[i].a, b);
    }
    while (in_use(v) && !dev->lost) {
        dev->frees_waiters++;
        pthread_cond_wait(&dev->changed, &dev->lock);
        dev->frees_waiters--;
    }
    r = unmap(v);
    if (r && !dev->lost && resets == dev->tdr.adapter_resets) {
        fail_all(v, "evicted");
        tern_residency_set(b, true);
        goto end;
    }
    if (copy(b, false)) { /* the bytes are lost with the processes that used them */
        all_on_host(b);
    }
    dev->pager.evicted += b->pages;
    tern_block_give(b, true);
    r = 0;
end:
    end(v);
    return r;
}

/* --------------------------------------------------------------- to the device */

/** -EIO, with a sentence: no process that maps the memory can work any more. */
static int check(const struct move *v)
{
    int r = -EIO;
    for (uint32_t i = 0; r && i < v->n; i++) {
        r = v->part[i].skip ? r : tern_process_check(v->part[i].proc);
    }
    return r;
}

/** Takes pages and tables, and makes the buffers that map the block. The first buffer that runs also scrubs the
 *  pages. -ENOSPC, -ENOMEM: the caller calls undo. */
static int prepare(struct move *v)
{
    struct tern_paging in = {0};
    int r = tern_map_take(v->b, &in);
    if (r) {
        tern_paging_free(&in);
        return r;
    }
    for (uint32_t i = 0; !r && i < v->n; i++) {
        struct part *p = &v->part[i];
        if (!p->skip) {
            r = tern_map_enter(p->a, v->b, &in, &p->line, &p->tables);
            p->job = r ? NULL : tern_job_create(in.words, in.size, "page in");
            if (r == 0 && !p->job) {
                r = tern_error_memory("a paging buffer of memory that is to be resident");
            }
            in.size = 0;
        }
    }
    tern_paging_free(&in);
    return r;
}

static void undo(struct move *v)
{
    tern_block_give(v->b, false);
    for (uint32_t i = 0; i < v->n; i++) {
        tern_map_undo(v->part[i].proc, &v->part[i].tables);
    }
}

/** Runs the buffers of prepare, one process after the other. -EIO. */
static int map(struct move *v)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < v->n; i++) {
        struct part *p = &v->part[i];
        if (!p->skip) {
            r = tern_paging_run_job(p->proc, p->job);
            p->job = NULL;
        }
    }
    return r;
}

int tern_move_in(struct tern_block *b)
{
    tern_assert_held(&b->m->dev->lock);
    struct tern_device *dev = b->m->dev;
    const uint32_t resets = dev->tdr.adapter_resets;
    struct move *v = begin(b);
    if (!v) {
        return -ENOMEM;
    }
    int r = check(v);
    if (r) {
        goto end;
    }
    r = prepare(v);
    if (r) {
        undo(v);
        goto end;
    }
    r = b->host ? copy(b, true) : 0; /* the copy precedes the mapping, because the pages hold old data */
    if (r) {
        all_on_host(b);
        undo(v);
        goto end;
    }
    r = map(v);
    while (all_on_device(b) && copy(b, true) == 0) {
    }
    for (uint32_t i = 0; i < v->n; i++) {
        if (!v->part[i].skip) {
            tern_map_retire_line(v->part[i].a, b, &v->part[i].line);
        }
    }
    if (r && !dev->lost && resets == dev->tdr.adapter_resets) {
        fail_all(v, "brought in");
    }
    tern_residency_set(b, true);
    dev->pager.brought += b->pages;
end:
    end(v);
    return r;
}
