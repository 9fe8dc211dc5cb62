/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A long random workload of the page allocator. 1 GiB of memory is kept 80 to 90 % full by some 20,000 allocations of
 * the sizes that programs use. Most of them live shortly, some for long. After each step the free memory is compared
 * with a model: no page is allocated twice, and the free blocks are exactly those into which the free pages of each 4
 * MiB divide. The test prints how much the memory fragments, and checks bounds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/space/space.h"

#define CHUNK TERN_PAGES_SPAN
#define PAGES (256u * CHUNK)
#define RESERVED 68u
#define STEPS 20000u
#define HELD 16384u

struct held {
    struct tern_run *run;
    uint32_t runs, pages;
};

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % n);
}

/* ---------------------------------------------------------------- the model */

static uint8_t used[PAGES];
static uint8_t touched[PAGES / CHUNK];
static uint32_t blocks[PAGES / CHUNK][TERN_PAGES_ORDERS], sum[TERN_PAGES_ORDERS], used_pages;

/** Counts in `out` the aligned blocks into which the free pages of [page, page + 2^order) divide. */
static void divide(uint32_t page, uint32_t order, uint32_t *out)
{
    if (!memchr(used + page, 1, 1u << order)) {
        out[order]++;
    } else if (order && memchr(used + page, 0, 1u << order)) {
        divide(page, order - 1, out);
        divide(page + (1u << (order - 1)), order - 1, out);
    }
}

static void check(const struct tern_pages *p)
{
    for (uint32_t c = 0; c < PAGES / CHUNK; c++) {
        if (touched[c]) {
            for (uint32_t o = 0; o < TERN_PAGES_ORDERS; o++) {
                sum[o] -= blocks[c][o];
                blocks[c][o] = 0;
            }
            divide(c * CHUNK, TERN_PAGES_ORDERS - 1, blocks[c]);
            for (uint32_t o = 0; o < TERN_PAGES_ORDERS; o++) {
                sum[o] += blocks[c][o];
            }
            touched[c] = 0;
        }
    }
    for (uint32_t o = 0; o < TERN_PAGES_ORDERS; o++) {
        assert_int_equal(tern_pages_free_blocks(p, o), sum[o]);
    }
    assert_int_equal(tern_pages_free_count(p), PAGES - used_pages);
}

static void mark(const struct tern_run *r, uint8_t is)
{
    assert_true(r->count && r->page + r->count <= PAGES && r->page / CHUNK == (r->page + r->count - 1) / CHUNK);
    assert_null(memchr(used + r->page, is, r->count));
    memset(used + r->page, is, r->count);
    touched[r->page / CHUNK] = 1;
    used_pages += is ? r->count : -r->count;
}

/* ------------------------------------------------------------------ the workload */

static struct {
    uint64_t could, large; /* runs of 4 MiB that could be superpages, and those that were */
    double whole, scrap, runs; /* whole: part of free memory in free 4 MiB; scrap: other free memory, of all */
    uint32_t looks;
} figure;

/** Draws the pages of an allocation: buffers of some KiB, images, and arrays of a good part of the memory. */
static uint32_t size_of(void)
{
    const uint32_t kind = below(100);
    return kind < 60 ? 1 + below(64) : kind < 85 ? 16 + below(1024) : kind < 97 ? CHUNK * (1 + below(8)) + below(64)
                                                                                : CHUNK * (8 + below(16));
}

static void give(struct tern_pages *p, struct held *h)
{
    for (uint32_t i = 0; i < h->runs; i++) {
        h->run[i].dirty = true;
        mark(&h->run[i], 0);
        tern_pages_give(p, &h->run[i]);
    }
    free(h->run);
}

