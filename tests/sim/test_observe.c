/* SPDX-License-Identifier: Apache-2.0 */
/** Observation of the instructions that a device runs, and of the work-item that faults: test_observe LIBRARY. */
#include <errno.h>
#include <stdlib.h>

#include "kernel.h"

/* ------------------------------------------------------------ observation */

#define STEPS 32u /* largest number of instructions of a work-item */

/** The instructions that a work-item has run. */
struct history {
    struct {
        uint32_t pc, word, rd, value;
    } step[STEPS];
    uint32_t steps;
};

struct observed {
    struct device *d;
    uint32_t groups[3], items, lanes; /* groups of the range; work-items of a group; lanes of the device */
    struct history *history;          /* indexed by group, then work-item */
    uint64_t *time, calls;            /* time: of the last instruction, indexed by group and warp */
};

static uint32_t warps_of(const struct observed *o)
{
    return (o->items + o->lanes - 1) / o->lanes;
}

static void see(void *user, const struct tern_sim_retired *r)
{
    struct observed *o = user;
    o->calls++;
    assert_int_equal(r->engine, 0);
    assert_true(r->group[0] < o->groups[0] && r->group[1] < o->groups[1] && r->group[2] < o->groups[2]);
    assert_true(r->warp < warps_of(o) && r->mask && r->rd < 32);
    uint32_t group = (r->group[2] * o->groups[1] + r->group[1]) * o->groups[0] + r->group[0];
    uint64_t *time = &o->time[group * warps_of(o) + r->warp];
    assert_true(r->time >= *time && r->time <= api->cycles(o->d->sim) + SOON);
    *time = r->time;
    for (uint32_t l = 0; l < 32; l++) {
        if (!(r->mask >> l & 1u)) {
            assert_int_equal(r->value[l], 0);
            continue;
        }
        uint32_t item = r->warp * o->lanes + l;
        assert_true(l < o->lanes && item < o->items);
        struct history *h = &o->history[group * o->items + item];
        assert_true(h->steps < STEPS);
        h->step[h->steps].pc = r->pc;
        h->step[h->steps].word = r->word;
        h->step[h->steps].rd = r->rd;
        h->step[h->steps++].value = r->value[l];
        assert_true(r->rd || !r->value[l]);
    }
}

static void observe_begin(struct observed *o, struct device *d, const uint32_t groups[3], uint32_t items)
{
    uint32_t n = groups[0] * groups[1] * groups[2];
    *o = (struct observed){.d = d, .groups = {groups[0], groups[1], groups[2]}, .items = items, .lanes = lanes(d)};
    o->history = calloc(n * items, sizeof *o->history);
    o->time = calloc(n * items, sizeof *o->time);
    assert_true(o->history && o->time);
    assert_int_equal(api->observe(d->sim, see, o), 0);
}

static void observe_end(struct observed *o)
{
    assert_int_equal(api->observe(o->d->sim, NULL, NULL), 0);
    free(o->history);
    free(o->time);
}

/** Checks the next instruction of a work-item: it is instruction `at` of the code, and wrote this value to rd. */
static void did(struct history *h, uint32_t *next, const uint32_t *code, uint32_t at, uint32_t rd, uint32_t value)
{
    assert_true(*next < h->steps);
    assert_int_equal(h->step[*next].pc, VA + CODE + 4 * at);
    assert_int_equal(h->step[*next].word, code[at]);
    assert_int_equal(h->step[*next].rd, rd);
    assert_int_equal(h->step[*next].value, value);
    (*next)++;
}

/* Every kind of instruction, with a branch that odd work-items take, several groups, and a last warp that is not
 * full. */
