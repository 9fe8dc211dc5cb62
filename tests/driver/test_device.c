/* SPDX-License-Identifier: Apache-2.0 */
/** The driver on a whole device: memory, isolation, order, faults, timeouts (A1, A7, C2, C5, D7, F1, F3). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "os/os.h"
#include "work.h"

static struct tern_device *dev;
static struct work b;

static struct tern_process *process(const char *name)
{
    struct tern_process *p;
    ok(tern_process_create(dev, name, &p));
    return p;
}

static struct tern_context *context(struct tern_process *p, int32_t engine)
{
    struct tern_context *c;
    struct tern_context_desc d = {.name = "test", .engine = engine};
    ok(tern_context_create(p, &d, &c));
    return c;
}

static struct tern_allocation *memory(struct tern_process *p, uint64_t size, uint32_t flags)
{
    struct tern_allocation *a;
    ok(tern_allocation_create(p, size, flags, 0, &a));
    return a;
}

static void expect_bytes(struct tern_allocation *a, uint64_t offset, size_t size, uint8_t value)
{
    uint8_t *got = malloc(size), *want = malloc(size);
    assert_true(got && want);
    memset(want, value, size);
    ok(tern_allocation_read(a, offset, got, size));
    assert_memory_equal(got, want, size);
    free(got);
    free(want);
}

static int setup(void **state)
{
    (void)state;
    dev = open_or_skip("small,mem=64M,timeout=200000");
    b.size = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ok(tern_device_close(dev));
    return 0;
}

static void test_query(void **state)
{
    (void)state;
    struct tern_device_info i;
    struct tern_engine_counters c;
    tern_device_query(dev, &i);
    assert_true(i.engines >= 1 && i.lanes == 8 && i.warps == 8 && i.local_bytes && i.clock_hz && i.dirty_page_bytes >= 4096);
    assert_true(i.memory_bytes == 64u << 20 && i.allocatable_bytes < i.memory_bytes && i.allocatable_bytes > 60u << 20);
    assert_string_equal(i.config, "small,mem=64M,timeout=200000");
    uint64_t t = tern_device_time(dev);
    assert_true(tern_device_time(dev) > t);
    ok(tern_device_counters(dev, i.engines - 1, &c));
    assert_int_equal(tern_device_counters(dev, i.engines, &c), -EINVAL);
}

static void test_invalid_arguments(void **state)
{
    (void)state;
    struct tern_process *p = process("args");
    struct tern_context *c = context(p, 0);
    struct tern_allocation *a = (void *)1;
    struct tern_context_desc d = {.engine = 99};
    assert_int_equal(tern_allocation_create(p, 0, TERN_MEM_READ, 0, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, 0, 0, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, 8, 0, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, TERN_MEM_READ, 0x12345, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, TERN_MEM_READ, 0x1000, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, TERN_MEM_READ, 0xe0000000u, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 0x2000, TERN_MEM_READ, 0xdffff000u, &a), -ENOSPC);
    assert_int_equal(tern_allocation_create(p, UINT64_MAX, TERN_MEM_READ, 0, &a), -ENOSPC);
    assert_ptr_equal(a, (void *)1);
    assert_int_equal(tern_context_create(p, &d, &c), -EINVAL);
    d = (struct tern_context_desc){.weight = 1001};
    assert_int_equal(tern_context_create(p, &d, &c), -EINVAL);
    assert_int_equal(tern_submit(c, b.w, 0, NULL, NULL), -EINVAL);
    assert_int_equal(tern_submit(c, b.w, 65, NULL, NULL), -EINVAL);
    assert_int_equal(tern_submit(c, b.w, (1 << 20) + 64, NULL, NULL), -EINVAL);
    assert_int_equal(tern_wait(c, 1, -1), -EINVAL);
    assert_int_equal(tern_process_destroy(p), -EBUSY);
    assert_int_equal(tern_device_close(dev), -EBUSY);
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
}

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
    a = memory(p, (4u << 20) + 100000, TERN_MEM_WRITE); /* a superpage, and small pages in the holes */
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
    struct tern_allocation *to = memory(p, size, TERN_MEM_WRITE); /* and the device sees the same bytes in the same places */
    struct tern_context *c = context(p, -1);
    work_copy(&b, tern_allocation_address(to) + 1, tern_allocation_address(a), (uint32_t)size - 1);
    work_run(&b, c, "copy");
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
    for (int i = 0; i < 2; i++) { /* the same address in both, in both engines' TLBs in turn (A1) */
        ok(tern_allocation_create(p[i], 8192, TERN_MEM_WRITE, 0x40000000, &a[i]));
        c[i] = context(p[i], 0);
        work_fill(&b, 0x40000000, 8192, (uint8_t)(0x11 * (i + 1)));
        work_run(&b, c[i], "fill");
    }
    assert_int_equal(tern_allocation_create(p[0], 4096, TERN_MEM_READ, 0x40001000, &clash), -EEXIST);
    for (int i = 0; i < 2; i++) {
        expect_bytes(a[i], 0, 8192, (uint8_t)(0x11 * (i + 1)));
    }
    tern_allocation_destroy(a[0]);
    ok(tern_allocation_create(p[0], 4096, TERN_MEM_WRITE, 0x40000000, &a[0])); /* free again, though freeing does not block */
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
        work_fill(&b, tern_allocation_address(big), 48u << 20, 0xee);
        work_run(&b, c, "fill");
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

