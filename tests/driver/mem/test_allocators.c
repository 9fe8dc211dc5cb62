/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The page allocator and the address-space allocator against brute-force models (A6, A7). No page is allocated twice,
 * all pages are freed, and buddies are always merged.
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

static unsigned seed(void)
{
    const char *given = getenv("TERN_TEST_SEED");
    unsigned s = given ? (unsigned)strtoul(given, NULL, 0) : 1;
    printf("seed %u (rerun: TERN_TEST_SEED=%u)\n", s, s);
    return s;
}

static void test_pages_basic(void **state)
{
    (void)state;
    struct tern_pages *p;
    struct tern_run a, b, c;
    assert_int_equal(tern_pages_create(3 * 1024 + 100, 10, true, &p), 0);
    assert_int_equal(tern_pages_free_count(p), 3 * 1024 + 90);
    assert_int_equal(tern_pages_take_large(p, &a), 0);
    assert_int_equal(a.page, 1024); /* the first 4 MiB hold the reserved pages */
    assert_false(a.dirty);
    assert_int_equal(tern_pages_take(p, 5, &b), 0);
    /* the free block of four is preferred to a larger one, and two pages are free below it */
    assert_int_equal(b.page, 12);
    assert_int_equal(b.count, 4);
    assert_int_equal(tern_pages_take(p, 18, &b), 0);
    assert_int_equal(b.page, 16);
    assert_int_equal(b.count, 16); /* 16 in one run rather than two more from a block of 32 */
    assert_int_equal(tern_pages_take(p, 2, &b), 0);
    assert_int_equal(b.page, 10);
    assert_int_equal(tern_pages_take(p, 100, &b), 0);
    assert_true(b.page == 64 && b.count == 64); /* the other 36 come from smaller blocks */
    assert_int_equal(tern_pages_take(p, 200, &b), 0);
    assert_true(b.page == 128 && b.count == 128);
    assert_int_equal(tern_pages_take(p, 256 + 64, &b), 0);
    assert_true(b.page == 256 && b.count == 256);
    assert_int_equal(tern_pages_take(p, 512, &b), 0);
    assert_int_equal(tern_pages_take(p, 40, &b), 0);
    assert_true(b.page == 32 && b.count == 32);
    assert_int_equal(tern_pages_take(p, 100, &b), 0); /* adjacent blocks of 64, 32 and 4 pages are one run */
    assert_true(b.page == 3072 && b.count == 100);
    assert_int_equal(tern_pages_take_large(p, &c), 0);
    assert_int_equal(tern_pages_take_large(p, &c), -ENOSPC); /* the last 4 MiB are not complete */
    assert_int_equal(tern_pages_take(p, 1, &b), -ENOSPC);
    a.dirty = true;
    tern_pages_give(p, &a);
    assert_int_equal(tern_pages_take_large(p, &a), 0);
    assert_true(a.dirty); /* its next owner must scrub it */
    tern_pages_destroy(p);
    assert_int_equal(tern_pages_create(64, 0, false, &p), 0);
    assert_int_equal(tern_pages_take(p, 64, &a), 0);
    assert_true(a.dirty && a.count == 64); /* this memory does not read zero after power-on */
    assert_int_equal(tern_pages_take(p, 1, &b), -ENOSPC);
    tern_pages_destroy(p);
}

#define PAGES 5000u

/** Returns true if 4 MiB aligned at 4 MiB are unused. */
static bool has_chunk(const uint8_t *used)
{
    for (uint32_t i = 0, n = 0; i < PAGES; i++) {
        n = used[i] ? 0 : i % 1024 ? n + 1 : 1;
        if (n == 1024) {
            return true;
        }
    }
    return false;
}

static void test_pages_random(void **state)
{
    (void)state;
    static struct tern_run held[PAGES];
    static uint8_t used[PAGES], dirty[PAGES];
    uint32_t n = 0, taken = 100;
    struct tern_pages *p;
    srand(seed());
    memset(used, 0, sizeof used);
    memset(used, 1, 100);
    assert_int_equal(tern_pages_create(PAGES, 100, true, &p), 0);
    for (int i = 0; i < 20000; i++) {
        if (n && rand() % 2) {
            uint32_t k = (uint32_t)rand() % n;
            held[k].dirty = held[k].dirty || rand() % 2;
            for (uint32_t j = 0; j < held[k].count; j++) {
                used[held[k].page + j] = 0;
                dirty[held[k].page + j] = held[k].dirty;
            }
            taken -= held[k].count;
            tern_pages_give(p, &held[k]);
            held[k] = held[--n];
        } else {
            bool large = rand() % 8 == 0;
            uint32_t want = large ? 1024 : 1 + (uint32_t)rand() % 300;
            int r = large ? tern_pages_take_large(p, &held[n]) : tern_pages_take(p, want, &held[n]);
            if (r) {
                assert_int_equal(r, -ENOSPC);
                assert_true(large ? !has_chunk(used) : taken == PAGES);
                continue;
            }
            assert_true(held[n].count >= 1 && held[n].count <= want);
            assert_int_equal(held[n].page / 1024, (held[n].page + held[n].count - 1) / 1024);
            assert_true(!large || (held[n].page % 1024 == 0 && held[n].count == 1024));
            bool any = false;
            for (uint32_t j = 0; j < held[n].count; j++) {
                assert_false(used[held[n].page + j]);
                used[held[n].page + j] = 1;
                any = any || dirty[held[n].page + j];
                assert_true(large || dirty[held[n].page + j] == held[n].dirty);
            }
            assert_int_equal(any, held[n].dirty);
            taken += held[n++].count;
        }
        assert_int_equal(tern_pages_free_count(p), PAGES - taken);
    }
    tern_pages_destroy(p);
}

