/* SPDX-License-Identifier: Apache-2.0 */
/** Memory on a whole device: host access, address spaces, isolation, frees and dirty bits (A1, A3, A7, D2, D7). */
#include "device_memory.h"
#include "dut.h"
#include "open_device.h"

static void test_host_access(void **state)
{
    (void)state;
    struct tern_process *p = process("host");
    struct tern_allocation *holes[40], *a;
    for (int i = 0; i < 40; i++) {
        holes[i] = memory(p, 4096, TERN_MEM_READ);
    }
    for (int i = 0; i < 40; i += 2) {
        tern_allocation_destroy(holes[i]);
    }
    ok(tern_process_status(p, NULL));
    a = memory(p, (4u << 20) + 100000, TERN_MEM_WRITE); /* a superpage, and small pages for the rest */
    assert_int_equal(tern_allocation_address(a) % (4u << 20), 0);
    size_t size = (size_t)tern_allocation_size(a);
    assert_int_equal(size, (4u << 20) + 25 * 4096);
    expect_bytes(a, 0, size, 0);
    uint8_t *data = malloc(size), *back = calloc(size, 1);
    assert_true(data && back);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    ok(tern_allocation_write(a, 0, data, size));
    ok(tern_allocation_read(a, 4094, back, size - 4094));
    assert_memory_equal(back, data + 4094, size - 4094);
    assert_int_equal(tern_allocation_read(a, size - 1, back, 2), -EFAULT);
    assert_int_equal(tern_allocation_write(a, UINT64_MAX, back, 2), -EFAULT);
    ok(tern_allocation_read(a, size, back, 0));
    /* the device sees the same bytes at the same addresses */
    struct tern_allocation *to = memory(p, size, TERN_MEM_WRITE);
    struct tern_context *c = context(p, -1);
    work_copy(&dma, tern_allocation_address(to) + 1, tern_allocation_address(a), (uint32_t)size - 1);
    work_run(&dma, c, "copy");
    memset(back, 0, size);
    ok(tern_allocation_read(to, 1, back, size - 1));
    assert_memory_equal(back, data, size - 1);
    free(data);
    free(back);
    tern_context_destroy(c);
    for (int i = 1; i < 40; i += 2) {
        tern_allocation_destroy(holes[i]);
    }
    tern_allocation_destroy(a);
    tern_allocation_destroy(to);
    ok(tern_process_destroy(p));
}

static void test_fixed_addresses_and_isolation(void **state)
{
    (void)state;
    struct tern_process *p[2] = {process("one"), process("two")};
    struct tern_allocation *a[2], *clash;
    struct tern_context *c[2];
    for (int i = 0; i < 2; i++) { /* the same address in both processes, through both engines' TLBs (A1) */
        ok(tern_allocation_create(p[i], 8192, TERN_MEM_WRITE, 0x40000000, &a[i]));
        c[i] = context(p[i], 0);
        work_fill(&dma, 0x40000000, 8192, (uint8_t)(0x11 * (i + 1)));
        work_run(&dma, c[i], "fill");
    }
    assert_int_equal(tern_allocation_create(p[0], 4096, TERN_MEM_READ, 0x40001000, &clash), -EEXIST);
    for (int i = 0; i < 2; i++) {
        expect_bytes(a[i], 0, 8192, (uint8_t)(0x11 * (i + 1)));
    }
    tern_allocation_destroy(a[0]);
    /* the address is free again, although a free does not block */
    ok(tern_allocation_create(p[0], 4096, TERN_MEM_WRITE, 0x40000000, &a[0]));
    expect_bytes(a[0], 0, 4096, 0);
    for (int i = 0; i < 2; i++) {
        tern_context_destroy(c[i]);
        tern_allocation_destroy(a[i]);
        ok(tern_process_destroy(p[i]));
    }
}

static void test_fresh_memory_reads_zero(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct tern_process *p = process("dirty");
        struct tern_context *c = context(p, -1);
        struct tern_allocation *big = memory(p, 48u << 20, TERN_MEM_WRITE), *small[64];
        for (uint32_t at = 0; at < 48; at += 4) {
            expect_bytes(big, at << 20, 4096, 0);
            expect_bytes(big, (at + 4) * 1048576ull - 4096, 4096, 0);
        }
        work_fill(&dma, tern_allocation_address(big), 48u << 20, 0xee);
        work_run(&dma, c, "fill");
        tern_allocation_destroy(big);
        for (int i = 0; i < 64; i++) {
            small[i] = memory(p, 3 * 4096, TERN_MEM_WRITE);
            expect_bytes(small[i], 0, 3 * 4096, 0);
        }
        for (int i = 0; i < 64; i++) {
            tern_allocation_destroy(small[i]);
        }
        tern_context_destroy(c);
        ok(tern_process_destroy(p));
    }
}

