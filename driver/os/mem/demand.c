/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Page requests of kernels (docs/spec/pte.yaml), on devices that have them. A job whose working set cannot be resident
 * at once runs in steps. Blocks that its copies, fills, fences and user executors name must be resident before its
 * chunk is dispatched, because these packets cannot wait for a page (steps.c). A kernel stops at the first access to an
 * absent block; its context then waits for the block like any context whose memory is absent, and resumes.
 *
 * Progress. The requested block stays resident until the context has run, so that the next stop comes later in the
 * kernel (mem.h). The blocks that the packets of a chunk name stay in the same way.
 */
#include "os/mem/mem.h"

#include "os/mem/mem.h"

bool tern_demand_needs(const struct tern_job *job, const struct tern_allocation *a, const struct tern_block *b)
{
    tern_assert_held(&a->proc->dev->lock);
    return !job->needs ? tern_residency_uses(job, a)
                       : tern_residency_may_use(job, a) &&
                             tern_needs_region(job->needs, (a->va + b->first) / TERN_PAGES_SPAN);
}

/** The first range in use that ends beyond the page, or NULL. */
static const struct tern_range *range_from(const struct tern_vaspace *va, uint32_t page)
{
    const struct tern_range *r = tern_vaspace_find(va, page);
    r = !r ? va->range : page - r->first < r->count ? r : r + 1;
    return r < va->range + va->n ? r : NULL;
}

struct tern_block *tern_demand_missing(const struct tern_process *proc, const struct tern_job *job,
                                       const struct tern_needs *needs, uint64_t *pages)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_block *missing = NULL;
    for (uint32_t region = 0; region < TERN_PAGES_SPAN; region++) {
        const uint32_t end = (region + 1) * TERN_PAGES_SPAN;
        const struct tern_range *r = NULL;
        if (!needs->region[region / 32]) {
            region |= 31;
        } else if (tern_needs_region(needs, region)) {
            r = range_from(&proc->va, region * TERN_PAGES_SPAN);
        }
        for (; r && r < proc->va.range + proc->va.n && r->first < end; r++) {
            const struct tern_allocation *a = r->owner;
            const uint32_t first = r->first < end - TERN_PAGES_SPAN ? end - TERN_PAGES_SPAN : r->first;
            if (!a->mem || !a->mem->movable || a->begun || !tern_residency_may_use(job, a)) {
                continue;
            }
            struct tern_block *b = tern_block_of(a, first - a->va);
            if (!missing && !b->resident) {
                missing = b;
            }
            *pages += a->mem->pins ? 0 : b->pages;
        }
    }
    return missing;
}

/* ------------------------------------------------------------- page requests */

/** The allocation of which work of the process may request this page, or NULL. */
static struct tern_allocation *asked_of(const struct tern_process *proc, uint32_t page)
{
    struct tern_allocation *a = page ? tern_residency_at(proc, page * TERN_PAGE) : NULL;
    return a && a->born != UINT64_MAX ? a : NULL;
}

bool tern_demand_request(struct tern_context *c, struct tern_job *job, uint32_t address)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_allocation *a = asked_of(c->proc, address / TERN_PAGE);
    if (!a || (a->asked && a->retire_seq < job->seq)) {
        return false; /* the allocation was made after the job, or destroyed before it */
    }
    c->wanted = (struct tern_wanted){.page = address / TERN_PAGE, .cycles = c->sched.stats.cycles};
    c->proc->dev->pager.requests++;
    return true;
}

struct tern_block *tern_demand_wanted(const struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_allocation *a = asked_of(c->proc, c->wanted.page);
    return a ? tern_block_of(a, c->wanted.page - a->va) : NULL;
}

bool tern_demand_waits(const struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    return c->wanted.page && !tern_list_empty(&c->absent);
}

/** True: the context has run since its page came, or the time in which it could have run is over. */
static bool has_run(const struct tern_context *c)
{
    return c->sched.stats.cycles != c->wanted.cycles ||
           (c->wanted.ready && c->proc->dev->sched.now - c->wanted.ready >= tern_lease_bound(c));
}

void tern_demand_look(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    c->wanted.page = c->wanted.page && has_run(c) ? 0 : c->wanted.page;
}

void tern_demand_ready(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    const uint64_t now = c->proc->dev->sched.now, ready = now + !now;
    c->wanted.ready = c->wanted.page && !c->wanted.ready ? ready : c->wanted.ready;
    if (!c->claim.ready) {
        c->claim.ready = ready;
        c->claim.cycles = c->sched.stats.cycles;
    }
    tern_lease_begin(c);
}

void tern_demand_claim(struct tern_context *c, uint64_t chunk)
{
    tern_assert_held(&c->proc->dev->lock);
    c->claim = c->claim.chunk == chunk ? c->claim : (struct tern_claim){.chunk = chunk};
}

/** True: the context is on an engine, or is ready, or its state is not known until the scheduler's next run. */
static bool may_run(const struct tern_sched_context *s)
{
    return s->inflight || s->state == TERN_SCHED_READY || !tern_list_empty(&s->update);
}

/** True: packets of the context's first job name the block, and the context has not run since all blocks that they
 *  name are resident. */
static bool claims(const struct tern_context *c, const struct tern_allocation *a, const struct tern_block *b)
{
    const struct tern_job *job = tern_list_empty(&c->sched.jobs)
                                     ? NULL : TERN_LIST_ENTRY(c->sched.jobs.next, struct tern_job, node);
    return job && job->needs && c->claim.ready && tern_demand_needs(job, a, b) &&
           tern_lease_ran(c) == c->claim.cycles && c->proc->dev->sched.now - c->claim.ready < tern_lease_bound(c);
}

/** True: a context of this mapping's process keeps the block. */
static bool keeps(const struct tern_allocation *a, const struct tern_block *b)
{
    TERN_LIST_EACH(node, &a->proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const bool wanted = c->wanted.page && c->wanted.page - a->va - b->first < b->pages && c->wanted.ready;
        if (((wanted && !has_run(c)) || claims(c, a, b)) && may_run(&c->sched)) {
            return true;
        }
    }
    return false;
}

bool tern_demand_keeps(const struct tern_block *b)
{
    tern_assert_held(&b->m->dev->lock);
    bool any = false;
    TERN_LIST_EACH(node, &b->m->mappings)
    {
        any = any || keeps(TERN_LIST_ENTRY(node, struct tern_allocation, mapping), b);
    }
    return any;
}
