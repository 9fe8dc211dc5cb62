/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Working sets: which memory a job uses, whether it is resident, and how much memory can be committed (mem.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/job/job.h"
#include "os/mem/mem.h"

/* ------------------------------------------------------------------ counting */

void tern_residency_count(struct tern_block *b, int sign)
{
    tern_assert_held(&b->m->dev->lock);
    struct tern_memory *m = b->m;
    if (b->run_count) {
        const uint32_t pages = (uint32_t)sign * b->pages;
        m->taken += pages;
        m->partition->movable += m->movable && !m->pins ? pages : 0;
    }
}

/** The LRU list in which the memory is while some of its blocks may be evicted. */
static struct tern_list *order_of(const struct tern_memory *m)
{
    return m->mapping_count > 1 ? &m->partition->shared : &tern_memory_first(m)->proc->by_use;
}

/** Puts the memory at the most recently used end of its LRU list, or removes it if no block may be evicted. */
static void place(struct tern_memory *m)
{
    const bool may_go = m->there && m->movable && !m->pins && !m->leaving && m->mapping_count && !m->failed &&
                        !tern_list_empty(&m->here);
    if (!may_go) {
        tern_list_remove(&m->by_use);
    } else if (tern_list_empty(&m->by_use)) {
        m->used = ++m->dev->pager.uses;
        tern_list_append(order_of(m), &m->by_use);
    }
}

void tern_residency_set(struct tern_block *b, bool resident)
{
    tern_assert_held(&b->m->dev->lock);
    struct tern_memory *m = b->m;
    if (b->resident == resident) {
        return;
    }
    b->resident = resident;
    b->used = ++m->dev->pager.uses;
    tern_list_remove(&b->node);
    tern_list_append(resident ? &m->here : &m->away, &b->node);
    TERN_LIST_EACH(node, &m->mappings)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        if (m->movable && a->born != UINT64_MAX) {
            a->proc->absent = resident ? a->proc->absent - 1 : a->proc->absent + 1;
        }
    }
    place(m);
}

/** Number of absent blocks. */
static uint32_t absent(const struct tern_memory *m)
{
    uint32_t n = 0;
    TERN_LIST_EACH(node, &m->away)
    {
        n++;
    }
    return n;
}

/** `pages` more, or fewer, of `count`. */
static uint32_t counted(uint32_t count, bool more, uint32_t pages)
{
    return more ? count + pages : count - pages;
}

/** Gives the memory `pins` pins, which decide whether its pages count as movable. */
static void set_pins(struct tern_memory *m, uint32_t pins)
{
    const bool freed = m->pins != 0 && pins == 0, pinned = m->pins == 0 && pins != 0;
    m->pins = pins;
    if (m->movable && (freed || pinned)) {
        m->partition->movable = counted(m->partition->movable, freed, m->taken);
        TERN_LIST_EACH(node, &m->mappings)
        {
            const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
            if (!a->asked && a->born != UINT64_MAX) {
                a->proc->movable = counted(a->proc->movable, freed, m->pages);
            }
        }
    }
    place(m);
}

bool tern_residency_may_commit(const struct tern_process *proc, uint32_t pages)
{
    tern_assert_held(&proc->dev->lock);
    const struct tern_partition *p = proc->partition;
    return pages <= p->count + p->host - p->committed;
}

uint32_t tern_residency_left(const struct tern_partition *p)
{
    const uint32_t left = p->count + p->host - p->committed;
    return left < p->host ? left : p->host;
}

void tern_residency_add(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    struct tern_memory *m = a->mem;
    tern_list_remove(&m->by_use); /* the memory may be shared from now on, which is another list */
    if (m->movable) {
        if (!m->there && !m->sparse) {
            m->committed = m->pages;
            m->partition->committed += m->pages;
        }
        a->proc->sparse += m->sparse;
        a->proc->movable += m->pins ? 0 : m->pages;
        a->proc->absent += absent(m);
        a->born = a->proc->seq;
    }
    m->there = true;
    place(m);
}

void tern_residency_leave(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    if (a->mem->movable && !a->mem->pins) {
        a->proc->movable -= a->pages;
    }
    a->proc->sparse -= a->mem->sparse;
}

void tern_residency_begin(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    a->mem->leaving++;
    place(a->mem);
}