/** Memory full of what would be valid entries must not become somebody's page tables (A7). */
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
    for (int region = 0; region < 2; region++) { /* one without and one with a second-level table */
        struct tern_fault f;
        struct tern_process *p = process("thief");
        struct tern_context *c = context(p, -1);
        ok(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0x40000000, &a[0]));
        work_fill(&b, region ? 0x40002000 : 0x50000000, 64, 1);
        uint64_t fence = work_submit(&b, c, "peek");
        assert_int_equal(tern_wait(c, fence, -1), -EIO);
        assert_int_equal(tern_process_status(p, &f), -EIO);
        assert_int_equal(f.code, TERN_FAULT_PAGE);
        tern_context_destroy(c);
        tern_allocation_destroy(a[0]);
        ok(tern_process_destroy(p));
    }
    ok(tern_process_destroy(forger));
}

static uint32_t free_pages(void)
{
    pthread_mutex_lock(&dev->lock);
    uint32_t n = tern_pages_free_count(dev->pages);
    pthread_mutex_unlock(&dev->lock);
    return n;
}

/** After a free, no engine may reach the old page by a translation that it remembers (A7). */
static void test_no_stale_translation(void **state)
{
    (void)state;
    struct tern_device_info info;
    tern_device_query(dev, &info);
    struct tern_process *p = process("stale"), *q = process("heir");
    struct tern_context *c[TERN_ENGINES_MAX];
    struct tern_allocation *a, *heir[8];
    ok(tern_allocation_create(p, 8 * 4096, TERN_MEM_WRITE, 0x40000000, &a));
    for (uint32_t e = 0; e < info.engines; e++) {
        c[e] = context(p, (int32_t)e);
        work_fill(&b, 0x40000000, 8 * 4096, 0x10);
        work_run(&b, c[e], "load the TLB");
    }
    uint32_t before = free_pages();
    tern_allocation_destroy(a);
    while (free_pages() != before + 8) {
        sched_yield();
    }
    for (int i = 0; i < 8; i++) { /* the freed pages go to another process */
        heir[i] = memory(q, 4 * 4096, TERN_MEM_WRITE);
    }
    ok(tern_allocation_create(p, 8 * 4096, TERN_MEM_WRITE, 0x40000000, &a));
    for (uint32_t e = 0; e < info.engines; e++) {
        work_fill(&b, 0x40000000 + e * 4096, 4096, (uint8_t)(0x20 + e));
        work_run(&b, c[e], "write");
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
    struct tern_process *p = process("full");
    struct tern_allocation *a[32], *more = NULL;
    struct tern_device_info info;
    tern_device_query(dev, &info);
    for (int round = 0; round < 3; round++) { /* nothing is lost from round to round */
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
        more = memory(p, info.allocatable_bytes, TERN_MEM_WRITE); /* what the device promises, and waits for the frees */
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
        work_fill(&b, tern_allocation_address(a), 1u << 20, (uint8_t)(i + 1));
        work_copy(&b, tern_allocation_address(to), tern_allocation_address(a), 1u << 20);
        uint64_t fence = work_submit(&b, c, "late");
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

static void test_long_buffer(void **state)
{
    (void)state;
    struct tern_process *p = process("long");
    struct tern_context *c = context(p, -1);
    struct tern_allocation *a = memory(p, 16384 * 8, TERN_MEM_WRITE);
    for (uint32_t i = 0; i < 16384; i++) { /* 1 MiB of packets */
        work_signal(&b, tern_allocation_address(a) + 8 * i, i + 1);
    }
    work_run(&b, c, "long");
    uint64_t *v = malloc(16384 * 8);
    assert_non_null(v);
    ok(tern_allocation_read(a, 0, v, 16384 * 8));
    for (uint32_t i = 0; i < 16384; i++) {
        assert_true(v[i] == i + 1);
    }
    free(v);
    struct tern_context_stats s;
    tern_context_query(c, &s);
    assert_true(s.submitted == 1 && s.completed == 1 && s.cycles > 16384);
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

/* ------------------------------------------------------------------ faults */

static void test_fault(void **state)
{
    (void)state;
    struct tern_process *bad = process("culprit"), *good = process("bystander");
    struct tern_context *cb = context(bad, 0), *cg = context(good, 0);
    struct tern_allocation *ab = memory(bad, 4096, TERN_MEM_READ), *ag = memory(good, 4096, TERN_MEM_WRITE);
    uint64_t last = 0, lastg = 0;
    struct tern_fence *gate;
    ok(tern_fence_create(bad, 0, &gate));
    for (uint32_t i = 0; i < 20; i++) {
        work_fill(&b, tern_allocation_address(ag), 4096, (uint8_t)i);
        lastg = work_submit(&b, cg, "good");
        if (i == 3) {
            work_fill(&b, tern_allocation_address(ab), 64, 1); /* may only be read */
        } else {
            work_wait(&b, tern_fence_address(gate), 1); /* nothing begins before all is queued */
        }
        last = work_submit(&b, cb, i == 3 ? "naughty" : "harmless");
    }
    ok(tern_fence_signal(gate, 1));
    assert_int_equal(tern_wait(cb, last, -1), -EIO);
    ok(tern_wait(cb, 3, -1)); /* before the fault: completed */
    assert_int_equal(tern_wait(cb, 4, -1), -EIO);
    ok(tern_wait(cg, lastg, -1));
    expect_bytes(ag, 0, 4096, 19);
    struct tern_fault f = {0};
    assert_int_equal(tern_process_status(bad, &f), -EIO);
    assert_int_equal(f.code, TERN_FAULT_PROTECTION);
    assert_int_equal(f.access, 1);
    assert_int_equal(f.fence, 4);
    assert_int_equal(f.offset, 0);
    assert_int_equal(f.address, tern_allocation_address(ab));
    char address[16];
    snprintf(address, sizeof address, "0x%08x", f.address);
    const char *parts[] = {"culprit", "naughty", "write", address, tern_fault_text(TERN_FAULT_PROTECTION)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(f.message, parts[i])) {
            fail_msg("'%s' does not say %s", f.message, parts[i]);
        }
    }
    assert_int_equal(tern_submit(cb, b.w, 64, NULL, NULL), -EIO);
    struct tern_allocation *none;
    assert_int_equal(tern_allocation_create(bad, 4096, TERN_MEM_READ, 0, &none), -EIO);
    ok(tern_process_status(good, NULL));
    struct tern_context_stats s;
    tern_context_query(cb, &s);
    assert_true(s.submitted == 20 && s.completed == 3 && s.aborted == 17);
    tern_context_destroy(cb);
    tern_context_destroy(cg);
    tern_fence_destroy(gate);
    tern_allocation_destroy(ab);
    tern_allocation_destroy(ag);
    ok(tern_process_destroy(bad));
    ok(tern_process_destroy(good));
}

static void test_malformed_packets(void **state)
{
    (void)state;
    const struct {
        uint32_t word0, word1, word15;
        uint32_t code;
    } bad[] = {
        {0xff | 1u << 8, 0, 0, TERN_FAULT_PACKET_UNKNOWN},
        {TERN_PKT_NOP | 1u << 8, 0, 1, TERN_FAULT_PACKET_RESERVED},
        {TERN_PKT_TLB_FLUSH | 1u << 8, 1, 0, TERN_FAULT_PACKET_PRIVILEGED}, /* A7 */
        {TERN_PKT_DISPATCH | 2u << 8, 0, 0, TERN_FAULT_BUFFER_MALFORMED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tern_process *p = process("malformed");
        struct tern_context *c = context(p, -1);
        struct tern_fault f;
        uint32_t w[301 * 16] = {0}; /* longer than a slice */
        for (int line = 0; line < 300; line++) {
            ok(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, w + 16 * line));
        }
        w[4800] = bad[i].word0;
        w[4801] = bad[i].word1;
        w[4815] = bad[i].word15;
        ok(tern_submit(c, w, sizeof w, NULL, NULL));
        assert_int_equal(tern_wait(c, 1, -1), -EIO);
        assert_int_equal(tern_process_status(p, &f), -EIO);
        assert_int_equal(f.code, bad[i].code);
        assert_int_equal(f.offset, 300 * 64);
        tern_context_destroy(c);
        ok(tern_process_destroy(p));
    }
}

static void test_timeout(void **state)
{
    (void)state;
    static const uint32_t for_ever = 0x0000006f; /* j . */
    struct tern_process *bad = process("endless"), *good = process("patient");
    struct tern_context *cb = context(bad, 0), *cg = context(good, 0);
    struct tern_allocation *code = memory(bad, 4096, TERN_MEM_READ | TERN_MEM_EXEC), *stack = memory(bad, 1u << 16, TERN_MEM_WRITE);
    struct tern_allocation *a = memory(good, 4096, TERN_MEM_WRITE);
    ok(tern_allocation_write(code, 0, &for_ever, 4));
    work_dispatch(&b, tern_allocation_address(code), tern_allocation_address(stack));
    uint64_t fb = work_submit(&b, cb, "loop");
    work_fill(&b, tern_allocation_address(a), 4096, 0x77);
    work_run(&b, cg, "fill"); /* it waits in the HW queue behind the loop, and survives the reset */
    expect_bytes(a, 0, 4096, 0x77);
    struct tern_fault f;
    assert_int_equal(tern_wait(cb, fb, -1), -EIO);
    assert_int_equal(tern_process_status(bad, &f), -EIO);
    assert_int_equal(f.code, TERN_FAULT_TIMEOUT);
    assert_non_null(strstr(f.message, "loop"));
    work_fill(&b, tern_allocation_address(a), 4096, 0x78); /* and the engine is as good as new */
    work_run(&b, cg, "fill");
    expect_bytes(a, 0, 4096, 0x78);
    tern_context_destroy(cb);
    tern_context_destroy(cg);
    tern_allocation_destroy(code);
    tern_allocation_destroy(stack);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(bad));
    ok(tern_process_destroy(good));
}

struct ended {
    uint64_t at;
};

static void note_end(void *user, const struct tern_completion *c)
{
    ((struct ended *)user)->at = c->result == TERN_COMPLETED ? c->end : 0;
}

/** Work far longer than quantum and timeout, which can stop between packets: it lets others pass, and is not killed (F2). */
static void test_long_work_lets_others_pass(void **state)
{
    (void)state;
    struct tern_process *p = process("long");
    struct tern_fence *f;
    struct ended end[2] = {{0}, {0}};
    struct tern_context *c[2];
    struct tern_allocation *a[2];
    ok(tern_fence_create(p, 0, &f));
    for (int i = 0; i < 2; i++) {
        struct tern_context_desc d = {.engine = 0, .completed = note_end, .user = &end[i]};
        ok(tern_context_create(p, &d, &c[i]));
        a[i] = memory(p, 1u << 20, TERN_MEM_WRITE | TERN_MEM_EXEC);
    }
    static const uint32_t loop[] = {0x000022b7, /* lui t0, 2 */ 0xfff28293, /* addi t0, t0, -1 */ 0xfe029ee3, /* bnez t0, -4 */
                                    0x0000100b /* exit */};
    ok(tern_allocation_write(a[0], 0, loop, sizeof loop));
    uint32_t code = tern_allocation_address(a[0]), gate = tern_fence_address(f);
    work_wait(&b, gate, 1);
    work_fill(&b, tern_allocation_address(a[1]), 64, 1);
    work_submit(&b, c[1], "short");
    for (int i = 0; i < 40; i++) {
        work_dispatch(&b, code, code + 65536);
        if (i == 0) {
            work_signal(&b, gate, 1); /* from here on the short one wants the engine, at a known point of the long one */
        }
    }
    work_fill(&b, code + 4096, 4096, 0x99);
    uint64_t fence = work_submit(&b, c[0], "long");
    ok(tern_wait(c[0], fence, -1));
    tern_context_destroy(c[0]);
    tern_context_destroy(c[1]);
    assert_true(end[1].at && end[1].at < end[0].at);
    assert_true(end[0].at - end[1].at > 200000);
    assert_true(dev->sched.engine[0].preemptions > 0);
    assert_int_equal(dev->sched.engine[0].resets, 0);
    expect_bytes(a[0], 4096, 4096, 0x99);
    tern_allocation_destroy(a[0]);
    tern_allocation_destroy(a[1]);
    tern_fence_destroy(f);
    ok(tern_process_destroy(p));
}

/* ------------------------------------------------------------- dirty plane */

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
        pa[i] = tern_allocation_physical(a, i * 4096, &contiguous) / 4096;
    }
    ok(tern_device_dirty(dev, 0, pages, true, bits));
    ok(tern_device_dirty(dev, 0, pages, false, bits));
    for (uint32_t i = 0; i < pages; i++) {
        assert_false(bits[i / 32] >> i % 32 & 1);
    }
    work_fill(&b, tern_allocation_address(a) + 3 * 4096, 1, 1); /* the device writes page 3, */
    work_run(&b, c, "fill");
    ok(tern_allocation_write(a, 5 * 4096 + 4095, "ab", 2)); /* the host 5 and 6 (D7) */
    for (int clear = 0; clear < 2; clear++) {
        ok(tern_device_dirty(dev, 0, pages, clear, bits));
        for (uint32_t i = 0; i < 16; i++) {
            assert_int_equal(bits[pa[i] / 32] >> pa[i] % 32 & 1, i == 3 || i == 5 || i == 6);
        }
    }
    ok(tern_device_dirty(dev, 0, pages, false, bits));
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
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_query),          T(test_invalid_arguments),       T(test_host_access),
        T(test_fault),          T(test_fixed_addresses_and_isolation), T(test_fresh_memory_reads_zero),
        T(test_full),           T(test_free_waits_for_work),     T(test_long_buffer),
        T(test_malformed_packets), T(test_timeout),              T(test_dirty),
        T(test_long_work_lets_others_pass), T(test_tables_are_scrubbed), T(test_no_stale_translation),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
