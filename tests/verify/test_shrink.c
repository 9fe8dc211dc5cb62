/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of shrinking alone, with a rule in place of a case that differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "verify.h"

/** A case differs if all items of `needed` are kept, and `any` of the items from 100 on. */
struct rule {
    bool keep[MAX_ITEMS];
    uint32_t needed[4], count, any, asked;
};

static bool differs(void *user)
{
    struct rule *r = user;
    uint32_t late = 0;
    r->asked++;
    for (uint32_t i = 100; i < MAX_ITEMS; i++) {
        late += r->keep[i];
    }
    for (uint32_t i = 0; i < r->count; i++) {
        if (!r->keep[r->needed[i]]) {
            return false;
        }
    }
    return late >= r->any;
}

static uint32_t run(struct rule *r, uint32_t items, uint32_t runs)
{
    for (uint32_t i = 0; i < items; i++) {
        r->keep[i] = true;
    }
    return shrink(r->keep, items, runs, differs, r);
}

static uint32_t count(const struct rule *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < MAX_ITEMS; i++) {
        n += r->keep[i];
    }
    return n;
}

static void test_finds_what_is_needed(void **state)
{
    (void)state;
    const uint32_t sets[][4] = {{0, 1, 2, 3}, {0, 511, 255, 256}, {7, 99, 300, 301}};
    for (size_t s = 0; s < 3; s++) {
        struct rule r = {.count = 4};
        memcpy(r.needed, sets[s], sizeof r.needed);
        assert_int_equal(run(&r, MAX_ITEMS, 3000), 4);
        assert_int_equal(count(&r), 4);
        for (int i = 0; i < 4; i++) {
            assert_true(r.keep[sets[s][i]]);
        }
        assert_in_range(r.asked, 1, 250);
    }
}

static void test_no_item_is_needed(void **state)
{
    (void)state;
    struct rule r = {0};
    assert_int_equal(run(&r, 37, 3000), 0);
    assert_int_equal(count(&r), 0);
}

static void test_one_item(void **state)
{
    (void)state;
    struct rule r = {.count = 1, .needed = {0}};
    assert_int_equal(run(&r, 1, 3000), 1);
    assert_true(r.keep[0]);
    assert_int_equal(run(&r, 0, 3000), 0);
}

/** Many sets satisfy the rule. The result must be one from which no single item can be removed. */
static void test_any_of_many(void **state)
{
    (void)state;
    struct rule r = {.count = 1, .needed = {50}, .any = 5};
    assert_int_equal(run(&r, MAX_ITEMS, 3000), 6);
    assert_true(differs(&r));
    for (uint32_t i = 0; i < MAX_ITEMS; i++) {
        if (r.keep[i]) {
            r.keep[i] = false;
            assert_false(differs(&r));
            r.keep[i] = true;
        }
    }
}

static void test_gives_up_after_so_many_runs(void **state)
{
    (void)state;
    struct rule r = {.count = 2, .needed = {3, 400}};
    uint32_t left = run(&r, MAX_ITEMS, 5);
    assert_int_equal(r.asked, 5);
    assert_int_equal(left, count(&r));
    assert_in_range(left, 2, MAX_ITEMS - 1);
    assert_true(differs(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_is_needed), cmocka_unit_test(test_no_item_is_needed),
        cmocka_unit_test(test_one_item), cmocka_unit_test(test_any_of_many),
        cmocka_unit_test(test_gives_up_after_so_many_runs),
    };
    return cmocka_run_group_tests_name("shrink", tests, NULL, NULL) ? 1 : 0;
}
