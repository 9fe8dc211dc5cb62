/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the comparison of two histories of warp instructions, on histories that the test makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain.h"

#define LANES 8u
#define CODE 0x1000u

/* add x10, x11, x12; add x13, x10, x11; amoadd.w x14, x12, (x11); add x15, x14, x11; lw x16, 0(x11); exit */
enum { ADD, ADD_AFTER, AMO, ADD_AMO, LOAD, EXIT };
static const uint32_t words[] = {0x00c58533, 0x00b506b3, 0x00c5a72f, 0x00b707b3, 0x0005a803, 0x0000100b};

static const struct seen done[] = {{.kind = TERN_ENGINE_IND_INFO_KIND_COMPLETED, .begin = 1, .end = 1000000}};
static struct submit submits[2];
static const struct scene scene = {.submit = submits, .submits = 2};

/** Makes a run of the program above by two warps, with all lanes together. Each instruction's result is its number. */
static struct history usual(uint64_t time)
{
    struct history h = {0};
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t op = i / 2, rd = words[op] >> 7 & 31;
        struct tern_sim_retired r = {.time = time + 3 * i, .warp = i % 2, .pc = CODE + 4 * op, .word = words[op],
                                     .mask = 0xff, .rd = op == EXIT ? 0 : rd};
        for (uint32_t l = 0; l < LANES && r.rd; l++) {
            r.value[l] = op;
        }
        history_add(&h, &r);
    }
    assert_false(h.lost);
    return h;
}

static struct ending ended(const struct seen *seen, uint32_t count)
{
    return (struct ending){.seen = (struct seen *)seen, .count = count};
}

static struct parting part(struct history *a, struct history *b, const struct ending *ea, const struct ending *eb)
{
    struct parting p;
    assert_int_equal(history_compare(&scene, a, ea, b, eb, LANES, &p), 0);
    history_free(a);
    history_free(b);
    return p;
}

static struct parting part_usual(struct history *a, struct history *b)
{
    struct ending e = ended(done, 1);
    return part(a, b, &e, &e);
}

/** Two warps run in another order, and one of them is split: no difference. */
static void test_order_is_open(void **state)
{
    (void)state;
    struct history a = usual(100), b = {0}, c = usual(7000);
    for (uint32_t warp = 2; warp-- > 0;) {
        for (uint32_t i = 0; i < c.count; i++) {
            if (c.r[i].warp != warp) {
                continue;
            }
            struct tern_sim_retired low = c.r[i], high = c.r[i];
            low.mask = 0x0f;
            high.mask = 0xf0;
            history_add(&b, warp ? &low : &c.r[i]);
            if (warp) {
                history_add(&b, &high);
            }
        }
    }
    history_free(&c);
    assert_int_equal(part_usual(&a, &b).kind, PART_NONE);
}

/** The cause of a difference is found, not its consequences, even if these were seen earlier in another work-item. */
static void test_value(void **state)
{
    (void)state;
    struct history a = usual(100), b = usual(500);
    b.r[1].value[5] = 77;  /* the add of warp 1 */
    b.r[1].value[2] = 76;
    b.r[3].value[5] = 78;  /* an instruction that reads the result */
    b.r[8].value[0] = 5;   /* a later load */
    struct parting p = part_usual(&a, &b);
    assert_int_equal(p.kind, PART_VALUE);
    assert_int_equal(p.pc[1], CODE);
    assert_int_equal(p.warp, 1);
    assert_int_equal(p.rd, 10);
    assert_int_equal(p.lanes, 1u << 5 | 1u << 2);
    assert_int_equal(p.expected[5], ADD);
    assert_int_equal(p.got[5], 77);
    assert_int_equal(p.got[2], 76);
    assert_int_equal(p.time[1], 503);
    assert_int_equal(p.time[0], 103);
}

static void test_what_follows_is_not_first(void **state)
{
    (void)state;
    struct history a = usual(100), b = usual(500);
    b.r[8].value[3] = 9;                  /* the cause comes late: a load of warp 0 */
    b.r[4].value[3] = 1000;               /* an earlier atomic, whose result is open */
    b.r[6].value[3] = 1001;               /* and an instruction that reads it */
    struct parting p = part_usual(&a, &b);
    assert_int_equal(p.pc[1], CODE + 4 * LOAD);
    a = usual(100);
    b = usual(500);
    b.r[6].value[3] = 1001; /* its sources are equal, so it is a cause */
    assert_int_equal(part_usual(&a, &b).pc[1], CODE + 4 * ADD_AMO);
    a = usual(100);
    b = usual(500);
    b.r[4].value[3] = 1000; /* nothing else differs, so the atomic is reported */
    assert_int_equal(part_usual(&a, &b).pc[1], CODE + 4 * AMO);
}

