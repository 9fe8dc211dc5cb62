/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests of a simulated device, RTL or model, at its API: test_device LIBRARY. Only guarantees of the interface are
 * tested, so every device must pass all of them. docs/rules.md has the rules by number.
 */
#include <stdlib.h>

#include "device.h"

/* physical addresses */
#define BUFFER0 0x00400000u
#define BUFFER1 0x00410000u
#define DATA 0x01000000u
#define OTHER 0x01800000u
#define FENCE 0x00a00000u
#define ROOT_A 0x00b00u /* page numbers */
#define ROOT_B 0x00b10u
#define VA 0x00400000u  /* a region of 4 MiB: its first page has the buffer, the data follow */
#define RW (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK)
#define PAGING TERN_ENGINE_SUB_FLAGS_PAGING_MASK

static void test_identity(void **state)
{
    struct device *d = *state;
    assert_int_equal(reg_read(d, TERN_REG_DEV_ID), 0x5445524e);
    assert_int_equal(reg_read(d, TERN_REG_DEV_SPEC_HASH), TERN_SPEC_HASH);
    assert_int_equal(reg_read(d, TERN_REG_DEV_MEM_PAGES), (64u << 20) / PAGE);
    uint32_t engines = (reg_read(d, TERN_REG_DEV_CONFIG0) & TERN_DEV_CONFIG0_ENGINES_MASK) >>
        TERN_DEV_CONFIG0_ENGINES_SHIFT;
    assert_true(engines >= 1 && engines <= 8);
    assert_int_equal(reg_read(d, TERN_REG_DEV_IRQ_ENABLE), (1u << engines) - 1);
    /* registers of engines that do not exist, and read-only registers */
    reg_write(d, TERN_REG_ENGINE_SUB_ROOT(7), 5);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_SUB_ROOT(7)), engines == 8 ? 5 : 0);
    reg_write(d, TERN_REG_DEV_ID, 0);
    assert_int_equal(reg_read(d, TERN_REG_DEV_ID), 0x5445524e);
    reg_write(d, TERN_REG_ENGINE_SUB_FENCE_HI(1), 0xabcd1234);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_SUB_FENCE_HI(1)), 0xabcd1234);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_SUB_FENCE_HI(0)), 0);
}

/* Memory is zero after power-on, and the device says so. With TERN_TEST_OLD_CONTENTS no page is zero, and the device
 * says that. */
static void test_power_on(void **state)
{
    struct device *d = *state;
    const bool clear = reg_read(d, TERN_REG_DEV_CONFIG1) & TERN_DEV_CONFIG1_MEM_CLEAR_MASK;
    assert_int_equal(clear, getenv("TERN_TEST_OLD_CONTENTS") == NULL);
    for (uint64_t page = 0; page < 64u << 20; page += PAGE) {
        uint64_t words[PAGE / 8], any = 0;
        assert_int_equal(api->mem_read(d->sim, page, words, sizeof words), 0);
        for (uint32_t i = 0; i < PAGE / 8; i++) {
            any |= words[i];
        }
        assert_int_equal(any == 0, clear);
    }
}

static void test_time(void **state)
{
    struct device *d = *state;
    uint32_t a = reg_read(d, TERN_REG_DEV_TIME_LO);
    assert_int_equal(api->step(d->sim, 100000, NULL), 0);
    uint32_t b = reg_read(d, TERN_REG_DEV_TIME_LO);
    assert_in_range(b - a, 100000, 100100);
    assert_int_equal(reg_read(d, TERN_REG_DEV_TIME_HI), 0);
    assert_in_range(api->cycles(d->sim) - b, 0, 100);
}

/* C10, and indications and interrupt of a null buffer. */
static void test_null(void **state)
{
    struct device *d = *state;
    bool irq = true;
    assert_int_equal(api->step(d->sim, 100, &irq), 0);
    assert_false(irq);
    submit(d, 1, (struct submission){.fence = 0x123456789a, .size = 64, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
    assert_int_equal(api->step(d->sim, 10000, &irq), 0);
    assert_true(irq);
    assert_int_equal(reg_read(d, TERN_REG_DEV_IRQ_STATUS), 2);
    expect_completed(d, 1, 0x123456789a);
    assert_int_equal(api->step(d->sim, 10, &irq), 0);
    assert_false(irq);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(1)), 0);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_IND_INFO(1)), 0);
}

/* C6: with two buffers in the queue a third doorbell is refused; with four pending indications every doorbell is. C5:
 * indications come in order. */