static void test_instructions(void **state)
{
    struct device *d = *state;
    enum { LOCAL = 20, N = 3 * LOCAL };
    const uint32_t code[] = {
        csrr(T0, 0xcd0), itype(0x13, 7, T1, T0, 1), beq(T1, ZERO, 12), addi(T0, T0, 100), rtype(1, 4, T0, T0, T1),
        lw(T2, 0, A0), sh2add(T2, T0, T2), lw(T3, 0, T2), addi(ZERO, T3, 5), lw(T4, 4, A0), amoadd(T5, T3, T4),
        sw(T3, 4, T4), BARRIER, 0x008000efu /* jal ra, +8 */, ECALL, itype(0x53, 0, T6, T0, 0) | T3 << 20,
        0x0000000fu /* fence */,
        EXIT,
    };
    uint32_t in[N + 100];
    for (uint32_t i = 0; i < N + 100; i++) {
        in[i] = 0x3f800000u + i;
    }
    poke(d, IN, in, sizeof in);
    struct observed o;
    observe_begin(&o, d, (const uint32_t[]){3, 1, 1}, LOCAL);
    LAUNCH(d, code, {N, 1, 1}, {LOCAL, 1, 1}, 0);
    expect_completed(d, 0, 1);
    uint64_t sum = 0, before = 0;
    for (uint32_t i = 0; i < N; i++) {
        struct history *h = &o.history[i];
        uint32_t n = 0, odd = i & 1u, id = odd ? i + 100 : i;
        did(h, &n, code, 0, T0, i);
        did(h, &n, code, 1, T1, odd);
        did(h, &n, code, 2, 0, 0);
        if (odd) {
            did(h, &n, code, 3, T0, id);
            did(h, &n, code, 4, T0, id);
        }
        did(h, &n, code, 5, T2, VA + IN);
        did(h, &n, code, 6, T2, VA + IN + 4 * id);
        did(h, &n, code, 7, T3, in[id]);
        did(h, &n, code, 8, 0, 0);
        did(h, &n, code, 9, T4, VA + OUT);
        before += h->step[n].value; /* the sum that others had added before */
        sum += (uint64_t)in[id];
        did(h, &n, code, 10, T5, h->step[n].value);
        did(h, &n, code, 11, 0, 0);
        did(h, &n, code, 12, 0, 0);
        did(h, &n, code, 13, 1, VA + CODE + 14 * 4);
        float tiny, value, added;
        memcpy(&tiny, &id, 4);
        memcpy(&value, &in[id], 4);
        added = tiny + value;
        uint32_t bits;
        memcpy(&bits, &added, 4);
        did(h, &n, code, 15, T6, bits);
        did(h, &n, code, 16, 0, 0);
        did(h, &n, code, 17, 0, 0);
        assert_int_equal(h->steps, n);
    }
    assert_true(before > 0);
    uint32_t out;
    peek(d, OUT, &out, sizeof out);
    assert_int_equal(out, (uint32_t)sum);
    uint64_t calls = o.calls;
    assert_int_equal(api->observe(d->sim, NULL, NULL), 0);
    LAUNCH(d, code, {N, 1, 1}, {LOCAL, 1, 1}, 0);
    expect_completed(d, 0, 1);
    assert_int_equal(o.calls, calls); /* the observer was removed */
    observe_end(&o);
}

/* Group ids in three dimensions; groups at the edge are smaller. */
static void test_groups_observed(void **state)
{
    struct device *d = *state;
    enum { X = 11, Y = 5, Z = 3 };
    const uint32_t code[] = {csrr(T0, 0xcc3), csrr(T1, 0xcc4), csrr(T2, 0xcc5), EXIT};
    struct observed o;
    observe_begin(&o, d, (const uint32_t[]){3, 3, 2}, 4 * 2 * 2);
    LAUNCH(d, code, {X, Y, Z}, {4, 2, 2}, 0);
    expect_completed(d, 0, 1);
    uint32_t items = 0;
    for (uint32_t g = 0; g < 18; g++) {
        for (uint32_t i = 0; i < 16; i++) {
            struct history *h = &o.history[g * 16 + i];
            uint32_t n = 0;
            if (h->steps) {
                did(h, &n, code, 0, T0, g % 3);
                did(h, &n, code, 1, T1, g / 3 % 3);
                did(h, &n, code, 2, T2, g / 9);
                did(h, &n, code, 3, 0, 0);
                assert_int_equal(h->steps, n);
                items++;
            }
        }
    }
    assert_int_equal(items, X * Y * Z);
    observe_end(&o);
}

/* Instructions before a fault are reported as they ran. The one that faults has written nothing. */
static void test_fault_observed(void **state)
{
    struct device *d = *state;
    const uint32_t code[] = {csrr(T0, 0xcd0), lui(T1, 0x00800000), addi(T0, T0, 1), lw(T2, 0, T1), EXIT};
    struct observed o;
    observe_begin(&o, d, (const uint32_t[]){1, 1, 1}, 8);
    LAUNCH(d, code, {8, 1, 1}, {8, 1, 1}, 0);
    expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PAGE, 1);
    for (uint32_t i = 0; i < 8; i++) {
        static const uint32_t rd[] = {T0, T1, T0};
        const uint32_t value[] = {i, 0x00800000, i + 1};
        assert_true(o.history[i].steps <= 3);
        for (uint32_t n = 0; n < o.history[i].steps;) {
            did(&o.history[i], &n, code, n, rd[n], value[n]);
        }
    }
    observe_end(&o);
}

