/* SPDX-License-Identifier: Apache-2.0 */
/** Trace and statistics of a device (observe.h). */
#include "os/observe/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/observe/stats_file.h"
#include "os/observe/trace.h"

struct tern_observer {
    struct tern_trace *trace;      /* NULL: none */
    struct tern_stats_file *stats; /* NULL: none */
    uint64_t due;  /* earliest time of the next publication, in ns of CLOCK_MONOTONIC */
    uint64_t free; /* memory_free as it was last published */
    bool stale;    /* there may be changes that have not been published */
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------ trace */

static struct tern_trace_ctx trace_ctx(const struct tern_device *dev, const struct tern_sched_context *s, char name[64])
{
    struct tern_trace_ctx w = {.context = name, .weight = s->weight, .inflight = s->inflight};
    if (s->process->system) {
        w.system = true;
        w.process = "driver";
        w.context_id = (uint32_t)(s - dev->paging);
        snprintf(name, 64, "paging %u", w.context_id);
    } else {
        const struct tern_context *c = TERN_CONTEXT_OF(s);
        w.process = c->proc->shown;
        w.process_id = c->proc->id;
        w.context_id = c->id;
        snprintf(name, 64, "%.40s (%u)", c->name, c->id);
    }
    return w;
}

/** The label of the context's job with this fence id. The job has not ended, and mostly is the first. */
static const char *label_of(const struct tern_sched_context *s, uint64_t fence)
{
    TERN_LIST_EACH(node, &s->jobs)
    {
        const struct tern_job *j = TERN_LIST_ENTRY(node, struct tern_job, node);
        if (j->fence == fence) {
            return j->label;
        }
    }
    return NULL;
}

void tern_observer_event(void *user, const struct tern_sched_event *e)
{
    struct tern_device *dev = user;
    struct tern_observer *o = dev->observer;
    char name[64];
    if (!o) {
        return;
    }
    o->stale = true;
    if (!o->trace) {
        return;
    }
    if (!e->context) {
        tern_trace_event(o->trace, e, NULL, NULL);
        return;
    }
    const struct tern_trace_ctx w = trace_ctx(dev, e->context, name);
    const bool youngest = e->kind == TERN_EV_SUBMIT && !tern_list_empty(&e->context->jobs);
    tern_trace_event(o->trace, e, &w, youngest ? TERN_LIST_ENTRY(e->context->jobs.prev, struct tern_job, node)->label
                                               : label_of(e->context, e->job));
}

void tern_observer_ended(struct tern_device *dev, const struct tern_job *job)
{
    tern_assert_held(&dev->lock);
    char name[64];
    if (dev->observer && dev->observer->trace) {
        const struct tern_trace_ctx w = trace_ctx(dev, job->context, name);
        tern_trace_ended(dev->observer->trace, &w, job->fence, (int)job->result, dev->sched.now);
        if (!tern_sched_pending(&dev->sched)) { /* the program may end, without a close, once it knows of the end */
            tern_trace_idle(dev->observer->trace);
        }
    }
}

/* ------------------------------------------------------------------ statistics */

static void fill_engine(const struct tern_sched_engine *e, struct tern_stats_engine *out)
{
    *out = (struct tern_stats_engine){.busy = e->busy, .preemptions = e->preemptions, .resets = e->resets,
                                      .depth = e->n};
    if (e->n) {
        const struct tern_chunk *front = &e->inflight[0];
        const bool system = front->context->process->system;
        out->context = system ? 0 : TERN_CONTEXT_OF(front->context)->id;
        snprintf(out->label, sizeof out->label, "%.31s",
                 system ? "paging" : front->job->label ? front->job->label : "");
    }
}

static uint32_t state_of(const struct tern_sched_context *s)
{
    if (s->inflight) {
        return TERN_STATS_RUNNING;
    }
    switch (s->state) {
    case TERN_SCHED_READY:
        return TERN_STATS_QUEUED;
    case TERN_SCHED_WAITING:
        return TERN_STATS_WAITING;
    case TERN_SCHED_SUSPENDED:
        return TERN_STATS_HELD;
    case TERN_SCHED_ABSENT:
        return TERN_STATS_PAGING;
    case TERN_SCHED_CAPPED:
        return TERN_STATS_SLOWED;
    default:
        return TERN_STATS_IDLE;
    }
}

static void fill_context(const struct tern_context *c, struct tern_stats_context *out)
{
    const struct tern_sched_stats *s = &c->sched.stats;
    *out = (struct tern_stats_context){
        .id = c->id, .engine = c->sched.engine, .band = c->sched.band, .weight = c->sched.weight,
        .state = state_of(&c->sched), .process = c->proc->id,
        .partition = c->proc->partition->place, .queued = c->submitted - c->ended,
        .submitted = s->submitted, .completed = s->completed, .aborted = s->aborted, .preempted = s->preempted,
        .cycles = s->cycles, .waited = s->waited, .longest_wait = s->longest_wait,
        .page_requests = s->page_requests, .cycles_here = s->cycles - c->sched.cycles_brought,
    };
    memcpy(out->engine_cycles, s->engine_cycles, sizeof s->engine_cycles);
    snprintf(out->name, sizeof out->name, "%.31s", c->name);
    snprintf(out->process_name, sizeof out->process_name, "%.31s", c->proc->shown);
}

static uint64_t free_bytes(const struct tern_device *dev)
{
    uint64_t pages = 0;
    TERN_LIST_EACH(node, &dev->partitions)
    {
        pages += tern_pages_free_count(TERN_LIST_ENTRY(node, struct tern_partition, node)->pages);
    }
    return pages * 4096;
}

static void fill_partitions(const struct tern_device *dev, struct tern_stats *s)
{
    s->partitions = s->listed_partitions = 0;
    TERN_LIST_EACH(node, &dev->partitions)
    {
        struct tern_partition *p = TERN_LIST_ENTRY(node, struct tern_partition, node);
        p->place = s->partitions++;
        if (p->place < TERN_STATS_PARTITIONS) {
            struct tern_stats_partition *out = &s->partition[s->listed_partitions++];
            *out = (struct tern_stats_partition){
                .share = p->sched->share, .processes = p->process_count, .cycles = p->sched->cycles,
                .memory_bytes = (uint64_t)p->count * TERN_PAGE,
                .memory_free = (uint64_t)tern_pages_free_count(p->pages) * TERN_PAGE,
            };
            _Static_assert(sizeof out->name == sizeof p->name, "a name is copied as it is");
            memcpy(out->name, p->name, sizeof out->name);
        }
    }
}

static void publish(struct tern_device *dev, uint64_t now)
{
    struct tern_observer *o = dev->observer;
    struct tern_stats *s = tern_stats_begin(o->stats);
    s->time = atomic_load(&dev->now);
    s->host_ns = now;
    for (uint32_t e = 0; e < s->engines; e++) {
        fill_engine(&dev->sched.engine[e], &s->engine[e]);
    }
    s->memory_free = free_bytes(dev);
    s->page_requests = dev->pager.requests;
    s->brought_bytes = dev->pager.brought * 4096;
    s->evicted_bytes = dev->pager.evicted * 4096;
    s->processes = dev->process_count;
    s->contexts = s->listed = 0;
    fill_partitions(dev, s);
    TERN_LIST_EACH(p, &dev->processes)
    {
        TERN_LIST_EACH(node, &TERN_LIST_ENTRY(p, struct tern_process, node)->contexts)
        {
            if (s->contexts++ < TERN_STATS_CONTEXTS) {
                fill_context(TERN_LIST_ENTRY(node, struct tern_context, node), &s->context[s->listed++]);
            }
        }
    }
    tern_stats_end(o->stats);
    o->due = now + TERN_PUBLISH_NS;
    o->stale = false;
    o->free = s->memory_free;
}

void tern_observer_look(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    const struct tern_observer *o = dev->observer;
    const uint64_t now = o && o->stats ? clock_ns() : 0;
    if (now && now >= o->due) {
        publish(dev, now);
    }
}

void tern_observer_changed(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    if (dev->observer) {
        dev->observer->stale = true;
        pthread_cond_signal(&dev->wake); /* a sleep without a deadline gets one */
    }
}

bool tern_observer_stale(const struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    const struct tern_observer *o = dev->observer;
    return o && o->stats && (o->stale || o->free != free_bytes(dev));
}

/* ------------------------------------------------------------------ life */

void tern_observer_open(struct tern_device *dev)
{
    char title[96];
    snprintf(title, sizeof title, "engines: %.16s, %.63s", dev->info.backend, dev->info.config);
    struct tern_trace *trace = tern_trace_open(&(struct tern_trace_device){title, dev->kmd.engines,
                                                                           dev->info.clock_hz});
    struct tern_stats_file *stats = tern_stats_file_create();
    struct tern_observer *o = trace || stats ? calloc(1, sizeof *o) : NULL;
    if (!o) {
        tern_trace_close(trace);
        tern_stats_file_destroy(stats);
        return;
    }
    *o = (struct tern_observer){.trace = trace, .stats = stats};
    dev->observer = o;
    if (o->stats) {
        struct tern_stats *s = tern_stats_begin(o->stats);
        s->clock_hz = dev->info.clock_hz;
        s->memory_bytes = dev->info.memory_bytes;
        s->engines = dev->kmd.engines < TERN_STATS_ENGINES ? dev->kmd.engines : TERN_STATS_ENGINES;
        snprintf(s->backend, sizeof s->backend, "%.15s", dev->info.backend);
        snprintf(s->config, sizeof s->config, "%.63s", dev->info.config);
        tern_stats_end(o->stats);
    }
}

void tern_observer_close(struct tern_device *dev)
{
    if (dev->observer) {
        tern_trace_close(dev->observer->trace);
        tern_stats_file_destroy(dev->observer->stats);
        free(dev->observer);
        dev->observer = NULL;
    }
}

void tern_observer_inherited(struct tern_device *dev)
{
    if (dev->observer) {
        tern_stats_file_inherited(dev->observer->stats);
    }
}
