/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Captures suspended processes as an image. Everything but the save areas is copied in one critical section of
 * dev->lock, so later changes of jobs and allocations do not matter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/state/internal.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/proc/proc.h"

struct capture {
    struct tern_image *image;
    struct tern_process *const *procs;
    uint32_t n;
    bool work; /* captures contexts, and destroyed allocations that work still uses */
};

/* --------------------------------------------------------------------- at rest */

/** True: all jobs that have ended were reported, and all frees that have begun have ended. */
static bool at_rest(const struct tern_process *proc)
{
    uint32_t jobs = 0, live = 0, frees = 0;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        jobs += (uint32_t)(c->submitted - c->ended);
        TERN_LIST_EACH(job, &c->sched.jobs)
        {
            live++;
        }
    }
    TERN_LIST_EACH(node, &proc->retired)
    {
        frees++;
    }
    return jobs == live && frees == proc->retiring;
}

static int wait_for_rest(const struct capture *v)
{
    struct tern_device *dev = v->procs[0]->dev;
    tern_assert_held(&dev->lock);
    for (uint32_t i = 0; i < v->n; i++) {
        while (!at_rest(v->procs[i])) {
            dev->frees_waiters++;
            pthread_cond_wait(&dev->changed, &dev->lock);
            dev->frees_waiters--;
        }
        if (v->procs[i]->killed || dev->lost) {
            return tern_process_check(v->procs[i]);
        }
        if (!v->procs[i]->suspended) {
            return tern_error(-EBUSY, "process '%s' was resumed while it is being saved", v->procs[i]->name);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------------- memory */

static bool is_among(const struct capture *v, const struct tern_process *proc)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->procs[i] == proc) {
            return true;
        }
    }
    return false;
}

static int check_mappings(const struct capture *v, const struct tern_memory *m)
{
    TERN_LIST_EACH(node, &m->mappings)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        if (!is_among(v, a->proc)) {
            return tern_error(-EBUSY, "memory that is to be saved is shared with process '%s', which is not: save "
                              "that process as well", a->proc->name);
        }
        if (a->failed || m->failed) {
            return tern_error(-EIO, "some engine may still reach memory of process '%s'", a->proc->name);
        }
    }
    return 0;
}

static int capture_committed(struct tern_image_memory *out, const struct tern_memory *m)
{
    out->blocks = m->block_count;
    out->committed = calloc((m->block_count + 31) / 32, sizeof *out->committed);
    if (!out->committed) {
        return tern_error_memory("an image");
    }
    for (uint32_t i = 0; i < m->block_count; i++) {
        out->committed[i / 32] |= (uint32_t)m->blocks[i].committed << i % 32;
    }
    return 0;
}

/** Captures a memory with its first mapping, and returns its index. */
static int capture_memory(struct capture *v, struct tern_memory *m, uint32_t *index)
{
    struct tern_image *image = v->image;
    for (uint32_t i = 0; m->mapping_count > 1 && i < image->memory_count; i++) {
        if (image->memories[i].real == m) {
            *index = i;
            return 0;
        }
    }
    int r = check_mappings(v, m);
    if (r) {
        return r;
    }
    if ((image->memory_count & (image->memory_count - 1)) == 0) { /* the array has room for the next power of two */
        const size_t room = image->memory_count ? 2 * (size_t)image->memory_count : 1;
        struct tern_image_memory *more = realloc(image->memories, room * sizeof *more);
        if (!more) {
            return tern_error_memory("an image");
        }
        image->memories = more;
    }
    struct tern_image_memory *out = &image->memories[image->memory_count];
    *out = (struct tern_image_memory){.slot = image->memory_count, .number = m->number, .pages = m->pages,
                                      .sparse = m->sparse, .real = m,
                                      .stays = !m->movable && m->partition->host};
    m->refs++; /* running processes may destroy the memory after this */
    *index = image->memory_count++;
    image->slots = image->memory_count;
    image->device.resident += out->stays || m->pins ? m->pages : 0;
    image->device.committed += out->stays ? 0 : m->sparse ? m->committed : m->pages;
    image->device.page_requests = image->device.page_requests || m->sparse;
    return m->sparse ? capture_committed(out, m) : 0;
}

static bool is_fence(const struct tern_allocation *a)
{
    TERN_LIST_EACH(node, &a->proc->fences)
    {
        if (TERN_LIST_ENTRY(node, struct tern_fence, node)->page == a) {
            return true;
        }
    }
    return false;
}

