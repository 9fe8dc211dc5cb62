/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads an image. Each value is checked against its own range here; check.c checks how the values fit together. Host
 * memory grows with the bytes that were read, not with sizes that the stream announces.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/submission.h"
#include "migration/state/internal.h"
#include "os/job/job.h"

#define LABEL_MAX 65536u
#define FAULT_WORDS 15u
#define STATS_WORDS 9u

struct reader {
    struct tern_stream *s;
    struct tern_image *image;
    uint32_t lines;    /* most lines of a saved state */
    uint32_t mappings, contexts, jobs; /* announced records that have not come yet */
};

static uint32_t get(struct reader *v, const char *name, uint32_t least, uint32_t most)
{
    return (uint32_t)tern_get_u64(v->s, name, least, most);
}

static bool get_bool(struct reader *v, const char *name)
{
    return tern_get_u64(v->s, name, 0, 1);
}

static uint64_t get_any(struct reader *v, const char *name)
{
    return tern_get_u64(v->s, name, 0, UINT64_MAX);
}

static void get_text(struct reader *v, const char *name, char *to, size_t size)
{
    size_t n = 0;
    const void *text = tern_get_bytes(v->s, name, size - 1, &n);
    if (n) {
        memcpy(to, text, n);
    }
    to[n] = 0;
}

/** A field of exactly n numbers; NULL: the record is bad. */
static const uint64_t *get_all(struct reader *v, const char *name, size_t n)
{
    size_t got = 0;
    const uint64_t *number = tern_get_u64s(v->s, name, n, &got);
    if (!tern_record_bad(v->s) && got != n) {
        tern_record_refuse(v->s, "field %s has %zu numbers, and needs %zu", name, got, n);
    }
    return tern_record_bad(v->s) ? NULL : number;
}

