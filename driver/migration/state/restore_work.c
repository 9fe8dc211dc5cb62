/* SPDX-License-Identifier: Apache-2.0 */
/** The work of restored processes: contexts, save areas, SW queues, and destroyed allocations that wait for jobs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/state/internal.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/proc/proc.h"

static int make_set(const struct tern_image_set *from, struct tern_set **out)
{
    if (!from->named) {
        *out = NULL;
        return 0;
    }
    struct tern_set *set = malloc(sizeof *set + from->count * sizeof set->address[0]);
    if (!set) {
        return tern_error_memory("a working set");
    }
    *set = (struct tern_set){.refs = 1, .count = from->count};
    if (from->count) {
        memcpy(set->address, from->address, from->count * sizeof set->address[0]);
    }
    *out = set;
    return 0;
}

/* -------------------------------------------------------------------- contexts */

static int write_save(struct tern_image_context *c)
{
    struct tern_device *dev = c->real->proc->dev;
    uint32_t *page = malloc(dev->kmd.save_pages * sizeof *page);
    if (!page) {
        return tern_error_memory("a context-save area");
    }
    tern_context_save_pages(c->real, page);
    tern_ticket_lock(&dev->hal_lock);
    const int r = tern_save_write(&dev->kmd, page, &c->save, c->state);
    tern_ticket_unlock(&dev->hal_lock);
    free(page);
    return r;
}

static int make_context(struct tern_process *proc, struct tern_image_context *c)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = c->name, .engine = c->engine, .weight = c->weight};
    int r = tern_context_make(proc, &d, c->arena * TERN_PAGE, &c->real);
    if (r == 0 && c->data) {
        r = tern_context_make_data(c->real, c->data * TERN_PAGE);
    }
    if (r == 0 && c->band != TERN_BAND_NORMAL) {
        r = tern_os_context_set_priority(c->real, (enum tern_band)c->band, c->weight);
    }
    if (r == 0) {
        r = make_set(&c->set, &c->real->set);
    }
    return r || !c->chunk_count || !c->chunk[0].resume ? r : write_save(c);
}

/* ------------------------------------------------------------------------ jobs */

/** All jobs of a process, in order of submission. */
struct queue {
    uint32_t n;
    struct entry {
        struct tern_image_job *from;
        struct tern_image_context *context;
    } entry[];
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->from->seq < y->from->seq ? -1 : x->from->seq > y->from->seq;
}

/** Does the steps of a submission that can fail. -ENOMEM. */
static int prepare_job(const struct tern_process *proc, struct tern_image_job *from)
{
    struct tern_job *job = from->job;
    int r = tern_job_make_room(job) ? 0 : tern_error_memory("a DMA buffer");
    if (r == 0 && (from->asks || proc->sparse) && !from->null) {
        r = tern_demand_begin(job);
    }
    return r ? r : make_set(&from->set, &job->set);
}

static int make_queue(const struct tern_image_process *p, struct queue **out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->context_count; i++) {
        n += p->contexts[i].job_count;
    }
    struct queue *q = calloc(1, sizeof *q + n * sizeof q->entry[0]);
    if (!q) {
        return tern_error_memory("a queue of work");
    }
    int r = 0;
    for (uint32_t i = 0; i < p->context_count; i++) {
        for (uint32_t k = 0; !r && k < p->contexts[i].job_count; k++) {
            struct tern_image_job *from = &p->contexts[i].jobs[k];
            r = prepare_job(p->real, from);
            q->entry[q->n++] = (struct entry){from, &p->contexts[i]};
        }
    }
    qsort(q->entry, q->n, sizeof q->entry[0], compare);
    for (uint32_t i = 1; !r && i < q->n; i++) {
        r = q->entry[i].from->seq > q->entry[i - 1].from->seq
            ? 0 : tern_error(-EPROTO, "two jobs of process %u have the same submission number", p->id);
    }
    if (r) {
        free(q);
    } else {
        *out = q;
    }
    return r;
}

/** Submits a job to the scheduler and sets its progress. From then on it is a job like any other. Requires
 *  dev->lock. */
static void submit(struct tern_process *proc, struct entry *e)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_image_job *from = e->from;
    struct tern_job *job = from->job;
    const uint64_t shift = proc->shift;
    job->null = from->null;
    job->fence = from->fence;
    job->seq = from->seq;
    job->submitted = atomic_load(&proc->dev->now); /* device time of the target, for its traces */
    tern_list_append(&proc->jobs, &job->live);
    if (!from->begun) {
        tern_hold_submitted(proc->dev, e->context->real, job);
    }
    tern_sched_submit(&proc->dev->sched, &e->context->real->sched, job);
    job->submitted = from->submitted - shift;
    job->begun = from->begun;
    job->begin = from->begun ? from->begin - shift : 0;
    job->end = from->begun ? from->end - shift : 0;
    job->cycles = from->cycles;
    job->sent = from->sent;
    job->last = from->last;
    from->job = NULL;
}

