/* SPDX-License-Identifier: Apache-2.0 */
/** The report of a kernel's fault (F1): the global id of the work-item, and a sentence about the access. */
#include "dut.h"

/** The work-item whose global id is in arguments 0 to 2 stores to the address in argument 3. */
static const uint32_t code[] = {
    0xcd0022f3, 0x00052303, 0x02629263, /* csrr t0, global_id_x; lw t1, 0(a0); bne t0, t1, end */
    0xcd1022f3, 0x00452303, 0x00629c63, /* csrr t0, global_id_y; lw t1, 4(a0); bne t0, t1, end */
    0xcd2022f3, 0x00852303, 0x00629663, /* csrr t0, global_id_z; lw t1, 8(a0); bne t0, t1, end */
    0x00c52303, 0x00032023,             /* lw t1, 12(a0); sw zero, 0(t1) */
    0x0000100b,                         /* end: exit */
};
#define STORE 40u /* offset of the sw in bytes */

static const uint32_t global[3] = {13, 7, 5}, local[3] = {5, 3, 2}, offset[3] = {100, 200, 300};

struct victim {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *code, *stack, *args;
    uint32_t entry;
};

static void open_victim(struct victim *v)
{
    v->p = process("victim");
    v->c = context(v->p, 0);
    v->code = memory(v->p, sizeof code, TERN_MEM_READ | TERN_MEM_EXEC);
    v->args = memory(v->p, 4096, TERN_MEM_READ);
    v->stack = memory(v->p, (uint64_t)dev->info.warps * dev->info.lanes << 6, TERN_MEM_WRITE);
    v->entry = tern_allocation_address(v->code);
    ok(tern_allocation_write(v->code, 0, code, sizeof code));
}

static void close_victim(struct victim *v)
{
    tern_context_destroy(v->c);
    tern_allocation_destroy(v->code);
    tern_allocation_destroy(v->args);
    tern_allocation_destroy(v->stack);
    ok(tern_process_destroy(v->p));
}

/** Runs the kernel as packet 1 of a buffer and returns the fault. */
static struct tern_fault run(struct victim *v, const uint32_t item[3], uint32_t address)
{
    const uint32_t args[4] = {item[0], item[1], item[2], address};
    const uint32_t items = local[0] * local[1] * local[2];
    uint32_t groups[3], edge[3];
    for (int i = 0; i < 3; i++) {
        groups[i] = (global[i] + local[i] - 1) / local[i];
        edge[i] = global[i] - (groups[i] - 1) * local[i];
    }
    struct tern_pkt_dispatch d = {
        .entry = v->entry, .args = tern_allocation_address(v->args), .work_dim = 3, .stack_log2 = 6, .local_bytes = 128,
        .group_warps = (items + dev->info.lanes - 1) / dev->info.lanes, .group_slots = 1,
        .stack = tern_allocation_address(v->stack), .global_x = global[0], .global_y = global[1], .global_z = global[2],
        .local_x = local[0], .local_y = local[1], .local_z = local[2], .offset_x = offset[0], .offset_y = offset[1],
        .offset_z = offset[2], .groups_x = groups[0], .groups_y = groups[1], .groups_z = groups[2], .edge_x = edge[0],
        .edge_y = edge[1], .edge_z = edge[2]};
    struct tern_fault f = {.size = sizeof f};
    ok(tern_allocation_write(v->args, 0, args, sizeof args));
    ok(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, work_add(&dma, 1)));
    ok(tern_pkt_dispatch_pack(&d, work_add(&dma, 2)));
    const uint64_t fence = work_submit(&dma, v->c, "gun");
    assert_int_equal(tern_wait(v->c, fence, -1), -EIO);
    assert_int_equal(tern_process_status(v->p, &f), -EIO);
    return f;
}