static int capture_exports(struct tern_image_allocation *out, const struct tern_allocation *a)
{
    out->export_count = tern_share_count(a);
    out->exports = out->export_count ? calloc(out->export_count, sizeof *out->exports) : NULL;
    for (uint32_t i = 0; out->exports && i < out->export_count; i++) {
        out->exports[i].access = tern_share_get(a, i, out->exports[i].handle);
    }
    return out->export_count && !out->exports ? tern_error_memory("an image") : 0;
}

static int capture_allocation(struct capture *v, const struct tern_allocation *a, struct tern_image_allocation *out)
{
    *out = (struct tern_image_allocation){.va = a->va, .flags = a->flags, .pins = a->pins, .born = a->born,
                                          .imported = a->imported, .fence = is_fence(a), .retired = a->asked != 0,
                                          .retire_seq = a->retire_seq, .asked = a->asked};
    const int r = capture_memory(v, a->mem, &out->memory);
    return r ? r : capture_exports(out, a);
}

/** Captures the allocations of the user. The driver's own follow from the contexts. */
static int capture_allocations(struct capture *v, struct tern_image_process *out, const struct tern_process *proc)
{
    const struct tern_vaspace *va = &proc->va;
    out->allocations = calloc(va->n ? va->n : 1, sizeof *out->allocations);
    if (!out->allocations) {
        return tern_error_memory("an image");
    }
    int r = 0;
    for (uint32_t i = 0; !r && i < va->n; i++) {
        const struct tern_allocation *a = va->range[i].owner;
        const bool there = v->work ? !tern_list_empty(&a->node) : !a->asked && !tern_list_empty(&a->node);
        if (!a->internal && there) {
            r = capture_allocation(v, a, &out->allocations[out->allocation_count++]);
        }
    }
    return r;
}

/* ------------------------------------------------------------------------ work */

static int capture_job(const struct tern_process *proc, const struct tern_job *job, struct tern_image_job *out)
{
    const uint64_t shift = proc->shift;
    *out = (struct tern_image_job){.fence = job->fence, .seq = job->seq, .submitted = job->submitted + shift,
                                   .begin = job->begun ? job->begin + shift : 0,
                                   .end = job->begun ? job->end + shift : 0, .cycles = job->cycles, .sent = job->sent,
                                   .begun = job->begun, .null = job->null, .asks = job->needs != NULL,
                                   .last = job->last};
    out->job = tern_job_create_data(job->packets, job->size, job->packets + job->size / 4, job->data_size, job->label);
    return out->job ? tern_image_set(job->set, &out->set) : tern_error_memory("an image");
}

static int capture_jobs(struct tern_image_context *out, const struct tern_context *c)
{
    const uint32_t n = (uint32_t)(c->submitted - c->ended);
    int r = 0;
    out->jobs = calloc(n ? n : 1, sizeof *out->jobs);
    if (!out->jobs) {
        return tern_error_memory("an image");
    }
    TERN_LIST_EACH(node, &c->sched.jobs)
    {
        if (r == 0) {
            r = capture_job(c->proc, TERN_LIST_ENTRY(node, struct tern_job, node), &out->jobs[out->job_count++]);
        }
    }
    return r;
}

static void capture_chunk(struct tern_image_context *out, const struct tern_context *c, const struct tern_chunk *s)
{
    struct tern_image_chunk *to = &out->chunk[out->chunk_count++];
    *to = (struct tern_image_chunk){.seq = s->seq, .save_cycles = s->save_cycles, .start = s->start,
                                    .size = s->size, .box = s->box, .more = s->more, .resume_at = s->resume_at,
                                    .preempted_on = s->preempted_on,
                                    .preemptions = s->preemptions, .resume = s->resume};
    TERN_LIST_EACH(node, &c->sched.jobs)
    {
        if (TERN_LIST_ENTRY(node, struct tern_job, node) == s->job) {
            break;
        }
        to->job++;
    }
}

static int capture_context(struct capture *v, struct tern_context *c, struct tern_image_context *out)
{
    const struct tern_sched_context *s = &c->sched;
    struct tern_image_device *need = &v->image->device;
    *out = (struct tern_image_context){
        .id = c->id, .engine = s->affinity, .weight = s->weight, .band = s->base_band, .arena = c->arena->va,
        .data = c->data ? c->data->va : 0, .submitted = c->submitted, .ended = c->ended, .first_bad = c->first_bad,
        .chunks = s->chunks, .estimate = s->estimate, .stats = s->stats, .real = c};
    snprintf(out->name, sizeof out->name, "%s", c->name);
    for (uint32_t i = 0; i < s->requeued_count; i++) {
        capture_chunk(out, c, &s->requeued[i]);
    }
    if (s->affinity >= 0 && (uint32_t)s->affinity >= need->engines) {
        need->engines = (uint32_t)s->affinity + 1;
    }
    need->resident += c->arena->pages + (c->data ? c->data->pages : 0) + c->proc->dev->kmd.save_pages;
    const int r = tern_image_set(c->set, &out->set);
    return r ? r : capture_jobs(out, c);
}

