/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Validates images that come from elsewhere. Properties that the functions which make objects check are left to them:
 * overlapping addresses, memory that does not fit, handles that are in use.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/submission.h"
#include "migration/state/internal.h"
#include "os/job/job.h"
#include "os/part/part.h"

#define PINS_MAX 65536u

/* ---------------------------------------------------------------------- the device */

static int differs(const char *what, uint32_t theirs, uint32_t ours)
{
    return tern_error(-EPROTO, "the work comes from a device with %u %s, and this one has %u", theirs, what, ours);
}

int tern_image_fits(const struct tern_image_device *need, struct tern_device *dev, const char *partition, bool again)
{
    const struct tern_kmd *k = &dev->kmd;
    if (need->spec != TERN_SPEC_HASH) {
        return tern_error(-EPROTO, "the work comes from a device of interface description 0x%08x, this one is of "
                          "0x%08x", need->spec, TERN_SPEC_HASH);
    }
    if (need->lanes != k->lanes || need->warps != k->warps || need->local_bytes != k->local_bytes) {
        return need->lanes != k->lanes   ? differs("lanes", need->lanes, k->lanes)
               : need->warps != k->warps ? differs("warps", need->warps, k->warps)
                                         : differs("bytes of local memory", need->local_bytes, k->local_bytes);
    }
    if (need->engines > k->engines) {
        return tern_error(-EPROTO, "a context names engine %u, and this device has %u", need->engines - 1, k->engines);
    }
    if (need->executors > k->executors) {
        return differs("user executors", need->executors, k->executors);
    }
    if (need->granularity > k->granularity || (need->page_requests && !k->page_requests)) {
        return tern_error(-EPROTO, "this device %s", need->granularity > k->granularity
                              ? "cannot stop work where that of the image was stopped"
                              : "has no page requests, which the work needs");
    }
    pthread_mutex_lock(&dev->lock);
    const struct tern_partition *part = tern_partition_find(dev, partition);
    const uint64_t resident = part ? part->count : 0, all = part ? resident + part->host - part->committed : 0;
    pthread_mutex_unlock(&dev->lock);
    if (!part) {
        return -ENOENT;
    }
    if (need->resident > resident || (!again && need->committed > all)) {
        return tern_error(-ENOSPC, "the work has %" PRIu64 " KiB that stay on the device and %" PRIu64 " KiB that may "
                          "be evicted or are pinned; here are %" PRIu64 " KiB of the device and, with the host, "
                          "%" PRIu64 " KiB", tern_pages_kib(need->resident), tern_pages_kib(need->committed),
                          tern_pages_kib(resident), tern_pages_kib(all));
    }
    return 0;
}

/* ---------------------------------------------------------------------------- memory */

static bool in_space(uint32_t va, uint32_t pages)
{
    return va >= TERN_VA_FIRST && va < TERN_VA_END && pages && pages <= TERN_VA_END - va;
}

static bool are_rights(uint32_t flags)
{
    return flags && !(flags & ~(TERN_MEM_READ | TERN_MEM_WRITE | TERN_MEM_EXEC));
}

static const char *bad_exports(const struct tern_image_allocation *a)
{
    const uint32_t most = a->flags & TERN_MEM_WRITE ? a->flags | TERN_MEM_READ : a->flags;
    for (uint32_t i = 0; i < a->export_count; i++) {
        if (!are_rights(a->exports[i].access) || a->exports[i].access & ~most) {
            return "is exported with more than it has";
        }
    }
    return a->export_count && (a->imported || a->retired || a->flags & TERN_MEM_SPARSE) ? "cannot be exported" : NULL;
}

static const char *bad_allocation(const struct tern_image *image, const struct tern_image_process *p,
                                  const struct tern_image_allocation *a)
{
    if (a->memory >= image->memory_count) {
        return "names no memory";
    }
    const struct tern_image_memory *m = &image->memories[a->memory];
    if (!in_space(a->va, m->pages) || !are_rights(a->flags & ~TERN_MEM_SPARSE)) {
        return "has impossible addresses or flags";
    }
    if (!(a->flags & TERN_MEM_SPARSE) != !m->sparse || (m->sparse && (a->imported || m->stays)) ||
        (m->stays && a->imported)) {
        return "is not of the kind of its memory";
    }
    if (a->fence && (!m->stays || m->pages != 1 || a->flags != (TERN_MEM_READ | TERN_MEM_WRITE) || a->retired)) {
        return "is no fence";
    }
    if (a->pins > PINS_MAX || (a->pins && m->stays) || a->retire_seq > p->seq || (a->retired && !a->asked)) {
        return "has impossible counts";
    }
    return bad_exports(a);
}

static const char *bad_memory(const struct tern_image_memory *m)
{
    const uint32_t blocks = (m->va + m->pages - 1) / TERN_PAGES_SPAN - m->va / TERN_PAGES_SPAN + 1;
    if (!m->mappings) {
        return "is not mapped";
    }
    if ((m->sparse || m->stays) && m->mappings > 1) {
        return "is mapped twice, and cannot be shared";
    }
    return m->sparse && m->blocks != blocks ? "has another number of blocks than its addresses" : NULL;
}

