/* SPDX-License-Identifier: Apache-2.0 */
/** The exact register sequences of the kmd on a scripted device, and the packets of paging buffers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "kmd/kmd.h"
#include "kmd/paging.h"
#include "mock_device.h"

#define COUNTERS 14u

static struct tern_kmd kmd;

static uint32_t save_lines = 65;

static void expect_identity(uint32_t id, uint32_t hash, uint32_t config0)
{
    expect_read(TERN_REG_DEV_ID, id);
    expect_read(TERN_REG_DEV_VERSION, 0x000102);
    expect_read(TERN_REG_DEV_SPEC_HASH, hash);
    expect_read(TERN_REG_DEV_CONFIG0, config0);
    expect_read(TERN_REG_DEV_CONFIG1, 12u | 34u << 8 | 1u << 16 | 1u << 18 | 1u << 20 | 2u << 26);
    expect_read(TERN_REG_DEV_CLOCK_HZ, 250000000);
    expect_read(TERN_REG_DEV_MEM_PAGES, 65536);
    expect_read(TERN_REG_DEV_SAVE_LINES, save_lines);
}

/** Scripts reads of the engine's counters, of which counter i is base + i. */
static void expect_counters(uint32_t e, uint64_t base)
{
    for (uint32_t i = 0; i < COUNTERS; i++) {
        uint32_t lo = TERN_REG_ENGINE_CNT_BUSY(e) + 8 * i;
        uint64_t v = base + i;
        expect_read(lo + 4, (uint32_t)(v >> 32));
        expect_read(lo, (uint32_t)v);
        expect_read(lo + 4, (uint32_t)(v >> 32));
    }
}

static int setup(void **state)
{
    (void)state;
    memset(&kmd, 0, sizeof kmd);
    kmd.hal = mock_device();
    kmd.engines = 2;
    kmd.mem_pages = 65536;
    kmd.dirty_page_log2 = 12;
    kmd.granularity = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
    return 0;
}

static void test_probe(void **state)
{
    (void)state;
    struct tern_hal *hal = mock_device();
    expect_identity(0x5445524e, TERN_SPEC_HASH, 16u | 8u << 8 | 2u << 16 | 64u << 24);
    expect_read(TERN_REG_ENGINE_STATUS(0), 0); /* no work of another driver is there */
    expect_read(TERN_REG_ENGINE_STATUS(1), 0);
    expect_counters(0, 100);
    expect_counters(1, 0x1fffffffcull);
    expect_write(TERN_REG_DEV_IRQ_ENABLE, 3);
    struct tern_kmd k;
    assert_int_equal(tern_kmd_probe(hal, &k), 0);
    expect_nothing_more();
    assert_int_equal(k.lanes, 16);
    assert_int_equal(k.warps, 8);
    assert_int_equal(k.engines, 2);
    assert_int_equal(k.local_bytes, 65536);
    assert_int_equal(k.dirty_page_log2, 12);
    assert_int_equal(k.ports, 2);
    assert_true(k.single_use && !k.mem_clear);
    assert_true(k.save_pages == 2 && k.granularity == TERN_ENGINE_COMMAND_GRANULARITY_PACKET);
    struct tern_engine_counters c = {.buffers = 7};
    expect_counters(1, 0x200000010ull);
    assert_int_equal(tern_kmd_counters(&k, 1, &c), 0);
    /* since probing; the counters wrap at 32 bits */
    assert_true(c.busy == 0x14 && c.wr_lines == 0x14 && c.buffers == 7);
}