void tern_residency_remove(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    struct tern_memory *m = a->mem;
    m->leaving--;
    if (m->movable) {
        const uint32_t n = absent(m);
        a->proc->absent -= n;
        if (n) {
            pthread_cond_signal(&m->dev->pager.wake); /* a context may be held for one of these blocks */
        }
        if (m->mapping_count == 1) {
            m->partition->committed -= m->committed;
            tern_sparse_end(m);
        }
    }
    tern_memory_leave(a);
    tern_list_remove(&m->by_use); /* the memory may no longer be shared */
    set_pins(m, m->pins - a->pins);
}

/* ---------------------------------------------------------------------- sets */

struct tern_allocation *tern_residency_at(const struct tern_process *proc, uint32_t address)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_allocation *a = tern_allocation_at(proc, address / TERN_PAGE);
    return a && a->mem && a->mem->movable && !a->begun ? a : NULL;
}

/** True: the set, which is sorted, names the allocation. */
static bool names(const struct tern_set *set, const struct tern_allocation *a)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (set->address[mid] / TERN_PAGE < a->va) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < set->count && set->address[low] / TERN_PAGE - a->va < a->pages;
}

bool tern_residency_may_use(const struct tern_job *job, const struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    return a->born < job->seq && !(a->asked && a->retire_seq < job->seq);
}

bool tern_residency_uses(const struct tern_job *job, const struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    return tern_residency_may_use(job, a) && (!job->set || names(job->set, a));
}

/** An absent block of the job's working set, or NULL. Blocks of sparse memory are not looked at, because only jobs
 *  that run in steps may use them. */
static struct tern_block *missing_of_set(const struct tern_process *proc, const struct tern_job *job)
{
    const uint32_t n = job->set ? job->set->count : proc->va.n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t address = job->set ? job->set->address[i] : proc->va.range[i].first * TERN_PAGE;
        const struct tern_allocation *a = tern_residency_at(proc, address);
        if (a && !a->mem->sparse && !tern_list_empty(&a->mem->away) && tern_residency_uses(job, a)) {
            return TERN_FIRST_BLOCK(&a->mem->away);
        }
    }
    return NULL;
}

struct tern_block *tern_residency_missing(const struct tern_context *c, const struct tern_job *job)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_process *proc = c->proc;
    uint64_t pages = 0;
    if (!proc->absent) {
        return NULL;
    }
    struct tern_block *b = job->needs ? tern_demand_missing(proc, job, job->needs, &pages) : missing_of_set(proc, job);
    struct tern_block *const wanted = b ? NULL : tern_demand_wanted(c);
    return wanted && !wanted->resident ? wanted : b;
}

/** Sets the time of last use, of each allocation that the set names or of the process. */
static void use(struct tern_process *proc, const struct tern_job *job)
{
    const uint64_t now = ++proc->dev->pager.uses;
    if (!job->set) {
        proc->used = now;
    }
    for (uint32_t i = 0; job->set && i < job->set->count; i++) {
        struct tern_allocation *a = tern_residency_at(proc, job->set->address[i]);
        if (a && !tern_list_empty(&a->mem->by_use)) {
            a->mem->used = now;
            tern_list_remove(&a->mem->by_use);
            tern_list_append(order_of(a->mem), &a->mem->by_use);
        }
    }
}

bool tern_residency_ready(struct tern_context *c, struct tern_job *job)
{
    tern_assert_held(&c->proc->dev->lock);
    struct tern_process *proc = c->proc;
    if (job->needs) {
        tern_steps_plan(c, job);
    }
    if (!proc->dev->pager.started) { /* without a pager everything is resident */
        return true;
    }
    tern_demand_look(c);
    if (!tern_residency_missing(c, job)) {
        tern_demand_ready(c);
        use(proc, job);
        tern_list_remove(&c->absent);
        return true;
    }
    c->claim.ready = 0;
    if (tern_list_empty(&c->absent)) {
        tern_lease_wait(c, job);
        tern_list_append(&proc->partition->absent, &c->absent);
        pthread_cond_signal(&proc->dev->pager.wake);
    }
    return false;
}

uint64_t tern_residency_pages(const struct tern_context *c, const struct tern_set *set)
{
    tern_assert_held(&c->proc->dev->lock);
    uint64_t pages = set ? 0 : c->proc->movable;
    for (uint32_t i = 0; set && i < set->count; i++) {
        const struct tern_allocation *a = tern_residency_at(c->proc, set->address[i]);
        pages += a && !a->mem->pins ? a->pages : 0;
    }
    return pages;
}

