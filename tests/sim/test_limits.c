/* SPDX-License-Identifier: Apache-2.0 */
/** Limits of a device: requests to stop that wait for the end of a buffer; copies and fills with negative pitches,
 *  beyond memory, and of 2^64 rows. Usage: test_limits LIBRARY. */
#include <errno.h>
#include <stdlib.h>

#include "device.h"

/* physical addresses; ROOT is a page number, VA a virtual address */
#define BUFFER0 0x00100000u
#define BUFFER1 0x00110000u
#define FENCE 0x00200000u
#define AREA 0x00210000u
#define DATA 0x00300000u
#define ROOT 0x00b00u
#define VA 0x00400000u
#define PAGING TERN_ENGINE_SUB_FLAGS_PAGING_MASK
#define RW (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK)

static void preempt(struct device *d, uint32_t granularity)
{
    reg_write(d, TERN_REG_ENGINE_COMMAND(0),
              TERN_ENGINE_COMMAND_PREEMPT_MASK | granularity << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
}

/* P1: with the granularity of a buffer the running buffer goes on to its end, even if it waits for a fence. The buffer
 * behind it is cancelled. */
static void test_stop_at_buffer(void **state)
{
    struct device *d = *state;
    packet_wait(d, FENCE, 5);
    packet_signal(d, FENCE + 8, 2);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 10, .save = AREA / PAGE, .flags = PAGING}, BUFFER0);
    packet_signal(d, FENCE + 16, 3);
    submit(d, 0, (struct submission){.buffer = BUFFER1, .fence = 11, .save = AREA / PAGE, .flags = PAGING}, BUFFER1);
    assert_int_equal(api->step(d->sim, 3000, NULL), 0);
    preempt(d, TERN_ENGINE_COMMAND_GRANULARITY_BUFFER);
    assert_int_equal(api->step(d->sim, 3000, NULL), 0);
    uint32_t status = reg_read(d, TERN_REG_ENGINE_STATUS(0));
    assert_true(status & TERN_ENGINE_STATUS_STOPPING_MASK);
    assert_false(status & TERN_ENGINE_STATUS_INDICATIONS_MASK);
    store64(d, FENCE, 5);
    expect_completed(d, 0, 10);
    struct indication i = indication(d, 0, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, 11);
    assert_true(i.offset == 0 && i.begin == 0);
    assert_int_equal(load64(d, FENCE + 8), 2);
    assert_int_equal(load64(d, FENCE + 16), 0);
    assert_int_equal(load64(d, AREA), 0); /* nothing was saved */
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(0)), 0);
    packet_nop(d);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 12, .flags = PAGING}, BUFFER0);
    expect_completed(d, 0, 12);
}

/* A finer request to stop overtakes a pending one: the last request counts. */
static void test_finer_stop(void **state)
{
    struct device *d = *state;
    for (uint32_t g = TERN_ENGINE_COMMAND_GRANULARITY_PACKET; g <= TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION; g++) {
        packet_nop(d);
        packet_wait(d, FENCE, 5);
        submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = g, .save = AREA / PAGE, .flags = PAGING}, BUFFER0);
        assert_int_equal(api->step(d->sim, 3000, NULL), 0);
        preempt(d, TERN_ENGINE_COMMAND_GRANULARITY_BUFFER);
        assert_int_equal(api->step(d->sim, 1000, NULL), 0);
        preempt(d, g);
        struct indication i = indication(d, 0, SOON);
        expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, g);
        assert_int_equal(i.offset, 64);
    }
}

static void submit_box(struct device *d, const struct tern_pkt_copy *p, uint32_t flags)
{
    assert_int_equal(tern_pkt_copy_pack(p, packet(d, 1)), 0);
    submit(d, 0, (struct submission){.buffer = flags ? BUFFER0 : VA, .fence = 1, .root = ROOT, .flags = flags},
           flags ? BUFFER0 : DATA);
}

/* Virtual addresses wrap at 32 bits, so the pitch of rows or slices may be negative. */
static void test_backwards(void **state)
{
    struct device *d = *state;
    uint8_t in[8][48], out[8][48];
    for (uint32_t i = 0; i < sizeof in; i++) {
        in[i / 48][i % 48] = (uint8_t)(i * 7 + i / 256);
    }
    map(d, ROOT, VA, DATA, 16, RW);
    const struct tern_pkt_copy p = {.src_lo = VA + 0x2000 + 3 * 48, .dst_lo = VA + 0x3000 + 4 * 48, .width = 48,
                                    .rows = 4,
                                    .slices = 2, .src_row = 0u - 48, .src_slice = 4 * 48, .dst_row = 48,
                                    .dst_slice = 0u - 4 * 48};
    assert_int_equal(api->mem_write(d->sim, DATA + 0x2000, in, sizeof in), 0);
    submit_box(d, &p, 0);
    expect_completed(d, 0, 1);
    assert_int_equal(api->mem_read(d->sim, DATA + 0x3000, out, sizeof out), 0);
    for (uint32_t y = 0; y < 8; y++) {
        assert_memory_equal(out[y], in[7 - y], 48);
    }
}