static struct tern_job *job_at(const struct tern_sched_context *s, uint32_t i)
{
    const struct tern_list *node = s->jobs.next;
    for (; i; i--) {
        node = node->next;
    }
    return TERN_LIST_ENTRY(node, struct tern_job, node);
}

static void put_chunks(const struct tern_image_context *c)
{
    struct tern_sched_context *s = &c->real->sched;
    for (uint32_t i = 0; i < c->chunk_count; i++) {
        const struct tern_image_chunk *from = &c->chunk[i];
        struct tern_chunk *to = &s->requeued[i];
        *to = (struct tern_chunk){.context = s, .job = job_at(s, from->job), .start = from->start,
                                  .slot = !(from->seq % TERN_HW_QUEUE), .resume = from->resume, .resubmitted = true,
                                  .resume_at = from->resume_at, .preempted_on = from->preempted_on,
                                  .preemptions = from->preemptions, .save_cycles = from->save_cycles,
                                  .seq = from->seq, .size = from->size, .box = from->box, .more = from->more};
        for (uint32_t at = 0, bytes; at < to->size; at += bytes) {
            tern_job_packet(to->job, to->start + at, &bytes);
            to->packets++;
        }
    }
    s->requeued_count = c->chunk_count;
}

static void put_counts(const struct tern_image_context *c)
{
    c->real->submitted = c->submitted;
    c->real->ended = c->ended;
    c->real->first_bad = c->first_bad;
    c->real->sched.stats = c->stats;
    c->real->sched.cycles_brought = c->stats.cycles;
    c->real->sched.chunks = c->chunks;
    c->real->sched.estimate = c->estimate;
}

/** Writes the DMA buffer of each chunk that resumes from its save area. Takes dev->hal_lock. */
static int write_buffers(struct tern_device *dev, const struct tern_image_process *p)
{
    int r = 0;
    tern_ticket_lock(&dev->hal_lock);
    for (uint32_t i = 0; !r && i < p->context_count; i++) {
        const struct tern_sched_context *s = &p->contexts[i].real->sched;
        r = s->requeued_count && s->requeued[0].resume ? tern_chunk_write(&s->requeued[0]) : 0;
    }
    tern_ticket_unlock(&dev->hal_lock);
    return r;
}

/* -------------------------------------------------------------------- processes */

/** Destroys again what the owner had destroyed, in the same order. */
static void retire(const struct tern_image_process *p)
{
    for (uint64_t last = 0;;) {
        const struct tern_image_allocation *next = NULL;
        for (uint32_t i = 0; i < p->allocation_count; i++) {
            const struct tern_image_allocation *a = &p->allocations[i];
            next = a->retired && a->asked > last && (!next || a->asked < next->asked) ? a : next;
        }
        if (!next) {
            return;
        }
        last = next->asked;
        p->real->children--;
        next->real->counted = false;
        p->real->seq = next->retire_seq;
        tern_retire(next->real);
    }
}

static int pin(const struct tern_image_process *p)
{
    int r = 0;
    for (uint32_t i = 0; i < p->allocation_count; i++) {
        for (uint32_t k = 0; !r && k < p->allocations[i].pins; k++) {
            r = tern_os_allocation_make_resident(p->allocations[i].real);
        }
    }
    return r;
}

static int restore_process(struct tern_image_process *p)
{
    struct tern_device *dev = p->real->dev;
    struct queue *q = NULL;
    int r = pin(p);
    for (uint32_t i = 0; !r && i < p->context_count; i++) {
        r = make_context(p->real, &p->contexts[i]);
    }
    if (r) {
        return r;
    }
    pthread_mutex_lock(&dev->lock);
    r = tern_process_check(p->real);
    if (r == 0) {
        r = make_queue(p, &q);
    }
    if (!r) {
        for (uint32_t i = 0; i < q->n; i++) {
            submit(p->real, &q->entry[i]);
        }
        for (uint32_t i = 0; i < p->context_count; i++) {
            put_counts(&p->contexts[i]);
            put_chunks(&p->contexts[i]);
        }
        retire(p);
        p->real->seq = p->seq;
        if (p->error) {
            tern_process_fail(p->real, &p->fault);
        }
        free(q);
        tern_device_kick(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    return r ? r : write_buffers(dev, p);
}

int tern_restore_work(struct tern_image *image)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < image->process_count; i++) {
        r = restore_process(&image->processes[i]);
    }
    return r;
}