static void test_queue_bounds(void **state)
{
    struct device *d = *state;
    clear(d, FENCE, 8);
    for (uint64_t f = 1; f <= 3; f++) {
        packet_wait(d, FENCE, 1);
        submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = f, .flags = PAGING}, BUFFER0);
        uint32_t s = reg_read(d, TERN_REG_ENGINE_STATUS(0));
        assert_int_equal(!!(s & TERN_ENGINE_STATUS_REFUSED_MASK), f == 3);
        assert_int_equal(s & TERN_ENGINE_STATUS_QUEUED_MASK, f < 2 ? f : 2);
    }
    store64(d, FENCE, 1);
    expect_completed(d, 0, 1);
    expect_completed(d, 0, 2);
    for (uint64_t f = 1; f <= 6; f++) {
        submit(d, 0, (struct submission){.fence = f, .size = 64, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
        assert_int_equal(!!(reg_read(d, TERN_REG_ENGINE_STATUS(0)) & TERN_ENGINE_STATUS_REFUSED_MASK), f > 4);
        assert_int_equal(api->step(d->sim, 1000, NULL), 0);
    }
    for (uint64_t f = 1; f <= 4; f++) {
        expect_completed(d, 0, f);
    }
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(0)) & ~TERN_ENGINE_STATUS_REFUSED_MASK, 0);
}

/* Copies and fills of boxes of any alignment, with physical addresses, against a reference. */
static void test_copy_fill(void **state)
{
    struct device *d = *state;
    enum { BYTES = 1 << 16 };
    uint8_t *expected = malloc(BYTES), *source = malloc(BYTES), *seen = malloc(BYTES);
    assert_true(expected && source && seen);
    uint32_t seed = 12345;
    for (int round = 0; round < 40; round++) {
        for (uint32_t i = 0; i < BYTES; i++) {
            source[i] = (uint8_t)next_random(&seed);
            expected[i] = (uint8_t)next_random(&seed);
        }
        assert_int_equal(api->mem_write(d->sim, DATA, source, BYTES), 0);
        assert_int_equal(api->mem_write(d->sim, OTHER, expected, BYTES), 0);
        uint32_t width = next_random(&seed) % (round % 3 ? 200 : 3000), rows = next_random(&seed) % 5,
            slices = next_random(&seed) % 4;
        uint32_t dst_row = width + next_random(&seed) % 100, dst_slice = dst_row * rows + next_random(&seed) % 100;
        uint32_t src_row = next_random(&seed) % 3000, src_slice = next_random(&seed) % 5000;
        uint32_t dst = next_random(&seed) % 128, src = next_random(&seed) % 128;
        bool fill = next_random(&seed) % 2;
        struct tern_pkt_copy c = {.src_lo = DATA + src, .dst_lo = OTHER + dst, .width = width, .rows = rows,
                                  .slices = slices,
                                  .src_row = src_row, .src_slice = src_slice, .dst_row = dst_row,
                                  .dst_slice = dst_slice};
        struct tern_pkt_fill f = {.dst_lo = OTHER + dst, .width = width, .rows = rows, .slices = slices,
                                  .dst_row = dst_row,
                                  .dst_slice = dst_slice};
        memcpy(f.pattern, source, sizeof f.pattern);
        assert_int_equal(fill ? tern_pkt_fill_pack(&f, packet(d, 2)) : tern_pkt_copy_pack(&c, packet(d, 1)), 0);
        run_paging(d);
        for (uint32_t z = 0; z < slices; z++) {
            for (uint32_t y = 0; y < rows; y++) {
                for (uint32_t x = 0; x < width; x++) {
                    expected[dst + z * dst_slice + y * dst_row + x] =
                        fill ? source[x % 64] : source[src + z * src_slice + y * src_row + x];
                }
            }
        }
        assert_int_equal(api->mem_read(d->sim, OTHER, seen, BYTES), 0);
        assert_memory_equal(seen, expected, BYTES);
    }
    free(expected);
    free(source);
    free(seen);
}

