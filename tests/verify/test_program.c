/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests of random programs (kind PROGRAM) on the functional model. The programs end, and they fault where and how their
 * plan says and nowhere else, with any items left out. Together they run every instruction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover.h"
#include "program.h"

#define MEMORY (64ull << 20)
#define SEEDS 150u

static struct backend model;
static struct geometry geometry;

static struct test_case new_case(uint64_t seed)
{
    struct test_case c = {.kind = KIND_PROGRAM, .seed = seed};
    case_size(&c, &geometry);
    return c;
}

/** Runs a case, whose faults must be those of the planned kernels whose faulting item is kept, as many of each kind.
 *  Returns the number of faults. */
static uint32_t run(const struct test_case *c, const struct watch *watch)
{
    static const uint32_t code[FAULT_CLASSES] = {
        [FAULT_ILLEGAL] = TERN_FAULT_ILLEGAL_INSTRUCTION, [FAULT_MISALIGNED] = TERN_FAULT_MISALIGNED,
        [FAULT_STACK] = TERN_FAULT_STACK_OVERFLOW, [FAULT_LOCAL] = TERN_FAULT_LOCAL_OVERRUN,
        [FAULT_PAGE] = TERN_FAULT_PAGE, [FAULT_PROTECTION] = TERN_FAULT_PROTECTION,
        [FAULT_MALFORMED] = TERN_FAULT_PTE_MALFORMED, [FAULT_CALL] = TERN_FAULT_ENVIRONMENT_CALL,
        [FAULT_BARRIER] = TERN_FAULT_BARRIER_DIVERGENCE, [FAULT_BUS] = TERN_FAULT_BUS_ERROR};
    struct plan p;
    struct scene s;
    struct side d = {.backend = &model};
    uint32_t expected[32] = {0}, got[32] = {0}, faults = 0;
    plan_make(c->seed, &geometry, &p);
    for (uint32_t k = 0; k < p.kernels; k++) {
        bool kept = p.kernel[k].fault_item < c->items && c->keep[p.kernel[k].fault_item];
        expected[kept ? code[p.kernel[k].fault] : TERN_FAULT_NONE]++;
    }
    assert_int_equal(case_build(c, &geometry, &s), 0);
    assert_int_equal(scene_run(&s, &model, 0, watch, &d.sim, &d.end), 0);
    assert_false(d.end.hung || d.end.error);
    assert_int_equal(d.end.count, s.submits);
    for (uint32_t i = 0; i < d.end.count; i++) {
        got[d.end.seen[i].fault % 32]++;
        faults += d.end.seen[i].fault != TERN_FAULT_NONE;
    }
    expected[TERN_FAULT_NONE] = got[TERN_FAULT_NONE]; /* one buffer may have several kernels */
    if (memcmp(expected, got, sizeof got) != 0) {
        print_message("seed %llu\n", (unsigned long long)c->seed);
    }
    assert_memory_equal(expected, got, sizeof got);
    side_free(&d);
    scene_free(&s);
    return faults;
}

static void test_ends_as_planned(void **state)
{
    uint32_t faults = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        faults += run(&c, NULL) != 0;
    }
    assert_in_range(faults, SEEDS / 8, SEEDS / 2);
}

static void test_items_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        struct rng r = rng_of(seed, 99);
        for (uint32_t i = 0; i < c.items; i++) {
            c.keep[i] = rng_one_in(&r, 2);
        }
        run(&c, NULL);
        memset(c.keep, 0, sizeof c.keep);
        assert_int_equal(run(&c, NULL), 0);
    }
}

/** After a quarter of the limit no engine is stopped any more, and a page request brings all pages. The result does not
 *  change. */
static void test_undisturbed_in_the_end(void **state)
{
    uint32_t cuts = 0, fewer = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        struct scene s;
        struct side a = {.backend = &model}, b = {.backend = &model};
        struct difference d;
        assert_int_equal(case_build(&c, &geometry, &s), 0);
        assert_int_equal(scene_run(&s, &model, 0, NULL, &a.sim, &a.end), 0);
        s.limit = 2 * a.end.cycles;
        assert_int_equal(scene_run(&s, &model, 0, NULL, &b.sim, &b.end), 0);
        assert_int_equal(compare(&s, &a, &b, false, &d), 0);
        assert_int_equal(d.kind, DIFF_NONE);
        cuts += a.end.cut_count;
        fewer += b.end.cut_count;
        side_free(&a);
        side_free(&b);
        scene_free(&s);
    }
    assert_in_range(fewer, cuts / 4, cuts * 3 / 4);
}

/** Runs two scenes on the model, which must end alike. every_page: as for compare. The caller frees both sides. */
static void expect_same(const struct scene *one, const struct scene *other, bool every_page, struct side *a,
                        struct side *b)
{
    struct difference d;
    assert_int_equal(scene_run(one, &model, 0, NULL, &a->sim, &a->end), 0);
    assert_int_equal(scene_run(other, &model, 0, NULL, &b->sim, &b->end), 0);
    assert_int_equal(compare(other, a, b, every_page, &d), 0);
    assert_int_equal(d.kind, DIFF_NONE);
}

