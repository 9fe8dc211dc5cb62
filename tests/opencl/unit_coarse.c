/* SPDX-License-Identifier: Apache-2.0 */
/** Ranges of coarsened dispatches: every work-item runs exactly once, and the hardware is full. Some ranges are not
 * coarsened. */
#include "clt.h"

#include <stdio.h>
#include <string.h>

#include "runtime/core/coarse.h"

enum { LANES = 16, WARPS = 16, MAX = 256, COPIES = 16, SPAN = 1 << 17 };

static const struct tc_kernel kernel = {.coarse = COPIES};

static bool choose(const struct rt_range *r, struct rt_range *hardware)
{
    return rt_coarse_choose(&kernel, LANES, WARPS, MAX, r, hardware);
}

/** Counts how often each work-item runs, by the formula of compiler.h. */
static void count(const struct rt_range *r, const struct rt_range *hardware, uint8_t *times)
{
    const uint32_t s = TC_COARSE_STRIDE;
    const uint64_t x = hardware->global[0];
    for (uint64_t h = 0; h < x; h++) {
        for (uint64_t round = 0; (h / s + round * x / s) * s * COPIES + h % s < r->global[0]; round++) {
            for (uint64_t k = 0; k < COPIES; k++) {
                const uint64_t number = (h / s + round * x / s) * s * COPIES + k * s + h % s;
                times[number < r->global[0] ? number : SPAN] += 1;
            }
        }
    }
}

static void test_each_once(void **state)
{
    (void)state;
    static uint8_t times[SPAN + 1];
    uint32_t seed = 5;
    unsigned coarse = 0;
    for (int n = 0; n < 300; n++) {
        const struct rt_range r = {.dims = 2, .global = {clt_random(&seed) % SPAN + 1, clt_random(&seed) % 3 + 1, 1},
                                   .local = {1, 1, 1}, .offset = {clt_random(&seed) >> 2, 7, 0}};
        struct rt_range h;
        if (!choose(&r, &h)) {
            assert_memory_equal(&h, &r, sizeof r);
            continue;
        }
        coarse++;
        memset(times, 0, sizeof times);
        count(&r, &h, times);
        for (uint32_t i = 0; i < r.global[0]; i++) {
            assert_int_equal(times[i], 1);
        }
        assert_int_equal(h.global[0] % TC_COARSE_STRIDE, 0);
        assert_true(h.global[1] == r.global[1] && h.global[2] == 1 && h.offset[0] == r.offset[0] && h.offset[1] == 7);
        assert_true(h.local[0] >= 1 && h.local[0] * h.local[1] <= MAX && h.global[0] % h.local[0] == 0);
    }
    assert_in_range(coarse, 250, 300);
}