/* Copies and fills with virtual addresses. Each address space sees its own pages (A1, A7). */
static void test_translated(void **state)
{
    struct device *d = *state;
    map(d, ROOT_A, VA, BUFFER0, 1, TERN_PTE_READ_MASK);
    map(d, ROOT_A, VA + PAGE, DATA, 8, RW);
    map(d, ROOT_B, VA, BUFFER1, 1, TERN_PTE_READ_MASK);
    map(d, ROOT_B, VA + PAGE, OTHER, 8, RW);
    clear(d, DATA, (size_t)8 * PAGE);
    clear(d, OTHER, (size_t)8 * PAGE);
    for (uint32_t i = 0; i < 2; i++) {
        packet_fill(d, VA + PAGE + 100, 5000, (uint8_t)(0x11 * (i + 1)));
        packet_copy(d, VA + 4 * PAGE + 7, VA + PAGE + 100, 5000);
        packet_signal(d, VA + 8 * PAGE, 100 + i);
        submit(d, 0, (struct submission){.buffer = VA, .fence = i, .root = i ? ROOT_B : ROOT_A}, i ? BUFFER1 : BUFFER0);
    }
    expect_completed(d, 0, 0);
    expect_completed(d, 0, 1);
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t seen[5002];
        uint64_t base = i ? OTHER : DATA;
        assert_int_equal(api->mem_read(d->sim, base + 3 * PAGE + 6, seen, sizeof seen), 0);
        assert_int_equal(seen[0], 0);
        assert_int_equal(seen[5001], 0);
        for (uint32_t k = 1; k < 5001; k++) {
            assert_int_equal(seen[k], 0x11 * (i + 1));
        }
        assert_int_equal(load64(d, base + 7 * PAGE), 100 + i);
    }
}

/* A5, F1: code, access and address of each kind of page fault. The next buffer runs. */
static void test_page_faults(void **state)
{
    struct device *d = *state;
    static const struct {
        uint32_t pte, fault, access, where;
        bool write;
    } cases[] = {
        {0, TERN_FAULT_PAGE, 0, 2 * PAGE, false},
        {0, TERN_FAULT_PAGE, 1, 2 * PAGE, true},
        {DATA >> 2 | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK, TERN_FAULT_PROTECTION, 1, 2 * PAGE, true},
        {TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_ZERO_MASK, TERN_FAULT_PROTECTION, 1, 2 * PAGE, true},
        {DATA >> 2 | TERN_PTE_VALID_MASK | TERN_PTE_WRITE_MASK, TERN_FAULT_PTE_MALFORMED, 0, 2 * PAGE, false},
        {DATA >> 2 | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | 1u << 9, TERN_FAULT_PTE_MALFORMED, 0, 2 * PAGE, false},
        {TERN_PTE_PPN_MASK | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK, TERN_FAULT_PTE_MALFORMED, 0, 2 * PAGE, false},
        /* a pointer in the second level */
        {DATA >> 2 | TERN_PTE_VALID_MASK, TERN_FAULT_PTE_MALFORMED, 0, 2 * PAGE, false},
        {DATA >> 2 | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_ZERO_MASK, TERN_FAULT_PTE_MALFORMED, 0,
         2 * PAGE, false},
    };
    map(d, ROOT_A, VA, BUFFER0, 1, TERN_PTE_READ_MASK);
    map(d, ROOT_A, VA + PAGE, DATA, 1, RW);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        packet_pte(d, (uint64_t)(ROOT_A + 1) * PAGE + 8, 1, cases[i].pte, 0);
        assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, packet(d, 1)), 0);
        run_paging(d);
        packet_nop(d);
        uint32_t there = VA + PAGE + 3000, here = VA + PAGE + 10;
        packet_copy(d, cases[i].write ? there : here, cases[i].write ? here : there, 2000);
        packet_signal(d, VA + PAGE, 9);
        submit(d, 0, (struct submission){.buffer = VA, .fence = 5, .root = ROOT_A}, BUFFER0);
        submit(d, 0, (struct submission){.fence = 6, .size = 64, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
        struct indication f = indication(d, 0, SOON);
        expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, cases[i].fault, 5);
        assert_int_equal(f.access, cases[i].access);
        assert_int_equal(f.va, VA + cases[i].where);
        assert_int_equal(f.pc, 0);
        assert_int_equal(f.offset, 64);
        expect_completed(d, 0, 6);
    }
}

