/* SPDX-License-Identifier: Apache-2.0 */
/** The mappings of a buffer: found by pointer, compared with a search of all, and with the steps counted. */
#include "clt.h"

#include "runtime/core/maps.h"
#include "runtime/core/memory.h"

enum { FEW = 200, ROUNDS = 40000, MANY = 50000 };

static struct rt_map maps[MANY];
static char host[MANY];

/** Mappings with few different pointers are put and taken. Of several with one pointer, the youngest is taken first. */
static void test_against_a_table(void **state)
{
    (void)state;
    struct rt_maps s = {0};
    unsigned order[FEW] = {0}, clock = 0, n = 0; /* order: when the mapping was put, or 0 if it is not in the set. */
    uint32_t seed = 11;
    for (unsigned i = 0; i < FEW; i++) {
        maps[i].pointer = &host[4096 * (i % 7) + i % 50];
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned i = clt_random(&seed) % FEW;
        if (order[i] == 0 && clt_random(&seed) % 2 == 0) {
            rt_maps_put(&s, &maps[i]);
            order[i] = ++clock;
            n++;
        } else if (clt_random(&seed) % 4 == 0) {
            assert_int_equal(rt_maps_remove(&s, &maps[i]), order[i] != 0);
            n -= order[i] != 0;
            order[i] = 0;
        } else {
            struct rt_map *want = NULL;
            for (unsigned k = 0; k < FEW; k++) {
                if (order[k] != 0 && maps[k].pointer == maps[i].pointer &&
                    (want == NULL || order[k] > order[want - maps])) {
                    want = &maps[k];
                }
            }
            assert_ptr_equal(rt_maps_take(&s, maps[i].pointer), want);
            if (want != NULL) {
                order[want - maps] = 0;
                n--;
            }
        }
        assert_int_equal(s.n, n);
    }
    assert_null(rt_maps_take(&s, NULL));
    for (struct rt_map *m; (m = rt_maps_empty(&s)) != NULL; n--) {
        assert_true(order[m - maps] != 0);
        order[m - maps] = 0;
    }
    assert_int_equal(n, 0);
}

static void test_steps(void **state)
{
    (void)state;
    struct rt_maps s = {0};
    for (unsigned i = 0; i < MANY; i++) {
        maps[i].pointer = &host[i];
        rt_maps_put(&s, &maps[i]);
    }
    for (unsigned i = 0; i < MANY; i++) { /* The oldest mapping is taken first, which a list would find last. */
        assert_ptr_equal(rt_maps_take(&s, &host[i]), &maps[i]);
    }
    assert_true(s.steps <= 10ull * MANY);
    for (unsigned i = 0; i < MANY; i++) {
        rt_maps_put(&s, &maps[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_non_null(rt_maps_empty(&s));
    }
    assert_true(s.steps <= 20ull * MANY);
    assert_null(rt_maps_empty(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_table),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
