/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Jobs that run in steps. A job whose working set cannot be resident at once needs only the blocks that the packets of
 * its next chunk name. A copy or fill that names too many blocks is cut: a chunk then has a part of it (job.h). The
 * arguments of a user executor cannot be cut.
 *
 * Size of a chunk. Packets are added until they name half of the memory that can be resident; the other half is for
 * page requests of the kernels among them, and for other contexts. A part of a copy has room for two blocks at least,
 * one of each side.
 *
 * Alternative dropped: copies that stop at an absent page, as kernels do. The mover would have to report where it
 * stopped on each path through a box, and would need the same blocks in the same order.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/job/job.h"
#include "os/mem/mem.h"

#define REGION (TERN_PAGES_SPAN * TERN_PAGE)
#define ALL_ADDRESSES (1ull << 32)

int tern_demand_begin(struct tern_job *job)
{
    job->needs = calloc(1, sizeof *job->needs);
    return job->needs ? 0 : tern_error_memory("what a DMA buffer needs");
}

/* ---------------------------------------------------------- what packets need */

/** Adds the blocks of bytes [first, end). Bytes beyond the address space are ignored; the packet faults on them. */
static void need(struct tern_needs *n, uint64_t first, uint64_t end)
{
    end = end < ALL_ADDRESSES ? end : ALL_ADDRESSES;
    for (uint64_t r = first / REGION; first < end && r <= (end - 1) / REGION; r++) {
        n->region[r / 32] |= 1u << r % 32;
    }
}

static void need_box(struct tern_needs *n, const struct tern_boxes *b, const struct tern_box *part)
{
    for (uint32_t i = 0; i < b->sides; i++) {
        uint64_t first = 0, end = ALL_ADDRESSES;
        (void)tern_box_span(&b->side[i], part, &first, &end);
        need(n, first, end);
    }
}

/** Adds all blocks of the allocation at an address, because only the executor knows how far it accesses. */
static void need_allocation(struct tern_needs *n, const struct tern_process *proc, uint32_t address)
{
    const struct tern_allocation *a = tern_allocation_at(proc, address / TERN_PAGE);
    if (a) {
        need(n, (uint64_t)a->va * TERN_PAGE, (uint64_t)(a->va + a->pages) * TERN_PAGE);
    }
}

static void need_arguments(struct tern_needs *n, const struct tern_process *proc, const uint32_t *packet)
{
    struct tern_pkt_user_call p;
    const struct tern_executor *x = tern_pkt_user_call_unpack(&p, packet) ? NULL : tern_executor_find(p.executor);
    for (uint32_t i = 0; x && i < x->n_args; i++) {
        if (x->args[i].pointer) {
            need_allocation(n, proc, p.payload[x->args[i].word]);
        }
    }
}

/** A packet of a job. */
struct packet {
    const uint32_t *word;
    uint32_t opcode, bytes;
    bool formed; /* false: the packet faults, and needs no block */
};

static struct packet packet_at(const struct tern_job *job, uint32_t at)
{
    struct packet p = {.word = &job->packets[at / 4]};
    p.opcode = tern_job_packet(job, at, &p.bytes);
    p.formed = p.bytes == tern_pkt_lines(p.opcode) * TERN_PKT_LINE_BYTES;
    return p;
}

/** Adds the blocks that a packet names, except memory that only kernels access. part: the part of a copy or fill;
 *  NULL or size 0: the whole. */
static void need_packet(struct tern_needs *n, const struct tern_process *proc, const struct packet *p,
                        const struct tern_box *part)
{
    struct tern_boxes b;
    struct tern_pkt_fence_wait w; /* the address is at the same place in fence_signal and timestamp */
    if (!p->formed) {
        return;
    }
    switch (p->opcode) {
    case TERN_PKT_COPY:
    case TERN_PKT_FILL:
        if (tern_boxes_of(p->opcode, p->word, &b)) {
            const struct tern_box all = tern_box_all(&b);
            need_box(n, &b, part && part->size[0] ? part : &all);
        }
        break;
    case TERN_PKT_FENCE_WAIT:
    case TERN_PKT_FENCE_SIGNAL:
    case TERN_PKT_TIMESTAMP:
        if (!tern_pkt_fence_wait_unpack(&w, p->word)) {
            need(n, w.address_lo, w.address_lo + 8ull);
        }
        break;
    case TERN_PKT_USER_CALL:
        need_arguments(n, proc, p->word);
        break;
    default:
        break;
    }
}

/** Adds the blocks that the rest of a chunk names. */
static void need_chunk(struct tern_needs *n, const struct tern_process *proc, const struct tern_chunk *chunk)
{
    for (uint32_t at = chunk->resume ? chunk->resume_at : 0; at < chunk->size;) {
        const struct packet p = packet_at(chunk->job, chunk->start + at);
        need_packet(n, proc, &p, &chunk->box);
        at += p.bytes;
    }
}

uint64_t tern_steps_largest(const struct tern_process *proc, const struct tern_job *job, uint64_t enough)
{
    tern_assert_held(&proc->dev->lock);
    uint64_t most = 0;
    for (uint32_t at = 0; at < job->size;) {
        const struct packet p = packet_at(job, at);
        struct tern_needs n = {0};
        struct tern_boxes b;
        uint64_t pages = 0;
        need_packet(&n, proc, &p, NULL);
        (void)tern_demand_missing(proc, job, &n, &pages);
        if (pages > enough && p.formed && tern_boxes_of(p.opcode, p.word, &b)) {
            pages = b.sides * TERN_PAGES_SPAN;
        }
        most = pages > most ? pages : most;
        at += p.bytes;
    }
    return most;
}