static void test_probe_refuses(void **state)
{
    (void)state;
    struct tern_kmd k = {.version = 99};
    struct tern_hal *hal = mock_device();
    expect_identity(0xffffffff, TERN_SPEC_HASH, 0);
    assert_int_equal(tern_kmd_probe(hal, &k), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "0xffffffff"));
    hal = mock_device();
    expect_identity(0x5445524e, TERN_SPEC_HASH + 1, 0);
    assert_int_equal(tern_kmd_probe(hal, &k), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "interface description"));
    hal = mock_device();
    expect_identity(0x5445524e, TERN_SPEC_HASH, 16u | 8u << 8 | 9u << 16);
    assert_int_equal(tern_kmd_probe(hal, &k), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "9 engines"));
    hal = mock_device();
    save_lines = 65537;
    expect_identity(0x5445524e, TERN_SPEC_HASH, 16u | 8u << 8 | 2u << 16);
    save_lines = 65;
    assert_int_equal(tern_kmd_probe(hal, &k), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "to save a context"));
    hal = mock_device();
    expect_failure(TERN_REG_DEV_ID, -EIO);
    assert_int_equal(tern_kmd_probe(hal, &k), -EIO);
    assert_int_equal(k.version, 99);
}

static void expect_submission(uint32_t flags, uint32_t status)
{
    const uint32_t values[] = {2, 1, 0xfffff000, 3, 128, 5, 6, 7, flags, 1};
    const uint32_t regs[] = {TERN_REG_ENGINE_SUB_FENCE_LO(1), TERN_REG_ENGINE_SUB_FENCE_HI(1),
                             TERN_REG_ENGINE_SUB_BUFFER_LO(1), TERN_REG_ENGINE_SUB_BUFFER_HI(1),
                             TERN_REG_ENGINE_SUB_SIZE(1), TERN_REG_ENGINE_SUB_ROOT(1), TERN_REG_ENGINE_SUB_CONTEXT(1),
                             TERN_REG_ENGINE_SUB_SAVE(1), TERN_REG_ENGINE_SUB_FLAGS(1),
                             TERN_REG_ENGINE_SUB_DOORBELL(1)};
    expect_flush();
    for (size_t i = 0; i < sizeof regs / sizeof *regs; i++) {
        expect_write(regs[i], values[i]);
    }
    expect_read(TERN_REG_ENGINE_STATUS(1), status);
}

static void test_submit(void **state)
{
    (void)state;
    struct tern_hw_entry s = {.fence = 0x100000002ull, .buffer = 0x3fffff000ull, .size = 128, .root = 5, .context = 6,
                                    .save = 7, .paging = true};
    for (uint32_t refused = 0; refused < 2; refused++) {
        expect_submission(TERN_ENGINE_SUB_FLAGS_PAGING_MASK, refused ? TERN_ENGINE_STATUS_REFUSED_MASK : 0);
        assert_int_equal(tern_kmd_submit(&kmd, 1, &s), refused ? -EAGAIN : 0);
        expect_calls(3); /* flush, all registers, status */
    }
    for (uint32_t flags = 0; flags < 8; flags++) {
        s.paging = flags & TERN_ENGINE_SUB_FLAGS_PAGING_MASK;
        s.resume = flags & TERN_ENGINE_SUB_FLAGS_RESUME_MASK;
        s.null = flags & TERN_ENGINE_SUB_FLAGS_NULL_MASK;
        kmd.engine[1].n = 0;
        expect_submission(flags, 0);
        assert_int_equal(tern_kmd_submit(&kmd, 1, &s), 0);
    }
    kmd.engine[1].n = 0;
    expect_flush();
    expect_write(TERN_REG_ENGINE_SUB_FENCE_LO(1), 2);
    expect_failure(TERN_REG_ENGINE_SUB_FENCE_HI(1), -EIO);
    assert_int_equal(tern_kmd_submit(&kmd, 1, &s), -EIO);
    expect_failure(0, -EIO); /* memory comes first, so no register is written */
    assert_int_equal(tern_kmd_submit(&kmd, 1, &s), -EIO);
    assert_non_null(strstr(tern_last_error(), "flushed"));
    assert_int_equal(kmd.engine[1].n, 0);
    expect_nothing_more();
}