static void test_packet_faults(void **state)
{
    struct device *d = *state;
    static const struct {
        uint32_t word0, index, value, fault, size;
        bool paging;
    } cases[] = {
        {0x0130, 0, 0, TERN_FAULT_PACKET_UNKNOWN, 64, true},
        {0x01ff, 0, 0, TERN_FAULT_PACKET_UNKNOWN, 64, false},
        {0x0200, 0, 0, TERN_FAULT_PACKET_RESERVED, 128, true},                            /* nop of two lines */
        {0x10100, 0, 0, TERN_FAULT_PACKET_RESERVED, 64, true},                            /* header bit */
        {0x0100, 5, 1, TERN_FAULT_PACKET_RESERVED, 64, true},                             /* nop with a body */
        {0x0106, 15, 0x80000000, TERN_FAULT_PACKET_RESERVED, 64, true},                   /* timestamp */
        {0x0107, 1, 4, TERN_FAULT_PACKET_RESERVED, 64, false},                            /* barrier */
        /* copy: src_hi of three bits */
        {0x0102, 2, 4, TERN_FAULT_PACKET_RESERVED, 64, true},
        {0x0140, 1, 0, TERN_FAULT_PACKET_PRIVILEGED, 64, false},
        {0x0141, 1, 0, TERN_FAULT_PACKET_PRIVILEGED, 64, false},
        {0x0142, 1, 1, TERN_FAULT_PACKET_PRIVILEGED, 64, false},
        {0x0143, 1, 1, TERN_FAULT_PACKET_PRIVILEGED, 64, false},
        {0x0102, 2, 1, TERN_FAULT_PACKET_BOUNDS, 64, false},                              /* copy: high bits of a va */
        {0x0102, 4, 1, TERN_FAULT_PACKET_BOUNDS, 64, false},
        {0x0104, 1, 4, TERN_FAULT_PACKET_BOUNDS, 64, true},                               /* fence: alignment */
        {0x0105, 1, FENCE + 1, TERN_FAULT_PACKET_BOUNDS, 64, true},
        {0x0106, 2, 1, TERN_FAULT_PACKET_BOUNDS, 64, false},
        {0x0208, 1, 1, TERN_FAULT_PACKET_BOUNDS, 128, false},                             /* absent user executor */
        {0x0140, 3, 0, TERN_FAULT_PACKET_BOUNDS, 64, true},                               /* pte_update of 0 entries */
        {0x0140, 3, 1025, TERN_FAULT_PACKET_BOUNDS, 64, true},
        {0x0141, 5, 1025, TERN_FAULT_PACKET_BOUNDS, 64, true},
        {0x0203, 0, 0, TERN_FAULT_BUFFER_MALFORMED, 64, true},                            /* first half of a fill */
        {0x0100, 0, 0, TERN_FAULT_BUFFER_MALFORMED, 100, true},
        {0x0201, 0, 0, TERN_FAULT_PACKET_BOUNDS, 128, false},                             /* dispatch, no dimension */
    };
    map(d, ROOT_A, VA, BUFFER0, 1, TERN_PTE_READ_MASK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t *w = packet(d, 2);
        w[cases[i].index] = cases[i].value;
        w[0] = cases[i].word0;
        submit(d, 1, (struct submission){.buffer = cases[i].paging ? BUFFER0 : VA, .fence = i, .root = ROOT_A,
                                         .size = cases[i].size,
               .flags = cases[i].paging ? PAGING : 0}, BUFFER0);
        struct indication f = indication(d, 1, SOON);
        if (f.fault != cases[i].fault) {
            print_error("packet case %zu\n", i);
        }
        expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, cases[i].fault, i);
        assert_int_equal(f.va, 0);
        assert_int_equal(f.offset, 0);
    }
}

/* P2, P3, P7: a wait is cut and the buffer behind it is cancelled. The rest runs after the resume and not before. */
static void test_preempt_resume(void **state)
{
    struct device *d = *state;
    clear(d, FENCE, 24);
    packet_signal(d, FENCE + 8, 1);
    packet_wait(d, FENCE, 5);
    packet_signal(d, FENCE + 8, 2);
    struct submission s = {.buffer = BUFFER0, .fence = 10, .save = SAVE / PAGE, .flags = PAGING};
    submit(d, 0, s, BUFFER0);
    packet_signal(d, FENCE + 16, 3);
    submit(d, 0, (struct submission){.buffer = BUFFER1, .fence = 11, .save = SAVE / PAGE + 1, .flags = PAGING},
           BUFFER1);
    assert_int_equal(api->step(d->sim, 5000, NULL), 0);
    assert_int_equal(load64(d, FENCE + 8), 1);
    reg_write(d, TERN_REG_ENGINE_COMMAND(0), TERN_ENGINE_COMMAND_PREEMPT_MASK |
              TERN_ENGINE_COMMAND_GRANULARITY_PACKET << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
    struct indication i = indication(d, 0, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, 10);
    assert_int_equal(i.offset, 64);
    i = indication(d, 0, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, 11);
    assert_int_equal(i.offset, 0);
    assert_int_equal(i.begin, 0);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(0)), 0);
    assert_int_equal(load64(d, FENCE + 16), 0);
    uint32_t header[16];
    struct tern_ctx c;
    assert_int_equal(api->mem_read(d->sim, SAVE, header, sizeof header), 0);
    assert_int_equal(tern_ctx_unpack(&c, header), 0);
    assert_int_equal(c.magic, TERN_CTX_MAGIC_VALUE);
    assert_int_equal(c.state, TERN_CTX_STATE_SAVED);
    assert_int_equal(c.offset, 64);
    assert_int_equal(c.executor, TERN_CTX_EXECUTOR_NONE);

    /* another engine may resume it */
    store64(d, FENCE, 5);
    store64(d, FENCE + 8, 0);
    s.size = 192;
    s.flags |= TERN_ENGINE_SUB_FLAGS_RESUME_MASK;
    submit(d, 1, s, BUFFER0);
    expect_completed(d, 1, 10);
    assert_int_equal(load64(d, FENCE + 8), 2);
}