/* ------------------------------------------------------------------ faults */

static void expect_at(struct device *d, uint32_t fault, const uint32_t group[3], uint32_t item, uint32_t access,
                      uint32_t va, uint32_t pc)
{
    struct indication i = indication(d, 0, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_FAULTED, fault, 1);
    assert_int_equal(i.pc, pc);
    assert_int_equal(i.va, va);
    assert_int_equal(i.access, access);
    assert_int_equal(i.lane, item % lanes(d));
    assert_int_equal(i.warp, item / lanes(d));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(i.group[k], group[k]);
    }
}

/* Only work-item 29 of group (1, 2, 1) faults. */
static void test_group_of_fault(void **state)
{
    struct device *d = *state;
    static const struct {
        uint32_t word, fault, access, va;
    } cases[] = {
        {0xffffffff, TERN_FAULT_ILLEGAL_INSTRUCTION, 2, VA + CODE + 60},
        {ECALL, TERN_FAULT_ENVIRONMENT_CALL, 2, VA + CODE + 60},
        {0x0002a303 /* lw t1, 0(t0) */, TERN_FAULT_PAGE, 0, 0x00800010},
        {0x0002a303, TERN_FAULT_MISALIGNED, 0, VA + 2},
        {0x0062a023 /* sw t1, 0(t0) */, TERN_FAULT_LOCAL_OVERRUN, 1, TERN_WIN_GUARD_BASE - 4},
        {0x0062a023, TERN_FAULT_STACK_OVERFLOW, 1, TERN_WIN_GUARD_BASE},
        {0x0002a303, TERN_FAULT_STACK_OVERFLOW, 0, TERN_WIN_PRIVATE_BASE - 8},
        {0x0062a32f /* amoadd t1, t1, (t0) */, TERN_FAULT_STACK_OVERFLOW, 3, 0xec000000},
        {0x0002c303 /* lbu t1, 0(t0) */, TERN_FAULT_STACK_OVERFLOW, 0, TERN_WIN_PRIVATE_BASE - 1},
        {0x0062a023, TERN_FAULT_MISALIGNED, 1, TERN_WIN_GUARD_BASE + 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t low = cases[i].va & 0xfff;
        const uint32_t code[] = {
            /* 16 x + 4 y + z */
            csrr(T0, 0xcc3), csrr(T1, 0xcc4), csrr(T2, 0xcc5), sh2add(T0, T0, T1), sh2add(T0, T0, T2),
            csrr(T3, 0xcc0), csrr(T4, 0xcc1), itype(0x13, 1, T4, T4, 4), add(T3, T3, T4),           /* local id */
            itype(0x13, 1, T0, T0, 5), add(T3, T3, T0), addi(T4, ZERO, (16 + 8 + 1) * 32 + 29),
            beq(T3, T4, 8), EXIT, addi(ZERO, ZERO, 0), /* followed by the instructions of the case */
        };
        uint32_t all[32];
        memcpy(all, code, sizeof code);
        uint32_t n = sizeof code / 4;
        if (cases[i].access == 2) {
            all[n++] = cases[i].word;
        } else {
            all[n++] = lui(T0, cases[i].va + (low >> 11 << 12));
            all[n++] = addi(T0, T0, (int32_t)(low ^ 0x800u) - 0x800);
            all[n++] = cases[i].word;
        }
        all[n] = EXIT;
        launch(d, ROOT, all, (n + 1) * 4, (struct range){{40, 6, 2}, {16, 2, 1}, 256});
        expect_at(d, cases[i].fault, (const uint32_t[]){1, 2, 1}, 29, cases[i].access, cases[i].va,
                  VA + CODE + 4 * (n - 1));
    }
    packet_nop(d); /* without a kernel there is no group */
    d->words[1] = 1;
    submit(d, 0, (struct submission){.buffer = VA, .fence = 2, .root = ROOT}, BASE);
    struct indication i = indication(d, 0, SOON);
    assert_int_equal(i.fault, TERN_FAULT_PACKET_RESERVED);
    assert_true(!i.group[0] && !i.group[1] && !i.group[2] && !i.warp && !i.lane);
}

/* -------------------------------------------------- barriers that diverge */

enum { GROUP = 48, GROUPS = 5, ODD = 3 }; /* group ODD diverges */

/** Common code: T0 becomes the local id, plus GROUP in all groups except ODD. */
#define WHO csrr(T0, 0xcc0), csrr(T1, 0xcc3), addi(T1, T1, -ODD), beq(T1, ZERO, 8), addi(T0, T0, GROUP)
#define WHO_WORDS 5u
#define BLTU(rs1, rs2, forward) (beq(rs1, rs2, forward) | 6u << 12)
#define PC(word) (VA + CODE + 4 * (WHO_WORDS + (word)))

static void diverge(struct device *d, const uint32_t *code, size_t size, uint32_t item, uint32_t pc)
{
    launch(d, ROOT, code, size, (struct range){{GROUP * GROUPS, 1, 1}, {GROUP, 1, 1}, 0});
    expect_at(d, TERN_FAULT_BARRIER_DIVERGENCE, (const uint32_t[]){ODD, 0, 0}, item, 2, pc, pc);
}

/* The first `ended` work-items exit, and the others wait at a barrier. */
static void test_exit_before_barrier(void **state)
{
    struct device *d = *state;
    static const uint32_t ended[] = {1, 7, 8, 13, 16, 47};
    for (size_t i = 0; i < sizeof ended / sizeof ended[0]; i++) {
        const uint32_t code[] = {
            WHO, addi(T2, ZERO, (int32_t)ended[i]), BLTU(T0, T2, 12), BARRIER, EXIT, EXIT,
        };
        diverge(*state, code, sizeof code, ended[i], PC(2));
    }
    /* the last work-items exit late, when the others wait already */
    const uint32_t late[] = {
        WHO, addi(T2, ZERO, 40), BLTU(T0, T2, 20), addi(T3, ZERO, GROUP), BLTU(T0, T3, 16), BARRIER, EXIT,
        0xff9ff06fu /* j -8: to the barrier */, addi(T2, T2, 1), EXIT,
    };
    diverge(d, late, sizeof late, 0, PC(4));
}

/* Work-items wait at two barriers: the fault names the lower one, and the first work-item there. Others may have
 * exited. */
static void test_two_barriers(void **state)
{
    struct device *d = *state;
    static const uint32_t split[] = {1, 8, 20, 33, 47};
    for (size_t i = 0; i < sizeof split / sizeof split[0]; i++) {
        const uint32_t first_is_high[] = {
            WHO, addi(T2, ZERO, (int32_t)split[i]), BLTU(T0, T2, 12), BARRIER, EXIT, BARRIER, EXIT,
        };
        diverge(d, first_is_high, sizeof first_is_high, split[i], PC(2));
        const uint32_t some_ended[] = {
            WHO, addi(T2, ZERO, (int32_t)split[i]), BLTU(T0, T2, 20), addi(T3, ZERO, 47), beq(T0, T3, 24),
                BARRIER, EXIT,
            BARRIER, EXIT, EXIT, EXIT,
        };
        if (split[i] < 47) {
            diverge(d, some_ended, sizeof some_ended, split[i], PC(4));
        } else {
            diverge(d, some_ended, sizeof some_ended, 0, PC(6));
        }
    }
}

/* No divergence: different paths to one barrier, a barrier in a loop, a group that exits, exits behind the barrier. */
static void test_no_divergence(void **state)
{
    struct device *d = *state;
    const uint32_t code[] = {
        csrr(T0, 0xcc0), csrr(T1, 0xcc3), beq(T1, ZERO, 36) /* group 0 ends */, addi(T2, ZERO, 3),
        itype(0x13, 7, T1, T0, 1), beq(T1, ZERO, 8), addi(T3, T3, 1), BARRIER, addi(T2, T2, -1),
        beq(T2, ZERO, 8), 0xfe9ff06fu /* j -24 */, EXIT,
    };
    LAUNCH(d, code, {GROUP * GROUPS, 1, 1}, {GROUP, 1, 1}, 0);
    expect_completed(d, 0, 1);
    const uint32_t behind[] = {csrr(T0, 0xcc0), BARRIER, addi(T2, ZERO, 9), BLTU(T0, T2, 8), addi(T2, T2, 1), EXIT};
    LAUNCH(d, behind, {GROUP * GROUPS, 1, 1}, {GROUP, 1, 1}, 0);
    expect_completed(d, 0, 1);
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_instructions, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_groups_observed, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_fault_observed, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_group_of_fault, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_exit_before_barrier, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_two_barriers, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_no_divergence, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("observe", tests, NULL, NULL) ? 1 : 0;
}
