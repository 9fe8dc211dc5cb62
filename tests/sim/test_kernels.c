/* SPDX-License-Identifier: Apache-2.0 */
/** Small kernels on a simulated device, RTL or model: test_kernels LIBRARY. What dispatch promises: docs/spec. */
#include <stdlib.h>

#include "device.h"

/* physical, and the same in the one 4 MiB region of the address space */
#define BASE 0x01000000u
#define CODE 0x00001000u /* offsets from BASE or VA */
#define ARGS 0x00002000u
#define IN 0x00003000u
#define OUT 0x00013000u
#define STACK 0x00080000u
#define PAGES 512u
#define VA 0x00400000u
#define ROOT 0x00b00u
#define RWX (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK)

/* ------------------------------------------------------------ instructions */
enum { ZERO = 0, SP = 2, T0 = 5, T1 = 6, T2 = 7, A0 = 10, T3 = 28, T4 = 29, T5 = 30, T6 = 31 };

static uint32_t itype(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}
static uint32_t rtype(uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return 0x33u | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25;
}
static uint32_t csrr(uint32_t rd, int32_t csr)
{
    return itype(0x73, 2, rd, 0, csr);
}
static uint32_t lw(uint32_t rd, int32_t off, uint32_t rs1)
{
    return itype(0x03, 2, rd, rs1, off);
}
static uint32_t sw(uint32_t rs2, int32_t off, uint32_t rs1)
{
    uint32_t o = (uint32_t)off;
    return 0x23u | (o & 31) << 7 | 2u << 12 | rs1 << 15 | rs2 << 20 | (o >> 5) << 25;
}
static uint32_t addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
    return itype(0x13, 0, rd, rs1, imm);
}
static uint32_t sh2add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(0x10, 4, rd, rs1, rs2);
}
static uint32_t mul(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(1, 0, rd, rs1, rs2);
}
static uint32_t add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(0, 0, rd, rs1, rs2);
}
static uint32_t lui(uint32_t rd, uint32_t value)
{
    return 0x37u | rd << 7 | (value & 0xfffff000u);
}
static uint32_t beq(uint32_t rs1, uint32_t rs2, uint32_t forward) /* bytes, below 2048 */
{
    return 0x63u | rs1 << 15 | rs2 << 20 | (forward >> 1 & 15) << 8 | (forward >> 5 & 63) << 25;
}
static uint32_t amoadd(uint32_t rd, uint32_t rs2, uint32_t rs1)
{
    return 0x2fu | rd << 7 | 2u << 12 | rs1 << 15 | rs2 << 20;
}
#define BARRIER 0x0000000bu
#define EXIT 0x0000100bu
#define ECALL 0x00000073u

/* ---------------------------------------------------------------- dispatch */
struct range {
    uint32_t global[3], local[3], local_bytes;
};

static uint32_t lanes(struct device *d)
{
    return reg_read(d, TERN_REG_DEV_CONFIG0) & TERN_DEV_CONFIG0_LANES_MASK;
}

static void packet_dispatch(struct device *d, struct range r)
{
    struct tern_pkt_dispatch p = {
        .entry = VA + CODE, .args = VA + ARGS, .work_dim = 3, .group_slots = 1, .stack_log2 = 8, .stack = VA + STACK,
        .global_x = r.global[0], .global_y = r.global[1], .global_z = r.global[2],
        .local_x = r.local[0], .local_y = r.local[1], .local_z = r.local[2], .local_bytes = r.local_bytes,
    };
    uint32_t groups[3], edge[3];
    for (int i = 0; i < 3; i++) {
        groups[i] = (r.global[i] + r.local[i] - 1) / r.local[i];
        edge[i] = r.global[i] - (groups[i] - 1) * r.local[i];
    }
    p.groups_x = groups[0], p.groups_y = groups[1], p.groups_z = groups[2];
    p.edge_x = edge[0], p.edge_y = edge[1], p.edge_z = edge[2];
    p.group_warps = (r.local[0] * r.local[1] * r.local[2] + lanes(d) - 1) / lanes(d);
    uint32_t warps = (reg_read(d, TERN_REG_DEV_CONFIG0) & TERN_DEV_CONFIG0_WARPS_MASK) >> TERN_DEV_CONFIG0_WARPS_SHIFT;
    p.group_slots = warps / p.group_warps;
    assert_int_equal(tern_pkt_dispatch_pack(&p, packet(d, 2)), 0);
}