/* P4: a request to stop an idle engine has no effect. A resume from an invalid or empty area faults. */
static void test_preempt_edges(void **state)
{
    struct device *d = *state;
    reg_write(d, TERN_REG_ENGINE_COMMAND(0),
              TERN_ENGINE_COMMAND_PREEMPT_MASK | 1u << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
    assert_int_equal(api->step(d->sim, 2000, NULL), 0);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(0)), 0);
    packet_nop(d);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 1, .flags = PAGING}, BUFFER0);
    expect_completed(d, 0, 1);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 2, .size = 64, .save = 1,
                                     .flags = PAGING | TERN_ENGINE_SUB_FLAGS_RESUME_MASK}, 0);
    expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_CONTEXT_INVALID, 2);
    assert_int_equal(tern_pkt_context_init_pack(&(struct tern_pkt_context_init){.save = SAVE / PAGE}, packet(d, 1)), 0);
    run_paging(d);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 3, .size = 64, .save = SAVE / PAGE,
                                     .flags = PAGING | TERN_ENGINE_SUB_FLAGS_RESUME_MASK}, 0);
    expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_CONTEXT_INVALID, 3);
}

/* F3, C7: a stuck engine is reset alone. Earlier indications stay, and the other engine goes on. */
static void test_reset(void **state)
{
    struct device *d = *state;
    clear(d, FENCE, 8);
    clear(d, DATA + (1 << 20), 8);
    submit(d, 0, (struct submission){.fence = 20, .size = 64, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
    packet_wait(d, FENCE, 1);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 21, .flags = PAGING}, BUFFER0);
    packet_fill(d, DATA, 1 << 20, 0x5a);
    submit(d, 1, (struct submission){.buffer = BUFFER1, .fence = 30, .flags = PAGING}, BUFFER1);
    assert_int_equal(api->step(d->sim, 3000, NULL), 0);
    reg_write(d, TERN_REG_ENGINE_COMMAND(0), TERN_ENGINE_COMMAND_RESET_MASK);
    for (int i = 0; reg_read(d, TERN_REG_ENGINE_STATUS(0)) & TERN_ENGINE_STATUS_RESET_MASK; i++) {
        assert_true(i < 1000);
    }
    uint32_t status = reg_read(d, TERN_REG_ENGINE_STATUS(0));
    assert_int_equal(status, 1u << TERN_ENGINE_STATUS_INDICATIONS_SHIFT);
    store64(d, FENCE, 1);
    expect_completed(d, 0, 20);
    packet_nop(d);
    submit(d, 0, (struct submission){.buffer = BUFFER0, .fence = 22, .flags = PAGING}, BUFFER0);
    expect_completed(d, 0, 22);
    expect_completed(d, 1, 30);
    assert_int_equal(load64(d, DATA + (1 << 20) - 8), 0x5a5a5a5a5a5a5a5a);
    assert_int_equal(load64(d, DATA + (1 << 20)), 0);
}

