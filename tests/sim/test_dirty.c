/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the dirty plane of a simulated device, RTL or model, at its API: test_dirty LIBRARY. docs/rules.md has the
 *  rules by number. */
#include <string.h>

#include "device.h"

/* physical */
#define BUFFER0 0x00400000u
#define DATA 0x01000000u
#define OTHER 0x01800000u
#define PAGING TERN_ENGINE_SUB_FLAGS_PAGING_MASK

/** Address for results of the dirty plane, a page of its own. */
#define RESULT ((48ull << 20) + PAGE)

/** Runs a command of the dirty plane with this target. Returns the status. */
static uint32_t dirty_to(struct device *d, uint32_t first, uint32_t count, uint32_t op, uint64_t target)
{
    reg_write(d, TERN_REG_DIRTY_FIRST, first);
    reg_write(d, TERN_REG_DIRTY_COUNT, count);
    reg_write(d, TERN_REG_DIRTY_TARGET_LO, (uint32_t)target);
    reg_write(d, TERN_REG_DIRTY_TARGET_HI, (uint32_t)(target >> 32));
    reg_write(d, TERN_REG_DIRTY_COMMAND, op);
    uint32_t s;
    for (int i = 0; (s = reg_read(d, TERN_REG_DIRTY_STATUS)) & TERN_DIRTY_STATUS_BUSY_MASK; i++) {
        assert_true(i < 10000);
        assert_int_equal(api->step(d->sim, 10, NULL), 0);
    }
    return s;
}

static uint32_t dirty(struct device *d, uint32_t first, uint32_t count, uint32_t op)
{
    return dirty_to(d, first, count, op, RESULT);
}

/** Line i of the last result. */
static void dirty_line(struct device *d, uint32_t i, uint64_t line[8])
{
    assert_int_equal(api->mem_read(d->sim, RESULT + 64ull * i, line, 64), 0);
}

/** The bits of the 64 pages from `page` on, a multiple of 64, in the result of a command from page `first` on of at
 *  most 512 blocks. The block of the pages must be in the bitmap. */
static uint64_t dirty_bits(struct device *d, uint32_t first, uint32_t page)
{
    const uint32_t block = page / 512 - first / 512;
    uint64_t line[8];
    dirty_line(d, 0, line);
    assert_true(line[block / 64] >> block % 64 & 1);
    dirty_line(d, 1 + block, line);
    return line[page % 512 / 64];
}

/** Expects that no page of the range is dirty. */
static void expect_clean(struct device *d, uint32_t first, uint32_t count)
{
    static const uint64_t none[8];
    uint64_t line[8];
    assert_int_equal(dirty(d, first, count, TERN_DIRTY_COMMAND_OP_QUERY), 0);
    assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 0);
    dirty_line(d, 0, line);
    assert_memory_equal(line, none, 64);
}

/* D1-D3, D6, D7: packets make pages dirty, host writes do not; a query copies, clears and counts exactly its pages. */
static void test_dirty(void **state)
{
    struct device *d = *state;
    packet_fill(d, DATA + 3 * PAGE + 100, PAGE, 1); /* pages 3 and 4 */
    packet_copy(d, DATA + 40 * PAGE, DATA, 1);
    run_paging(d);
    uint32_t first = DATA / PAGE;
    assert_int_equal(first % 64, 0);
    assert_int_equal(dirty(d, first + 1, 40, TERN_DIRTY_COMMAND_OP_QUERY), 0);
    assert_int_equal(dirty_bits(d, first + 1, first), 0x18 | 1ull << 40);
    assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 3);
    assert_int_equal(dirty(d, first + 4, 30, TERN_DIRTY_COMMAND_OP_COUNT), 0);
    assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 1);
    assert_int_equal(dirty_bits(d, first + 1, first), 0x18 | 1ull << 40); /* counting writes nothing */
    assert_int_equal(dirty(d, first + 4, 30, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR), 0);
    assert_int_equal(dirty_bits(d, first + 4, first), 0x10);
    assert_int_equal(dirty(d, first, 64, TERN_DIRTY_COMMAND_OP_QUERY), 0);
    assert_int_equal(dirty_bits(d, first, first), 0x08 | 1ull << 40);
    assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 2);
    expect_clean(d, first + 4, 36);
    expect_clean(d, (uint32_t)(RESULT / PAGE), 1); /* a result makes no page dirty */
}