static void test_vaspace_basic(void **state)
{
    (void)state;
    struct tern_vaspace v = {0};
    uint32_t a, b, c;
    int owner;
    assert_int_equal(tern_vaspace_take(&v, 3, 1, TERN_PLACE_LOW, &owner, &a), 0);
    assert_int_equal(a, TERN_VA_FIRST);
    assert_int_equal(tern_vaspace_take(&v, 2048, 1024, TERN_PLACE_LOW, &owner, &b), 0);
    assert_int_equal(b, 1024);
    assert_int_equal(tern_vaspace_take(&v, 8, 1, TERN_PLACE_HIGH, &owner, &c), 0);
    assert_int_equal(c, TERN_VA_END - 8);
    assert_int_equal(tern_vaspace_take_at(&v, 1023, 2, &owner), -EEXIST);
    assert_int_equal(tern_vaspace_take_at(&v, 3071, 1, &owner), -EEXIST);
    assert_int_equal(tern_vaspace_take_at(&v, 3072, 1, &owner), 0);
    assert_int_equal(tern_vaspace_take_at(&v, TERN_VA_FIRST - 1, 1, &owner), -ENOSPC);
    assert_int_equal(tern_vaspace_take_at(&v, TERN_VA_END - 1, 2, &owner), -ENOSPC);
    assert_int_equal(tern_vaspace_take(&v, TERN_VA_END, 1, TERN_PLACE_LOW, &owner, &a), -ENOSPC);
    assert_int_equal(tern_vaspace_find(&v, 2000)->first, 1024);
    assert_ptr_equal(tern_vaspace_find(&v, 2000)->owner, &owner);
    assert_int_equal(tern_vaspace_find(&v, 5000)->first, 3072); /* the nearest one below */
    assert_null(tern_vaspace_find(&v, 3));
    tern_vaspace_give(&v, 1024);
    assert_int_equal(tern_vaspace_take_at(&v, 1023, 2, &owner), 0);
    tern_vaspace_free(&v);
}

static void test_vaspace_random(void **state)
{
    (void)state;
    static uint8_t used[TERN_VA_END];
    static struct {
        uint32_t first, count;
    } held[4000];
    struct tern_vaspace v = {0};
    uint32_t n = 0;
    srand(seed());
    memset(used, 0, sizeof used);
    for (int i = 0; i < 4000; i++) {
        if (n && rand() % 5 < 2) {
            uint32_t k = (uint32_t)rand() % n;
            tern_vaspace_give(&v, held[k].first);
            memset(used + held[k].first, 0, held[k].count);
            held[k] = held[--n];
            continue;
        }
        uint32_t count = 1 + (uint32_t)rand() % (rand() % 20 ? 200 : 60000), first, align = rand() % 4 ? 1 : 1024;
        int r;
        if (rand() % 4 == 0) {
            first = (uint32_t)rand() % TERN_VA_END;
            bool inside = first >= TERN_VA_FIRST && count <= TERN_VA_END - first;
            bool clash = inside && memchr(used + first, 1, count);
            r = tern_vaspace_take_at(&v, first, count, NULL);
            assert_int_equal(r, !inside ? -ENOSPC : clash ? -EEXIST : 0);
        } else {
            r = tern_vaspace_take(&v, count, align, rand() % 2 ? TERN_PLACE_LOW : TERN_PLACE_HIGH, NULL, &first);
            assert_true(r == 0 || r == -ENOSPC);
            if (r == 0) {
                assert_true(first >= TERN_VA_FIRST && count <= TERN_VA_END - first && first % align == 0);
                assert_null(memchr(used + first, 1, count));
            }
        }
        if (r == 0) {
            memset(used + first, 1, count);
            held[n].first = first;
            held[n++].count = count;
        }
    }
    tern_vaspace_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_basic),
        cmocka_unit_test(test_pages_random),
        cmocka_unit_test(test_vaspace_basic),
        cmocka_unit_test(test_vaspace_random),
    };
    return cmocka_run_group_tests_name("allocators", tests, NULL, NULL);
}
