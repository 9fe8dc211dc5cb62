/* SPDX-License-Identifier: Apache-2.0 */
#include "basis_oracle.h"

#include "check.h"

uint32_t oracle_random(struct basis_oracle *s, uint32_t below)
{
    s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((s->random >> 33) % below);
}

void oracle_wrote(struct basis_oracle *s, uint32_t page, uint32_t count)
{
    for (uint32_t i = 0; i < ORACLE_BASES; i++) {
        struct oracle_basis *f = &s->of[i];
        for (uint32_t p = page; f->starts && p < page + count; p++) {
            f->dirty[p] = 1;
        }
    }
}

/** Returns the page that bit `bit` of a basis stands for. */
static uint32_t oracle_page(const struct basis_oracle *s, const struct oracle_basis *f, uint64_t bit)
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
static void oracle_make(struct basis_oracle *s, struct oracle_basis *f)
{
    uint32_t cut[2 * ORACLE_RANGES];
    f->n = 1 + oracle_random(s, ORACLE_RANGES);
    for (uint32_t i = 0; i < 2 * f->n; i++) { /* ascending, some may be equal */
        uint32_t c = oracle_random(s, s->pages + 1), at = i;
        for (; at && cut[at - 1] > c; at--) {
            cut[at] = cut[at - 1];
        }
        cut[at] = c;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (cut[2 * i] < cut[2 * i + 1]) {
            const uint32_t at = oracle_random(s, n + 1);
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
    ok(tern_basis_create(s->kmd, f->range, f->n, &f->id));
    f->starts = 0;
}

/** Makes a random query, which must give the oracle's bits and change no other bit of the buffer. */
static void oracle_query(struct basis_oracle *s, struct oracle_basis *f)
{
    const bool all = oracle_random(s, 2), clear = oracle_random(s, 3) != 0;
    const uint32_t range = oracle_random(s, f->n);
    uint64_t base = 0;
    for (uint32_t i = 0; !all && i < range; i++) {
        base += f->range[i].bytes / s->page;
    }
    const uint32_t pages = all ? f->pages : (uint32_t)(f->range[range].bytes / s->page);
    const uint32_t first = oracle_random(s, 3) ? oracle_random(s, pages) : 0, rest = pages - first;
    const bool to_end = oracle_random(s, 4) == 0;
    const uint32_t count = to_end ? rest : 1 + oracle_random(s, rest);
    const struct tern_basis_part part = {all ? TERN_BASIS_ALL : range, first * s->page, to_end ? 0 : count * s->page};
    const uint32_t at = oracle_random(s, 77);
    const size_t size = (at + count + 7) / 8 + 1; /* plus one byte behind the bits */
    uint8_t *const got = malloc(size), *const want = malloc(size); /* a sanitizer sees accesses beyond the end */
    uint64_t set = 0, told = UINT64_MAX;
    assert_true(got && want);
    for (size_t i = 0; i < size; i++) {
        got[i] = want[i] = (uint8_t)oracle_random(s, 256);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *const dirty = &f->dirty[oracle_page(s, f, base + first + i)];
        const uint32_t bit = at + i;
        want[bit / 8] = (uint8_t)((want[bit / 8] & ~(1u << bit % 8)) | (uint32_t)*dirty << bit % 8);
        set += *dirty;
        *dirty = clear ? 0 : *dirty;
    }
    ok(tern_basis_count(s->kmd, f->id, &part, &told));
    assert_int_equal(told, set);
    ok(tern_basis_query(s->kmd, f->id, &part, clear, got, at));
    assert_memory_equal(got, want, size);
    free(got);
    free(want);
}

static void oracle_remove(struct basis_oracle *s, struct oracle_basis *f)
{
    while (f->starts) {
        ok(tern_basis_stop(s->kmd, f->id));
        f->starts--;
    }
    ok(tern_basis_destroy(s->kmd, f->id));
    f->id = 0;
}

void oracle_step(struct basis_oracle *s)
{
    struct oracle_basis *f = &s->of[oracle_random(s, ORACLE_BASES)];
    const uint32_t what = oracle_random(s, 20);
    if (!f->id) {
        oracle_make(s, f);
    } else if (what == 0) {
        oracle_remove(s, f);
    } else if (!f->starts || what == 1) {
        ok(tern_basis_start(s->kmd, f->id));
        if (!f->starts++) {
            memset(f->dirty + s->first, 0, s->pages);
        }
    } else if (what == 2) {
        ok(tern_basis_stop(s->kmd, f->id));
        f->starts--;
    } else {
        oracle_query(s, f);
    }
}

void oracle_open(struct basis_oracle *s, struct tern_kmd *kmd, uint32_t first, uint32_t pages, uint64_t seed)
{
    *s = (struct basis_oracle){.kmd = kmd, .page = 1ull << kmd->dirty_page_log2, .first = first, .pages = pages,
                        .random = seed};
    for (uint32_t i = 0; i < ORACLE_BASES; i++) {
        s->of[i].dirty = calloc(first + pages, 1);
        assert_non_null(s->of[i].dirty);
    }
}

void oracle_close(struct basis_oracle *s)
{
    for (uint32_t i = 0; i < ORACLE_BASES; i++) {
        if (s->of[i].id) {
            oracle_remove(s, &s->of[i]);
        }
        free(s->of[i].dirty);
    }
}
