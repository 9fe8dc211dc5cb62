/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that ask for their pages (docs/spec/pte.yaml), on devices that can: a job of which not all can be on the
 * device at once runs with what its copies, fills, fences and user executors name, which cannot wait; its kernels stop
 * at the first access to a block that is absent, their context waits for it like any whose memory is not there, and
 * goes on. The block stays until the context has run, so that each stop is behind the one before (residency.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "os/os.h"

#define REGION ((uint64_t)TERN_PAGES_SPAN * TERN_PAGE)
#define ALL_ADDRESSES (1ull << 32)

static bool has_region(const struct tern_needs *n, uint32_t region)
{
    return n->region[region / 32] >> region % 32 & 1u;
}

/** Bytes [first, end); what lies beyond the address space is a fault of the packet. */
static void need(struct tern_needs *n, uint64_t first, uint64_t end)
{
    end = end < ALL_ADDRESSES ? end : ALL_ADDRESSES;
    for (uint64_t r = first / REGION; first < end && r <= (end - 1) / REGION; r++) {
        n->region[r / 32] |= 1u << r % 32;
    }
}

/** A box of a copy or fill: from its first byte to its last. */
static void need_box(struct tern_needs *n, uint32_t at, const uint32_t size[3], uint64_t row, uint64_t slice)
{
    if (size[0] && size[1] && size[2]) {
        need(n, at, at + (size[2] - 1) * slice + (size[1] - 1) * row + size[0]);
    }
}

/** How far it reaches an executor alone knows: all of the allocation. */
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
    const struct tern_executor *x = tern_pkt_user_call_unpack(&p, packet) ? NULL : tern_executor(p.executor);
    for (uint32_t i = 0; x && i < x->n_args; i++) {
        if (x->args[i].pointer) {
            need_allocation(n, proc, p.payload[x->args[i].word]);
        }
    }
}

/** What a packet names, but for what kernels alone use. A packet that is not well-formed needs nothing: it faults. */
static void need_packet(struct tern_needs *n, const struct tern_process *proc, uint32_t opcode, const uint32_t *packet)
{
    struct tern_pkt_copy c;
    struct tern_pkt_fill f;
    struct tern_pkt_fence_wait w; /* fence_signal and timestamp have their address there as well */
    switch (opcode) {
    case TERN_PKT_COPY:
        if (!tern_pkt_copy_unpack(&c, packet)) {
            const uint32_t size[3] = {c.width, c.rows, c.slices};
            need_box(n, c.src_lo, size, c.src_row, c.src_slice);
            need_box(n, c.dst_lo, size, c.dst_row, c.dst_slice);
        }
        break;
    case TERN_PKT_FILL:
        if (!tern_pkt_fill_unpack(&f, packet)) {
            need_box(n, f.dst_lo, (const uint32_t[]){f.width, f.rows, f.slices}, f.dst_row, f.dst_slice);
        }
        break;
    case TERN_PKT_FENCE_WAIT:
    case TERN_PKT_FENCE_SIGNAL:
    case TERN_PKT_TIMESTAMP:
        if (!tern_pkt_fence_wait_unpack(&w, packet)) {
            need(n, w.address_lo, w.address_lo + 8ull);
        }
        break;
    case TERN_PKT_USER_CALL:
        need_arguments(n, proc, packet);
        break;
    default:
        break;
    }
}

int tern_demand_begin(const struct tern_process *proc, struct tern_job *job)
{
    struct tern_needs *n = calloc(1, sizeof *n);
    if (!n) {
        return tern_error_memory("what a DMA buffer needs");
    }
    for (uint32_t at = 0, bytes; at < job->size; at += bytes) {
        const uint32_t opcode = tern_job_packet(job, at, &bytes);
        if (bytes == tern_pkt_lines(opcode) * TERN_PKT_LINE_BYTES) {
            need_packet(n, proc, opcode, &job->packets[at / 4]);
        }
    }
    job->needs = n;
    return 0;
}

bool tern_demand_needs(const struct tern_job *job, const struct tern_allocation *a, const struct tern_block *b)
{
    return !job->needs ? tern_residency_uses(job, a)
                       : tern_residency_may_use(job, a) && has_region(job->needs, (a->va + b->first) / TERN_PAGES_SPAN);
}

