/* SPDX-License-Identifier: Apache-2.0 */
/** Contexts and submission. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "os/os.h"
#include "os/wait.h"

#define SUBMIT_MAX (1u << 20)
#define WEIGHT_DEFAULT 100u
#define WEIGHT_MAX 1000u

static uint32_t least_loaded(const struct tern_device *dev)
{
    uint32_t best = 0;
    for (uint32_t e = 1; e < dev->kmd.engines; e++) {
        best = dev->contexts_on[e] < dev->contexts_on[best] ? e : best;
    }
    return best;
}

/** The context-save area, made empty by an engine. dev->lock held. */
static int make_save(struct tern_context *c)
{
    struct tern_device *dev = c->proc->dev;
    struct tern_paging p = {0};
    int r = tern_process_check(c->proc);
    if (r) {
        return r;
    }
    r = tern_retire_take(dev, dev->kmd.save_pages, "a context-save area", &c->save);
    if (r) {
        return r;
    }
    if (c->save.dirty) {
        tern_paging_scrub(&p, c->save.page, c->save.count);
    }
    tern_paging_context_init(&p, c->save.page);
    r = tern_paging_run(c->proc, &p, "context");
    tern_paging_free(&p);
    if (r) {
        c->save.dirty = true;
        tern_pages_give(dev->pages, &c->save);
    }
    return r;
}

int tern_context_create(struct tern_process *proc, const struct tern_context_desc *desc, struct tern_context **out)
{
    struct tern_device *dev = proc->dev;
    if (desc->engine < -1 || desc->engine >= (int32_t)dev->kmd.engines) {
        return tern_error(-EINVAL, "engine %d: the device has 0 to %u, or -1 for any", desc->engine, dev->kmd.engines - 1);
    }
    if (desc->weight > WEIGHT_MAX) {
        return tern_error(-EINVAL, "weight %u: 1 to %u, or 0 for %u", desc->weight, WEIGHT_MAX, WEIGHT_DEFAULT);
    }
    struct tern_context *c = calloc(1, sizeof *c);
    if (!c) {
        return tern_error_memory("a context");
    }
    c->proc = proc;
    c->completed = desc->completed;
    c->user = desc->user;
    snprintf(c->name, sizeof c->name, "%s", desc->name ? desc->name : "unnamed");
    struct tern_allocation_want arena = {
        .size = 2ull * TERN_SLOT_PAGES * TERN_PAGE, .flags = TERN_MEM_READ, .internal = true};
    int r = tern_allocation_make(proc, &arena, &c->arena);
    if (r) {
        free(c);
        return r;
    }
    pthread_mutex_lock(&dev->lock);
    r = make_save(c);
    if (r) {
        tern_retire(c->arena);
        free(c);
    } else {
        uint32_t engine = desc->engine < 0 ? least_loaded(dev) : (uint32_t)desc->engine;
        tern_sched_context_init(&c->sched, &proc->sched, engine, desc->weight ? desc->weight : WEIGHT_DEFAULT);
        tern_list_append(&proc->contexts, &c->node);
        c->id = ++dev->next_context;
        c->stats.engine = engine;
        dev->contexts_on[engine]++;
        proc->children++;
        *out = c;
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

void tern_context_destroy(struct tern_context *c)
{
    if (!c) {
        return;
    }
    struct tern_device *dev = c->proc->dev;
    pthread_mutex_lock(&dev->lock);
    while (c->ended != c->submitted) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    tern_list_remove(&c->node);
    dev->contexts_on[c->sched.engine]--;
    c->save.dirty = true;
    tern_pages_give(dev->pages, &c->save);
    tern_retire(c->arena);
    c->proc->children--;
    pthread_mutex_unlock(&dev->lock);
    free(c);
}

int tern_submit(struct tern_context *c, const void *packets, size_t size, const char *label, uint64_t *fence)
{
    struct tern_device *dev = c->proc->dev;
    if (size < TERN_PKT_LINE_BYTES || size > SUBMIT_MAX || size % TERN_PKT_LINE_BYTES) {
        return tern_error(-EINVAL, "a DMA buffer of %zu bytes: a multiple of 64, from 64 to %u, is needed", size, SUBMIT_MAX);
    }
    struct tern_job *job = tern_job_create(packets, (uint32_t)size, label);
    if (!job) {
        return tern_error_memory("a DMA buffer");
    }
    pthread_mutex_lock(&dev->lock);
    int r = tern_process_check(c->proc);
    if (!r) {
        job->fence = ++c->submitted;
        job->seq = ++c->proc->seq;
        job->submitted = atomic_load(&dev->now);
        c->stats.submitted++;
        if (fence) {
            *fence = job->fence;
        }
        tern_sched_submit(&dev->sched, &c->sched, job);
        tern_device_kick(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    if (r) {
        free(job);
    }
    return r;
}

int tern_wait(struct tern_context *c, uint64_t fence, int64_t timeout_ms)
{
    struct tern_device *dev = c->proc->dev;
    struct timespec until = tern_deadline(timeout_ms);
    int r = 0;
    pthread_mutex_lock(&dev->lock);
    if (fence > c->submitted) {
        r = tern_error(-EINVAL, "context '%s': fence %llu was never submitted, %llu is the last", c->name, (unsigned long long)fence,
                       (unsigned long long)c->submitted);
    }
    while (!r && c->ended < fence) {
        r = tern_wait_changed(dev, timeout_ms, &until);
    }
    if (r == -ETIMEDOUT) {
        tern_error(r, "context '%s': fence %llu has not ended after %lld ms", c->name, (unsigned long long)fence, (long long)timeout_ms);
    } else if (!r && c->first_bad && fence >= c->first_bad) {
        r = tern_error(-EIO, "%s", c->proc->fault.message);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

uint64_t tern_context_ended(struct tern_context *c)
{
    pthread_mutex_lock(&c->proc->dev->lock);
    uint64_t ended = c->ended;
    pthread_mutex_unlock(&c->proc->dev->lock);
    return ended;
}

void tern_context_query(struct tern_context *c, struct tern_context_stats *out)
{
    pthread_mutex_lock(&c->proc->dev->lock);
    *out = c->stats;
    pthread_mutex_unlock(&c->proc->dev->lock);
}
