/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparse memory (A6, A7, os/mem/sparse.c). Memory that is accessed is committed, zeroed and counted, and no other
 * memory is. Also: too little memory, and a process that is killed.
 */
#include "actor.h"
#include "device_memory.h"
#include "rig.h"
#include "tests/lib/submit.h"

#define BLOCK (4 * MIB)
#define BLOCK_PAGES (BLOCK / 4096)

/** 80 MiB of device and host together: fewer than 20 blocks */
static const char *const small = "small,mem=32M,host=48M,quantum=20000,timeout=200000";

static void open_device(const char *config)
{
    rig_open(config, NULL);
    if (!dev->kmd.page_requests && !rig_no_page_requests) {
        print_message("skipped: the device has no page requests\n");
        rig_done();
        exit(77);
    }
}

static uint32_t committed(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint32_t n = dev->partition.committed;
    pthread_mutex_unlock(&dev->lock);
    return n;
}

static void sparse_open(struct actor *a, uint32_t bytes, struct tern_allocation **s)
{
    ok(tern_allocation_create(a->p, bytes, RW | TERN_MEM_SPARSE, 0, s));
    assert_int_equal(tern_allocation_size(*s), bytes);
}

static void gone(struct tern_allocation *s, uint32_t pages)
{
    tern_allocation_destroy(s);
    until(committed() == pages);
}

#define ITEMS 64u

/** Runs a kernel of 64 work-items. Each reads a word at so many places, `stride` bytes apart, adds its id, and stores
 *  the sum to as many places at `to`. */
static uint64_t stream(struct actor *a, uint32_t from, uint32_t to, uint32_t places, uint32_t stride)
{
    actor_set(a, 0, from);
    actor_set(a, 1, to);
    actor_set(a, 2, places);
    actor_set(a, 3, stride);
    actor_dispatch(a, ITEMS);
    return work_submit(&dma, a->c, "stream");
}

static void expect_words(struct tern_allocation *s, uint64_t offset, bool numbers)
{
    uint32_t got[ITEMS + 1];
    ok(tern_allocation_read(s, offset, got, sizeof got));
    for (uint32_t i = 0; i <= ITEMS; i++) {
        assert_int_equal(got[i], numbers && i < ITEMS ? i : 0);
    }
}

static bool written(struct actor *a, uint32_t address)
{
    uint32_t bits;
    ok(tern_process_dirty(a->p, address, 4096, false, &bits));
    return bits & 1;
}

/** A kernel accesses ten blocks of 1 GiB, which is 13 times the memory of device and host. Only the accessed blocks are
 *  committed. Committed blocks read zero although another process has used all of the device, and their data survive
 *  evictions. */
