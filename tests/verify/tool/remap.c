/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scene of a case with other translations: address spaces have the roots, addresses and rights that they have in
 * the case, but pages with equal rights are exchanged. A device that first runs this scene, and keeps a translation
 * over the reset after it, accesses a wrong page in the case.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

#define ENTRIES (PAGE / 4)
#define TRIES 8u /* entries that are drawn for one to exchange pages with */
#define PAGE_BITS (~0u << TERN_PTE_PPN_SHIFT)
#define RIGHTS (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK)

/** Physical addresses of entries that stand for pages, of one size. */
struct list {
    uint64_t *at;
    uint32_t count, room;
};

static uint32_t get(const struct scene *s, uint64_t at)
{
    uint32_t v;
    memcpy(&v, s->memory + at, sizeof v);
    return v;
}

static int add(struct list *l, uint64_t at)
{
    if (l->count == l->room) {
        const uint32_t room = l->room ? 2 * l->room : ENTRIES;
        uint64_t *larger = realloc(l->at, room * sizeof *larger);
        if (!larger) {
            return -ENOMEM;
        }
        l->at = larger;
        l->room = room;
    }
    l->at[l->count++] = at;
    return 0;
}

/** Adds the entries of a table, and of the tables below. known: tables that have been added, by page. */
static int add_table(const struct scene *s, uint64_t page, uint32_t level, uint8_t *known, struct list found[2])
{
    int r = 0;
    if (page >= s->mem_bytes / PAGE || known[page]) {
        return 0;
    }
    known[page] = 1;
    for (uint32_t i = 0; i < ENTRIES && !r; i++) {
        const uint64_t at = page * PAGE + 4 * i;
        const uint32_t entry = get(s, at);
        if (!(entry & TERN_PTE_VALID_MASK)) {
            continue;
        }
        if (entry & RIGHTS) {
            r = add(&found[level], at);
        } else if (level == 0) {
            r = add_table(s, entry >> TERN_PTE_PPN_SHIFT, 1, known, found);
        }
    }
    return r;
}

/** Half of the entries exchange their pages with others that have equal rights. */
static void exchange(struct scene *s, const struct list *l, struct rng *r)
{
    for (uint32_t i = 0; i < l->count; i++) {
        bool done = rng_one_in(r, 2);
        for (uint32_t n = 0; n < TRIES && !done; n++) {
            const uint64_t other = l->at[rng_below(r, l->count)];
            const uint32_t a = get(s, l->at[i]), b = get(s, other);
            done = a != b && !((a ^ b) & ~PAGE_BITS);
            if (done) {
                scene_put(s, l->at[i], &b, sizeof b);
                scene_put(s, other, &a, sizeof a);
            }
        }
    }
}

static void *copy_of(const void *array, uint32_t count, size_t each)
{
    void *copy = malloc((count + 1) * each);
    if (copy && count) {
        memcpy(copy, array, count * each);
    }
    return copy;
}

/** Copies a scene that has none before it. */
static int copy(const struct scene *s, struct scene *out)
{
    *out = *s;
    out->memory = calloc(1, s->mem_bytes);
    out->touched = copy_of(s->touched, (uint32_t)(s->mem_bytes / PAGE), 1);
    out->submit = copy_of(s->submit, s->submits, sizeof *s->submit);
    out->open = copy_of(s->open, s->opens, sizeof *s->open);
    out->gate = copy_of(s->gate, s->gates, sizeof *s->gate);
    out->absent = copy_of(s->absent, s->absents, sizeof *s->absent);
    if (!out->memory || !out->touched || !out->submit || !out->open || !out->gate || !out->absent) {
        scene_free(out);
        return -ENOMEM;
    }
    for (uint64_t p = 0; p < s->mem_bytes / PAGE; p++) {
        if (s->touched[p]) {
            memcpy(out->memory + p * PAGE, s->memory + p * PAGE, PAGE);
        }
    }
    return 0;
}

int scene_remap(const struct scene *s, struct rng *r, struct scene *out)
{
    struct list found[2] = {0};
    uint8_t *known = calloc(1, s->mem_bytes / PAGE);
    int result = known ? copy(s, out) : -ENOMEM;
    if (result) {
        free(known);
        return result;
    }
    for (uint32_t i = 0; i < s->submits && !result; i++) {
        if (!(s->submit[i].flags & TERN_ENGINE_SUB_FLAGS_PAGING_MASK)) {
            result = add_table(s, s->submit[i].root, 0, known, found);
        }
    }
    for (uint32_t level = 0; level < 2; level++) {
        if (!result) {
            exchange(out, &found[level], r);
        }
        free(found[level].at);
    }
    free(known);
    if (result) {
        scene_free(out);
    }
    return result;
}