static void test_every_work_item_has_its_name(void **state)
{
    (void)state;
    static const uint32_t at[][3] = {{0, 0, 0},  {4, 2, 1}, {5, 3, 2}, {12, 6, 4}, {12, 0, 0}, {0, 6, 0},
                                     {0, 0, 4},  {11, 5, 3}, {10, 6, 1}, {3, 1, 4}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct victim v;
        open_victim(&v);
        const uint32_t item[3] = {offset[0] + at[i][0], offset[1] + at[i][1], offset[2] + at[i][2]};
        const struct tern_fault f = run(&v, item, 0x90000000);
        char who[128];
        assert_true(f.has_item);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(f.item[k], item[k]);
            assert_int_equal(f.group[k], at[i][k] / local[k]);
        }
        snprintf(who, sizeof who, "process 'victim': kernel gun: work-item (%u, %u, %u) of group (%u, %u, %u): ",
                 item[0], item[1], item[2], f.group[0], f.group[1], f.group[2]);
        assert_int_equal(strncmp(f.message, who, strlen(who)), 0);
        assert_int_equal(f.offset, 64);
        assert_int_equal(f.pc, v.entry + STORE);
        close_victim(&v);
    }
}

static void expect_sentence(uint32_t address, uint32_t fault, const char *what)
{
    struct victim v;
    char text[512];
    open_victim(&v);
    const struct tern_fault f = run(&v, offset, address);
    snprintf(text, sizeof text, "process 'victim': kernel gun: work-item (100, 200, 300) of group (0, 0, 0): "
             "%s (pc 0x%08x)", what, v.entry + STORE);
    assert_string_equal(f.message, text);
    assert_int_equal(f.code, fault);
    assert_int_equal(f.address, address);
    assert_int_equal(f.access, 1);
    close_victim(&v);
}

static void test_sentences(void **state)
{
    (void)state;
    expect_sentence(0x90000000, TERN_FAULT_PAGE, "store to 0x90000000, which is not mapped");
    expect_sentence(0, TERN_FAULT_PAGE, "store to 0x00000000, which is not mapped: a null pointer");
    expect_sentence(32, TERN_FAULT_PAGE, "store to 0x00000020, which is not mapped: 32 bytes behind a null pointer");
    expect_sentence(0xfff8, TERN_FAULT_PAGE, "store to 0x0000fff8, which is not mapped, 8 bytes below the allocation "
                    "at 0x00010000");
    expect_sentence(0xdffffff0, TERN_FAULT_PAGE, "store to 0xdffffff0, which is not mapped, 16 bytes "
                    "below local memory");
    expect_sentence(0x90000002, TERN_FAULT_MISALIGNED, "misaligned store to 0x90000002");
    expect_sentence(TERN_WIN_LOCAL_BASE + 128, TERN_FAULT_LOCAL_OVERRUN,
                    "store to 0xe0000080, byte 128 of local memory, of which the work-group has 128 bytes");
    expect_sentence(TERN_WIN_PRIVATE_BASE + 64, TERN_FAULT_STACK_OVERFLOW,
                    "store to 0xf0000040, beyond the 64 bytes of private memory of the work-item");
    expect_sentence(TERN_WIN_PRIVATE_BASE - 4, TERN_FAULT_STACK_OVERFLOW,
                    "store to 0xeffffffc, below the 64 bytes of private memory of the work-item");
}

