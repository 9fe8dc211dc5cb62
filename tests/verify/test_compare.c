/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests of running a scene and of comparing two ends, with the functional model on both sides. Equal ends compare
 * equal, and each kind of difference is found unless it is in an open range.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verify.h"

#define TARGET 0x200000u /* memory that the fills write */
#define BUFFERS 0x100000u
#define SAVES 0x300u     /* page number */
#define PAGING TERN_ENGINE_SUB_FLAGS_PAGING_MASK

static struct backend model;

static struct scene new_scene(void)
{
    struct scene s = {.seed = 5, .engines = ENGINES, .mem_bytes = VERIFY_MEMORY, .limit = 1000000};
    s.memory = calloc(1, s.mem_bytes);
    s.touched = calloc(1, s.mem_bytes / PAGE);
    assert_true(s.memory && s.touched);
    return s;
}

/** Appends a paging buffer of one packet. */
static void add(struct scene *s, uint32_t engine, const uint32_t *w, uint32_t lines)
{
    uint64_t at = BUFFERS + s->submits * PAGE;
    scene_put(s, at, w, lines * LINE);
    struct submit sub = {.engine = engine, .buffer = at, .fence = 100 + s->submits, .size = lines * LINE,
                         .save = SAVES + s->submits, .flags = PAGING};
    assert_int_equal(scene_submit(s, &sub), 0);
}

static void add_fill(struct scene *s, uint32_t engine, uint32_t at, uint32_t bytes, uint32_t value)
{
    uint32_t w[32];
    struct tern_pkt_fill p = {.dst_lo = at, .width = bytes, .rows = 1, .slices = 1};
    memset(p.pattern, (int)value, sizeof p.pattern);
    assert_int_equal(tern_pkt_fill_pack(&p, w), 0);
    add(s, engine, w, 2);
}

static void add_wait(struct scene *s, uint32_t engine, uint32_t at, uint32_t value)
{
    uint32_t w[16];
    assert_int_equal(tern_pkt_fence_wait_pack(&(struct tern_pkt_fence_wait){.address_lo = at, .value_lo = value}, w),
                     0);
    add(s, engine, w, 1);
}

/** Makes a scene of four fills on each engine and a packet that faults. */
static struct scene usual(void)
{
    struct scene s = new_scene();
    for (uint32_t i = 0; i < 8; i++) {
        add_fill(&s, i % 2, TARGET + i * 0x1800, 3000, 0x11 * (i + 1));
    }
    add(&s, 1, (uint32_t[16]){0x177}, 1);
    return s;
}

static struct side run(const struct scene *s)
{
    struct side d = {.backend = &model};
    assert_int_equal(scene_run(s, &model, 0, NULL, &d.sim, &d.end), 0);
    return d;
}

/** Compares, checks the kind of the difference, and frees both sides. */
static struct difference expect(const struct scene *s, struct side *a, struct side *b, bool every_page,
                                enum difference_kind kind)
{
    struct difference d;
    assert_int_equal(compare(s, a, b, every_page, &d), 0);
    if (d.kind != kind) {
        print_message("%s", d.text);
    }
    assert_int_equal(d.kind, kind);
    assert_true(kind == DIFF_NONE ? !d.text[0] : d.text[0]);
    side_free(a);
    side_free(b);
    return d;
}

static void poke(struct side *d, uint64_t address)
{
    uint8_t v;
    assert_int_equal(model.api->mem_read(d->sim, address, &v, 1), 0);
    v ^= 0x40;
    assert_int_equal(model.api->mem_write(d->sim, address, &v, 1), 0);
}

static void test_equal(void **state)
{
    (void)state;
    struct scene s = usual();
    struct side a = run(&s), b = run(&s);
    assert_false(a.end.hung || a.end.error);
    assert_int_equal(a.end.count, 9);
    uint8_t v;
    assert_int_equal(model.api->mem_read(a.sim, TARGET + 7 * 0x1800 + 2999, &v, 1), 0);
    assert_int_equal(v, 0x88);
    const struct seen *last = &a.end.seen[8];
    assert_int_equal(last->kind, TERN_ENGINE_IND_INFO_KIND_FAULTED);
    assert_int_equal(last->fault, TERN_FAULT_PACKET_UNKNOWN);
    assert_int_equal(last->fence, 108);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(a.end.seen[i].engine, i / 4);
        assert_int_equal(a.end.seen[i].fence, 100 + i % 4 * 2 + i / 4);
    }
    expect(&s, &a, &b, true, DIFF_NONE);
    scene_free(&s);
}

static void test_memory(void **state)
{
    (void)state;
    struct scene s = usual();
    const struct {
        uint64_t at;
        bool every_page;
    } places[] = {{TARGET + 17, false}, {BUFFERS + 5, false}, {TARGET + 0x1801, false}, {0x3fff000, true}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct side a = run(&s), b = run(&s);
        poke(&b, places[i].at);
        struct difference d = expect(&s, &a, &b, places[i].every_page, DIFF_MEMORY);
        assert_true(d.address == places[i].at);
        assert_non_null(strstr(d.text, "1 bytes of memory differ"));
    }
    scene_free(&s);
}

static void test_open_memory(void **state)
{
    (void)state;
    struct scene s = usual();
    assert_int_equal(scene_open(&s, TARGET + 100, 10, OPEN_FAULTED, false), 0);
    struct side a = run(&s), b = run(&s);
    poke(&b, TARGET + 100);
    poke(&b, TARGET + 109);
    expect(&s, &a, &b, false, DIFF_NONE);
    for (uint32_t beside = 0; beside < 2; beside++) {
        struct side c = run(&s), d = run(&s);
        poke(&d, TARGET + 105);
        poke(&d, TARGET + (beside ? 110 : 99));
        assert_true(expect(&s, &c, &d, false, DIFF_MEMORY).address == TARGET + (beside ? 110 : 99));
    }
    scene_free(&s);
}