/** Adjacent pieces are one call of the hal. Pieces in the mapped window need no call, and stay in order with the
 * others. */
static void test_memory(void **state)
{
    (void)state;
    const uint64_t value = 0x1122334455667788;
    uint8_t bytes[64], back[64];
    memset(bytes, 7, sizeof bytes);
    const struct tern_iovec pieces[] = {{0x1000, bytes, 8}, {0x3000, bytes, 64}, {MOCK_WINDOW + 8, &value, 8},
                                        {MOCK_WINDOW + 61, bytes, 9}, {0x5000, bytes, 1},
                                        {MOCK_WINDOW + MOCK_WINDOW_BYTES - 4, bytes, 8}};
    expect_mem_write(0x1000, 8);
    expect_mem_write(0x3000, 64);
    expect_mem_write(0x5000, 1);
    expect_mem_write(MOCK_WINDOW + MOCK_WINDOW_BYTES - 4, 8); /* only a part of it is mapped */
    assert_int_equal(tern_kmd_write(&kmd, pieces, sizeof pieces / sizeof *pieces), 0);
    expect_calls(2);
    assert_true(mock_window[0] == 0 && mock_window[1] == value && mock_window[2] == 0);
    assert_memory_equal((uint8_t *)mock_window + 61, bytes, 9);
    assert_int_equal(((uint8_t *)mock_window)[60] | ((uint8_t *)mock_window)[70], 0);
    assert_int_equal(tern_kmd_read(&kmd, MOCK_WINDOW + 61, back, 9), 0);
    assert_memory_equal(back, bytes, 9);
    expect_calls(0);
    expect_mem_read(0x3000, 0x5a);
    assert_int_equal(tern_kmd_read(&kmd, 0x3000, back, 64), 0);
    assert_true(back[0] == 0x5a && back[63] == 0x5a);
    expect_failure(0x3000, -EIO);
    assert_int_equal(tern_kmd_read(&kmd, 0x3000, back, 64), -EIO);
    assert_non_null(strstr(tern_last_error(), "0x3000 cannot be read"));
    expect_failure(0x1000, -EFAULT);
    assert_int_equal(tern_kmd_write(&kmd, pieces, 3), -EIO);
    assert_non_null(strstr(tern_last_error(), "0x1000 cannot be written"));
    expect_nothing_more();
}

static void expect_indication(uint32_t e, uint32_t info)
{
    expect_read(TERN_REG_ENGINE_STATUS(e), 1u << TERN_ENGINE_STATUS_INDICATIONS_SHIFT);
    expect_read(TERN_REG_ENGINE_IND_INFO(e), info);
    expect_read(TERN_REG_ENGINE_IND_FENCE_LO(e), 11);
    expect_read(TERN_REG_ENGINE_IND_FENCE_HI(e), 12);
    expect_read(TERN_REG_ENGINE_IND_OFFSET(e), 64);
    expect_read(TERN_REG_ENGINE_IND_BEGIN_LO(e), 21);
    expect_read(TERN_REG_ENGINE_IND_BEGIN_HI(e), 22);
    expect_read(TERN_REG_ENGINE_IND_END_LO(e), 31);
    expect_read(TERN_REG_ENGINE_IND_END_HI(e), 32);
}

