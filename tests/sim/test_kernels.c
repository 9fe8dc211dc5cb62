/* SPDX-License-Identifier: Apache-2.0 */
/** Small kernels on a simulated device, RTL or model: test_kernels LIBRARY. docs/spec describes dispatches. */
#include <stdlib.h>

#include "kernel.h"

/* out[id] = in[id] * id + 7 over a range with an edge in each dimension. */
static void test_elementwise(void **state)
{
    struct device *d = *state;
    enum { X = 37, Y = 5, Z = 3, N = X * Y * Z };
    uint32_t in[N], out[N + 1], seed = 99;
    for (int i = 0; i < N; i++) {
        in[i] = next_random(&seed);
    }
    poke(d, IN, in, sizeof in);
    clear(d, BASE + OUT, sizeof out);
    const uint32_t code[] = {
        csrr(T0, 0xcd2), csrr(T1, 0xcd4), mul(T0, T0, T1), csrr(T1, 0xcd1), add(T0, T0, T1), /* z * size_y + y */
        csrr(T1, 0xcd3), mul(T0, T0, T1), csrr(T1, 0xcd0), add(T0, T0, T1),                  /* * size_x + x */
        lw(T1, 0, A0), lw(T2, 4, A0), sh2add(T1, T0, T1), sh2add(T2, T0, T2),
        lw(T3, 0, T1), mul(T3, T3, T0), addi(T3, T3, 7), sw(T3, 0, T2), EXIT,
    };
    LAUNCH(d, code, {X, Y, Z}, {8, 2, 2}, 0);
    expect_completed(d, 0, 1);
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(out[i], in[i] * i + 7);
    }
    assert_int_equal(out[N], 0);
}

/* A group reverses its values through local memory. Odd work-items take another path to the barrier. */
static void test_barrier_local(void **state)
{
    struct device *d = *state;
    enum { GROUP = 64, N = 4 * GROUP };
    uint32_t out[N];
    const uint32_t code[] = {
        csrr(T0, 0xcc0), csrr(T1, 0xcd0), lui(T2, TERN_WIN_LOCAL_BASE), sh2add(T3, T0, T2),
        itype(0x13, 7, T4, T0, 1), beq(T4, ZERO, 8), addi(T1, T1, 1000), sw(T1, 0, T3), BARRIER,
        addi(T4, ZERO, GROUP - 1), rtype(0x20, 0, T4, T4, T0), sh2add(T4, T4, T2), lw(T5, 0, T4),
        csrr(T1, 0xcd0), lw(T2, 4, A0), sh2add(T2, T1, T2), sw(T5, 0, T2), EXIT,
    };
    LAUNCH(d, code, {N, 1, 1}, {GROUP, 1, 1}, GROUP * 4);
    expect_completed(d, 0, 1);
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t from = i / GROUP * GROUP + GROUP - 1 - i % GROUP;
        assert_int_equal(out[i], from + (from % 2 ? 1000 : 0));
    }
}

/* Each work-item has private memory, and all share an atomic counter. */
static void test_private_atomic(void **state)
{
    struct device *d = *state;
    enum { N = 500 };
    uint32_t out[N + 1];
    const uint32_t code[] = {
        csrr(T0, 0xcd0), sw(T0, -4, SP), addi(T1, T0, 3), sw(T1, -256, SP), lw(T2, 4, A0), addi(T3, ZERO, 1),
        lui(T6, N * 4 & 0xfffff000u), addi(T6, T6, N * 4 & 0xfff), add(T6, T6, T2), amoadd(T4, T3, T6),
        lw(T5, -4, SP), lw(T1, -256, SP), add(T5, T5, T1), sh2add(T2, T0, T2), sw(T5, 0, T2), EXIT,
    };
    clear(d, BASE + OUT, sizeof out);
    LAUNCH(d, code, {N, 1, 1}, {32, 1, 1}, 0);
    expect_completed(d, 0, 1);
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(out[i], 2 * i + 3);
    }
    assert_int_equal(out[N], N);
}

/* F1 for kernels: only the work-item with id 21 faults. */
static void test_faults(void **state)
{
    struct device *d = *state;
    enum { WHO = 21 };
    static const struct {
        uint32_t word, fault, access, va;
    } cases[] = {
        {0xffffffff, TERN_FAULT_ILLEGAL_INSTRUCTION, 0, 0},
        {ECALL, TERN_FAULT_ENVIRONMENT_CALL, 0, 0},
        {0x0002a303 /* lw t1, 0(t0) */, TERN_FAULT_PAGE, 0, 0x00800010},
        {0x0062a023 /* sw t1, 0(t0) */, TERN_FAULT_PAGE, 1, 0x00800010},
        {0x0062a32f /* amoadd t1, t1, (t0) */, TERN_FAULT_PAGE, 3, 0x00800010},
        {0x0002a303, TERN_FAULT_MISALIGNED, 0, VA + 2},
        {0x0062a023, TERN_FAULT_LOCAL_OVERRUN, 1, TERN_WIN_LOCAL_BASE + 256},
        {0x0062a023, TERN_FAULT_STACK_OVERFLOW, 1, TERN_WIN_PRIVATE_BASE + 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t low = cases[i].va & 0xfff;
        const uint32_t code[] = {
            csrr(T3, 0xcd0), addi(T4, ZERO, WHO), beq(T3, T4, 8), EXIT, lui(T0, cases[i].va),
                addi(T0, T0, (int32_t)low),
            cases[i].word, EXIT,
        };
        LAUNCH(d, code, {64, 1, 1}, {32, 1, 1}, 256);
        struct indication f = indication(d, 0, SOON);
        if (f.fault != cases[i].fault) {
            print_error("kernel case %zu\n", i);
        }
        expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, cases[i].fault, 1);
        assert_int_equal(f.pc, VA + CODE + 24);
        assert_int_equal(f.lane, WHO % lanes(d));
        if (cases[i].va) {
            assert_int_equal(f.va, cases[i].va);
            assert_int_equal(f.access, cases[i].access);
        }
        assert_int_equal(f.offset, 0);
    }
}