static void test_kernel(void **state)
{
    (void)state;
    struct actor a, other;
    struct tern_allocation *s, *fill;
    enum { PLACES = 5, STRIDE = 100 * MIB, TO = 512 * MIB };
    open_device(small);
    const uint32_t pages = free_pages(dev), promised = committed();
    actor_open(&other, "other", -1, code_stream, sizeof code_stream);
    ok(tern_allocation_create(other.p, 30 * MIB, RW, 0, &fill));
    work_fill(&dma, tern_allocation_address(fill), 30 * MIB, 0x55);
    work_run(&dma, other.c, "fill");
    tern_allocation_destroy(fill);
    actor_close(&other);
    actor_open(&a, "sparse", -1, code_stream, sizeof code_stream);
    const uint32_t before = committed(), free_before = free_pages(dev);
    sparse_open(&a, 1024 * MIB, &s);
    assert_int_equal(committed(), before);
    assert_int_equal(free_pages(dev), free_before);
    const uint32_t at = tern_allocation_address(s);
    for (int again = 0; again < 2; again++) { /* in the second round all is committed */
        ok(tern_wait(a.c, stream(&a, at, at + TO, PLACES, STRIDE), PATIENCE));
        assert_int_equal(committed(), before + 2 * PLACES * BLOCK_PAGES);
        for (uint32_t i = 0; i < PLACES; i++) {
            expect_words(s, (uint64_t)i * STRIDE, false);
            expect_words(s, TO + (uint64_t)i * STRIDE, true);
            expect_words(s, TO + (uint64_t)i * STRIDE + BLOCK, false);
        }
    }
    assert_true(dev->pager.requests >= 2 * PLACES);
    assert_true(dev->pager.evicted); /* otherwise data would not have survived evictions */
    assert_true(written(&a, at + TO));
    assert_false(written(&a, at + BLOCK));
    assert_int_equal(committed(), before + 2 * PLACES * BLOCK_PAGES);
    gone(s, before);
    actor_close(&a);
    assert_int_equal(committed(), promised);
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

/** Only accessed blocks are committed, even if the whole allocation fits on the device. */
static void test_fits(void **state)
{
    (void)state;
    struct actor a;
    struct tern_allocation *s;
    uint64_t fence;
    open_device(small);
    actor_open(&a, "fits", -1, code_stream, sizeof code_stream);
    sparse_open(&a, 16 * MIB, &s);
    const uint32_t before = committed(), at = tern_allocation_address(s);
    ok(submit_null(a.c, "null", &fence));
    ok(tern_wait(a.c, stream(&a, at + 5 * MIB, at + 6 * MIB, 1, 4), PATIENCE));
    assert_int_equal(committed(), before + BLOCK_PAGES);
    expect_words(s, 6 * MIB, true);
    gone(s, before);
    actor_close(&a);
    rig_done();
}

/** Copies and fills commit their memory before they run, even if it does not fit on the device at once. Work that does
 *  not use the memory commits nothing. */
static void test_packets(void **state)
{
    (void)state;
    struct actor a;
    struct tern_allocation *s, *plain;
    uint8_t got[8192];
    uint64_t fence;
    open_device(small);
    actor_open(&a, "packets", -1, code_mix, sizeof code_mix);
    ok(tern_allocation_create(a.p, 8 * MIB, RW, 0, &plain));
    sparse_open(&a, 1024 * MIB, &s);
    const uint32_t before = committed(), at = tern_allocation_address(s);
    actor_mix(&a, 20);
    ok(submit_null(a.c, "null", &fence));
    ok(tern_wait(a.c, fence, PATIENCE));
    expect_mixed(&a);
    assert_int_equal(committed(), before);
    work_fill(&dma, at + 700 * MIB + BLOCK - 4096, 8192, 0x77); /* of two blocks */
    work_copy(&dma, tern_allocation_address(plain), at + 700 * MIB + BLOCK - 4096, 8192);
    work_copy(&dma, tern_allocation_address(plain) + 4096, at + 900 * MIB, 4096); /* its source is not committed yet */
    ok(tern_wait(a.c, work_submit(&dma, a.c, "fill, copies"), PATIENCE));
    assert_int_equal(committed(), before + 3 * BLOCK_PAGES);
    ok(tern_allocation_read(plain, 0, got, sizeof got));
    for (uint32_t i = 0; i < sizeof got; i++) {
        assert_int_equal(got[i], i < 4096 ? 0x77 : 0);
    }
    work_fill(&dma, at, 40 * MIB, 1); /* in steps */
    ok(tern_wait(a.c, work_submit(&dma, a.c, "fill"), PATIENCE));
    assert_int_equal(committed(), before + 13 * BLOCK_PAGES);
    gone(s, before);
    tern_allocation_destroy(plain);
    actor_close(&a);
    rig_done();
}

/** Host reads commit nothing. Host writes and pins do, until memory is used up; then only the call fails. */
static void test_host(void **state)
{
    (void)state;
    struct actor a;
    struct tern_allocation *s, *plain;
    uint32_t n = 0, got = 1;
    int r = 0;
    open_device(small);
    actor_open(&a, "host", -1, code_mix, sizeof code_mix);
    sparse_open(&a, 1024 * MIB, &s);
    const uint32_t before = committed(), blocks = (dev->partition.count + dev->partition.host - before) / BLOCK_PAGES;
    expect_words(s, 100 * MIB, false);
    assert_int_equal(tern_allocation_make_resident(s), -ENOSPC);
    expect_says(tern_last_error(), "1048576 KiB of sparse memory at");
    assert_int_equal(committed(), before);
    while (n <= blocks && !(r = tern_allocation_write(s, (uint64_t)n * 5 * BLOCK + 12, &n, 4))) {
        n++;
    }
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(n, blocks);
    expect_says(tern_last_error(), "cannot be committed: of 8");
    expect_says(tern_last_error(), "destroy other allocations, or touch less of this one");
    assert_int_equal(committed(), before + blocks * BLOCK_PAGES);
    for (uint32_t i = 0; i < n; i++) {
        ok(tern_allocation_read(s, (uint64_t)i * 5 * BLOCK + 12, &got, 4));
        assert_int_equal(got, i);
    }
    expect_words(s, (uint64_t)n * 5 * BLOCK, false);
    assert_int_equal(tern_allocation_create(a.p, 8 * MIB, RW, 0, &plain), -ENOSPC); /* committed sparse memory counts */
    run_mix(&a, 20);
    gone(s, before);
    ok(tern_allocation_create(a.p, 8 * MIB, RW, 0, &plain));
    tern_allocation_destroy(plain);
    until(committed() == before);
    sparse_open(&a, 9 * MIB, &s);
    ok(tern_allocation_make_resident(s));
    assert_int_equal(committed(), before + 9 * MIB / 4096);
    ok(tern_allocation_evict(s));
    run_mix(&a, 20);
    gone(s, before);
    actor_close(&a);
    rig_done();
}

/** A kernel or a fill for whose block memory is lacking ends its process with a sentence. Another process's work goes
 * on. */
static void test_no_room(void **state)
{
    (void)state;
    for (int fills = 0; fills < 2; fills++) {
        struct actor a, good;
        struct tern_allocation *s, *sg;
        uint64_t fence = 0;
        char at[16];
        open_device(small);
        const uint32_t pages = free_pages(dev), promised = committed();
        actor_open(&good, "good", 1, code_stream, sizeof code_stream);
        actor_open(&a, "greedy", 0, code_stream, sizeof code_stream);
        sparse_open(&good, 64 * MIB, &sg);
        sparse_open(&a, 2048u * MIB, &s);
        const uint32_t to = tern_allocation_address(sg), from = tern_allocation_address(s);
        ok(tern_wait(good.c, stream(&good, to, to, 2, BLOCK), PATIENCE));
        if (!fills) {
            fence = stream(&a, from, from, 100, 5 * BLOCK);
        }
        for (uint32_t i = 0; fills && i < 100; i++) {
            work_fill(&dma, from + i * 5 * BLOCK, 4096, 1);
            if (submit_packets(a.c, dma.w, dma.size, "fill", &fence)) {
                break; /* the process is in error already */
            }
            dma.size = 0;
        }
        dma.size = 0;
        assert_int_equal(tern_wait(a.c, fence, PATIENCE), -EIO);
        const struct tern_fault f = fault_of(&a);
        assert_int_equal(f.code, TERN_FAULT_MEMORY);
        expect_says(f.message, "process 'greedy': work of context");
        expect_says(f.message, "4096 KiB of sparse memory at 0x");
        expect_says(f.message, "destroy other allocations, or touch less of this one");
        if (!fills) {
            snprintf(at, sizeof at, "0x%08x", f.address & ~(BLOCK - 1));
            expect_says(f.message, at);
            assert_in_range(f.address - from, 10 * BLOCK, 100 * 5 * BLOCK);
        }
        ok(tern_wait(good.c, stream(&good, to, to, 2, BLOCK), PATIENCE));
        uint32_t got;
        ok(tern_allocation_read(sg, BLOCK + 4 * 7, &got, 4));
        assert_int_equal(got, 14); /* 7, added twice */
        tern_allocation_destroy(s);
        actor_close(&a);
        tern_allocation_destroy(sg);
        actor_close(&good);
        assert_int_equal(committed(), promised);
        assert_int_equal(free_pages(dev), pages);
        rig_done();
    }
}

/** A process is killed while its kernel waits for a block that is being committed, or has some. */
static void test_kill(void **state)
{
    (void)state;
    struct actor a;
    struct tern_allocation *s;
    open_device(small);
    const uint32_t pages = free_pages(dev), promised = committed();
    actor_open(&a, "killed", -1, code_stream, sizeof code_stream);
    sparse_open(&a, 1024 * MIB, &s);
    const uint32_t at = tern_allocation_address(s), before = committed();
    const uint64_t fence = stream(&a, at, at, 15, 5 * BLOCK);
    until(committed() > before);
    ok(tern_process_kill(a.p));
    assert_int_equal(tern_wait(a.c, fence, PATIENCE), -EIO);
    assert_int_equal(committed(), promised);
    uint32_t word = 1;
    assert_int_equal(tern_allocation_write(s, 0, &word, 4), -EIO);
    assert_int_equal(committed(), promised);
    tern_allocation_destroy(s);
    actor_close(&a);
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const what[] = {"page requests", "key host"};
    struct actor a;
    struct tern_allocation *s, *t;
    uint8_t handle[TERN_HANDLE_BYTES];
    for (int k = 0; k < 2; k++) {
        rig_no_page_requests = !k;
        open_device(k ? "small,mem=32M,host=0" : small);
        actor_open(&a, "refused", -1, code_mix, sizeof code_mix);
        assert_int_equal(tern_allocation_create(a.p, BLOCK, RW | TERN_MEM_SPARSE, 0, &s), -ENOTSUP);
        expect_says(tern_last_error(), what[k]);
        actor_close(&a);
        rig_done();
    }
    open_device(small);
    actor_open(&a, "refused", -1, code_mix, sizeof code_mix);
    assert_int_equal(tern_allocation_create(a.p, BLOCK, TERN_MEM_SPARSE, 0, &s), -EINVAL);
    assert_int_equal(tern_allocation_create(a.p, 0, RW | TERN_MEM_SPARSE, 0, &s), -EINVAL);
    assert_int_equal(tern_allocation_create(a.p, 4096ull * MIB, RW | TERN_MEM_SPARSE, 0, &s), -ENOSPC);
    expect_says(tern_last_error(), "address space");
    sparse_open(&a, BLOCK, &s);
    assert_int_equal(tern_allocation_create(a.p, 4096, RW | TERN_MEM_SPARSE, tern_allocation_address(s), &t), -EEXIST);
    assert_int_equal(tern_allocation_export(s, TERN_MEM_READ, handle), -ENOTSUP);
    expect_says(tern_last_error(), "sparse memory cannot be exported");
    ok(tern_allocation_export(a.data, TERN_MEM_READ, handle));
    assert_int_equal(tern_allocation_import(a.p, handle, TERN_MEM_READ | TERN_MEM_SPARSE, 0, &t), -EINVAL);
    tern_allocation_destroy(s);
    actor_close(&a);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),  cmocka_unit_test(test_fits), cmocka_unit_test(test_packets),
        cmocka_unit_test(test_host),    cmocka_unit_test(test_no_room), cmocka_unit_test(test_kill),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}