/** Makes room for one more element of an array whose size is doubled when it is a power of two. NULL: no memory. */
static void *grow(void *array, uint32_t count, size_t size)
{
    if (count & (count - 1)) {
        return array;
    }
    return realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

/** Appends a zeroed element to `array`, whose size is `count`. Returns -ENOMEM from the caller. */
#define ADD(array, count, out)                                                  \
    do {                                                                        \
        void *more_ = grow(array, count, sizeof *(array));                      \
        if (!more_) {                                                           \
            return tern_error_memory("an image");                               \
        }                                                                       \
        (array) = more_;                                                        \
        (out) = &(array)[(count)++];                                            \
        memset(out, 0, sizeof *(out));                                          \
    } while (0)

int tern_image_read_device(struct tern_stream *s, struct tern_device *dev, const char *partition,
                           struct tern_image **out)
{
    enum tern_record_type type;
    const int r = tern_record_next(s, &type);
    if (r <= 0 || type != TERN_RECORD_DEVICE) {
        return r < 0 ? r : tern_error(-EPROTO, "the stream does not begin with a device");
    }
    return tern_image_read_again(s, dev, partition, NULL, out);
}

/** Takes over the slots of an earlier image, none of which has a memory yet. -ENOMEM. */
static int take_slots(struct tern_image *image, uint32_t slots)
{
    size_t room = 1;
    while (room < slots) {
        room *= 2;
    }
    image->index_of = slots ? malloc(room * sizeof *image->index_of) : NULL;
    image->slots = slots;
    if (slots && !image->index_of) {
        return tern_error_memory("an image");
    }
    for (uint32_t i = 0; i < slots; i++) {
        image->index_of[i] = UINT32_MAX;
    }
    return 0;
}

int tern_image_read_again(struct tern_stream *s, struct tern_device *dev, const char *partition,
                          const struct tern_image *before, struct tern_image **out)
{
    struct reader v = {.s = s};
    int r;
    const struct tern_image_device need = {
        .spec = get(&v, "spec", 0, UINT32_MAX), .lanes = get(&v, "lanes", 0, UINT32_MAX),
        .warps = get(&v, "warps", 0, UINT32_MAX), .local_bytes = get(&v, "local_bytes", 0, UINT32_MAX),
        .engines = get(&v, "engines", 0, UINT32_MAX), .executors = get(&v, "executors", 0, UINT32_MAX),
        .granularity = get(&v, "granularity", 0, UINT32_MAX), .page_requests = get_bool(&v, "page_requests"),
        .resident = get(&v, "resident", 0, UINT32_MAX), .committed = get(&v, "committed", 0, UINT32_MAX),
        .time = get_any(&v, "time")};
    const uint32_t memories = get(&v, "memories", 0, UINT32_MAX), processes = get(&v, "processes", 1, UINT32_MAX);
    r = tern_record_bad(s);
    if (r == 0) {
        r = tern_image_fits(&need, dev, partition, before);
    }
    if (r) {
        return r;
    }
    struct tern_image *image = calloc(1, sizeof *image);
    if (!image) {
        return tern_error_memory("an image");
    }
    image->device = need;
    image->expected_memories = memories;
    image->expected_processes = processes;
    *out = image;
    return take_slots(image, before ? before->slots : 0);
}

/** Reads the slot of a memory: a slot of the earlier image, or the next new one. */
static int get_slot(struct reader *v, struct tern_image_memory *m)
{
    struct tern_image *image = v->image;
    m->slot = get(v, "number", 0, image->slots);
    if (tern_record_bad(v->s)) {
        return tern_record_bad(v->s);
    }
    if (m->slot == image->slots) {
        uint32_t *index;
        ADD(image->index_of, image->slots, index);
        *index = UINT32_MAX;
    }
    if (image->index_of[m->slot] != UINT32_MAX) {
        return tern_record_refuse(v->s, "memory %u comes twice", m->slot);
    }
    image->index_of[m->slot] = image->memory_count - 1;
    return 0;
}

static int read_memory(struct reader *v)
{
    struct tern_image *image = v->image;
    struct tern_image_memory *m;
    ADD(image->memories, image->memory_count, m);
    const int r = get_slot(v, m);
    if (r) {
        return r;
    }
    m->pages = get(v, "pages", 1, TERN_VA_END);
    m->stays = get_bool(v, "stays");
    m->sparse = get_bool(v, "sparse");
    if (m->sparse) {
        size_t n = 0;
        m->blocks = get(v, "blocks", 1, TERN_PAGES_SPAN);
        const size_t bytes = (m->blocks + 31) / 32 * sizeof *m->committed;
        const void *bits = tern_get_bytes(v->s, "blocks_committed", bytes, &n);
        if (!tern_record_bad(v->s) && n != bytes) {
            return tern_record_refuse(v->s, "blocks_committed has %zu bytes, and needs %zu", n, bytes);
        }
        m->committed = calloc(1, bytes);
        if (!m->committed) {
            return tern_error_memory("an image");
        }
        memcpy(m->committed, bits, n);
    }
    return tern_record_bad(v->s);
}

static void get_fault(struct reader *v, struct tern_fault *f)
{
    const uint64_t *n = get_all(v, "fault", FAULT_WORDS);
    if (n) {
        const uint32_t w[] = {(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3]};
        *f = (struct tern_fault){.code = w[0], .access = w[1], .address = w[2], .pc = w[3], .has_item = n[4] != 0,
                                 .warp = (uint32_t)n[11], .lane = (uint32_t)n[12], .offset = (uint32_t)n[13],
                                 .fence = n[14]};
        for (int i = 0; i < 3; i++) {
            f->group[i] = (uint32_t)n[5 + i];
            f->item[i] = (uint32_t)n[8 + i];
        }
    }
    get_text(v, "fault_message", f->message, sizeof f->message);
}

static int read_process(struct reader *v)
{
    struct tern_image_process *p;
    ADD(v->image->processes, v->image->process_count, p);
    p->id = get(v, "number", 1, UINT32_MAX);
    get_text(v, "name", p->name, sizeof p->name);
    p->suspended = get_bool(v, "suspended");
    p->error = get_bool(v, "error");
    p->seq = tern_get_u64(v->s, "submissions", 0, UINT64_MAX - 1);
    v->mappings = get(v, "mappings", 0, UINT32_MAX);
    v->contexts = get(v, "contexts", 0, UINT32_MAX);
    if (p->error) {
        get_fault(v, &p->fault);
    }
    return tern_record_bad(v->s);
}

static int get_exports(struct reader *v, struct tern_image_allocation *a)
{
    size_t bytes = 0, n = 0;
    const uint64_t *access = tern_get_u64s(v->s, "handle_flags", TERN_IMAGE_EXPORTS, &n);
    const uint8_t *handle = tern_get_bytes(v->s, "handles", sizeof a->exports->handle * TERN_IMAGE_EXPORTS, &bytes);
    if (!tern_record_bad(v->s) && bytes != n * TERN_HANDLE_BYTES) {
        return tern_record_refuse(v->s, "%zu bytes of handles for %zu handles", bytes, n);
    }
    if (tern_record_bad(v->s) || !n) {
        return tern_record_bad(v->s);
    }
    a->exports = calloc(n, sizeof *a->exports);
    if (!a->exports) {
        return tern_error_memory("an image");
    }
    for (; a->export_count < n; a->export_count++) {
        struct tern_image_export *e = &a->exports[a->export_count];
        memcpy(e->handle, handle + a->export_count * TERN_HANDLE_BYTES, TERN_HANDLE_BYTES);
        e->access = access[a->export_count] < UINT32_MAX ? (uint32_t)access[a->export_count] : UINT32_MAX;
    }
    return 0;
}

static int read_mapping(struct reader *v)
{
    struct tern_image_process *p = &v->image->processes[v->image->process_count - 1];
    struct tern_image_allocation *a;
    ADD(p->allocations, p->allocation_count, a);
    v->mappings--;
    const uint32_t slot = get(v, "memory", 0, v->image->slots ? v->image->slots - 1 : 0);
    a->memory = tern_record_bad(v->s) || !v->image->slots ? UINT32_MAX : v->image->index_of[slot];
    a->va = get(v, "page", 0, TERN_VA_END);
    a->flags = get(v, "flags", 0, UINT32_MAX);
    a->pins = get(v, "pins", 0, UINT32_MAX);
    a->born = get_any(v, "born");
    a->imported = get_bool(v, "imported");
    a->fence = get_bool(v, "fence");
    a->retired = tern_has(v->s, "destroyed_after");
    if (a->retired) {
        a->retire_seq = get_any(v, "destroyed_after");
        a->asked = tern_get_u64(v->s, "destroyed_order", 1, UINT64_MAX);
    }
    return get_exports(v, a);
}

static int get_set(struct reader *v, struct tern_image_set *set)
{
    size_t n = 0;
    set->named = tern_has(v->s, "uses");
    const uint64_t *address = set->named ? tern_get_u64s(v->s, "uses", TERN_VA_END, &n) : NULL;
    if (!n) {
        return tern_record_bad(v->s);
    }
    set->address = malloc(n * sizeof *set->address);
    if (!set->address) {
        return tern_error_memory("a working set");
    }
    for (; set->count < n; set->count++) {
        if (address[set->count] > UINT32_MAX) {
            return tern_record_refuse(v->s, "a working set has address 0x%" PRIx64, address[set->count]);
        }
        set->address[set->count] = (uint32_t)address[set->count];
    }
    return 0;
}

static void get_stats(struct reader *v, struct tern_sched_stats *t)
{
    const uint64_t *n = get_all(v, "statistics", STATS_WORDS);
    if (n) {
        *t = (struct tern_sched_stats){.submitted = n[0], .completed = n[1], .aborted = n[2], .preempted = n[3],
                                       .moved = n[4], .page_requests = n[5], .cycles = n[6], .waited = n[7],
                                       .longest_wait = n[8]};
    }
    n = get_all(v, "engine_cycles", TERN_ENGINES_MAX);
    for (uint32_t i = 0; n && i < TERN_ENGINES_MAX; i++) {
        t->engine_cycles[i] = n[i];
    }
}

/** A box from six numbers. */
static struct tern_box box_of(const uint64_t *k)
{
    return (struct tern_box){.from = {(uint32_t)k[0], (uint32_t)k[1], (uint32_t)k[2]},
                             .size = {(uint32_t)k[3], (uint32_t)k[4], (uint32_t)k[5]}};
}

static int get_chunks(struct reader *v, struct tern_image_context *c)
{
    size_t n = 0;
    const uint64_t *k = tern_get_u64s(v->s, "chunks", TERN_HW_QUEUE * TERN_IMAGE_CHUNK_WORDS, &n);
    if (!tern_record_bad(v->s) && n % TERN_IMAGE_CHUNK_WORDS) {
        return tern_record_refuse(v->s, "field chunks has %zu numbers", n);
    }
    for (size_t i = 0; i < n; i += TERN_IMAGE_CHUNK_WORDS, k += TERN_IMAGE_CHUNK_WORDS) {
        for (uint32_t w = 1; w < TERN_IMAGE_CHUNK_WORDS; w++) {
            if (k[w] > (w < 10 ? INT32_MAX : UINT32_MAX) && w != 7) {
                return tern_record_refuse(v->s, "field chunks has %" PRIu64, k[w]);
            }
        }
        c->chunk[c->chunk_count++] = (struct tern_image_chunk){
            .seq = k[0], .job = (uint32_t)k[1], .start = (uint32_t)k[2], .resume = k[3] != 0,
            .resume_at = (uint32_t)k[4], .preempted_on = (uint32_t)k[5], .preemptions = (uint32_t)k[6],
            .save_cycles = k[7] < INT64_MAX / 8 ? k[7] : INT64_MAX / 8, .size = (uint32_t)k[8], .more = k[9] != 0,
            .box = box_of(k + 10)};
    }
    return tern_record_bad(v->s);
}

static int read_context(struct reader *v)
{
    struct tern_image_process *p = &v->image->processes[v->image->process_count - 1];
    struct tern_image_context *c;
    ADD(p->contexts, p->context_count, c);
    v->contexts--;
    c->id = get(v, "number", 1, UINT32_MAX);
    get_text(v, "name", c->name, sizeof c->name);
    c->engine = tern_has(v->s, "engine") ? (int32_t)get(v, "engine", 0, TERN_ENGINES_MAX - 1) : TERN_ENGINE_ANY;
    c->weight = get(v, "weight", 1, TERN_WEIGHT_MAX);
    c->band = get(v, "band", TERN_BAND_IDLE, TERN_BAND_REALTIME);
    c->arena = get(v, "arena", TERN_VA_FIRST, TERN_VA_END - 1);
    c->data = get(v, "data", 0, TERN_VA_END - 1);
    c->submitted = tern_get_u64(v->s, "submitted", 0, UINT64_MAX - 1);
    c->ended = tern_get_u64(v->s, "ended", 0, UINT64_MAX - 1);
    c->first_bad = get_any(v, "first_bad");
    c->chunks = tern_get_u64(v->s, "dispatches", 0, UINT64_MAX - 1);
    c->estimate = (int64_t)tern_get_u64(v->s, "estimate", 0, INT64_MAX);
    v->jobs = get(v, "jobs", 0, UINT32_MAX);
    get_stats(v, &c->stats);
    const int r = get_chunks(v, c);
    return r ? r : get_set(v, &c->set);
}

static struct tern_image_context *last_context(const struct reader *v)
{
    const struct tern_image *image = v->image;
    struct tern_image_process *p = image->process_count ? &image->processes[image->process_count - 1] : NULL;
    return p && p->context_count ? &p->contexts[p->context_count - 1] : NULL;
}

static int read_state(struct reader *v)
{
    struct tern_image_context *c = last_context(v);
    size_t n = 0;
    c->save.saved = true;
    c->save.offset = get(v, "offset", 0, UINT32_MAX);
    c->save.executor = get(v, "executor", 0, UINT8_MAX);
    const void *lines = tern_get_bytes(v->s, "lines", (size_t)v->lines * TERN_SAVE_LINE_BYTES, &n);
    if (!tern_record_bad(v->s) && n % TERN_SAVE_LINE_BYTES) {
        return tern_record_refuse(v->s, "%zu bytes of state are no whole lines", n);
    }
    if (n) {
        c->state = malloc(n);
        if (!c->state) {
            return tern_error_memory("an image");
        }
        memcpy(c->state, lines, n);
        c->save.lines = (uint32_t)(n / TERN_SAVE_LINE_BYTES);
    }
    return tern_record_bad(v->s);
}

static int read_job(struct reader *v)
{
    struct tern_image_context *c = last_context(v);
    struct tern_image_job *j;
    size_t size = 0, data_size = 0;
    char label[LABEL_MAX + 1];
    ADD(c->jobs, c->job_count, j);
    v->jobs--;
    j->fence = get_any(v, "fence");
    j->seq = get_any(v, "submission");
    j->submitted = get_any(v, "submitted");
    j->begun = get_bool(v, "begun");
    j->begin = get_any(v, "begin");
    j->end = get_any(v, "end");
    j->cycles = tern_get_u64(v->s, "cycles", 0, INT64_MAX);
    j->sent = get(v, "sent", 0, TERN_PACKETS_MAX);
    size_t n = 0;
    const uint64_t *last = tern_get_u64s(v->s, "last_part", 6, &n);
    if (!tern_record_bad(v->s) && n) {
        for (size_t i = 0; i < 6; i++) {
            if (n != 6 || last[i] > UINT32_MAX) {
                return tern_record_refuse(v->s, "field last_part has %zu numbers, or too large ones", n);
            }
        }
        j->last = box_of(last);
    }
    j->null = get_bool(v, "null");
    j->asks = get_bool(v, "asks_for_pages");
    const bool named = tern_has(v->s, "label");
    if (named) {
        get_text(v, "label", label, sizeof label);
    }
    const void *packets = tern_get_bytes(v->s, "packets", TERN_PACKETS_MAX, &size);
    const void *data = tern_get_bytes(v->s, "data", TERN_DATA_MAX, &data_size);
    int r = tern_record_bad(v->s);
    if (r == 0) {
        r = tern_submission_check(packets, size, data_size);
    }
    if (r) {
        return r;
    }
    j->job = tern_job_create_data(packets, (uint32_t)size, data, (uint32_t)data_size, named ? label : NULL);
    return j->job ? get_set(v, &j->set) : tern_error_memory("an image");
}

/** NULL if a record of this type may come now, else the name to report. */
static const char *unexpected(const struct reader *v, enum tern_record_type type)
{
    const struct tern_image *image = v->image;
    const struct tern_image_context *c = last_context(v);
    switch (type) {
    case TERN_RECORD_MEMORY:
        return image->process_count || image->memory_count == image->expected_memories ? "memory" : NULL;
    case TERN_RECORD_PROCESS:
        return v->mappings || v->contexts || v->jobs || image->process_count == image->expected_processes ||
               image->memory_count != image->expected_memories ? "process" : NULL;
    case TERN_RECORD_MAPPING:
        return v->mappings ? NULL : "mapping";
    case TERN_RECORD_CONTEXT:
        return v->mappings || v->jobs || !v->contexts ? "context" : NULL;
    case TERN_RECORD_STATE:
        return !c || c->job_count || c->save.saved || !c->chunk_count || v->mappings ? "state" : NULL;
    case TERN_RECORD_JOB:
        return v->jobs ? NULL : "job";
    default:
        return v->mappings || v->contexts || v->jobs || image->process_count != image->expected_processes
            ? "end of the processes" : NULL;
    }
}

int tern_image_read(struct tern_image *image, struct tern_stream *s, const struct tern_device *dev, uint32_t *next)
{
    struct reader v = {.s = s, .image = image, .lines = tern_save_room(&dev->kmd)};
    enum tern_record_type type;
    int r;
    while ((r = tern_record_next(s, &type)) >= 0) {
        const char *bad = unexpected(&v, r ? type : TERN_RECORD_END);
        if (bad) {
            return tern_record_refuse(s, "the record '%s' is not expected here", bad);
        }
        int (*const read)(struct reader *) = !r                            ? NULL
                                             : type == TERN_RECORD_MEMORY  ? read_memory
                                             : type == TERN_RECORD_PROCESS ? read_process
                                             : type == TERN_RECORD_MAPPING ? read_mapping
                                             : type == TERN_RECORD_CONTEXT ? read_context
                                             : type == TERN_RECORD_STATE   ? read_state
                                             : type == TERN_RECORD_JOB     ? read_job
                                                                           : NULL;
        if (!read) {
            *next = r ? type : 0;
            return 0;
        }
        r = read(&v);
        if (r) {
            return r;
        }
    }
    return r;
}