int tern_residency_check(const struct tern_context *c, struct tern_job *job)
{
    tern_assert_held(&c->proc->dev->lock);
    const struct tern_process *proc = c->proc;
    const uint64_t most = (uint64_t)tern_pages_free_count(proc->partition->pages) + proc->partition->movable;
    uint64_t pages = proc->absent && !job->needs ? tern_residency_pages(c, c->set) : 0;
    const int r = pages > most && proc->dev->kmd.page_requests ? tern_demand_begin(job) : 0;
    if (r) {
        return r;
    }
    if (job->needs && proc->absent) {
        job->seq = proc->seq + 1; /* the number that the submission will get */
        pages = tern_steps_largest(proc, job, most);
    }
    return pages <= most ? 0 : tern_error(-ENOSPC, "context '%s': its work uses %s of %" PRIu64 " KiB%s, and device "
                                          "memory has %" PRIu64 " KiB for them: %s", c->name,
                                          job->needs || c->set ? "allocations" : "all allocations of its process,",
                                          tern_pages_kib(pages), job->needs ? " in one packet" : "",
                                          tern_pages_kib(most),
                                          job->needs || c->set ? "it cannot run" : "it must name those that it uses "
                                          "(tern_context_set_residency)");
}

/* --------------------------------------------------------------------- calls */

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int tern_os_context_set_residency(struct tern_context *c, const uint32_t *addresses, uint32_t count)
{
    struct tern_device *dev = c->proc->dev;
    struct tern_set *set = NULL;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    if (addresses) {
        set = malloc(sizeof *set + (size_t)count * sizeof set->address[0]);
        if (!set) {
            return tern_error_memory("a working set");
        }
        *set = (struct tern_set){.refs = 1};
        memcpy(set->address, addresses, (size_t)count * sizeof set->address[0]);
        qsort(set->address, count, sizeof set->address[0], compare);
    }
    pthread_mutex_lock(&dev->lock);
    int r = c->proc->killed ? tern_process_check(c->proc) : 0;
    for (uint32_t i = 0, before = 0; !r && i < count && set; i++) { /* keeps one address of each allocation */
        const struct tern_range *range = tern_vaspace_find(&c->proc->va, set->address[i] / TERN_PAGE);
        if (!range || set->address[i] / TERN_PAGE - range->first >= range->count) {
            r = tern_error(-EFAULT, "context '%s': there is no allocation at 0x%08x", c->name, set->address[i]);
        } else if (!set->count || before != range->first) {
            set->address[set->count++] = set->address[i];
            before = range->first;
        }
    }
    if (!r) {
        struct tern_set *old = c->set;
        c->set = set;
        set = old;
    }
    tern_set_release(set);
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_os_allocation_make_resident(struct tern_allocation *a)
{
    struct tern_device *dev = a->proc->dev;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    int r = tern_process_enter(a->proc);
    if (!r) {
        a->pins++;
        set_pins(a->mem, a->mem->pins + 1); /* no block is evicted from here on */
        r = tern_sparse_commit_all(a->mem);
        if (r == 0 && !tern_list_empty(&a->mem->away)) {
            r = tern_pager_bring(a);
        }
        tern_process_leave(a->proc);
    }
    pthread_mutex_unlock(&dev->lock);
    if (r && r != -EIO) {
        const int again = tern_os_allocation_evict(a);
        (void)again; /* cannot fail, because the allocation is pinned */
    }
    return r;
}

uint32_t tern_os_allocation_pins(const struct tern_allocation *a)
{
    pthread_mutex_lock(&a->proc->dev->lock);
    const uint32_t pins = a->pins;
    pthread_mutex_unlock(&a->proc->dev->lock);
    return pins;
}

int tern_os_allocation_evict(struct tern_allocation *a)
{
    struct tern_device *dev = a->proc->dev;
    int r = 0;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    if (!a->pins) {
        r = tern_error(-EINVAL, "the allocation at 0x%08x is evicted more often than made resident: each "
                       "tern_allocation_evict undoes one tern_allocation_make_resident", a->va * TERN_PAGE);
    } else {
        a->pins--;
        if (!a->gone) {
            set_pins(a->mem, a->mem->pins - 1);
        }
        pthread_cond_signal(&dev->pager.wake);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}