/* Checks that a kernel finds only zeros in the registers and in the local memory that it did not write. */
static void find_nothing(struct device *d, uint32_t root)
{
    enum { N = 64 };
    uint32_t reveal[64] = {0}, m = 0;
    /* x11 is used; each register above goes to out[(register - 12) * N + id], and local memory behind them */
    reveal[m++] = lw(11, 4, A0);
    reveal[m++] = csrr(A0, 0xcd0);
    reveal[m++] = sh2add(11, A0, 11);
    for (uint32_t r = 12; r < 32; r++) {
        reveal[m++] = sw(r, (int32_t)(r - 12) * N * 4 % 2048, 11);
        if ((r - 12) % 8 == 7) {
            reveal[m++] = addi(11, 11, 2047);
            reveal[m++] = addi(11, 11, 1);
        }
    }
    reveal[m++] = lui(12, TERN_WIN_LOCAL_BASE);
    reveal[m++] = sh2add(12, A0, 12);
    reveal[m++] = lw(12, 0, 12);
    reveal[m++] = sw(12, 1024, 11);
    reveal[m++] = csrr(12, 0x003); /* fcsr: rounding mode and flags */
    reveal[m++] = sw(12, 1280, 11);
    reveal[m++] = EXIT;
    uint32_t out[22 * N];
    memset(out, 0xff, sizeof out);
    poke(d, OUT, out, sizeof out);
    launch_mapped(d, root, reveal, sizeof reveal, (struct range){{N, 1, 1}, {N, 1, 1}, N * 4});
    expect_completed(d, 0, 1);
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < 22 * N; i++) {
        assert_int_equal(out[i], 0);
    }
}

/* Fills registers and local memory with data that the next kernel must not see. */
static void leave_much(struct device *d, uint32_t root)
{
    enum { N = 64 };
    uint32_t spill[64] = {0}, n = 0;
    for (uint32_t r = T0; r < 32; r++) {
        spill[n++] = lui(r, 0xdeadb000u);
    }
    spill[n++] = addi(T0, ZERO, 0x7f);
    spill[n++] = itype(0x73, 1, ZERO, T0, 0x003); /* csrrw fcsr */
    spill[n++] = csrr(T0, 0xcc0);
    spill[n++] = lui(T1, TERN_WIN_LOCAL_BASE);
    spill[n++] = sh2add(T1, T0, T1);
    spill[n++] = sw(T2, 0, T1);
    spill[n++] = EXIT;
    launch_mapped(d, root, spill, sizeof spill, (struct range){{N, 1, 1}, {N, 1, 1}, N * 4});
    expect_completed(d, 0, 1);
}

/* A7: a kernel sees neither contents of power-on nor data of another process. */
static void test_scrub(void **state)
{
    struct device *d = *state;
    map(d, ROOT, VA, BASE, PAGES, RWX);
    map(d, ROOT + 0x10, VA, BASE, PAGES, RWX);
    find_nothing(d, ROOT);
    leave_much(d, ROOT);
    find_nothing(d, ROOT + 0x10);
}

/* A7 if another process gets the root table's page of one that has ended: after a flush of this root, and of all. */
static void test_scrub_root_again(void **state)
{
    struct device *d = *state;
    map(d, ROOT, VA, BASE, PAGES, RWX);
    for (uint32_t all = 0; all < 2; all++) {
        const struct tern_pkt_tlb_flush flush = {.all = all, .root = all ? 0 : ROOT};
        leave_much(d, ROOT);
        assert_int_equal(tern_pkt_tlb_flush_pack(&flush, packet(d, 1)), 0);
        run_paging(d);
        find_nothing(d, ROOT);
    }
}

/* A reset ends a kernel that never ends. The next kernel runs. */
static void test_reset_kernel(void **state)
{
    struct device *d = *state;
    const uint32_t forever[] = {lw(T2, 4, A0), addi(T0, T0, 1), sw(T0, 0, T2), 0xff9ff06fu /* j -8 */};
    LAUNCH(d, forever, {128, 1, 1}, {32, 1, 1}, 0);
    assert_int_equal(api->step(d->sim, 20000, NULL), 0);
    assert_true(reg_read(d, TERN_REG_ENGINE_STATUS(0)) & TERN_ENGINE_STATUS_BUSY_MASK);
    reg_write(d, TERN_REG_ENGINE_COMMAND(0), TERN_ENGINE_COMMAND_RESET_MASK);
    for (int i = 0; reg_read(d, TERN_REG_ENGINE_STATUS(0)); i++) {
        assert_true(i < 1000);
    }
    test_barrier_local(state);
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_elementwise, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_barrier_local, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_private_atomic, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_faults, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_scrub, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_scrub_root_again, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_reset_kernel, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL) ? 1 : 0;
}