/* Ranges of many blocks. Lines of blocks that are not in the bitmap are not written. */
static void test_dirty_blocks(void **state)
{
    struct device *d = *state;
    const uint32_t pages = (64u << 20) / PAGE, at[] = {0, 511, 512, 5 * 512 + 77, pages - 1};
    assert_int_equal(dirty(d, 0, pages, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR), 0);
    expect_clean(d, 0, pages);
    for (uint32_t i = 0; i < 5; i++) {
        packet_fill(d, (uint64_t)at[i] * PAGE + 64, 64, 1);
    }
    run_paging(d);
    assert_int_equal(dirty(d, 0, pages, TERN_DIRTY_COMMAND_OP_COUNT), 0);
    uint8_t old[64 * 33], now[sizeof old];
    memset(old, 0xa5, sizeof old);
    assert_int_equal(api->mem_write(d->sim, RESULT, old, sizeof old), 0);
    assert_int_equal(dirty(d, 100, pages - 100, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR), 0);
    assert_int_equal(api->mem_read(d->sim, RESULT, now, sizeof now), 0);
    uint64_t names;
    memcpy(&names, now, 8);
    for (uint32_t b = 0; b < 32; b++) {
        assert_true(names >> b & 1 || !memcmp(now + 64 * (1 + b), old, 64));
    }
    assert_int_equal(names & (1 | 2 | 1u << 5 | 1u << 31), 1 | 2 | 1u << 5 | 1u << 31);
    assert_true(dirty_bits(d, 100, 448) >> 63 == 1);
    assert_int_equal(dirty_bits(d, 100, 512) & 1, 1);
    assert_int_equal(dirty_bits(d, 100, 5 * 512 + 64), 1ull << 13);
    assert_true(dirty_bits(d, 100, pages - 64) >> 63 == 1);
    expect_clean(d, 100, pages - 100);
    assert_int_equal(dirty(d, 0, 100, TERN_DIRTY_COMMAND_OP_QUERY), 0); /* page 0 is dirty as before */
    assert_int_equal(dirty_bits(d, 0, 0) & 1, 1);
}

/* A refused command changes nothing. */
static void test_dirty_refused(void **state)
{
    struct device *d = *state;
    const uint32_t pages = (64u << 20) / PAGE, clear = TERN_DIRTY_COMMAND_OP_QUERY_CLEAR, first = DATA / PAGE;
    const struct {
        uint32_t first, count, op;
        uint64_t target;
    } bad[] = {
        {first, pages - first + 1, clear, RESULT}, {pages, 1, clear, RESULT}, {UINT32_MAX, UINT32_MAX, clear, RESULT},
        {0, pages + 1, TERN_DIRTY_COMMAND_OP_COUNT, RESULT}, {first, 1, 0, RESULT}, {first, 1, clear, RESULT + 32},
        {first, 1, clear, (64ull << 20) - 64}, {first, 1, clear, 64ull << 20}, {first, 1, clear, 1ull << 34},
        {first, 1, clear, RESULT | 1ull << 63}, {0, pages, clear, (64ull << 20) - 32 * 64},
    };
    packet_fill(d, DATA, 64, 1);
    run_paging(d);
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(dirty_to(d, bad[i].first, bad[i].count, bad[i].op, bad[i].target),
                         TERN_DIRTY_STATUS_ERROR_MASK);
        assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 0);
    }
    assert_int_equal(dirty_to(d, first, 1, TERN_DIRTY_COMMAND_OP_COUNT, 1), 0); /* a count ignores the target */
    assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 1);
    assert_int_equal(dirty_to(d, pages, 0, clear, RESULT), 0);
    assert_int_equal(dirty_to(d, first, 1, clear, (64ull << 20) - 128), 0);
    assert_int_equal(reg_read(d, TERN_REG_DIRTY_FOUND), 1);
}

/* D1 for a user executor: exactly the pages that it has written are dirty. An absent one is a fault; config1 has the
 * number of those that are there. */
static void test_user_dirty(void **state)
{
    struct device *d = *state;
    const uint32_t first = OTHER / PAGE, config = reg_read(d, TERN_REG_DEV_CONFIG1),
                   n = (config & TERN_DEV_CONFIG1_EXECUTORS_MASK) >> TERN_DEV_CONFIG1_EXECUTORS_SHIFT;
    clear(d, DATA, 4 * PAGE);
    clear(d, OTHER, 8 * PAGE);
    assert_int_equal(dirty(d, DATA / PAGE, 4, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR), 0);
    assert_int_equal(dirty(d, first, 8, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR), 0);
    struct tern_pkt_user_call p = {
        .executor = TERN_EXECUTOR_ID_SAXPY,
        .payload = {[TERN_USER_SAXPY_N] = PAGE / 4 + 2, [TERN_USER_SAXPY_X] = DATA,
                    [TERN_USER_SAXPY_Y] = OTHER + 3 * PAGE - 4}};
    if (has_saxpy(d)) {
        assert_int_equal(tern_pkt_user_call_pack(&p, packet(d, 2)), 0);
        run_paging(d);
        assert_int_equal(dirty(d, first, 8, TERN_DIRTY_COMMAND_OP_QUERY), 0);
        assert_int_equal(dirty_bits(d, first, first / 64 * 64) >> first % 64 & 0xff, 0x1c); /* pages 2 to 4 */
        expect_clean(d, DATA / PAGE, 4);
    }

    assert_true(n == TERN_EXECUTORS || n == TERN_EXECUTORS - TERN_EXECUTOR_EXAMPLES);
    const uint32_t absent[] = {n, TERN_EXECUTORS, 127, 128, 255};
    for (uint32_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        p.executor = absent[i];
        assert_int_equal(tern_pkt_user_call_pack(&p, packet(d, 2)), 0);
        submit(d, 0, (struct submission){.buffer = BUFFER0, .flags = PAGING, .fence = i}, BUFFER0);
        expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PACKET_BOUNDS, i);
    }
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dirty, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_dirty_blocks, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_dirty_refused, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_user_dirty, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("dirty", tests, NULL, NULL) ? 1 : 0;
}
