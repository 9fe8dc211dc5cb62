/* SPDX-License-Identifier: Apache-2.0 */
/** How processes use their memory, and the choice of the victim (victim.h). Requires dev->lock. */
#include "os/mem/mem.h"
#include "os/mem/victim.h"

static bool cheaper(const struct tern_price *a, const struct tern_price *b)
{
    if (a->in_use != b->in_use) {
        return b->in_use;
    }
    return a->band != b->band   ? a->band < b->band
           : a->used != b->used ? a->used < b->used
                                : a->in_process < b->in_process;
}

/** Marks the memory of a job as used. leased: a residency lease keeps it from the caller that wants room. */
static void mark(struct tern_context *c, const struct tern_job *job, bool leased, struct tern_demand *d)
{
    struct tern_process *proc = c->proc;
    struct tern_device *dev = proc->dev;
    const struct tern_set *set = job->set;
    const uint32_t band = c->sched.band;
    if (!set) {
        d->first = d->all && d->first < job->seq ? d->first : job->seq;
        d->last = d->all && d->last > job->seq ? d->last : job->seq;
        d->all_band = d->all && d->all_band > band ? d->all_band : band;
        d->all_leased = d->all_leased || leased;
        d->all = true;
    }
    for (uint32_t i = 0; set && i < set->count; i++) {
        struct tern_allocation *a = tern_residency_at(proc, set->address[i]);
        if (a && tern_residency_uses(job, a)) {
            const bool marked = a->wanted.decision == dev->pager.decisions;
            a->wanted.band = marked && a->wanted.band > band ? a->wanted.band : band;
            a->wanted.leased = leased || (marked && a->wanted.leased);
            a->wanted.decision = dev->pager.decisions;
        }
        dev->pager.looked++;
    }
}

static struct tern_demand demand_of(const struct tern_search *search, const struct tern_process *proc)
{
    struct tern_device *dev = proc->dev;
    struct tern_demand d = {0};
    TERN_LIST_EACH(node, &proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        const struct tern_sched_context *s = &c->sched;
        /* otherwise the state is that of the scheduler's last run, and the context may be ready */
        const bool known = tern_list_empty(&s->update);
        const bool waits = !tern_list_empty(&c->absent), runs = s->state == TERN_SCHED_READY || s->inflight;
        if (tern_list_empty(&s->jobs) || (known && !runs && !waits)) {
            tern_lease_end(c);
        }
        const bool leased = tern_lease_keeps(c, &search->precedence);
        const bool idle = tern_list_empty(&s->jobs) || (known && !runs && !(waits && leased));
        const struct tern_job *next = idle ? NULL : tern_sched_next_job(s);
        d.band = s->band > d.band ? s->band : d.band;
        dev->pager.looked++;
        for (struct tern_list *n = s->jobs.next; !idle && n != &s->jobs; n = n->next) {
            const struct tern_job *job = TERN_LIST_ENTRY(n, struct tern_job, node);
            mark(c, job, leased, &d);
            if (job == next) {
                break;
            }
        }
    }
    return d;
}

/** Price of a block in the process of one mapping. */
static struct tern_price price_of(const struct tern_allocation *a, const struct tern_block *b)
{
    const struct tern_process *proc = a->proc;
    const struct tern_demand *d = &proc->demand;
    const bool named = a->wanted.decision == proc->dev->pager.decisions;
    const bool all = d->all && a->born < d->last && (!a->asked || a->retire_seq >= d->first);
    const uint64_t used = a->mem->used > b->used ? a->mem->used : b->used;
    struct tern_price p = {.in_use = named || all, .band = d->band, .in_process = used};
    if (p.in_use) {
        p.band = named ? a->wanted.band : 0;
        p.band = all && d->all_band > p.band ? d->all_band : p.band;
        p.leased = (named && a->wanted.leased) || (all && d->all_leased);
    }
    p.used = p.in_process > proc->used ? p.in_process : proc->used;
    return p;
}

/** True: the job for which room is made needs the block. b NULL: it needs all of the memory. */
static bool needed(const struct tern_search *s, const struct tern_memory *m, const struct tern_block *b)
{
    TERN_LIST_EACH(node, &m->mappings)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        const bool own = s->job && a->proc == s->proc;
        if (own && (b ? tern_demand_needs(s->job, a, b) || s->wanted - a->va - b->first < b->pages
                      : !s->job->needs && tern_residency_uses(s->job, a))) {
            return true;
        }
    }
    return false;
}

/** The block that was paged in first, of those of the memory that may be evicted; NULL: none. */
static struct tern_block *oldest_of(struct tern_search *s, const struct tern_memory *m)
{
    if (needed(s, m, NULL)) {
        return NULL;
    }
    TERN_LIST_EACH(node, &m->here)
    {
        struct tern_block *b = TERN_LIST_ENTRY(node, struct tern_block, node);
        const bool kept = tern_demand_keeps(b);
        m->dev->pager.looked++;
        s->later = s->later || kept;
        if (!kept && !needed(s, m, b)) {
            return b;
        }
    }
    return NULL;
}

/** Considers a memory for eviction, and returns its price: the highest of its mappings. */
static struct tern_price consider(struct tern_search *s, struct tern_memory *m)
{
    struct tern_block *const b = oldest_of(s, m);
    struct tern_price dearest = {.in_use = !b};
    bool kept = m->moving;
    if (!b) {
        return dearest;
    }
    TERN_LIST_EACH(node, &m->mappings)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        const struct tern_price price = price_of(a, b);
        const bool own = a->proc == s->proc && s->job && s->job->needs;
        kept = kept || (price.leased && !own);
        dearest = cheaper(&dearest, &price) ? price : dearest;
    }
    if (kept) {
        s->later = true;
    } else if (!s->best || cheaper(&dearest, &s->least)) {
        s->best = b;
        s->least = dearest;
    }
    return dearest;
}

/** Considers the memories that one process maps, in order of last use. No block is older than the last use of its
 *  memory. Therefore, once an unused block is older than the next memory, no later memory is cheaper. */
static void search_process(struct tern_search *s, struct tern_process *p)
{
    uint64_t oldest = UINT64_MAX;
    TERN_LIST_EACH(node, &p->by_use)
    {
        struct tern_memory *m = TERN_LIST_ENTRY(node, struct tern_memory, by_use);
        if (m->used >= oldest) {
            break;
        }
        const struct tern_price price = consider(s, m);
        if (!price.in_use && price.in_process < oldest) {
            oldest = price.in_process;
        }
    }
}

void tern_victim_find(struct tern_device *dev, struct tern_search *s)
{
    const struct tern_partition *part = s->proc->partition;
    dev->pager.decisions++;
    s->later = !tern_list_empty(&part->retiring) || part->making;
    s->best = NULL;
    TERN_LIST_EACH(node, &part->processes)
    {
        struct tern_process *p = TERN_LIST_ENTRY(node, struct tern_process, member);
        p->demand = demand_of(s, p);
    }
    TERN_LIST_EACH(node, &part->processes)
    {
        search_process(s, TERN_LIST_ENTRY(node, struct tern_process, member));
    }
    TERN_LIST_EACH(node, &part->shared)
    {
        consider(s, TERN_LIST_ENTRY(node, struct tern_memory, by_use));
    }
}
