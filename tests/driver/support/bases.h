/* SPDX-License-Identifier: Apache-2.0 */
/** Oracle of memory bases. Each basis has its own flag for each page of the device, so overlapping bases cannot
 * interfere. */
#ifndef BASES_H
#define BASES_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kmd/kmd.h"
#include "tern/tern.h"

#define BASES 6u
#define BASE_RANGES 7u

struct follower {
    uint64_t id; /* 0: there is no basis */
    unsigned starts;
    uint32_t n, pages;
    struct tern_basis_range range[BASE_RANGES];
    uint8_t *dirty; /* one flag per page of the device */
};

struct bases {
    struct tern_kmd *kmd;
    uint64_t page; /* bytes of a page */
    uint32_t first, pages; /* pages of memory in which ranges may lie */
    uint64_t random;
    struct follower of[BASES];
};

static inline uint32_t bases_random(struct bases *s, uint32_t below)
{
    s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((s->random >> 33) % below);
}

static inline void bases_ok(int r, const char *what)
{
    if (r) {
        fail_msg("%s: %d, %s", what, r, tern_last_error());
    }
}

/** Records a write of the device or the host to these pages, for each basis that is tracked. */
static inline void bases_wrote(struct bases *s, uint32_t page, uint32_t count)
{
    for (uint32_t i = 0; i < BASES; i++) {
        struct follower *f = &s->of[i];
        for (uint32_t p = page; f->starts && p < page + count; p++) {
            f->dirty[p] = 1;
        }
    }
}

/** Returns the page that bit `bit` of a basis stands for. */
static inline uint32_t bases_page(const struct bases *s, const struct follower *f, uint64_t bit)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (bit < f->range[i].bytes / s->page) {
            return (uint32_t)(f->range[i].address / s->page + bit);
        }
        bit -= f->range[i].bytes / s->page;
    }
    fail_msg("bit %u of a basis", (unsigned)bit);
    return 0;
}

/** Makes a basis of disjoint ranges in random order. */
static inline void bases_make(struct bases *s, struct follower *f)
{
    uint32_t cut[2 * BASE_RANGES];
    f->n = 1 + bases_random(s, BASE_RANGES);
    for (uint32_t i = 0; i < 2 * f->n; i++) { /* ascending, some may be equal */
        uint32_t c = bases_random(s, s->pages + 1), at = i;
        for (; at && cut[at - 1] > c; at--) {
            cut[at] = cut[at - 1];
        }
        cut[at] = c;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (cut[2 * i] < cut[2 * i + 1]) {
            const uint32_t at = bases_random(s, n + 1);
            f->range[n++] = f->range[at];
            f->range[at] = (struct tern_basis_range){(s->first + cut[2 * i]) * s->page,
                                                    (cut[2 * i + 1] - cut[2 * i]) * s->page};
        }
    }
    if (!n) {
        f->range[n++] = (struct tern_basis_range){s->first * s->page, s->page};
    }
    f->n = n;
    f->pages = 0;
    for (uint32_t i = 0; i < n; i++) {
        f->pages += (uint32_t)(f->range[i].bytes / s->page);
    }
    bases_ok(tern_basis_create(s->kmd, f->range, f->n, &f->id), "create");
    f->starts = 0;
}

/** Makes a random query, which must give the oracle's bits and change no other bit of the buffer. */
static inline void bases_query(struct bases *s, struct follower *f)
{
    const bool all = bases_random(s, 2), clear = bases_random(s, 3) != 0;
    const uint32_t range = bases_random(s, f->n);
    uint64_t base = 0;
    for (uint32_t i = 0; !all && i < range; i++) {
        base += f->range[i].bytes / s->page;
    }
    const uint32_t pages = all ? f->pages : (uint32_t)(f->range[range].bytes / s->page);
    const uint32_t first = bases_random(s, 3) ? bases_random(s, pages) : 0, rest = pages - first;
    const bool to_end = bases_random(s, 4) == 0;
    const uint32_t count = to_end ? rest : 1 + bases_random(s, rest);
    const struct tern_basis_part part = {all ? TERN_BASIS_ALL : range, first * s->page, to_end ? 0 : count * s->page};
    const uint32_t at = bases_random(s, 77);
    const size_t size = (at + count + 7) / 8 + 1; /* plus one byte behind the bits */
    uint8_t *const got = malloc(size), *const want = malloc(size); /* a sanitizer sees accesses beyond the end */
    uint64_t set = 0, told = UINT64_MAX;
    assert_true(got && want);
    for (size_t i = 0; i < size; i++) {
        got[i] = want[i] = (uint8_t)bases_random(s, 256);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *const dirty = &f->dirty[bases_page(s, f, base + first + i)];
        const uint32_t bit = at + i;
        want[bit / 8] = (uint8_t)((want[bit / 8] & ~(1u << bit % 8)) | (uint32_t)*dirty << bit % 8);
        set += *dirty;
        *dirty = clear ? 0 : *dirty;
    }
    bases_ok(tern_basis_count(s->kmd, f->id, &part, &told), "count");
    assert_int_equal(told, set);
    bases_ok(tern_basis_query(s->kmd, f->id, &part, clear, got, at), "query");
    assert_memory_equal(got, want, size);
    free(got);
    free(want);
}

static inline void bases_remove(struct bases *s, struct follower *f)
{
    while (f->starts) {
        bases_ok(tern_basis_stop(s->kmd, f->id), "stop");
        f->starts--;
    }
    bases_ok(tern_basis_destroy(s->kmd, f->id), "destroy");
    f->id = 0;
}

/** Does one random operation on one basis. */
static inline void bases_step(struct bases *s)
{
    struct follower *f = &s->of[bases_random(s, BASES)];
    const uint32_t what = bases_random(s, 20);
    if (!f->id) {
        bases_make(s, f);
    } else if (what == 0) {
        bases_remove(s, f);
    } else if (!f->starts || what == 1) {
        bases_ok(tern_basis_start(s->kmd, f->id), "start");
        if (!f->starts++) {
            memset(f->dirty + s->first, 0, s->pages);
        }
    } else if (what == 2) {
        bases_ok(tern_basis_stop(s->kmd, f->id), "stop");
        f->starts--;
    } else {
        bases_query(s, f);
    }
}

static inline void bases_open(struct bases *s, struct tern_kmd *kmd, uint32_t first, uint32_t pages, uint64_t seed)
{
    *s = (struct bases){.kmd = kmd, .page = 1ull << kmd->dirty_page_log2, .first = first, .pages = pages,
                        .random = seed};
    for (uint32_t i = 0; i < BASES; i++) {
        s->of[i].dirty = calloc(first + pages, 1);
        assert_non_null(s->of[i].dirty);
    }
}

static inline void bases_close(struct bases *s)
{
    for (uint32_t i = 0; i < BASES; i++) {
        if (s->of[i].id) {
            bases_remove(s, &s->of[i]);
        }
        free(s->of[i].dirty);
    }
}

#endif