static void test_how_many(void **state)
{
    (void)state;
    static const struct {
        uint32_t global[3], offset, x; /* `x` is the hardware's global size in x, or 0 if the range is not coarsened. */
    } cases[] = {
        {{2048, 1, 1}, 0, 128},   /* Half of the engine's lanes have work. */
        {{2032, 1, 1}, 0, 128},   /* The last round is not full. */
        {{1792, 1, 1}, 0, 0},     /* Fewer than half of the lanes would have work. */
        {{8192, 1, 1}, 0, 256},   /* All lanes have work for two rounds. */
        {{65536, 1, 1}, 0, 256},  /* All lanes have work for 16 rounds. */
        {{65536 + 4096, 1, 1}, 0, 256}, /* One fill of the engine, with 17 rounds. */
        {{65537, 1, 1}, 0, 256},
        {{20480, 1, 1}, 0, 256},  /* 5 rounds. */
        {{4352, 1, 1}, 0, 272},   /* In two rounds, nearly half of the lanes would have no work. */
        {{6657, 1, 1}, 0, 224},   /* Seven of eight lanes have work for two rounds. */
        {{6656, 1, 1}, 0, 416},   /* Fewer would. */
        {{8602, 1, 1}, 0, 544},   /* Three rounds fill three of four lanes, and two take two fills: one round. */
        {{1 << 20, 1, 1}, 0, 256},
        {{1 << 30, 1, 1}, 0, 256},
        {{1 << 16, 64, 1}, 0, 256}, /* The rounds are within a row. The next work-items run the next row. */
        {{1 << 20, 64, 1}, 0, 256},
        {{20480, 2, 1}, 0, 160},  /* Two rows are in the engine together, with 8 rounds. */
        {{256, 8, 1}, 0, 16},     /* Rows count. */
        {{255, 64, 1}, 0, 0},     /* A row does not fill a round. */
        {{4096, 65535, 65535}, 0, 16},
        {{2048, 1, 1}, 0x80000000u - 2048, 128},
        {{2048, 1, 1}, 0x80000000u - 2047, 0}, /* The ids reach 2^31. */
        {{0xffffffffu, 1, 1}, 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct rt_range r = {.dims = 3, .local = {1, 1, 1}, .offset = {cases[i].offset, 0, 0}}, h;
        memcpy(r.global, cases[i].global, sizeof r.global);
        const bool coarse = choose(&r, &h);
        if (coarse != (cases[i].x != 0) || (coarse && h.global[0] != cases[i].x)) {
            fail_msg("case %zu: coarse %d, %u in x", i, coarse, h.global[0]);
        }
        assert_false(rt_coarse_choose(&(struct tc_kernel){.coarse = 0}, LANES, WARPS, MAX, &r, &h));
    }
    /* A row of the hardware has more work-items than this engine: several rounds would take two fills. */
    struct rt_range r = {.dims = 1, .global = {1000, 1, 1}, .local = {1, 1, 1}}, h;
    assert_true(rt_coarse_choose(&kernel, 4, 2, 8, &r, &h));
    assert_int_equal(h.global[0], 64);
}

/** A kernel that gains less needs a larger range. */
static void test_long_kernels(void **state)
{
    (void)state;
    static const struct tc_kernel slow = {.coarse = COPIES / 2};
    struct rt_range r = {.dims = 1, .global = {2048, 1, 1}, .local = {1, 1, 1}}, h;
    assert_false(rt_coarse_choose(&slow, LANES, WARPS, MAX, &r, &h));
    r.global[0] = 4096;
    assert_true(rt_coarse_choose(&slow, LANES, WARPS, MAX, &r, &h));
    assert_int_equal(h.global[0], 256);
}

/** Counts how often each work-item of an x by y range runs in tiles, by the formula of compiler.h. */
static void count_tiles(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *h, uint8_t *times)
{
    const uint32_t s = TC_COARSE_STRIDE;
    for (uint32_t v = 0; v < h->global[1]; v++) {
        for (uint32_t u = 0; u < h->global[0]; u++) {
            for (uint32_t n = 0; n < k->coarse * k->tile; n++) {
                const uint64_t x = u / s * s * k->coarse + n % k->coarse * s + u % s;
                const uint64_t y = v * k->tile + n / k->coarse;
                times[x < r->global[0] && y < r->global[1] ? y * r->global[0] + x : SPAN] += 1;
            }
        }
    }
}

/** Tiles of all sizes cover each work-item once, and are chosen if half of the lanes have work. */
static void test_tiles(void **state)
{
    (void)state;
    static uint8_t times[SPAN + 1];
    uint32_t seed = 6;
    unsigned chosen = 0;
    for (int n = 0; n < 300; n++) {
        const struct tc_kernel k = {.coarse = 1u << clt_random(&seed) % 3, .tile = 1u << clt_random(&seed) % 3};
        const struct rt_range r = {.dims = 3, .local = {1, 1, 1}, .offset = {clt_random(&seed) >> 2, 9, 3},
                                   .global = {clt_random(&seed) % 400 + 1, clt_random(&seed) % 300 + 1, 2}};
        struct rt_range h;
        if (!rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h)) {
            assert_memory_equal(&h, &r, sizeof r);
            assert_true(r.global[0] < TC_COARSE_STRIDE * k.coarse || r.global[1] < k.tile ||
                        r.global[0] / k.coarse * (r.global[1] / k.tile) < LANES * WARPS / 4);
            continue;
        }
        chosen++;
        memset(times, 0, sizeof times);
        count_tiles(&k, &r, &h, times);
        for (uint32_t i = 0; i < r.global[0] * r.global[1]; i++) {
            assert_int_equal(times[i], 1);
        }
        assert_true(h.global[0] * h.global[1] * 2 >= LANES * WARPS / 2 && h.global[2] == 2);
        assert_true(h.offset[0] == r.offset[0] && h.offset[1] == 9 && h.local[0] * h.local[1] * h.local[2] <= MAX);
        assert_int_equal(rt_coarse_user1(&k, &r, &h), r.global[1] + 9);
    }
    assert_in_range(chosen, 200, 300);
    const struct tc_kernel k = {.coarse = 4, .tile = 4};
    struct rt_range r = {.dims = 2, .local = {1, 1, 1}, .global = {256, 256, 1}, .offset = {0, 0x80000000u - 256, 0}};
    struct rt_range h;
    assert_true(rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h));
    r.offset[1]++; /* The ids reach 2^31. */
    assert_false(rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h));
    r.offset[1] = 0;
    r.offset[2] = 0x80000000u - r.global[2];
    assert_true(rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h));
    r.offset[2]++;
    assert_false(rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h));
}

