/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a driver does when a kernel asks for a page: it finds the entry that is absent, and makes it what the scene says
 * by a buffer of one packet, which runs before the kernel goes on.
 *
 * An absent entry that is not in scene.absent stands for no page: a mistake of the work. It is made an entry without
 * the absent bit, so that the work ends with fault page; when it has ended, the entry is as before, for whatever
 * else meets it. No flush is needed for either: devices read an entry again before they report it (docs/spec/pte.yaml).
 */
#include <errno.h>
#include <stdlib.h>

#include "pager.h"

static bool is_absent(uint32_t entry)
{
    return !(entry & TERN_PTE_VALID_MASK) && entry & TERN_PTE_ABSENT_MASK;
}

/** The place and contents of the absent entry on the way to va. 0; -ENOENT: there is none (any more). */
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

/** Remembers what an entry was until its submission has ended. */
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

int pager_request(struct pager *p, uint32_t submit, uint32_t va, bool *brings, uint32_t words[16])
{
    uint64_t at;
    uint32_t entry;
    *brings = false;
    int r = find(p, p->scene->submit[submit].root, va, &at, &entry);
    if (r) {
        return r == -ENOENT ? 0 : r; /* the other engine has brought it */
    }
    p->requests++;
    const struct absent *a = known(p->scene, at);
    if (!a) {
        return deny(p, submit, at, entry);
    }
    *brings = true;
    return tern_pkt_pte_update_pack(
        &(struct tern_pkt_pte_update){.table_lo = (uint32_t)at, .table_hi = (uint32_t)(at >> 32), .count = 1,
                                      .pte = a->entry}, words) ? -EINVAL : 0;
}

int pager_ended(struct pager *p, uint32_t submit)
{
    int r = 0;
    uint32_t kept = 0;
    for (uint32_t i = p->count; i-- && !r;) { /* the last first: what was there before comes back */
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