static void test_known_registers(void **state)
{
    (void)state;
    struct history a = usual(100), b = usual(500);
    b.r[8].value[3] = 9;
    struct parting p = part_usual(&a, &b);
    assert_int_equal(p.known, 1u << 10 | 1u << 13 | 1u << 14 | 1u << 15);
    assert_int_equal(p.before[0][13], ADD_AFTER);
    assert_int_equal(p.before[1][14], AMO);
}

static void test_flow(void **state)
{
    (void)state;
    struct history a = usual(100), b = usual(500);
    b.r[8].pc += 0x100;
    struct parting p = part_usual(&a, &b);
    assert_int_equal(p.kind, PART_FLOW);
    assert_int_equal(p.pc[0], CODE + 4 * LOAD);
    assert_int_equal(p.pc[1], CODE + 4 * LOAD + 0x100);
}

static void test_ends_early_or_late(void **state)
{
    (void)state;
    struct history a = usual(100), b = usual(500);
    b.count -= 2;
    assert_int_equal(part_usual(&a, &b).kind, PART_NOT_RUN);
    a = usual(100);
    b = usual(500);
    a.count -= 2;
    struct parting p = part_usual(&a, &b);
    assert_int_equal(p.kind, PART_EXTRA);
    assert_int_equal(p.pc[1], CODE + 4 * EXIT);
}

/** Instructions that faulting work did not reach are open. Work that should have faulted and went on is found. */
static void test_faults(void **state)
{
    (void)state;
    const struct seen fault = {.kind = TERN_ENGINE_IND_INFO_KIND_FAULTED, .begin = 1, .end = 1000000, .warp = 1,
                               .lane = 0, .pc = CODE + 4 * LOAD};
    struct ending faulted = ended(&fault, 1), ok = ended(done, 1);
    struct history a = usual(100), b = usual(500);
    a.count = 9; /* warp 1 does not load */
    b.count = 5;
    assert_int_equal(part(&a, &b, &faulted, &faulted).kind, PART_NONE);
    a = usual(100);
    b = usual(500);
    a.count = 9;
    struct parting p = part(&a, &b, &faulted, &ok);
    assert_int_equal(p.kind, PART_EXTRA);
    assert_int_equal(p.warp, 1);
    assert_int_equal(p.lane, 0);
    assert_int_equal(p.pc[1], CODE + 4 * LOAD);
}

/** A work-item's steps in two submissions are separate: the end of the first may be lost. */
static void test_submissions(void **state)
{
    (void)state;
    const struct seen early[] = {{.kind = TERN_ENGINE_IND_INFO_KIND_FAULTED, .begin = 90, .end = 300, .submit = 0},
                                 {.kind = TERN_ENGINE_IND_INFO_KIND_COMPLETED, .begin = 400, .end = 900, .submit = 1}};
    struct ending e = ended(early, 2);
    struct history a = usual(100), b = usual(100), c = usual(500);
    b.count -= 4;
    for (uint32_t i = 0; i < c.count; i++) {
        history_add(&a, &c.r[i]);
        history_add(&b, &c.r[i]);
    }
    b.r[b.count - 4].value[7] = 99; /* the load of warp 0 in the second submission */
    history_free(&c);
    struct parting p = part(&a, &b, &e, &e);
    assert_int_equal(p.kind, PART_VALUE);
    assert_int_equal(p.submit, 1);
    assert_int_equal(p.lane, 7);
}

static void test_disassembly(void **state)
{
    (void)state;
    const struct {
        uint32_t word;
        const char *text;
    } cases[] = {{0x00c58533, "add a0, a1, a2"}, {0x0000100b, "tern.exit"}, {0x0000000b, "tern.barrier"},
                 {0x00c5f553, "fadd.s a0, a1, a2"}, {0x28c5a52f, "amocas.w a0, a2, (a1)"},
                 {0x20c5a533, "sh1add a0, a1, a2"},
                 {0x60261513, "cpop a0, a2"}, {0xfe000ee3, "beqz zero, -0x4"}, {0xffffffff, "(no instruction)"},
                 {0x0000200b, "(no instruction)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        disassemble(cases[i].word, CODE, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_open), cmocka_unit_test(test_value),
        cmocka_unit_test(test_what_follows_is_not_first), cmocka_unit_test(test_known_registers),
        cmocka_unit_test(test_flow), cmocka_unit_test(test_ends_early_or_late), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_submissions), cmocka_unit_test(test_disassembly),
    };
    return cmocka_run_group_tests_name("history", tests, NULL, NULL) ? 1 : 0;
}
