/* SPDX-License-Identifier: Apache-2.0 */
/** Three computations of the runtime: whether boxes of bytes overlap, compared with marking each byte; boxes with fewer
 *  rows; and local sizes. */
#include "clt.h"

#include <string.h>

#include "runtime/core/box.h"
#include "runtime/core/group.h"

enum { SPACE = 4096 };

static void paint(unsigned char *space, const struct rt_side *s, const size_t region[3], unsigned char color)
{
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            for (size_t x = 0; x < region[0]; x++) {
                space[s->start + z * s->slice + y * s->row + x] |= color;
            }
        }
    }
}

static void test_overlap(void **state)
{
    (void)state;
    static unsigned char space[SPACE];
    uint32_t seed = 99;
    unsigned met = 0;
    for (int n = 0; n < 20000; n++) {
        const size_t region[3] = {clt_random(&seed) % 9 + 1, clt_random(&seed) % 5 + 1, clt_random(&seed) % 4 + 1};
        const size_t row = region[0] + clt_random(&seed) % 12, slice = row * (region[1] + clt_random(&seed) % 3);
        const struct rt_side a = {clt_random(&seed) % 300, row, slice}, b = {clt_random(&seed) % 300, row, slice};
        memset(space, 0, sizeof space);
        paint(space, &a, region, 1);
        paint(space, &b, region, 2);
        const bool meet = memchr(space, 3, sizeof space) != NULL;
        met += meet;
        if (rt_boxes_overlap(&a, &b, region) != meet) {
            fail_msg("%zu x %zu x %zu, pitches %zu %zu, at %zu and %zu", region[0], region[1], region[2], row,
                     slice, a.start, b.start);
        }
        size_t last = SPACE;
        while (space[--last] == 0) {
        }
        assert_int_equal(rt_side_end(a.start > b.start ? &a : &b, region), last + 1);
    }
    assert_in_range(met, 2000, 18000); /* Both answers are frequent. */
}

/** Boxes with more slices and rows than a search one by one could visit. */
static void test_overlap_of_many(void **state)
{
    (void)state;
    enum { BITS = 20 };
    const size_t many = (size_t)1 << BITS, region[3] = {3, many, many};
    const size_t row = 8, slice = row * many;
    for (size_t shift = 0; shift < 8; shift++) {
        const bool meet = shift < 3 || shift > 5; /* The boxes meet within a row, or in the row after it. */
        const struct rt_side a = {5, row, slice};
        const struct rt_side at[] = {{5 + shift, row, slice}, {5 + shift + row * (many / 2), row, slice},
                                     {5 + shift + slice * (many / 2), row, slice},
                                     {5 + shift + slice * (many - 1) + row * (many - 2), row, slice}};
        for (size_t i = 0; i < LENGTH(at); i++) {
            assert_int_equal(rt_boxes_overlap(&a, &at[i], region), meet);
            assert_int_equal(rt_boxes_overlap(&at[i], &a, region), meet);
        }
        const struct rt_side behind = {5 + shift + slice * many, row, slice};
        assert_false(rt_boxes_overlap(&a, &behind, region));
    }
}