static int capture_contexts(struct capture *v, struct tern_image_process *out, const struct tern_process *proc)
{
    uint32_t n = 0;
    int r = 0;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        n++;
    }
    out->contexts = calloc(n ? n : 1, sizeof *out->contexts);
    if (!out->contexts) {
        return tern_error_memory("an image");
    }
    TERN_LIST_EACH(node, &proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        if (r == 0) {
            r = capture_context(v, c, &out->contexts[out->context_count++]);
        }
    }
    return r;
}

static int capture_process(struct capture *v, struct tern_process *proc, struct tern_image_process *out)
{
    *out = (struct tern_image_process){.id = proc->id, .error = proc->sched.error, .fault = proc->fault,
                                       .seq = proc->seq, .real = proc};
    snprintf(out->name, sizeof out->name, "%s", proc->name);
    const int r = capture_allocations(v, out, proc);
    return r || !v->work ? r : capture_contexts(v, out, proc);
}

/* ------------------------------------------------------------------ save areas */

static int read_save(struct tern_image_context *out)
{
    const struct tern_context *c = out->real;
    struct tern_kmd *kmd = &c->proc->dev->kmd;
    uint32_t *page = malloc(kmd->save_pages * sizeof *page);
    if (!page) {
        return tern_error_memory("an image");
    }
    tern_context_save_pages(c, page);
    int r = tern_save_read(kmd, page, &out->save);
    if (!r && !out->save.saved) {
        r = tern_error(-EPROTO, "context '%s' was preempted, and its context-save area is empty", c->name);
    }
    if (!r && out->save.lines) {
        out->state = malloc((size_t)out->save.lines * TERN_SAVE_LINE_BYTES);
        r = out->state ? tern_save_read_state(kmd, page, out->save.lines, out->state) : tern_error_memory("an image");
    }
    free(page);
    return r;
}

static int read_saves(struct tern_device *dev, const struct tern_image *image)
{
    int r = 0;
    tern_ticket_lock(&dev->hal_lock);
    for (uint32_t i = 0; i < image->process_count; i++) {
        for (uint32_t k = 0; !r && k < image->processes[i].context_count; k++) {
            struct tern_image_context *c = &image->processes[i].contexts[k];
            r = c->chunk_count && c->chunk[0].resume ? read_save(c) : 0;
        }
    }
    tern_ticket_unlock(&dev->hal_lock);
    return r;
}

static void describe(const struct tern_device *dev, struct tern_image_device *out)
{
    const uint64_t seen = atomic_load(&dev->now);
    *out = (struct tern_image_device){.spec = TERN_SPEC_HASH, .lanes = dev->kmd.lanes, .warps = dev->kmd.warps,
                                      .local_bytes = dev->kmd.local_bytes, .executors = dev->kmd.executors,
                                      .granularity = dev->kmd.granularity,
                                      .time = seen > dev->sched.now ? seen : dev->sched.now};
}

int tern_capture(struct tern_process *const *procs, uint32_t n, bool work, struct tern_image **out)
{
    struct tern_device *dev = procs[0]->dev;
    struct capture v = {.procs = procs, .n = n, .work = work};
    uint64_t shift = 0;
    v.image = calloc(1, sizeof *v.image);
    if (!v.image) {
        return tern_error_memory("an image");
    }
    v.image->captured = dev;
    v.image->processes = calloc(n, sizeof *v.image->processes);
    int r = v.image->processes ? 0 : tern_error_memory("an image");
    pthread_mutex_lock(&dev->lock);
    if (r == 0 && work) {
        r = wait_for_rest(&v);
    }
    describe(dev, &v.image->device);
    for (uint32_t i = 0; !r && i < n; i++) {
        shift = procs[i]->shift > shift ? procs[i]->shift : shift;
        r = capture_process(&v, procs[i], &v.image->processes[v.image->process_count++]);
    }
    pthread_mutex_unlock(&dev->lock);
    v.image->device.time += shift;
    if (r == 0) {
        r = read_saves(dev, v.image);
    }
    if (r) {
        tern_image_free(v.image);
    } else {
        *out = v.image;
    }
    return r;
}