static void test_poll(void **state)
{
    (void)state;
    struct tern_indication i = {.kind = 99};
    kmd.engine[0] = (struct tern_kmd_engine){.queue = {12ull << 32 | 11, 12ull << 32 | 11}, .n = 2};
    expect_read(TERN_REG_ENGINE_STATUS(0), TERN_ENGINE_STATUS_BUSY_MASK | 2u);
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), 0);
    assert_int_equal(i.kind, 99);
    expect_indication(0, TERN_ENGINE_IND_INFO_KIND_COMPLETED);
    expect_write(TERN_REG_ENGINE_IND_POP(0), 1);
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), 1);
    assert_true(i.kind == TERN_ENGINE_IND_INFO_KIND_COMPLETED && i.fence == (12ull << 32 | 11) &&
                i.begin == (22ull << 32 | 21) && i.end == (32ull << 32 | 31) && i.offset == 64 && i.fault == 0);
    expect_indication(0, TERN_ENGINE_IND_INFO_KIND_FAULTED | 1u << 2 | 2u << 8 | 13u << 16 | 5u << 24);
    expect_read(TERN_REG_ENGINE_IND_VA(0), 0x1234);
    expect_read(TERN_REG_ENGINE_IND_PC(0), 0x5678);
    expect_read(TERN_REG_ENGINE_IND_GROUP_X(0), 7);
    expect_read(TERN_REG_ENGINE_IND_GROUP_Y(0), 8);
    expect_read(TERN_REG_ENGINE_IND_GROUP_Z(0), 9);
    expect_write(TERN_REG_ENGINE_IND_POP(0), 1);
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), 1);
    assert_true(i.kind == TERN_ENGINE_IND_INFO_KIND_FAULTED && i.access == 1 && i.fault == 2 && i.lane == 13 &&
                i.warp == 5 && i.va == 0x1234 && i.pc == 0x5678 && i.group[0] == 7 && i.group[1] == 8 &&
                i.group[2] == 9);
    expect_failure(TERN_REG_ENGINE_STATUS(0), -EIO);
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), -EIO);
    expect_nothing_more();
}

static void test_preempt_and_reset(void **state)
{
    (void)state;
    uint64_t last = 0;
    struct tern_indication ind;
    kmd.engine[1] = (struct tern_kmd_engine){.queue = {12ull << 32 | 11, 12ull << 32 | 12}, .n = 2};
    expect_write(TERN_REG_ENGINE_COMMAND(1), TERN_ENGINE_COMMAND_PREEMPT_MASK | 2u << 2);
    assert_int_equal(tern_kmd_preempt(&kmd, 1, 5, TERN_ENGINE_COMMAND_GRANULARITY_GROUP), 0);
    expect_write(TERN_REG_ENGINE_COMMAND(1), TERN_ENGINE_COMMAND_RESET_MASK);
    expect_read(TERN_REG_ENGINE_STATUS(1), TERN_ENGINE_STATUS_RESET_MASK | 1u << TERN_ENGINE_STATUS_INDICATIONS_SHIFT);
    expect_indication(1, TERN_ENGINE_IND_INFO_KIND_COMPLETED);
    expect_write(TERN_REG_ENGINE_IND_POP(1), 1);
    expect_read(TERN_REG_ENGINE_STATUS(1), TERN_ENGINE_STATUS_RESET_MASK);
    /* the reset has not ended; the indications are popped, so that they do not keep the interrupt raised */
    assert_int_equal(tern_kmd_reset(&kmd, 1, true, &last), 1);
    assert_int_equal(last, 0);
    expect_read(TERN_REG_ENGINE_STATUS(1), TERN_ENGINE_STATUS_QUEUED_MASK & -TERN_ENGINE_STATUS_QUEUED_MASK);
    expect_read(TERN_REG_ENGINE_STATUS(1), 0);
    assert_int_equal(tern_kmd_reset(&kmd, 1, false, &last), 1);
    expect_read(TERN_REG_ENGINE_STATUS(1), 0);
    expect_read(TERN_REG_ENGINE_STATUS(1), 0);
    assert_int_equal(tern_kmd_reset(&kmd, 1, false, &last), 0);
    expect_nothing_more();
    assert_true(last == (12ull << 32 | 12));
    assert_int_equal(tern_kmd_poll(&kmd, 1, &ind), 1); /* the buffer that had ended, without another access */
    assert_true(ind.kind == TERN_KMD_COMPLETED && ind.fence == (12ull << 32 | 11));
    assert_int_equal(tern_kmd_reset_failed(0), -ETIMEDOUT);
    assert_non_null(strstr(tern_last_error(), "engine 0"));
}