/* -------------------------------------------------------------- the next chunk */

/** State of the choice of the next chunk. */
struct step {
    const struct tern_process *proc;
    const struct tern_job *job;
    struct tern_needs needs;
    uint64_t pages, limit;
};

/** Adds the blocks `more` to those of the chunk. False: they exceed the limit, and nothing is added unless `always`. */
static bool take(struct step *s, const struct tern_needs *more, bool always)
{
    struct tern_needs fresh = {0};
    uint64_t pages = 0;
    for (uint32_t i = 0; i < sizeof fresh.region / sizeof fresh.region[0]; i++) {
        fresh.region[i] = more->region[i] & ~s->needs.region[i];
    }
    (void)tern_demand_missing(s->proc, s->job, &fresh, &pages);
    if (s->pages + pages > s->limit && !always) {
        return false;
    }
    for (uint32_t i = 0; i < sizeof fresh.region / sizeof fresh.region[0]; i++) {
        s->needs.region[i] |= fresh.region[i];
    }
    s->pages += pages;
    return true;
}

/** True: a chunk of this part alone is within the limit. */
static bool fits(struct step *s, const struct tern_boxes *b, const struct tern_box *part)
{
    struct tern_needs n = {0};
    s->needs = n;
    s->pages = 0;
    need_box(&n, b, part);
    return take(s, &n, false);
}

/** Sets part->size[dimension] to the largest size within the limit. Rows and slices: found by bisection; false if
 *  not one fits. Bytes: the row is extended from block boundary to block boundary, to the first one in any case. */
static bool grow(struct step *s, const struct tern_boxes *b, uint32_t dimension, struct tern_box *part)
{
    uint32_t low = 0, high = b->size[dimension] - part->from[dimension];
    uint32_t *const n = &part->size[dimension];
    while (dimension && low < high) { /* `low` rows or slices fit, more than `high` do not */
        *n = high - (high - low) / 2;
        if (fits(s, b, part)) {
            low = *n;
        } else {
            high = *n - 1;
        }
    }
    while (!dimension && low < high) {
        const uint32_t from[3] = {part->from[0] + low, part->from[1], part->from[2]};
        *n = low + tern_box_row_piece(b, from, REGION);
        if (low && !fits(s, b, part)) {
            break;
        }
        low = *n;
    }
    *n = low;
    return low;
}

/** The chunk that executes the next part of a packet. */
static struct tern_cut cut_packet(struct step *s, const struct tern_boxes *b, uint32_t bytes)
{
    struct tern_cut cut = {.size = bytes, .packets = 1};
    const struct tern_box *last = &s->job->last;
    uint32_t next[3];
    if (last->size[0]) {
        (void)tern_box_behind(b, last, cut.box.from);
    }
    bool found = false;
    for (uint32_t d = cut.box.from[0] ? 0 : cut.box.from[1] ? 1 : 2; !found; d--) {
        for (uint32_t i = 0; i < 3; i++) {
            cut.box.size[i] = i < d ? b->size[i] : 1;
        }
        found = grow(s, b, d, &cut.box);
    }
    cut.more = tern_box_behind(b, &cut.box, next);
    s->needs = (struct tern_needs){0};
    need_box(&s->needs, b, &cut.box);
    return cut;
}

/** Limit of a chunk, in pages: half of the memory that can be resident at once, but at least two blocks if that much
 *  can be. */
static uint64_t limit_of(const struct tern_process *proc)
{
    const struct tern_partition *p = proc->partition;
    const uint64_t most = (uint64_t)tern_pages_free_count(p->pages) + p->movable, least = 2 * TERN_PAGES_SPAN;
    return most / 2 > least ? most / 2 : most < least ? most : least;
}

/** The next chunk of the job. */
static struct tern_cut cut_job(struct step *s, const struct tern_job *job)
{
    struct tern_cut cut = {0};
    uint32_t packets;
    const uint32_t size = tern_chunk_split(job, job->sent, &packets);
    while (cut.size < size && s->pages <= s->limit) {
        const struct packet p = packet_at(job, job->sent + cut.size);
        const bool first = !cut.size;
        struct tern_needs n = {0};
        struct tern_boxes b;
        if (first && job->last.size[0] && tern_boxes_of(p.opcode, p.word, &b)) {
            return cut_packet(s, &b, p.bytes);
        }
        need_packet(&n, s->proc, &p, NULL);
        if (!take(s, &n, false)) {
            if (!first) {
                break;
            }
            if (tern_boxes_of(p.opcode, p.word, &b)) {
                return cut_packet(s, &b, p.bytes);
            }
            take(s, &n, true);
        }
        cut.size += p.bytes;
        cut.packets++;
    }
    return cut;
}

void tern_steps_plan(struct tern_context *c, struct tern_job *job)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_sched_context *s = &c->sched;
    const struct tern_sched_engine *e = &c->proc->dev->sched.engine[s->engine];
    struct step step = {.proc = c->proc, .job = job, .limit = limit_of(c->proc)};
    job->cut = (struct tern_cut){0};
    if (s->requeued_count) {
        need_chunk(&step.needs, c->proc, &s->requeued[0]);
    } else if (job->sent < job->size) {
        job->cut = cut_job(&step, job);
    }
    for (uint32_t i = 0; i < e->n; i++) {
        if (e->inflight[i].context == s && e->inflight[i].job == job) {
            need_chunk(&step.needs, c->proc, &e->inflight[i]);
        }
    }
    *job->needs = step.needs;
    tern_demand_claim(c, s->requeued_count ? s->requeued[0].seq : s->chunks + 1);
}