/** Joining rows keeps the order of bytes on both sides, and makes the fewest rows where there are no gaps. */
static void test_join(void **state)
{
    (void)state;
    uint32_t seed = 5;
    unsigned joined = 0;
    for (int n = 0; n < 20000; n++) {
        size_t region[3] = {clt_random(&seed) % 5 + 1, clt_random(&seed) % 4 + 1, clt_random(&seed) % 4 + 1};
        struct rt_side side[2];
        size_t places[2][5 * 4 * 4], count = region[0] * region[1] * region[2], i = 0;
        for (int k = 0; k < 2; k++) {
            const size_t row = region[0] + (clt_random(&seed) % 2) * (clt_random(&seed) % 4);
            side[k] = (struct rt_side){clt_random(&seed) % 9, row,
                                       row * region[1] + (clt_random(&seed) % 2) * (clt_random(&seed) % 4)};
        }
        for (size_t z = 0; z < region[2]; z++) {
            for (size_t y = 0; y < region[1]; y++) {
                for (size_t x = 0; x < region[0]; x++, i++) {
                    places[0][i] = side[0].start + z * side[0].slice + y * side[0].row + x;
                    places[1][i] = side[1].start + z * side[1].slice + y * side[1].row + x;
                }
            }
        }
        rt_box_join(region, &side[0], &side[1]);
        assert_int_equal(region[0] * region[1] * region[2], count);
        joined += region[0] == count;
        size_t gaps = 1;
        for (i = 1; i < count; i++) {
            gaps += places[0][i] != places[0][i - 1] + 1 || places[1][i] != places[1][i - 1] + 1;
        }
        if (region[1] * region[2] == 1 || gaps == 1) {
            assert_int_equal(gaps, region[1] * region[2]);
        }
        for (size_t z = 0, k = 0; z < region[2]; z++) {
            for (size_t y = 0; y < region[1]; y++) {
                for (size_t x = 0; x < region[0]; x++, k++) {
                    assert_int_equal(places[0][k], side[0].start + z * side[0].slice + y * side[0].row + x);
                    assert_int_equal(places[1][k], side[1].start + z * side[1].slice + y * side[1].row + x);
                }
            }
        }
    }
    assert_in_range(joined, 2000, 18000);
}

static void test_sides(void **state)
{
    (void)state;
    struct rt_side s;
    const size_t origin[3] = {1, 2, 3}, region[3] = {10, 4, 2};
    assert_true(rt_side_make(origin, region, 0, 0, &s));
    assert_true(s.row == 10 && s.slice == 40 && s.start == 141);
    assert_true(rt_side_make(origin, region, 16, 128, &s));
    assert_true(s.start == 3 * 128 + 2 * 16 + 1);
    assert_false(rt_side_make(origin, region, 9, 0, &s));
    assert_false(rt_side_make(origin, region, 16, 63, &s));
    assert_false(rt_side_make(origin, region, 16, 72, &s));
    /* The size overflows a size_t. */
    assert_false(rt_side_make((const size_t[3]){0, 0, (size_t)1 << 61}, region, 10, 80, &s));
    assert_false(rt_side_make((const size_t[3]){SIZE_MAX, 1, 0}, region, 0, 0, &s));
    assert_false(rt_side_make(origin, (const size_t[3]){1, (size_t)1 << 32, 1}, (size_t)1 << 32, 0, &s));
}

static void test_local_size(void **state)
{
    (void)state;
    static const uint32_t geometry[][2] = {{16, 256}, {8, 64}, {32, 1024}, {8, 32}};
    for (size_t g = 0; g < LENGTH(geometry); g++) {
        const uint32_t lanes = geometry[g][0], max = geometry[g][1];
        for (uint32_t x = 1; x < 700; x++) {
            for (uint32_t y = 1; y < 40; y += 3) {
                const uint32_t global[3] = {x, y, 3};
                uint32_t local[3];
                rt_group_choose(lanes, max, 3, true, global, local);
                assert_true(x % local[0] == 0 && y % local[1] == 0 && 3 % local[2] == 0);
                assert_true(local[0] * local[1] * local[2] <= max);
                rt_group_choose(lanes, max, 3, false, global, local);
                const uint32_t items = local[0] * local[1] * local[2];
                assert_true(items >= 1 && items <= max && local[0] <= x && local[1] <= y && local[2] <= 3);
                /* The local size is a multiple of a warp, or a whole short row. */
                assert_true(local[0] == x || local[0] % lanes == 0);
                assert_true(y % local[1] == 0 && 3 % local[2] == 0);
                if (x % 64 == 0 && max >= 64) {
                    assert_int_equal(local[0], 64);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_overlap_of_many),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_local_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