/** The first range in use that reaches beyond the page, or NULL. */
static const struct tern_range *range_from(const struct tern_vaspace *va, uint32_t page)
{
    const struct tern_range *r = tern_vaspace_find(va, page);
    r = !r ? va->range : page - r->first < r->count ? r : r + 1;
    return r < va->range + va->n ? r : NULL;
}

struct tern_block *tern_demand_missing(const struct tern_process *proc, const struct tern_job *job, uint64_t *pages)
{
    struct tern_block *missing = NULL;
    for (uint32_t region = 0; region < TERN_PAGES_SPAN; region++) {
        const uint32_t end = (region + 1) * TERN_PAGES_SPAN;
        const struct tern_range *r = NULL;
        if (has_region(job->needs, region)) {
            r = range_from(&proc->va, region * TERN_PAGES_SPAN);
        }
        for (; r && r < proc->va.range + proc->va.n && r->first < end; r++) {
            const struct tern_allocation *a = r->owner;
            const uint32_t first = r->first < end - TERN_PAGES_SPAN ? end - TERN_PAGES_SPAN : r->first;
            if (!a->mem || !a->mem->movable || a->begun || !tern_residency_may_use(job, a)) {
                continue;
            }
            struct tern_block *b = tern_block_of(a, first - a->va);
            missing = missing || b->resident ? missing : b;
            *pages += a->mem->pins ? 0 : b->pages;
        }
    }
    return missing;
}

/* ------------------------------------------------------------- page requests */

/** The allocation that work of the process may ask for a page of, or NULL. */
static struct tern_allocation *asked_of(const struct tern_process *proc, uint32_t page)
{
    struct tern_allocation *a = page ? tern_residency_at(proc, page * TERN_PAGE) : NULL;
    return a && a->born != UINT64_MAX ? a : NULL;
}

bool tern_demand_request(struct tern_context *c, struct tern_job *job, uint32_t address)
{
    const struct tern_allocation *a = asked_of(c->proc, address / TERN_PAGE);
    if (!a || (a->asked && a->retire_seq < job->seq)) {
        return false; /* it is not this job's */
    }
    c->wanted = (struct tern_wanted){.page = address / TERN_PAGE, .cycles = c->sched.stats.cycles};
    c->proc->dev->pager.requests++;
    return true;
}

struct tern_block *tern_demand_wanted(const struct tern_context *c)
{
    const struct tern_allocation *a = asked_of(c->proc, c->wanted.page);
    return a ? tern_block_of(a, c->wanted.page - a->va) : NULL;
}

bool tern_demand_waits(const struct tern_context *c)
{
    return c->wanted.page && !tern_list_empty(&c->absent);
}

/** Has it run since its page came, or had time enough to? */
static bool has_run(const struct tern_context *c)
{
    const struct tern_device *dev = c->proc->dev;
    const uint64_t stay = tern_residency_stay(dev, c->sched.band);
    return c->sched.stats.cycles != c->wanted.cycles ||
           (c->wanted.ready && dev->sched.now - c->wanted.ready >= TERN_UNBEGUN_STAYS * stay);
}

void tern_demand_look(struct tern_context *c)
{
    c->wanted.page = c->wanted.page && has_run(c) ? 0 : c->wanted.page;
}

void tern_demand_ready(struct tern_context *c)
{
    const uint64_t now = c->proc->dev->sched.now;
    c->wanted.ready = c->wanted.page && !c->wanted.ready ? now + !now : c->wanted.ready;
}

/** It is on an engine, or nothing keeps it from one but others that are there. */
static bool may_run(const struct tern_sched_context *s)
{
    return s->inflight || s->state == TERN_SCHED_READY || !tern_list_empty(&s->update);
}

/** Of one mapping of it. */
static bool keeps(const struct tern_allocation *a, const struct tern_block *b)
{
    TERN_LIST_EACH(node, &a->proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        if (c->wanted.page && c->wanted.page - a->va - b->first < b->pages && c->wanted.ready && may_run(&c->sched) &&
            !has_run(c)) {
            return true;
        }
    }
    return false;
}

bool tern_demand_keeps(const struct tern_block *b)
{
    bool any = false;
    TERN_LIST_EACH(node, &b->m->mappings)
    {
        any = any || keeps(TERN_LIST_ENTRY(node, struct tern_allocation, mapping), b);
    }
    return any;
}
