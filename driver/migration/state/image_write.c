/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/state/internal.h"

static void put_bytes_of(struct tern_stream *s, const char *name, const char *text)
{
    tern_put_bytes(s, name, text, strlen(text));
}

static int write_device(const struct tern_image *image, struct tern_stream *s)
{
    const struct tern_image_device *d = &image->device;
    tern_record_begin(s, TERN_RECORD_DEVICE);
    tern_put_u64(s, "spec", d->spec);
    tern_put_u64(s, "lanes", d->lanes);
    tern_put_u64(s, "warps", d->warps);
    tern_put_u64(s, "local_bytes", d->local_bytes);
    tern_put_u64(s, "engines", d->engines);
    tern_put_u64(s, "executors", d->executors);
    tern_put_u64(s, "granularity", d->granularity);
    tern_put_u64(s, "page_requests", d->page_requests);
    tern_put_u64(s, "resident", d->resident);
    tern_put_u64(s, "committed", d->committed);
    tern_put_u64(s, "time", d->time);
    tern_put_u64(s, "memories", image->memory_count);
    tern_put_u64(s, "processes", image->process_count);
    return tern_record_end(s);
}

static int write_memory(const struct tern_image_memory *m, struct tern_stream *s)
{
    tern_record_begin(s, TERN_RECORD_MEMORY);
    tern_put_u64(s, "number", m->slot);
    tern_put_u64(s, "pages", m->pages);
    tern_put_u64(s, "stays", m->stays);
    tern_put_u64(s, "sparse", m->sparse);
    if (m->sparse) {
        tern_put_u64(s, "blocks", m->blocks);
        tern_put_bytes(s, "blocks_committed", m->committed, (m->blocks + 31) / 32 * sizeof *m->committed);
    }
    return tern_record_end(s);
}

static void put_fault(struct tern_stream *s, const struct tern_fault *f)
{
    const uint64_t number[] = {f->code, f->access, f->address, f->pc, f->has_item, f->group[0], f->group[1],
                               f->group[2], f->item[0], f->item[1], f->item[2], f->warp, f->lane, f->offset, f->fence};
    tern_put_u64s(s, "fault", number, sizeof number / sizeof *number);
    put_bytes_of(s, "fault_message", f->message);
}

static int write_process(const struct tern_image_process *p, struct tern_stream *s)
{
    tern_record_begin(s, TERN_RECORD_PROCESS);
    tern_put_u64(s, "number", p->id);
    put_bytes_of(s, "name", p->name);
    tern_put_u64(s, "suspended", p->suspended);
    tern_put_u64(s, "error", p->error);
    tern_put_u64(s, "submissions", p->seq);
    tern_put_u64(s, "mappings", p->allocation_count);
    tern_put_u64(s, "contexts", p->context_count);
    if (p->error) {
        put_fault(s, &p->fault);
    }
    return tern_record_end(s);
}

static int write_mapping(const struct tern_image *image, const struct tern_image_allocation *a, struct tern_stream *s)
{
    uint8_t handle[TERN_IMAGE_EXPORTS][TERN_HANDLE_BYTES];
    uint64_t access[TERN_IMAGE_EXPORTS];
    tern_record_begin(s, TERN_RECORD_MAPPING);
    tern_put_u64(s, "memory", image->memories[a->memory].slot);
    tern_put_u64(s, "page", a->va);
    tern_put_u64(s, "flags", a->flags);
    tern_put_u64(s, "pins", a->pins);
    tern_put_u64(s, "born", a->born);
    tern_put_u64(s, "imported", a->imported);
    tern_put_u64(s, "fence", a->fence);
    if (a->retired) {
        tern_put_u64(s, "destroyed_after", a->retire_seq);
        tern_put_u64(s, "destroyed_order", a->asked);
    }
    for (uint32_t i = 0; i < a->export_count; i++) {
        memcpy(handle[i], a->exports[i].handle, TERN_HANDLE_BYTES);
        access[i] = a->exports[i].access;
    }
    tern_put_bytes(s, "handles", handle, (size_t)a->export_count * TERN_HANDLE_BYTES);
    tern_put_u64s(s, "handle_flags", access, a->export_count);
    return tern_record_end(s);
}

/** Writes a named set; a job without one uses all memory of its process. -ENOMEM. */
static int put_set(struct tern_stream *s, const struct tern_image_set *set)
{
    if (!set->named) {
        return 0;
    }
    uint64_t *address = malloc((set->count ? set->count : 1) * sizeof *address);
    if (!address) {
        return tern_error_memory("a working set");
    }
    for (uint32_t i = 0; i < set->count; i++) {
        address[i] = set->address[i];
    }
    tern_put_u64s(s, "uses", address, set->count);
    free(address);
    return 0;
}

#define BOX(b) (b).from[0], (b).from[1], (b).from[2], (b).size[0], (b).size[1], (b).size[2]