/** A case that begins after a reset in the midst of another one ends as if it ran alone. */
static void test_reset_leaves_nothing(void **state)
{
    uint32_t resets = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        struct scene s;
        struct side a = {.backend = &model}, b = {.backend = &model};
        assert_int_equal(case_build(&c, &geometry, &s), 0);
        struct scene alone = s;
        alone.before = NULL;
        if (s.before) {
            resets++;
            expect_same(&alone, &s, true, &a, &b);
        }
        side_free(&a);
        side_free(&b);
        scene_free(&s);
    }
    assert_in_range(resets, SEEDS / 12, SEEDS / 3);
}

/** A gate opens when a stop has found there who is awaited, and the case ends as without a stop. */
static void test_gates(void **state)
{
    uint32_t gates = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        struct scene s;
        struct side a = {.backend = &model}, b = {.backend = &model};
        assert_int_equal(case_build(&c, &geometry, &s), 0);
        struct scene unstopped = s;
        unstopped.stop_every = 0;
        if (s.gates) {
            expect_same(&unstopped, &s, false, &a, &b);
        }
        for (uint32_t i = 0; i < s.gates; i++) {
            uint32_t count = 0;
            assert_int_equal(model.api->mem_read(b.sim, s.gate[i].count, &count, sizeof count), 0);
            const bool reached = s.gate[i].awaited && count == s.gate[i].awaited;
            assert_true(!reached || b.end.cut_count > 0); /* a kernel that faults before it may not be stopped */
            gates += reached;
        }
        side_free(&a);
        side_free(&b);
        scene_free(&s);
    }
    assert_true(gates >= SEEDS / 12);
}

/** Compares member by member, because bytes between members have any value. */
static void expect_same_submit(const struct submit *a, const struct submit *b)
{
    assert_int_equal(a->engine, b->engine);
    assert_int_equal(a->buffer, b->buffer);
    assert_int_equal(a->fence, b->fence);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->root, b->root);
    assert_int_equal(a->context, b->context);
    assert_int_equal(a->save, b->save);
    assert_int_equal(a->flags, b->flags);
}

static void test_same_seed_same_scene(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_case c = new_case(seed), other = new_case(seed + 1);
        struct scene a, b, d;
        assert_int_equal(case_build(&c, &geometry, &a), 0);
        assert_int_equal(case_build(&c, &geometry, &b), 0);
        assert_int_equal(case_build(&other, &geometry, &d), 0);
        assert_int_equal(a.submits, b.submits);
        for (uint32_t i = 0; i < a.submits; i++) {
            expect_same_submit(&a.submit[i], &b.submit[i]);
        }
        assert_true(memcmp(a.memory, b.memory, a.mem_bytes) == 0);
        assert_true(memcmp(a.memory, d.memory, a.mem_bytes) != 0);
        scene_free(&a);
        scene_free(&b);
        scene_free(&d);
    }
}

static bool ran[256];

static void note(void *user, const struct tern_sim_retired *r)
{
    (void)user;
    for (uint32_t i = 0; i < cover_op_count; i++) {
        ran[i] = ran[i] || (r->word & cover_ops[i].mask) == cover_ops[i].match;
    }
}

static void test_every_instruction(void **state)
{
    (void)state;
    assert_true(cover_op_count <= sizeof ran);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        run(&c, &(struct watch){.observer = note});
    }
    for (uint32_t i = 0; i < cover_op_count; i++) {
        if (!ran[i]) {
            print_message("%s never ran\n", cover_ops[i].name);
        }
        assert_true(ran[i]);
    }
}

static void test_texts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_case c = new_case(seed);
        for (uint32_t i = 0; i < c.items; i++) {
            char text[160], small[40], *colon;
            case_item_text(&c, &geometry, i, text, sizeof text);
            case_item_text(&c, &geometry, i, small, sizeof small);
            colon = strstr(text, "): ");
            assert_true(colon && colon[3]);
            assert_true(strlen(small) < sizeof small && strncmp(small, text, strlen(small)) == 0);
        }
    }
}

int main(void)
{
    if (backend_open("model_small", &model) || backend_geometry(&model, MEMORY, &geometry)) {
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_as_planned), cmocka_unit_test(test_items_left_out),
        cmocka_unit_test(test_undisturbed_in_the_end), cmocka_unit_test(test_reset_leaves_nothing),
        cmocka_unit_test(test_gates), cmocka_unit_test(test_same_seed_same_scene),
        cmocka_unit_test(test_every_instruction), cmocka_unit_test(test_texts),
    };
    int r = cmocka_run_group_tests_name("program", tests, NULL, NULL) ? 1 : 0;
    backend_close(&model);
    return r;
}