/** Scripts a dirty command, whose result is written to the window that the mock device maps. */
static void expect_dirty(uint32_t first, uint32_t count, uint32_t op, uint32_t status)
{
    kmd.dirty_area = MOCK_WINDOW;
    expect_write(TERN_REG_DIRTY_FIRST, first);
    expect_write(TERN_REG_DIRTY_COUNT, count);
    expect_write(TERN_REG_DIRTY_TARGET_LO, MOCK_WINDOW);
    expect_write(TERN_REG_DIRTY_TARGET_HI, 0);
    expect_write(TERN_REG_DIRTY_COMMAND, op);
    expect_read(TERN_REG_DIRTY_STATUS, TERN_DIRTY_STATUS_BUSY_MASK);
    expect_read(TERN_REG_DIRTY_STATUS, status);
}

static void test_dirty(void **state)
{
    (void)state;
    static uint32_t bits[65536 / 32];
    memset(mock_window, 0xff, sizeof mock_window);
    memset(mock_window, 0, 128);
    mock_window[0] = 1; /* block 0 has dirty pages: 40, 63, 64 */
    mock_window[8] = 1ull << 40 | 1ull << 63;
    mock_window[9] = 1;
    expect_dirty(40, 50, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR, 0);
    assert_int_equal(tern_kmd_dirty(&kmd, 40, 50, true, bits), 0);
    expect_calls(3); /* one for the five registers of a command */
    assert_int_equal(bits[0], 1u | 1u << 23 | 1u << 24);
    assert_int_equal(bits[1], 0);

    memset(mock_window, 0, 128); /* pages 500 to 1099 are in blocks 0 to 2; block 1's words are stale */
    mock_window[0] = 1 | 4;
    mock_window[15] = 1ull << 63;
    memset(&mock_window[24], 0, 64);
    mock_window[25] = 1ull << 11;
    expect_dirty(500, 600, TERN_DIRTY_COMMAND_OP_QUERY, 0);
    assert_int_equal(tern_kmd_dirty(&kmd, 500, 600, false, bits), 0);
    for (uint32_t i = 0; i < 19; i++) {
        assert_int_equal(bits[i], i == 0 ? 1u << 11 : i == 18 ? 1u << 23 : 0); /* pages 511 and 1099 */
    }

    mock_window[0] = 0; /* all of memory: only the last two blocks have dirty pages, and both are read at once */
    mock_window[1] = 3ull << 62;
    expect_dirty(0, 65536, TERN_DIRTY_COMMAND_OP_QUERY, 0);
    expect_mem_read(MOCK_WINDOW + 64 * (1 + 126), 0x80);
    assert_int_equal(tern_kmd_dirty(&kmd, 0, 65536, false, bits), 0);
    for (uint32_t i = 0; i < 65536 / 32; i++) {
        assert_int_equal(bits[i], i / 16 < 126 ? 0 : 0x80808080u);
    }
    assert_int_equal(tern_kmd_dirty_area(&kmd), 64 * (1 + 128));
    expect_nothing_more();
}