/** Memory that is full of valid-looking entries is scrubbed before it becomes page tables (A7). */
static void test_tables_are_scrubbed(void **state)
{
    (void)state;
    struct tern_process *forger = process("forger");
    static struct tern_allocation *a[16384];
    uint32_t forged[1024], n = 0;
    for (uint32_t i = 0; i < 1024; i++) {
        forged[i] = 1024u << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK;
    }
    for (uint64_t size = 1u << 20; size >= 4096; size /= 16) {
        for (; tern_allocation_create(forger, size, TERN_MEM_WRITE, 0, &a[n]) == 0; n++) {
            for (uint64_t at = 0; at < size; at += 4096) {
                ok(tern_allocation_write(a[n], at, forged, sizeof forged));
            }
        }
    }
    while (n) {
        tern_allocation_destroy(a[--n]);
    }
    for (int region = 0; region < 2; region++) { /* without, and with, a second-level table */
        struct tern_fault f = {.size = sizeof f};
        struct tern_process *p = process("thief");
        struct tern_context *c = context(p, -1);
        ok(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0x40000000, &a[0]));
        work_fill(&dma, region ? 0x40002000 : 0x50000000, 64, 1);
        uint64_t fence = work_submit(&dma, c, "peek");
        assert_int_equal(tern_wait(c, fence, -1), -EIO);
        assert_int_equal(tern_process_status(p, &f), -EIO);
        assert_int_equal(f.code, TERN_FAULT_PAGE);
        tern_context_destroy(c);
        tern_allocation_destroy(a[0]);
        ok(tern_process_destroy(p));
    }
    ok(tern_process_destroy(forger));
}

/** After a free, no engine reaches the old page by a cached translation (A7). */
static void test_no_stale_translation(void **state)
{
    (void)state;
    struct tern_device_info info = {.size = sizeof info};
    tern_device_query(dev, &info);
    struct tern_process *p = process("stale"), *q = process("heir");
    struct tern_context *c[TERN_ENGINES_MAX];
    struct tern_allocation *a, *heir[8];
    ok(tern_allocation_create(p, 8 * 4096, TERN_MEM_WRITE, 0x40000000, &a));
    for (uint32_t e = 0; e < info.engines; e++) {
        c[e] = context(p, (int32_t)e);
        work_fill(&dma, 0x40000000, 8 * 4096, 0x10);
        work_run(&dma, c[e], "load the TLB");
    }
    uint32_t before = free_pages(dev);
    tern_allocation_destroy(a);
    while (free_pages(dev) != before + 8) {
        sched_yield();
    }
    for (int i = 0; i < 8; i++) { /* the freed pages go to another process */
        heir[i] = memory(q, 4 * 4096, TERN_MEM_WRITE);
    }
    ok(tern_allocation_create(p, 8 * 4096, TERN_MEM_WRITE, 0x40000000, &a));
    for (uint32_t e = 0; e < info.engines; e++) {
        work_fill(&dma, 0x40000000 + e * 4096, 4096, (uint8_t)(0x20 + e));
        work_run(&dma, c[e], "write");
        expect_bytes(a, e * 4096, 4096, (uint8_t)(0x20 + e));
    }
    for (int i = 0; i < 8; i++) {
        expect_bytes(heir[i], 0, 4 * 4096, 0);
        tern_allocation_destroy(heir[i]);
    }
    for (uint32_t e = 0; e < info.engines; e++) {
        tern_context_destroy(c[e]);
    }
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
    ok(tern_process_destroy(q));
}