/** tc_coarse_least gives the smallest range that is coarsened: each of its numbers, less one, is too few. Rounds of
 *  long kernels may begin earlier in rows that have several of them. */
static void test_least(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int n = 0; n < 300; n++) {
        const uint32_t lanes = 4u << clt_random(&seed) % 4, warps = 4u << clt_random(&seed) % 4;
        const bool tiles = n % 2 != 0;
        const struct tc_kernel k = {.coarse = tiles ? 1u << clt_random(&seed) % 3 : 8u << clt_random(&seed) % 2,
                                    .tile = tiles ? 1u << clt_random(&seed) % 3 : 0};
        const struct tc_coarse_range least = tc_coarse_least(&k, lanes * warps);
        const uint32_t x = clt_random(&seed) % 2 ? least.x : least.x * (clt_random(&seed) % 4 + 1);
        const uint32_t wide = tiles && k.coarse == 1 ? x : (x + 16 * k.coarse - 1) / (16 * k.coarse) * 16;
        const uint32_t rows = (least.hardware + wide - 1) / wide;
        struct rt_range r = {.dims = 2, .local = {1, 1, 1}, .global = {x, rows * least.y, 1}}, h;
        assert_true(rt_coarse_choose(&k, lanes, warps, MAX, &r, &h));
        assert_true(!tiles || (uint64_t)h.global[0] * h.global[1] >= least.hardware);
        r.global[1] -= least.y;
        if (r.global[1] > 0 && (k.coarse != 8 || x == least.x)) {
            assert_false(rt_coarse_choose(&k, lanes, warps, MAX, &r, &h));
        }
        r.global[1] = SPAN; /* enough for the hardware */
        r.global[0] = least.x;
        assert_true(rt_coarse_choose(&k, lanes, warps, MAX, &r, &h));
        r.global[0] = least.x - 1;
        assert_false(r.global[0] > 0 && rt_coarse_choose(&k, lanes, warps, MAX, &r, &h));
        r.global[0] = SPAN;
        r.global[1] = least.y - 1;
        assert_false(r.global[1] > 0 && rt_coarse_choose(&k, lanes, warps, MAX, &r, &h));
    }
}

/** Tiles whose rows are shared run in groups of one row, and in whole rows; not where groups are smaller. A fault is by
 *  any work-item of the row. */
static void test_shared_rows(void **state)
{
    (void)state;
    const struct tc_kernel k = {.coarse = 1, .tile = 2, .coarse_rows = 1};
    const struct rt_range r = {.dims = 2, .local = {8, 8, 1}, .global = {250, 99, 3}, .offset = {100, 1000, 0}};
    struct rt_range h;
    char more[RT_FAULT_MORE] = "";
    assert_true(rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h));
    assert_memory_equal(h.global, ((const uint32_t[3]){256, 50, 3}), sizeof h.global);
    assert_memory_equal(h.local, ((const uint32_t[3]){16, 1, 1}), sizeof h.local);
    assert_true(rt_coarse_choose(&k, LANES, WARPS, 16, &r, &h));
    assert_false(rt_coarse_choose(&k, LANES, WARPS, 15, &r, &h));
    assert_memory_equal(&h, &r, sizeof h);
    static const struct {
        uint32_t x, y;
        const char *text;
    } cases[] = {
        {37, 5, "kernel k: one of 32 work-items (x, y, 7), the first with x = 132, y = 1010: load"},
        {249, 49, "kernel k: one of 10 work-items (x, y, 7), the first with x = 340, y = 1098: load"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tern_fault f = {.has_item = true, .item = {100 + cases[i].x, 1000 + cases[i].y, 7}};
        strcpy(f.message, "kernel k: work-item (1, 2, 7) of group (2, 0, 0): load");
        rt_coarse_explain(&k, &r, &h, &f, more);
        assert_string_equal(f.message, cases[i].text);
    }
}