/* F1: accesses beyond memory. The fault has the low half of the address. */
static void test_beyond(void **state)
{
    struct device *d = *state;
    static const struct {
        struct tern_pkt_copy p;
        uint32_t access, va;
    } cases[] = {
        {{.src_lo = DATA, .dst_lo = DATA + 0x2000, .width = 100, .rows = 3, .slices = 2, .src_row = 0xfffffe00,
          .dst_row = 128},
         0, DATA - 512},
        {{.src_lo = DATA, .dst_lo = DATA + 0x2000, .width = 100, .rows = 1, .slices = 2, .dst_slice = 0x80000000}, 1,
         DATA + 0x80002000},
        /* memory has 64 MiB */
        {{.src_lo = 0x03ffffc0, .dst_lo = DATA, .width = 4096, .rows = 1, .slices = 1}, 0, 0x04000000},
        {{.src_lo = DATA, .dst_lo = 0xffffffc0, .dst_hi = 3, .width = 128, .rows = 1, .slices = 1}, 1, 0xffffffc0},
        {{.src_hi = 1, .dst_lo = DATA, .width = 1, .rows = 1, .slices = 1}, 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        submit_box(d, &cases[k].p, PAGING);
        struct indication i = indication(d, 0, SOON);
        expect(i, TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_BUS_ERROR, 1);
        assert_int_equal(i.va, cases[k].va);
        assert_int_equal(i.access, cases[k].access);
    }
}

/* Copies that reach unmapped pages. If both sides fault, the fault that comes first is reported; the read of a byte
 * comes before the write that needs it. */
static void test_first_fault(void **state)
{
    struct device *d = *state;
    map(d, ROOT, VA, DATA, 16, RW);
    static const struct {
        uint32_t src, dst, access, va;
    } cases[] = {
        {0x10000 - 100, 0x8000, 0, 0x10000},               /* only the source ends */
        {0x8000, 0x10000 - 100, 1, 0x10000},               /* only the destination ends */
        {0x10000 - 100, 0x10000 - 200, 0, 0x10000},        /* the source first */
        {0x10000 - 200, 0x10000 - 100, 1, 0x10000},        /* the destination first */
        {0x10000 - 100, 0x10000 - 100, 0, 0x10000},        /* both at once */
        /* the line that is not mapped needs 32 bytes of the source */
        {0x10000 - 132, 0x10000 - 100, 0, 0x10000},
        {0x10000 - 164, 0x10000 - 100, 1, 0x10000},        /* ... 64, which are there */
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        submit_box(d, &(struct tern_pkt_copy){.src_lo = VA + cases[k].src, .dst_lo = VA + cases[k].dst, .width = 1000,
                                              .rows = 1, .slices = 1}, 0);
        struct indication i = indication(d, 0, SOON);
        expect(i, TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PAGE, 1);
        assert_int_equal(i.access, cases[k].access);
        assert_int_equal(i.va, VA + cases[k].va);
    }
}

/* F3: a reset of the engine ends a copy and a fill of nearly 2^64 rows. With a dimension of 0 they end at once. */
static void test_endless(void **state)
{
    struct device *d = *state;
    struct tern_pkt_fill p = {.dst_lo = DATA, .width = 1, .rows = UINT32_MAX, .slices = UINT32_MAX};
    memset(p.pattern, 0x77, sizeof p.pattern);
    assert_int_equal(tern_pkt_fill_pack(&p, packet(d, 2)), 0);
    struct tern_pkt_copy c = {.src_lo = DATA, .dst_lo = DATA + 64, .width = 64, .rows = UINT32_MAX,
                              .slices = UINT32_MAX};
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 1, .flags = PAGING}, BUFFER0);
    assert_int_equal(tern_pkt_copy_pack(&c, packet(d, 1)), 0);
    submit(d, 1, (struct submission){.buffer = BUFFER1, .fence = 2, .flags = PAGING}, BUFFER1);
    assert_int_equal(api->step(d->sim, 5000, NULL), 0);
    assert_int_equal(load64(d, DATA) & 0xff, 0x77);
    for (uint32_t e = 0; e < 2; e++) {
        assert_true(reg_read(d, TERN_REG_ENGINE_STATUS(e)) & TERN_ENGINE_STATUS_BUSY_MASK);
        reg_write(d, TERN_REG_ENGINE_COMMAND(e), TERN_ENGINE_COMMAND_RESET_MASK);
        for (int i = 0; reg_read(d, TERN_REG_ENGINE_STATUS(e)); i++) {
            assert_true(i < 1000);
        }
    }
    p.width = 0;
    assert_int_equal(tern_pkt_fill_pack(&p, packet(d, 2)), 0);
    c.rows = 0;
    assert_int_equal(tern_pkt_copy_pack(&c, packet(d, 1)), 0);
    c.rows = UINT32_MAX;
    c.slices = 0;
    assert_int_equal(tern_pkt_copy_pack(&c, packet(d, 1)), 0);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 3, .flags = PAGING}, BUFFER0);
    expect_completed(d, 0, 3);
}

/* Mutants and coverage, which only instrumented devices have, are refused with -ENOTSUP. */
static void test_not_supported(void **state)
{
    struct device *d = *state;
    struct tern_sim *none = NULL;
    assert_int_equal(api->create(&(struct tern_sim_config){.mutant = 1}, &none), -ENOTSUP);
    assert_null(none);
    assert_int_equal(api->coverage(d->sim, "/dev/null"), -ENOTSUP);
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stop_at_buffer, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_finer_stop, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_backwards, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_beyond, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_first_fault, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_endless, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_not_supported, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL) ? 1 : 0;
}