/** One device writes zeros over zeros, and the other one nothing. */
static void test_dirty(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        struct scene s = new_scene(), other = new_scene();
        add_fill(&s, 0, TARGET, 100, 0);
        add_fill(&other, 0, TARGET, 0, 0);
        assert_int_equal(scene_open(&s, BUFFERS, PAGE, OPEN_FAULTED, false), 0); /* the buffers themselves */
        assert_int_equal(scene_open(&s, TARGET + 8, 8, OPEN_FAULTED, open), 0);
        struct side a = run(&s), b = run(&other);
        struct difference d = expect(&s, &a, &b, true, open ? DIFF_NONE : DIFF_DIRTY);
        assert_true(open || d.address == TARGET);
        scene_free(&s);
        scene_free(&other);
    }
}

static void test_indications(void **state)
{
    (void)state;
    struct scene s = usual();
    for (uint32_t field = 0; field < 13; field++) {
        struct side a = run(&s), b = run(&s);
        struct seen *x = &b.end.seen[8];
        uint32_t *fields[] = {&x->kind, &x->fault, &x->access, &x->lane, &x->warp, &x->va, &x->pc, &x->offset,
                              &x->group[0], &x->group[1], &x->group[2]};
        if (field < 11) {
            *fields[field] ^= 1;
        } else if (field == 11) {
            x->fence ^= 1ull << 40;
        } else {
            b.end.count--;
        }
        expect(&s, &a, &b, false, DIFF_INDICATION);
    }
    struct side a = run(&s), b = run(&s);
    b.end.seen[8].begin++;
    b.end.seen[8].end += 7; /* times are open */
    expect(&s, &a, &b, false, DIFF_NONE);
    scene_free(&s);
}

static void test_hang(void **state)
{
    (void)state;
    struct scene s = usual();
    s.limit = 20000;
    struct side a = run(&s);
    add_wait(&s, 0, TARGET - 8, 1);
    struct side b = run(&s);
    assert_false(a.end.hung);
    assert_true(b.end.hung);
    assert_in_range(b.end.cycles, 20000, 30000);
    expect(&s, &a, &b, false, DIFF_ENDING);
    struct side c = run(&s), d = run(&s);
    expect(&s, &c, &d, false, DIFF_ENDING); /* neither has ended, so nothing was compared */
    scene_free(&s);
}

/** A scene that is preempted often ends as without preemption. The saved state is open. */
static void test_preemption(void **state)
{
    (void)state;
    struct scene s = usual();
    add_wait(&s, 0, TARGET - 8, 1);
    for (uint32_t i = 0; i < 20; i++) {
        add_fill(&s, 1, TARGET + 0x10000 + i * 50, 100, i);
    }
    uint32_t w[16];
    assert_int_equal(tern_pkt_fence_signal_pack(&(struct tern_pkt_fence_signal){.address_lo = TARGET - 8,
                                                                                .value_lo = 1}, w), 0);
    add(&s, 1, w, 1);
    struct side alone = run(&s);
    assert_int_equal(alone.end.cut_count, 0);
    s.stop_every = 200;
    struct side cut = run(&s);
    assert_in_range(cut.end.cut_count, 4, 10000);
    struct side again = run(&s);
    assert_int_equal(again.end.cut_count, cut.end.cut_count);
    side_free(&again);
    expect(&s, &alone, &cut, true, DIFF_NONE);
    scene_free(&s);
}

static void test_what_a_model_cannot(void **state)
{
    (void)state;
    struct scene s = usual();
    struct side a = {.backend = &model};
    const struct watch waves = {.waves = "/nonexistent/x.fst", .waves_from = 0, .waves_to = 1000};
    assert_int_equal(scene_run(&s, &model, 0, &waves, &a.sim, &a.end), -ENOTSUP);
    assert_int_not_equal(scene_run(&s, &model, 1, NULL, &a.sim, &a.end), 0); /* the model has no mutants */
    assert_null(a.sim);
    scene_free(&s);
}

static void test_case_seeds(void **state)
{
    (void)state;
    struct geometry g;
    assert_int_equal(backend_geometry(&model, VERIFY_MEMORY, &g), 0);
    assert_int_equal(g.lanes, 8);
    assert_int_equal(g.warps, 8);
    for (enum kind k = 0; k < KINDS; k++) {
        struct test_case c = {.kind = k, .seed = 77}, d = {.kind = k, .seed = 78};
        struct scene x, y, z;
        case_size(&c, &g);
        case_size(&d, &g);
        assert_in_range(c.items, 1, MAX_ITEMS);
        assert_int_equal(case_build(&c, &g, &x), 0);
        assert_int_equal(case_build(&c, &g, &y), 0);
        assert_int_equal(case_build(&d, &g, &z), 0);
        assert_int_equal(memcmp(x.memory, y.memory, x.mem_bytes), 0);
        assert_int_not_equal(memcmp(x.memory, z.memory, x.mem_bytes), 0);
        scene_free(&x);
        scene_free(&y);
        scene_free(&z);
    }
}

int main(void)
{
    if (backend_open("model_small", &model)) {
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal), cmocka_unit_test(test_memory), cmocka_unit_test(test_open_memory),
        cmocka_unit_test(test_dirty), cmocka_unit_test(test_indications), cmocka_unit_test(test_hang),
        cmocka_unit_test(test_preemption), cmocka_unit_test(test_what_a_model_cannot),
        cmocka_unit_test(test_case_seeds),
    };
    int r = cmocka_run_group_tests_name("compare", tests, NULL, NULL) ? 1 : 0;
    backend_close(&model);
    return r;
}