static void test_full(void **state)
{
    (void)state;
    struct tern_process *p;
    struct tern_allocation *a[32], *more = NULL;
    struct tern_device_info info = {.size = sizeof info};
    ok(tern_device_close(dev));
    dev = open_or_skip("small,mem=64M,timeout=200000,host=0");
    p = process("full");
    tern_device_query(dev, &info);
    for (int round = 0; round < 2; round++) { /* no memory is lost from round to round */
        int n = 0;
        while (tern_allocation_create(p, 3u << 20, TERN_MEM_WRITE, 0, &a[n]) == 0) {
            n++;
        }
        assert_true(n >= 20);
        assert_int_equal(tern_allocation_create(p, 3u << 20, TERN_MEM_WRITE, 0, &more), -ENOSPC);
        assert_non_null(strstr(tern_last_error(), "3072 KiB"));
        assert_null(more);
        for (int i = 0; i < n; i++) {
            tern_allocation_destroy(a[i]);
        }
        /* as much as the device promises; waits for the frees */
        more = memory(p, info.allocatable_bytes, TERN_MEM_WRITE);
        tern_allocation_destroy(more);
        more = NULL;
    }
    ok(tern_process_destroy(p));
}

static void test_free_waits_for_work(void **state)
{
    (void)state;
    struct tern_process *p = process("free");
    struct tern_context *c = context(p, -1);
    struct tern_allocation *to = memory(p, 1u << 20, TERN_MEM_WRITE);
    for (int i = 0; i < 30; i++) {
        struct tern_allocation *a = memory(p, 1u << 20, TERN_MEM_WRITE);
        work_fill(&dma, tern_allocation_address(a), 1u << 20, (uint8_t)(i + 1));
        work_copy(&dma, tern_allocation_address(to), tern_allocation_address(a), 1u << 20);
        uint64_t fence = work_submit(&dma, c, "late");
        tern_allocation_destroy(a); /* the work has hardly begun */
        if (i % 10 == 9) {
            ok(tern_wait(c, fence, -1));
            expect_bytes(to, 0, 1u << 20, (uint8_t)(i + 1));
        }
    }
    ok(tern_process_status(p, NULL));
    tern_context_destroy(c);
    tern_allocation_destroy(to);
    ok(tern_process_destroy(p));
}

/* ------------------------------------------------------------- dirty plane */

static int device_dirty(uint32_t first, uint32_t count, bool clear, uint32_t *bits)
{
    tern_ticket_lock(&dev->hal_lock);
    const struct tern_basis_part part = {0, first * 4096ull, count * 4096ull};
    const int r = tern_basis_query(&dev->kmd, dev->dirty_basis, &part, clear, bits, 0);
    tern_ticket_unlock(&dev->hal_lock);
    return r;
}

static void test_dirty(void **state)
{
    (void)state;
    struct tern_process *p = process("dirt");
    struct tern_context *c = context(p, -1);
    struct tern_allocation *a = memory(p, 16 * 4096, TERN_MEM_WRITE);
    uint32_t pages = 16384, n = 0;
    static uint32_t bits[16384 / 32];
    uint64_t contiguous, pa[16];
    for (uint64_t i = 0; i < 16; i++) {
        pa[i] = physical_of(a, i * 4096, &contiguous) / 4096;
    }
    ok(device_dirty(0, pages, true, bits));
    ok(device_dirty(0, pages, false, bits));
    for (uint32_t i = 0; i < pages; i++) {
        assert_false(bits[i / 32] >> i % 32 & 1);
    }
    work_fill(&dma, tern_allocation_address(a) + 3 * 4096, 1, 1); /* the device writes page 3 */
    work_run(&dma, c, "fill");
    ok(tern_allocation_write(a, 5 * 4096 + 4095, "ab", 2)); /* the host writes pages 5 and 6 (D7) */
    for (int clear = 0; clear < 2; clear++) {
        ok(device_dirty(0, pages, clear, bits));
        for (uint32_t i = 0; i < 16; i++) {
            assert_int_equal(bits[pa[i] / 32] >> pa[i] % 32 & 1, i == 3 || i == 5 || i == 6);
        }
    }
    ok(device_dirty(0, pages, false, bits));
    for (uint32_t i = 0; i < 16; i++) {
        n += bits[pa[i] / 32] >> pa[i] % 32 & 1;
    }
    assert_int_equal(n, 0);
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, device_setup, device_teardown)
    const struct CMUnitTest tests[] = {
        T(test_host_access),
        T(test_fixed_addresses_and_isolation),
        T(test_fresh_memory_reads_zero),
        T(test_tables_are_scrubbed),
        T(test_no_stale_translation),
        T(test_full),
        T(test_free_waits_for_work),
        T(test_dirty),
    };
    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