static int write_job(const struct tern_image_job *j, struct tern_stream *s)
{
    const struct tern_job *job = j->job;
    tern_record_begin(s, TERN_RECORD_JOB);
    tern_put_u64(s, "fence", j->fence);
    tern_put_u64(s, "submission", j->seq);
    tern_put_u64(s, "submitted", j->submitted);
    tern_put_u64(s, "begun", j->begun);
    tern_put_u64(s, "begin", j->begin);
    tern_put_u64(s, "end", j->end);
    tern_put_u64(s, "cycles", j->cycles);
    tern_put_u64(s, "sent", j->sent);
    tern_put_u64s(s, "last_part", (const uint64_t[]){BOX(j->last)}, j->last.size[0] ? 6 : 0);
    tern_put_u64(s, "null", j->null);
    tern_put_u64(s, "asks_for_pages", j->asks);
    if (job->label) {
        put_bytes_of(s, "label", job->label);
    }
    tern_put_bytes(s, "packets", job->packets, job->size);
    tern_put_bytes(s, "data", job->packets + job->size / 4, job->data_size);
    const int r = put_set(s, &j->set);
    const int end = tern_record_end(s);
    return r ? r : end;
}

static void put_stats(struct tern_stream *s, const struct tern_sched_stats *t)
{
    const uint64_t number[] = {t->submitted, t->completed, t->aborted, t->preempted, t->moved, t->page_requests,
                               t->cycles, t->waited, t->longest_wait};
    tern_put_u64s(s, "statistics", number, sizeof number / sizeof *number);
    tern_put_u64s(s, "engine_cycles", t->engine_cycles, TERN_ENGINES_MAX);
}

static void put_chunks(struct tern_stream *s, const struct tern_image_context *c)
{
    uint64_t number[TERN_HW_QUEUE * TERN_IMAGE_CHUNK_WORDS];
    for (uint32_t i = 0; i < c->chunk_count; i++) {
        const struct tern_image_chunk *k = &c->chunk[i];
        const uint64_t one[TERN_IMAGE_CHUNK_WORDS] = {k->seq, k->job, k->start, k->resume, k->resume_at,
                                                      k->preempted_on, k->preemptions, k->save_cycles,
                                                      k->size, k->more, BOX(k->box)};
        memcpy(number + i * TERN_IMAGE_CHUNK_WORDS, one, sizeof one);
    }
    tern_put_u64s(s, "chunks", number, (size_t)c->chunk_count * TERN_IMAGE_CHUNK_WORDS);
}

static int write_state(const struct tern_image_context *c, struct tern_stream *s)
{
    tern_record_begin(s, TERN_RECORD_STATE);
    tern_put_u64(s, "offset", c->save.offset);
    tern_put_u64(s, "executor", c->save.executor);
    tern_put_bytes(s, "lines", c->state, (size_t)c->save.lines * TERN_SAVE_LINE_BYTES);
    return tern_record_end(s);
}

static int write_context(const struct tern_image_context *c, struct tern_stream *s)
{
    tern_record_begin(s, TERN_RECORD_CONTEXT);
    tern_put_u64(s, "number", c->id);
    put_bytes_of(s, "name", c->name);
    if (c->engine >= 0) {
        tern_put_u64(s, "engine", (uint64_t)c->engine);
    }
    tern_put_u64(s, "weight", c->weight);
    tern_put_u64(s, "band", c->band);
    tern_put_u64(s, "arena", c->arena);
    tern_put_u64(s, "data", c->data);
    tern_put_u64(s, "submitted", c->submitted);
    tern_put_u64(s, "ended", c->ended);
    tern_put_u64(s, "first_bad", c->first_bad);
    tern_put_u64(s, "dispatches", c->chunks);
    tern_put_u64(s, "estimate", (uint64_t)c->estimate);
    tern_put_u64(s, "jobs", c->job_count);
    put_stats(s, &c->stats);
    put_chunks(s, c);
    int r = put_set(s, &c->set);
    const int end = tern_record_end(s);
    if (r == 0) {
        r = end;
    }
    if (!r && c->save.saved) {
        r = write_state(c, s);
    }
    for (uint32_t i = 0; !r && i < c->job_count; i++) {
        r = write_job(&c->jobs[i], s);
    }
    return r;
}

int tern_image_write(const struct tern_image *image, struct tern_stream *s)
{
    int r = write_device(image, s);
    for (uint32_t i = 0; !r && i < image->memory_count; i++) {
        r = write_memory(&image->memories[i], s);
    }
    for (uint32_t i = 0; !r && i < image->process_count; i++) {
        const struct tern_image_process *p = &image->processes[i];
        r = write_process(p, s);
        for (uint32_t k = 0; !r && k < p->allocation_count; k++) {
            r = write_mapping(image, &p->allocations[k], s);
        }
        for (uint32_t k = 0; !r && k < p->context_count; k++) {
            r = write_context(&p->contexts[k], s);
        }
    }
    return r;
}