/* The packets pte_copy, pte_update with a step, and timestamp. */
static void test_paging_packets(void **state)
{
    struct device *d = *state;
    clear(d, DATA, 2 * PAGE);
    clear(d, OTHER, 2 * PAGE);
    packet_pte(d, DATA + 12, 1000, 0x1001, 0x400);
    struct tern_pkt_pte_copy c = {.src_lo = DATA + 12, .dst_lo = OTHER + 40, .count = 900};
    assert_int_equal(tern_pkt_pte_copy_pack(&c, packet(d, 1)), 0);
    assert_int_equal(tern_pkt_timestamp_pack(&(struct tern_pkt_timestamp){.address_lo = FENCE}, packet(d, 1)), 0);
    uint64_t before = api->cycles(d->sim);
    run_paging(d);
    uint32_t seen[1024];
    assert_int_equal(api->mem_read(d->sim, OTHER, seen, sizeof seen), 0);
    for (uint32_t i = 0; i < 1024; i++) {
        assert_int_equal(seen[i], i < 10 || i >= 910 ? 0 : 0x1001 + (i - 10) * 0x400);
    }
    assert_int_equal(api->mem_read(d->sim, DATA, seen, sizeof seen), 0);
    assert_int_equal(seen[2], 0);
    assert_int_equal(seen[1002], 0x1001 + 999 * 0x400);
    assert_int_equal(seen[1003], 0);
    assert_in_range(load64(d, FENCE), before, api->cycles(d->sim));
}

/* The user executor with streams of any length and word alignment; x and y may be the same. */
static void test_user_saxpy(void **state)
{
    struct device *d = *state;
    need_saxpy(d);
    enum { MOST = 1100 };
    static const uint32_t lengths[] = {0, 1, 2, 15, 16, 17, 33, 200, 1000};
    static float x[MOST], y[MOST], seen[MOST];
    uint32_t seed = 77;
    float a = 1.75f;
    for (uint32_t round = 0; round < 3 * sizeof lengths / sizeof lengths[0]; round++) {
        uint32_t n = lengths[round / 3], xo = next_random(&seed) % 20, yo = next_random(&seed) % 20;
        bool same = round % 3 == 2;
        for (uint32_t i = 0; i < MOST; i++) {
            x[i] = (float)(int32_t)next_random(&seed) * 0x1p-20f;
            y[i] = (float)(int32_t)next_random(&seed) * 0x1p-31f;
        }
        assert_int_equal(api->mem_write(d->sim, DATA, x, sizeof x), 0);
        assert_int_equal(api->mem_write(d->sim, OTHER, y, sizeof y), 0);
        struct tern_pkt_user_call p = {TERN_EXECUTOR_ID_SAXPY,
                                       {n, 0, same ? OTHER + 4 * yo : DATA + 4 * xo, OTHER + 4 * yo}};
        memcpy(&p.payload[1], &a, 4);
        assert_int_equal(tern_pkt_user_call_pack(&p, packet(d, 2)), 0);
        run_paging(d);
        assert_int_equal(api->mem_read(d->sim, OTHER, seen, sizeof seen), 0);
        for (uint32_t i = yo; i < yo + n; i++) {
            y[i] = __builtin_fmaf(a, same ? y[i] : x[i - yo + xo], y[i]);
        }
        assert_memory_equal(seen, y, sizeof y);
    }
}

/* F1 for a user executor: y is read-only from its second page on, or x ends. */
static void test_user_faults(void **state)
{
    struct device *d = *state;
    need_saxpy(d);
    map(d, ROOT_A, VA, BUFFER0, 1, TERN_PTE_READ_MASK);
    map(d, ROOT_A, VA + PAGE, DATA, 1, RW);
    map(d, ROOT_A, VA + 2 * PAGE, DATA + PAGE, 2, TERN_PTE_READ_MASK);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t x = i ? VA + 3 * PAGE + 2048 : VA + 3 * PAGE, y = VA + PAGE + 2000;
        struct tern_pkt_user_call p = {TERN_EXECUTOR_ID_SAXPY,
                                       {i ? 514 : 600, 0x3f800000, x, i ? VA + PAGE : y}};
        assert_int_equal(tern_pkt_user_call_pack(&p, packet(d, 2)), 0);
        submit(d, 1, (struct submission){.buffer = VA, .fence = i, .root = ROOT_A}, BUFFER0);
        struct indication f = indication(d, 1, SOON);
        expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, i ? TERN_FAULT_PAGE : TERN_FAULT_PROTECTION, i);
        assert_int_equal(f.access, i ? 0 : 1);
        assert_int_equal(f.va, i ? VA + 4 * PAGE : VA + 2 * PAGE);
        assert_int_equal(f.pc, 0);
    }
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_identity, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_power_on, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_time, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_null, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_queue_bounds, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_copy_fill, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_translated, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_page_faults, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_packet_faults, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_preempt_resume, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_preempt_edges, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_reset, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_paging_packets, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_user_saxpy, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_user_faults, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL) ? 1 : 0;
}