/** The explanation of a fault in a tile, at the end of the range and before. */
static void test_tile_sentence(void **state)
{
    (void)state;
    const struct tc_kernel k = {.coarse = 2, .tile = 4};
    const struct rt_range r = {.dims = 2, .global = {250, 250, 1}, .local = {1, 1, 1}, .offset = {100, 1000, 0}};
    struct rt_range h;
    char more[RT_FAULT_MORE] = "";
    assert_true(rt_coarse_choose(&k, LANES, WARPS, MAX, &r, &h));
    static const struct {
        uint32_t x, y;
        const char *text;
    } cases[] = {
        {37, 5, "kernel k: one of 8 work-items (x, y, 7), the first with x = 169, y = 1020: store"},
        {121, 62, "kernel k: one of 4 work-items (x, y, 7), the first with x = 333, y = 1248: store"},
        {123, 62, "kernel k: one of 2 work-items (x, y, 7), the first with x = 335, y = 1248: store"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tern_fault f = {.has_item = true, .item = {100 + cases[i].x, 1000 + cases[i].y, 7}};
        strcpy(f.message, "kernel k: work-item (1, 2, 7) of group (2, 0, 0): store");
        rt_coarse_explain(&k, &r, &h, &f, more);
        assert_string_equal(f.message, cases[i].text);
        assert_false(f.has_item);
    }
}

/** The explanation of a fault. A report of the driver in another form is left as it is. */
static void test_sentence(void **state)
{
    (void)state;
    const struct rt_range r = {.dims = 1, .global = {65530, 1, 1}, .local = {1, 1, 1}, .offset = {100, 0, 0}};
    struct rt_range h;
    char more[RT_FAULT_MORE] = "";
    assert_true(choose(&r, &h));
    struct tern_fault f = {.has_item = true, .item = {100 + 37, 0, 0}};
    strcpy(f.message, "process 'a': kernel k: work-item (137, 0, 0) of group (2, 0, 0): load from (0)");
    rt_coarse_explain(&kernel, &r, &h, &f, more);
    /* Hardware work-item 37 is lane 5 of row 2 and runs 256 work-items: 16 in each of 16 rounds, of which the last is
     * full for it. */
    assert_string_equal(f.message, "process 'a': kernel k: one of 256 work-items (x, 0, 0), the first with x = 617: "
                        "load from (0)");
    assert_non_null(strstr(more, "-g"));
    assert_true(!f.has_item && f.item[0] == 0);
    f.has_item = true;
    f.item[0] = 100 + 255;
    strcpy(f.message, "kernel k: work-item (355, 0, 0) of group (15, 0, 0): ");
    rt_coarse_explain(&kernel, &r, &h, &f, more);
    assert_string_equal(f.message, "kernel k: one of 255 work-items (x, 0, 0), the first with x = 3955: ");
    /* With coarse_rows, the fault is by any work-item of the row, which has 250 in the last round. */
    const struct tc_kernel rows = {.coarse = COPIES, .coarse_rows = 1};
    f.has_item = true;
    f.item[0] = 100 + 255;
    strcpy(f.message, "kernel k: work-item (355, 0, 0) of group (15, 0, 0): ");
    rt_coarse_explain(&rows, &r, &h, &f, more);
    assert_string_equal(f.message, "kernel k: one of 4090 work-items (x, 0, 0), the first with x = 3940: ");
    f.has_item = true;
    strcpy(f.message, "something else");
    rt_coarse_explain(&kernel, &r, &h, &f, more);
    assert_string_equal(f.message, "something else");
    f.has_item = false;
    strcpy(f.message, "work-item (1, 0, 0) of group (0, 0, 0): ");
    rt_coarse_explain(&kernel, &r, &h, &f, more);
    assert_string_equal(f.message, "work-item (1, 0, 0) of group (0, 0, 0): ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_long_kernels),
        cmocka_unit_test(test_sentence),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_tile_sentence),
        cmocka_unit_test(test_shared_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