static int check_memories(const struct tern_image *image)
{
    for (uint32_t i = 0; i < image->memory_count; i++) {
        const char *bad = bad_memory(&image->memories[i]);
        if (bad) {
            return tern_error(-EPROTO, "memory %u %s", i, bad);
        }
    }
    return 0;
}

/* ------------------------------------------------------------------------------ work */

static bool in_order(const struct tern_image_set *set)
{
    for (uint32_t i = 1; i < set->count; i++) {
        if (set->address[i - 1] >= set->address[i]) {
            return false;
        }
    }
    return set->named || !set->count;
}

/** True: a chunk of the job may begin at this byte. */
static bool is_split(const struct tern_job *job, uint32_t at)
{
    uint32_t from = 0, packets;
    while (from < at && from < job->size) {
        from += tern_chunk_split(job, from, &packets);
    }
    return from == at && at < job->size;
}

/** True: a packet of the job begins at this byte. */
static bool is_packet(const struct tern_job *job, uint32_t at)
{
    uint32_t from = 0, bytes;
    while (from < at && from < job->size) {
        tern_job_packet(job, from, &bytes);
        from += bytes;
    }
    return from == at && at < job->size;
}

/** True: a chunk of the job may begin at this byte. Jobs that run in steps are cut at any packet (os/mem/steps.c). */
static bool is_begin(const struct tern_image_job *j, uint32_t at)
{
    return j->asks ? is_packet(j->job, at) : is_split(j->job, at);
}

/** True: p is a part of the packet at this byte; `more` says that it is not the last part. */
static bool is_part(const struct tern_image_job *j, uint32_t at, const struct tern_box *p, bool more)
{
    struct tern_boxes b;
    uint32_t bytes, behind[3];
    const uint32_t opcode = tern_job_packet(j->job, at, &bytes);
    bool is = j->asks && is_packet(j->job, at) && bytes == tern_pkt_lines(opcode) * TERN_PKT_LINE_BYTES &&
              tern_boxes_of(opcode, &j->job->packets[at / 4], &b), whole = true;
    for (int d = 0; is && d < 3; d++) { /* a part of one dimension has size 1 in all higher dimensions */
        is = p->size[d] && p->from[d] < b.size[d] && p->size[d] <= b.size[d] - p->from[d] && (whole || p->size[d] == 1);
        whole = whole && p->size[d] == b.size[d];
    }
    return is && tern_box_behind(&b, p, behind) == more;
}

/** True: the chunk has packets that can be in one chunk, or a part of one packet. */
static bool is_cut(const struct tern_image_job *j, const struct tern_image_chunk *s)
{
    uint32_t packets, bytes;
    const uint32_t most = tern_chunk_split(j->job, s->start, &packets);
    tern_job_packet(j->job, s->start, &bytes);
    if (s->box.size[0]) {
        return s->size == bytes && is_part(j, s->start, &s->box, s->more);
    }
    return !s->more && (s->size == most || (j->asks && s->size && s->size < most &&
                                            is_packet(j->job, s->start + s->size)));
}

/** Checks a chunk, which must begin at byte `start` of the job. NULL, or what is wrong. */
static const char *bad_chunk(const struct tern_image_context *c, uint32_t i, uint32_t job, uint32_t start)
{
    const struct tern_image_chunk *s = &c->chunk[i];
    const struct tern_image_job *j = &c->jobs[job];
    if (s->job != job || s->start != start || !is_begin(j, start) || !is_cut(j, s) ||
        s->seq != c->chunks - (c->chunk_count - 1 - i) || !s->seq || s->preempted_on >= TERN_ENGINES_MAX) {
        return "a chunk that does not follow the one before";
    }
    if (!s->resume) {
        return NULL;
    }
    const bool here = c->save.offset == s->resume_at + TERN_CHUNK_PREFIX || (!s->resume_at && !c->save.offset);
    if (i || !j->begun || !c->save.saved || j->null || s->resume_at >= s->size || !here ||
        !is_packet(j->job, start + s->resume_at)) {
        return "a chunk that cannot go on from its save area";
    }
    return NULL;
}

static int bad_work(const struct tern_image_context *c, const char *what)
{
    return tern_error(-EPROTO, "context %u has %s", c->id, what);
}

static int check_job(const struct tern_image_process *p, const struct tern_image_context *c, uint32_t i)
{
    const struct tern_image_job *j = &c->jobs[i];
    const int r = tern_submission_check(j->job->packets, j->job->size, j->job->data_size);
    if (r) {
        return r;
    }
    if (j->fence != c->ended + 1 + i || !j->seq || j->seq > p->seq || (i && j->seq <= c->jobs[i - 1].seq)) {
        return bad_work(c, "jobs that are not in order");
    }
    if ((j->job->data_size && !c->data) || !in_order(&j->set) || (i && j->begun)) {
        return bad_work(c, "a job that cannot be");
    }
    return 0;
}