static void test_dirty_errors(void **state)
{
    (void)state;
    uint32_t bits[4] = {0}, dirty = 7;
    expect_dirty(3, 1000, TERN_DIRTY_COMMAND_OP_COUNT, 0);
    expect_read(TERN_REG_DIRTY_FOUND, 77);
    assert_int_equal(tern_kmd_dirty_count(&kmd, 3, 1000, &dirty), 0);
    assert_int_equal(dirty, 77);
    expect_dirty(65536, 0, TERN_DIRTY_COMMAND_OP_QUERY, 0); /* an empty range reads nothing */
    assert_int_equal(tern_kmd_dirty(&kmd, 65536, 0, false, bits), 0);
    expect_nothing_more();
    assert_int_equal(tern_kmd_dirty(&kmd, 65536, 1, false, bits), -EINVAL);
    assert_int_equal(tern_kmd_dirty(&kmd, 65530, 7, false, bits), -EINVAL);
    assert_int_equal(tern_kmd_dirty_count(&kmd, 65530, 7, &dirty), -EINVAL);
    expect_dirty(0, 1, TERN_DIRTY_COMMAND_OP_QUERY, TERN_DIRTY_STATUS_ERROR_MASK);
    assert_int_equal(tern_kmd_dirty(&kmd, 0, 1, false, bits), -EINVAL);
    memset(mock_window, 0, 128);
    mock_window[0] = 1;
    mock_window[8] = 6;
    expect_dirty(0, 100, TERN_DIRTY_COMMAND_OP_QUERY_CLEAR, TERN_DIRTY_STATUS_BUS_ERROR_MASK);
    assert_int_equal(tern_kmd_dirty(&kmd, 0, 100, true, bits), -EIO);
    assert_int_equal(bits[0], 6); /* the bits that arrived were cleared, so they are returned */
    expect_nothing_more();
}

static void test_paging_packets(void **state)
{
    (void)state;
    struct tern_paging p = {0};
    tern_paging_scrub(&p, 0x100001, 3);
    tern_paging_entries(&p, 0x200002, 5, 7, 0x1234000f, 0x400);
    tern_paging_flush(&p, 9, 10, 11);
    tern_paging_flush_all(&p);
    tern_paging_context_init(&p, 12);
    assert_int_equal(tern_paging_error(&p), 0);
    assert_int_equal(p.size, 6 * 64);
    struct tern_pkt_fill f;
    struct tern_pkt_pte_update u;
    struct tern_pkt_tlb_flush t;
    struct tern_pkt_context_init c;
    assert_int_equal(tern_pkt_fill_unpack(&f, p.words), 0);
    assert_true(f.dst_lo == 0x1000 && f.dst_hi == 1 && f.width == 3 * 4096 && f.rows == 1 && f.slices == 1 &&
                f.pattern[0] == 0);
    assert_int_equal(tern_pkt_pte_update_unpack(&u, p.words + 32), 0);
    assert_true(u.table_lo == 0x2014 && u.table_hi == 2 && u.count == 7 && u.pte == 0x1234000f && u.step == 0x400);
    assert_int_equal(tern_pkt_tlb_flush_unpack(&t, p.words + 48), 0);
    assert_true(!t.all && t.root == 9 && t.first == 10 && t.count == 11);
    assert_int_equal(tern_pkt_tlb_flush_unpack(&t, p.words + 64), 0);
    assert_true(t.all && !t.root && !t.first && !t.count);
    assert_int_equal(tern_pkt_context_init_unpack(&c, p.words + 80), 0);
    assert_int_equal(c.save, 12);
    /* more entries than the field can hold: the error is kept until the end */
    tern_paging_entries(&p, 1, 0, 4096, 0, 0);
    assert_int_equal(tern_paging_error(&p), -EINVAL);
    tern_paging_flush_all(&p);
    assert_int_equal(p.size, 6 * 64);
    tern_paging_free(&p);
    assert_int_equal(tern_paging_error(&p), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_probe, setup),
        cmocka_unit_test_setup(test_probe_refuses, setup),
        cmocka_unit_test_setup(test_submit, setup),
        cmocka_unit_test_setup(test_memory, setup),
        cmocka_unit_test_setup(test_poll, setup),
        cmocka_unit_test_setup(test_preempt_and_reset, setup),
        cmocka_unit_test_setup(test_dirty, setup),
        cmocka_unit_test_setup(test_dirty_errors, setup),
        cmocka_unit_test_setup(test_paging_packets, setup),
    };
    return cmocka_run_group_tests_name("kmd", tests, NULL, NULL);
}