static void poke(struct device *d, uint32_t offset, const void *data, size_t size)
{
    assert_int_equal(api->mem_write(d->sim, BASE + offset, data, size), 0);
}

static void peek(struct device *d, uint32_t offset, void *data, size_t size)
{
    assert_int_equal(api->mem_read(d->sim, BASE + offset, data, size), 0);
}

/** Code and arguments into memory, the address space (page 0 of it holds the DMA buffer), and the dispatch submitted. */
static void launch(struct device *d, uint32_t root, const uint32_t *code, size_t size, struct range r)
{
    const uint32_t args[] = {VA + IN, VA + OUT};
    poke(d, ARGS, args, sizeof args);
    poke(d, CODE, code, size);
    map(d, root, VA, BASE, PAGES, RWX);
    packet_dispatch(d, r);
    submit(d, 0, (struct submission){.buffer = VA, .fence = 1, .root = root}, BASE);
}
#define LAUNCH(d, code, ...) launch(d, ROOT, code, sizeof code, (struct range){__VA_ARGS__})

/* out[id] = in[id] * id + 7 over a range with an edge in each dimension */
static void test_elementwise(void **state)
{
    struct device *d = *state;
    enum { X = 37, Y = 5, Z = 3, N = X * Y * Z };
    uint32_t in[N], out[N + 1], seed = 99;
    for (int i = 0; i < N; i++) {
        in[i] = next_random(&seed);
    }
    poke(d, IN, in, sizeof in);
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

/* The group reverses itself through local memory; odd work-items take another way to the barrier. */
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

/* Private memory of each work-item, and one atomic counter for all. */
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
    LAUNCH(d, code, {N, 1, 1}, {32, 1, 1}, 0);
    expect_completed(d, 0, 1);
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(out[i], 2 * i + 3);
    }
    assert_int_equal(out[N], N);
}

/* F1 for kernels. The work-item with id 21 does it. */
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
            csrr(T3, 0xcd0), addi(T4, ZERO, WHO), beq(T3, T4, 8), EXIT, lui(T0, cases[i].va), addi(T0, T0, (int32_t)low),
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

/* A7: what one process leaves in registers and local memory, another one never finds. */
static void test_scrub(void **state)
{
    struct device *d = *state;
    enum { N = 64, KEPT = 26 };
    uint32_t spill[64] = {0}, reveal[64] = {0}, n = 0, m = 0;
    for (uint32_t r = T0; r < 32; r++) {
        spill[n++] = lui(r, 0xdeadb000u);
    }
    spill[n++] = csrr(T0, 0xcc0);
    spill[n++] = lui(T1, TERN_WIN_LOCAL_BASE);
    spill[n++] = sh2add(T1, T0, T1);
    spill[n++] = sw(T2, 0, T1);
    spill[n++] = EXIT;
    launch(d, ROOT, spill, sizeof spill, (struct range){{N, 1, 1}, {N, 1, 1}, N * 4});
    expect_completed(d, 0, 1);

    /* x11 is used; each of the others goes to out[(register - 12) * N + id], local memory behind them */
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
    reveal[m++] = EXIT;
    launch(d, ROOT + 0x10, reveal, sizeof reveal, (struct range){{N, 1, 1}, {N, 1, 1}, N * 4});
    expect_completed(d, 0, 1);
    uint32_t out[21 * N];
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < 21 * N; i++) {
        assert_int_not_equal(out[i] & 0xfffff000u, 0xdeadb000u);
    }
}

/* A reset in the middle of a kernel that never ends; then a normal one runs. */
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
        cmocka_unit_test_setup_teardown(test_reset_kernel, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL) ? 1 : 0;
}