/** True: job->last is a valid part of the packet up to which the job was sent. last: the last chunk of the job that
 *  has not ended, or NULL. */
static bool is_last_part(const struct tern_image_job *j, const struct tern_image_chunk *last)
{
    if (last && (last->more ? memcmp(&j->last, &last->box, sizeof j->last) != 0 : j->last.size[0] != 0)) {
        return false;
    }
    return !j->last.size[0] || is_part(j, j->sent, &j->last, true);
}

/** Checks that the preempted chunks, and then the part of the jobs that was never sent, cover the jobs without a
 *  gap. */
static int check_chunks(const struct tern_image_context *c)
{
    uint32_t job = 0, at = c->chunk_count ? c->chunk[0].start : c->job_count ? c->jobs[0].sent : 0;
    const struct tern_image_chunk *last = NULL;
    for (uint32_t i = 0; i < c->chunk_count; i++) {
        const struct tern_image_chunk *s = &c->chunk[i];
        const char *bad = job < c->job_count ? bad_chunk(c, i, job, at) : "more chunks than jobs";
        uint32_t next[3];
        struct tern_boxes b;
        if (!bad && last && last->more) { /* both chunks have parts of the same packet */
            const uint32_t *word = &c->jobs[job].job->packets[at / 4];
            bad = tern_boxes_of(word[0] & TERN_PKT_OPCODE_MASK, word, &b) && tern_box_behind(&b, &last->box, next) &&
                  !memcmp(next, s->box.from, sizeof next) ? NULL : "a part of a packet that does not follow another";
        }
        if (bad) {
            return bad_work(c, bad);
        }
        last = s;
        at += s->more ? 0 : s->size;
        if (at == c->jobs[job].job->size) {
            if (c->jobs[job].sent != at || c->jobs[job].last.size[0]) {
                return bad_work(c, "a job that is sent to another byte than its chunks");
            }
            job++;
            at = 0;
            last = NULL;
        }
    }
    for (uint32_t i = job; i < c->job_count; i++) {
        const struct tern_image_job *j = &c->jobs[i];
        const uint32_t sent = i == job ? at : 0;
        if (j->sent != sent || (sent && !is_begin(j, sent)) || !is_last_part(j, i == job ? last : NULL) ||
            (j->last.size[0] && i != job)) {
            return bad_work(c, "a job that is sent to another byte than its chunks");
        }
    }
    return 0;
}

static int check_context(const struct tern_image_process *p, const struct tern_image_context *c,
                         const struct tern_device *dev)
{
    if (c->engine < -1 || c->engine >= (int32_t)dev->kmd.engines || !c->weight || c->weight > TERN_WEIGHT_MAX ||
        c->band > TERN_BAND_REALTIME) {
        return bad_work(c, "an engine, weight or band that cannot be");
    }
    if (!in_space(c->arena, 2 * TERN_SLOT_PAGES) || (c->data && !in_space(c->data, 2 * TERN_DATA_PAGES))) {
        return bad_work(c, "buffers of the driver outside of the address space");
    }
    if (c->ended > c->submitted || c->job_count != c->submitted - c->ended || c->first_bad > c->ended ||
        (p->error && c->job_count) || c->estimate < 0 || !in_order(&c->set)) {
        return bad_work(c, "counts that cannot be");
    }
    int r = c->chunk_count && c->chunk[0].resume ? tern_save_check(&dev->kmd, &c->save) : 0;
    for (uint32_t i = 0; !r && i < c->job_count; i++) {
        r = check_job(p, c, i);
    }
    return r ? r : check_chunks(c);
}

int tern_image_check(struct tern_image *image, const struct tern_device *dev)
{
    int r = image->process_count ? 0 : tern_error(-EPROTO, "an image without a process");
    for (uint32_t i = 0; !r && i < image->process_count; i++) {
        const struct tern_image_process *p = &image->processes[i];
        for (uint32_t k = 0; !r && k < p->allocation_count; k++) {
            const char *bad = bad_allocation(image, p, &p->allocations[k]);
            if (!bad && k && p->allocations[k].va <= p->allocations[k - 1].va) {
                bad = "is not in order";
            }
            r = bad ? tern_error(-EPROTO, "process %u: its allocation at 0x%08x %s", p->id,
                                 p->allocations[k].va * TERN_PAGE, bad)
                    : 0;
            if (!r) {
                struct tern_image_memory *m = &image->memories[p->allocations[k].memory];
                m->mappings++;
                m->va = p->allocations[k].va;
            }
        }
        for (uint32_t k = 0; !r && k < p->context_count; k++) {
            r = check_context(p, &p->contexts[k], dev);
        }
    }
    return r ? r : check_memories(image);
}