/** Takes pages as map.c does: superpages wherever the address is aligned. Large allocations begin aligned. */
static bool take(struct tern_pages *p, struct held *h)
{
    h->pages = below(20) ? size_of() : 26; /* 26: a context-save area */
    h->runs = 0;
    h->run = NULL;
    const bool aligned = h->pages >= CHUNK;
    for (uint32_t done = 0; done < h->pages; done += h->run[h->runs++].count) {
        const uint32_t left = h->pages - done, room = CHUNK - done % CHUNK;
        h->run = realloc(h->run, (h->runs + 1) * sizeof *h->run);
        assert_non_null(h->run);
        struct tern_run *r = &h->run[h->runs];
        const bool wanted = aligned && room == CHUNK && left >= CHUNK;
        const bool large = wanted && tern_pages_take_large(p, r) == 0;
        figure.could += wanted;
        figure.large += large;
        int got = large ? 0 : tern_pages_take(p, left < room ? left : room, r);
        if (got) {
            assert_int_equal(got, -ENOSPC);
            assert_int_equal(tern_pages_free_count(p), 0);
            give(p, h);
            return false;
        }
        mark(r, 1);
    }
    figure.runs += (double)h->runs / (h->pages / CHUNK + 1);
    return true;
}

static void look(const struct tern_pages *p)
{
    const double whole = (double)tern_pages_free_blocks(p, TERN_PAGES_ORDERS - 1) * CHUNK;
    figure.whole += whole / tern_pages_free_count(p);
    figure.scrap += (tern_pages_free_count(p) - whole) / PAGES;
    figure.looks++;
}

static void day(uint64_t seed)
{
    static struct held held[HELD];
    uint32_t n = 0, taken = 0;
    struct tern_pages *p;
    state = seed * 0x9e3779b97f4a7c15ull + 1;
    memset(&figure, 0, sizeof figure);
    memset(used, 0, sizeof used);
    memset(used, 1, RESERVED);
    memset(touched, 1, sizeof touched);
    memset(blocks, 0, sizeof blocks);
    memset(sum, 0, sizeof sum);
    used_pages = RESERVED;
    assert_int_equal(tern_pages_create(PAGES, RESERVED, true, &p), 0);
    check(p);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t percent = used_pages / (PAGES / 100);
        const bool more = n < HELD && (n == 0 || percent < 80 || (percent < 90 && below(2)));
        if (more) {
            const bool got = take(p, &held[n]);
            n += got;
            taken += got;
        } else { /* mostly a young one: from the last quarter of the table, else any */
            const uint32_t k = below(4) ? n - 1 - below(n / 4 + 1) : below(n);
            give(p, &held[k]);
            memmove(&held[k], &held[k + 1], (n - k - 1) * sizeof *held);
            n--;
        }
        check(p);
        if (step > STEPS / 4 && step % 16 == 0) {
            look(p);
        }
    }
    printf("seed %llu: %u allocations; of free memory at 80 to 90 %% load %.1f %% lie in whole 4 MiB, %.1f %% of all "
           "is free elsewhere; %.2f %% of superpages that addresses allow; %.2f runs each\n",
           (unsigned long long)seed, taken, 100 * figure.whole / figure.looks, 100 * figure.scrap / figure.looks,
           100.0 * (double)figure.large / (double)figure.could, figure.runs / taken);
    assert_true(figure.whole / figure.looks >= 0.68);
    assert_true(figure.scrap / figure.looks <= 0.05);
    assert_true((double)figure.large >= 0.985 * (double)figure.could);
    while (n) {
        give(p, &held[--n]);
    }
    check(p);
    assert_int_equal(tern_pages_free_count(p), PAGES - RESERVED);
    assert_int_equal(tern_pages_free_blocks(p, TERN_PAGES_ORDERS - 1), PAGES / CHUNK - 1);
    tern_pages_destroy(p);
}

static void test_day(void **unused)
{
    (void)unused;
    const char *given = getenv("TERN_TEST_SEED");
    const uint64_t first = given ? strtoull(given, NULL, 0) : 1, last = given ? first : 3;
    for (uint64_t seed = first; seed <= last; seed++) {
        printf("rerun: TERN_TEST_SEED=%llu\n", (unsigned long long)seed);
        day(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_day)};
    return cmocka_run_group_tests_name("fragmentation", tests, NULL, NULL);
}
