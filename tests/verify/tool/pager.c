/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The driver's part in page requests. When a kernel requests a page, the pager finds the absent entry and replaces it
 * by the scene's entry. A paging buffer does this before the kernel goes on. At times the buffer also makes an entry
 * absent again that was brought for the same address space, and flushes its translation, so that pages are taken away
 * while kernels use them. The contents of pages do not change, so a stale translation, as the other engine may have,
 * does no harm. A case takes at most MOST_TAKEN pages away: an instruction that needs several pages at once might wait
 * forever if they alternate.
 *
 * An absent entry that is not in scene.absent stands for no page, which is an error of the work. The pager clears the
 * absent bit, so that the work ends with a page fault, and restores the entry afterwards for other work. No flush is
 * needed for either: devices read an entry again before they report it (docs/spec/pte.yaml).
 *
 * A request costs a save and a resume of the work. In a case that has run for long the next request therefore brings
 * all pages.
 */
#include <errno.h>
#include <stdlib.h>

#include "pager.h"

#define MOST_TAKEN 12u

static bool is_absent(uint32_t entry)
{
    return !(entry & TERN_PTE_VALID_MASK) && entry & TERN_PTE_ABSENT_MASK;
}

/** Finds the place and the contents of the absent entry for va. Returns 0; -ENOENT if there is none (any more). */
static int find(const struct pager *p, uint32_t root, uint32_t va, uint64_t *at, uint32_t *entry)
{
    *at = (uint64_t)root * PAGE + (va >> 22) * 4u;
    int r = p->api->mem_read(p->sim, *at, entry, sizeof *entry);
    if (r == 0 && !is_absent(*entry)) {
        *at = (uint64_t)(*entry >> TERN_PTE_PPN_SHIFT) * PAGE + (va / PAGE & 1023u) * 4u;
        r = *at + 4 > p->scene->mem_bytes ? -ENOENT : p->api->mem_read(p->sim, *at, entry, sizeof *entry);
    }
    return r ? r : is_absent(*entry) ? 0 : -ENOENT;
}

static const struct absent *known(const struct scene *s, uint64_t at)
{
    for (uint32_t i = 0; i < s->absents; i++) {
        if (s->absent[i].at == at) {
            return &s->absent[i];
        }
    }
    return NULL;
}

/** Saves an entry until its submission has ended, and removes its absent bit. */
static int deny(struct pager *p, uint32_t submit, uint64_t at, uint32_t entry)
{
    const uint32_t none = entry & ~TERN_PTE_ABSENT_MASK;
    struct denied *larger = realloc(p->denied, (p->count + 1) * sizeof *larger);
    if (!larger) {
        return -ENOMEM;
    }
    p->denied = larger;
    p->denied[p->count++] = (struct denied){.submit = submit, .at = at, .entry = entry};
    return p->api->mem_write(p->sim, at, &none, sizeof none);
}

/** Adds packets that take away one of the entries brought for the address space, if there is one. Returns their
 * number. */
static uint32_t take(struct pager *p, uint32_t root, uint32_t words[32])
{
    const uint32_t known = p->brings < COUNT(p->brought) ? p->brings : COUNT(p->brought);
    if (!known || p->all || p->taken == MOST_TAKEN || !rng_one_in(&p->random, 2)) {
        return 0;
    }
    const struct brought *b = &p->brought[rng_below(&p->random, known)];
    const bool all = rng_one_in(&p->random, 3);
    if (b->root != root) {
        return 0;
    }
    int r = tern_pkt_pte_update_pack(
        &(struct tern_pkt_pte_update){.table_lo = (uint32_t)b->at, .table_hi = (uint32_t)(b->at >> 32), .count = 1,
                                      .pte = (b->entry & ~TERN_PTE_VALID_MASK) | TERN_PTE_ABSENT_MASK}, words);
    /* an entry of the first level is for 1024 pages */
    const bool first = b->at / PAGE == root;
    if (r == 0) {
        r = tern_pkt_tlb_flush_pack(
            &(struct tern_pkt_tlb_flush){.root = root, .first = all ? 0 : first ? b->va / PAGE & ~1023u : b->va / PAGE,
                                         .count = all ? 0 : first ? 1024 : 1}, words + 16);
    }
    p->taken += r == 0;
    return r ? 0 : 2;
}

/** Replaces all absent entries by the scene's, without a packet; no flush is needed, as above. */
static int bring_all(struct pager *p)
{
    int r = 0;
    for (uint32_t i = 0; i < p->scene->absents && !r; i++) {
        const struct absent *a = &p->scene->absent[i];
        uint32_t entry;
        r = p->api->mem_read(p->sim, a->at, &entry, sizeof entry);
        if (r == 0 && is_absent(entry)) {
            r = p->api->mem_write(p->sim, a->at, &a->entry, sizeof a->entry);
        }
    }
    return r;
}

int pager_request(struct pager *p, uint32_t submit, uint32_t va, uint32_t *packets, uint32_t words[16 * PAGER_PACKETS])
{
    uint64_t at;
    uint32_t entry;
    const uint32_t root = p->scene->submit[submit].root;
    *packets = 0;
    int r = find(p, root, va, &at, &entry);
    if (r) {
        return r == -ENOENT ? 0 : r; /* the other engine has brought it */
    }
    p->requests++;
    const struct absent *a = known(p->scene, at);
    if (!a) {
        return deny(p, submit, at, entry);
    }
    r = p->all ? bring_all(p) : 0;
    if (r) {
        return r;
    }
    *packets = 1 + take(p, root, words + 16);
    p->brought[p->brings++ % COUNT(p->brought)] = (struct brought){.root = root, .va = va, .entry = a->entry, .at = at};
    return tern_pkt_pte_update_pack(
        &(struct tern_pkt_pte_update){.table_lo = (uint32_t)at, .table_hi = (uint32_t)(at >> 32), .count = 1,
                                      .pte = a->entry}, words) ? -EINVAL : 0;
}

int pager_ended(struct pager *p, uint32_t submit)
{
    int r = 0;
    uint32_t kept = 0;
    for (uint32_t i = p->count; i-- && !r;) { /* the last one first, which restores the original contents */
        const struct denied *d = &p->denied[i];
        r = d->submit == submit ? p->api->mem_write(p->sim, d->at, &d->entry, sizeof d->entry) : 0;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->denied[i].submit != submit) {
            p->denied[kept++] = p->denied[i];
        }
    }
    p->count = kept;
    return r;
}

void pager_free(struct pager *p)
{
    free(p->denied);
    *p = (struct pager){0};
}