/** The sentence names the allocation that the address is in, beyond, or below. */
static void test_neighbours(void **state)
{
    (void)state;
    struct victim v;
    char text[512];
    const struct {
        int64_t at;
        uint32_t fault;
        const char *format;
    } cases[] = {
        {12, TERN_FAULT_PROTECTION, "store to 0x%08x, which may not be written, byte 12 of the allocation "
         "at 0x%08x (pc"},
        {8192 + 4, TERN_FAULT_PAGE, "store to 0x%08x, which is not mapped, 4 bytes beyond the end of the allocation "
         "at 0x%08x (pc"},
        {-8, TERN_FAULT_PAGE, "store to 0x%08x, which is not mapped, 8 bytes below the allocation at 0x%08x (pc"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tern_allocation *a;
        open_victim(&v);
        ok(tern_allocation_create(v.p, 8192, TERN_MEM_READ, 0x70000000, &a));
        const struct tern_fault f = run(&v, offset, (uint32_t)(0x70000000 + cases[i].at));
        snprintf(text, sizeof text, cases[i].format, f.address, 0x70000000u);
        if (f.code != cases[i].fault || !strstr(f.message, text)) {
            fail_msg("'%s' does not say '%s'", f.message, text);
        }
        tern_allocation_destroy(a);
        close_victim(&v);
    }
}

/** A fault of a packet other than a kernel's names no work-item. */
static void test_no_work_item(void **state)
{
    (void)state;
    struct victim v;
    open_victim(&v);
    work_fill(&dma, 0x90000000, 64, 1);
    const uint64_t fence = work_submit(&dma, v.c, "filler");
    struct tern_fault f = {.size = sizeof f};
    assert_int_equal(tern_wait(v.c, fence, -1), -EIO);
    assert_int_equal(tern_process_status(v.p, &f), -EIO);
    assert_false(f.has_item);
    assert_true(!f.pc && !f.warp && !f.lane && !f.item[0] && !f.group[0]);
    assert_string_equal(f.message, "process 'victim': filler: write to 0x90000000, which is not mapped (packet at byte "
                        "0 of buffer 1)");
    close_victim(&v);
}

/** A fault of a user executor names the executor and the address, whatever the position of its packet. */
static void test_user_executors(void **state)
{
    (void)state;
    const uint32_t at = 0x70000000;
    const struct {
        uint32_t n, x, y, fault;
        const char *what;
    } cases[] = {
        {8, at + 2, at, TERN_FAULT_EXECUTOR, "it refuses address 0x70000002, byte 2 of the allocation at 0x70000000"},
        {8, at, at + 0x2001, TERN_FAULT_EXECUTOR, "it refuses address 0x70002001, 4097 bytes beyond the end of the "
         "allocation at 0x70000000"},
        {8, 3, at, TERN_FAULT_EXECUTOR, "it refuses address 0x00000003: 3 bytes behind a null pointer"},
        {1u << 30, at, at, TERN_FAULT_EXECUTOR, "it refuses what it was given"},
        {8, 0x90000000, at, TERN_FAULT_PAGE, "read from 0x90000000, which is not mapped"},
        {8, at, at, TERN_FAULT_PROTECTION, "write to 0x70000000, which may not be written, byte 0 of the allocation at "
         "0x70000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t before = 0; before < 3; before++) {
            struct victim v;
            struct tern_allocation *a;
            struct tern_fault f = {.size = sizeof f};
            char text[512];
            open_victim(&v);
            ok(tern_allocation_create(v.p, 4096, TERN_MEM_READ, at, &a));
            for (uint32_t k = 0; k < before; k++) {
                ok(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, work_add(&dma, 1)));
            }
            struct tern_pkt_user_call call = {TERN_EXECUTOR_ID_SAXPY, {[TERN_USER_SAXPY_N] = cases[i].n,
                                                                       [TERN_USER_SAXPY_X] = cases[i].x,
                                                                       [TERN_USER_SAXPY_Y] = cases[i].y}};
            ok(tern_pkt_user_call_pack(&call, work_add(&dma, 2)));
            const uint64_t fence = work_submit(&dma, v.c, "caller");
            assert_int_equal(tern_wait(v.c, fence, -1), -EIO);
            assert_int_equal(tern_process_status(v.p, &f), -EIO);
            snprintf(text, sizeof text, "process 'victim': caller: user executor saxpy: %s (packet at byte %u of "
                     "buffer 1)", cases[i].what, 64 * before);
            assert_string_equal(f.message, text);
            assert_int_equal(f.code, cases[i].fault);
            tern_allocation_destroy(a);
            close_victim(&v);
        }
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, device_setup, device_teardown)
    const struct CMUnitTest tests[] = {
        T(test_every_work_item_has_its_name), T(test_sentences), T(test_neighbours), T(test_no_work_item),
        T(test_user_executors),
    };
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
