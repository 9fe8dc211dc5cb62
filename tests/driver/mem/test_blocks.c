/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An allocation is evicted and brought back in blocks of 4 MiB (A6). As many blocks are evicted as are needed, least
 * recently used first, and only they are brought back. A superpage may come back as small pages, and small pages as a
 * superpage. The choice of a victim among 4,096 blocks looks at few of them.
 */
#include "device_memory.h"
#include "os/mem/mem.h"
#include "page_tables.h"
#include "rig.h"
#include "waiting.h"

#define BLOCK_PAGES 1024u

static const char *const small = "small,mem=16M,quantum=20000,timeout=200000";

/** Runs work that names the allocation and sets all its bytes. */
static void use(struct tern_context *c, struct tern_allocation *a, uint8_t value)
{
    const uint32_t at = tern_allocation_address(a);
    ok(tern_context_set_residency(c, &at, 1));
    work_fill(&dma, at, (uint32_t)tern_allocation_size(a), value);
    ok(tern_wait(c, work_submit(&dma, c, "use"), PATIENCE));
}

/** Returns a bit for each block of the allocation that is on the device. */
static uint32_t here(struct tern_allocation *a)
{
    uint32_t bits = 0;
    pthread_mutex_lock(&dev->lock);
    for (uint32_t i = 0; i < a->mem->block_count; i++) {
        bits |= (uint32_t)a->mem->blocks[i].resident << i;
    }
    pthread_mutex_unlock(&dev->lock);
    return bits;
}

static void move(struct tern_allocation *a, uint32_t block, bool in)
{
    pthread_mutex_lock(&dev->lock);
    ok(in ? tern_move_in(&a->mem->blocks[block]) : tern_move_out(&a->mem->blocks[block]));
    pthread_mutex_unlock(&dev->lock);
}

/** As many blocks are evicted as are needed, least recently used first, and only they come back. Data and dirty bits
 * are kept. */
static void test_in_parts(void **state)
{
    (void)state;
    static uint32_t bits[12 * 256 / 32], want[12 * 256 / 32];
    rig_open(small, NULL);
    struct tern_process *p = process("parts"), *q = process("other");
    struct tern_context *c = context(p, -1), *d = context(q, -1);
    struct tern_allocation *a = memory(p, 8 * MIB, TERN_MEM_WRITE), *k = memory(p, 4 * MIB, TERN_MEM_WRITE),
                           *o = memory(q, 4 * MIB, TERN_MEM_WRITE);
    assert_int_equal(a->mem->block_count, 2);
    use(c, a, 0xa1);
    use(c, k, 0xb2);
    ok(tern_process_dirty(p, tern_allocation_address(a), 8 * MIB, true, bits));
    work_fill(&dma, tern_allocation_address(a) + 5 * 4096, 1, 0xa1);
    work_fill(&dma, tern_allocation_address(a) + 5 * MIB, 4097, 0xa1);
    work_run(&dma, c, "some");
    use(c, k, 0xb3); /* needs one block; the first block of a is the oldest */
    use(d, o, 0xc4);
    assert_int_equal(here(a), 2);
    assert_int_equal(here(k), 1);
    assert_int_equal(dev->pager.evicted, BLOCK_PAGES);
    memset(bits, 0, sizeof bits);
    want[0] = 1u << 5;
    want[5 * 256 / 32] = 3;
    ok(tern_process_dirty(p, tern_allocation_address(a), 8 * MIB, false, bits));
    assert_memory_equal(bits, want, sizeof want);
    expect_bytes(a, 0, 8 * MIB, 0xa1);
    const uint64_t brought = dev->pager.brought;
    use(c, a, 0xa5);
    assert_int_equal(dev->pager.brought, brought + BLOCK_PAGES);
    assert_int_equal(here(o), 1);
    assert_int_equal(here(k), 0);
    expect_bytes(o, 0, 4 * MIB, 0xc4);
    expect_bytes(k, 0, 4 * MIB, 0xb3);
    expect_bytes(a, 0, 8 * MIB, 0xa5);
    tern_context_destroy(c);
    tern_context_destroy(d);
    tern_allocation_destroy(a);
    tern_allocation_destroy(k);
    tern_allocation_destroy(o);
    ok(tern_process_destroy(p));
    ok(tern_process_destroy(q));
    rig_done();
}

static void destroy_wait(struct tern_allocation *a)
{
    tern_allocation_destroy(a);
    pthread_mutex_lock(&dev->lock);
    while (!tern_list_empty(&dev->partition.retiring)) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
}

/** A block that was a superpage comes back as small pages. No entry of a freed allocation remains, whatever its blocks
 * were. */
static void test_tables(void **state)
{
    (void)state;
    uint32_t large;
    rig_open("small,mem=32M,quantum=20000,timeout=200000", NULL);
    const uint32_t pages = free_pages(dev);
    struct tern_process *p = process("tables");
    struct tern_run hole[8];
    uint32_t holes = 0;
    struct tern_allocation *a = memory(p, 14 * MIB, TERN_MEM_WRITE);
    const uint32_t va = tern_allocation_address(a);
    assert_int_equal(va % (4 * MIB), 0);
    assert_int_equal(pages_mapped(p, va, 14 * 256, &large), 14 * 256);
    assert_int_equal(large, 3);
    ok(tern_allocation_write(a, 4 * MIB, "here", 4));
    for (uint32_t i = 0; i < 3; i++) {
        move(a, i, false);
    }
    assert_int_equal(pages_mapped(p, va, 14 * 256, &large), 2 * 256);
    pthread_mutex_lock(&dev->lock); /* take one page of each free 4 MiB, so that no superpage fits */
    while (tern_pages_take_large(dev->partition.pages, &hole[holes]) == 0) {
        holes++;
        assert_true(holes < 8);
    }
    for (uint32_t i = 0; i < holes; i++) {
        tern_pages_give(dev->partition.pages, &(struct tern_run){hole[i].page + 1, 1023, true});
    }
    pthread_mutex_unlock(&dev->lock);
    move(a, 1, true);
    assert_int_equal(pages_mapped(p, va, 14 * 256, &large), 6 * 256);
    assert_int_equal(large, 0);
    expect_bytes(a, 4 * MIB + 4, 4 * MIB - 4, 0);
    char got[4];
    ok(tern_allocation_read(a, 4 * MIB, got, 4));
    assert_memory_equal(got, "here", 4);
    pthread_mutex_lock(&dev->lock);
    for (uint32_t i = 0; i < holes; i++) {
        tern_pages_give(dev->partition.pages, &(struct tern_run){hole[i].page, 1, true});
    }
    pthread_mutex_unlock(&dev->lock);
    move(a, 2, true);
    assert_int_equal(pages_mapped(p, va, 14 * 256, &large), 10 * 256);
    assert_int_equal(large, 1);
    destroy_wait(a); /* its blocks: absent; small pages instead of a superpage; a superpage; small pages */
    assert_int_equal(pages_mapped(p, va, 14 * 256, &large), 0);
    ok(tern_allocation_create(p, 2 * MIB, TERN_MEM_WRITE, va + 4 * MIB, &a));
    assert_int_equal(pages_mapped(p, va, 14 * 256, &large), 2 * 256); /* by the region's new second-level table */
    struct tern_allocation *absent = memory(p, 40 * MIB, TERN_MEM_WRITE);
    const uint32_t there = tern_allocation_address(absent);
    assert_int_equal(pages_mapped(p, there, 40 * 256, &large), 0);
    move(absent, 1, true);
    assert_int_equal(pages_mapped(p, there, 40 * 256, &large), BLOCK_PAGES);
    destroy_wait(absent);
    assert_int_equal(pages_mapped(p, there, 40 * 256, &large), 0);
    destroy_wait(a);
    ok(tern_process_destroy(p));
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

/** A pin brings the absent blocks of an allocation and keeps all of it on the device. A free gives back every block,
 * wherever it is. */
static void test_pins(void **state)
{
    (void)state;
    rig_open(small, NULL);
    const uint32_t pages = free_pages(dev);
    struct tern_process *p = process("pins");
    struct tern_context *c = context(p, -1);
    struct tern_allocation *a = memory(p, 10 * MIB, TERN_MEM_WRITE), *o = memory(p, 4 * MIB, TERN_MEM_WRITE);
    use(c, a, 1);
    move(a, 1, false);
    pthread_mutex_lock(&dev->lock);
    assert_int_equal(dev->partition.movable, 10 * 256);
    pthread_mutex_unlock(&dev->lock);
    ok(tern_allocation_make_resident(a));
    assert_int_equal(here(a), 7);
    pthread_mutex_lock(&dev->lock);
    assert_int_equal(dev->partition.movable, 4 * 256);
    pthread_mutex_unlock(&dev->lock);
    ok(tern_allocation_evict(a));
    struct tern_allocation *n = memory(p, 4 * MIB, TERN_MEM_WRITE);
    use(c, n, 2); /* evicts the first block of a, which was used before o */
    use(c, o, 3);
    expect_bytes(a, 0, 10 * MIB, 1);
    tern_allocation_destroy(a);
    tern_allocation_destroy(n);
    tern_allocation_destroy(o);
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
    assert_int_equal(free_pages(dev), pages);
    assert_int_equal(dev->partition.movable, 0);
    assert_int_equal(dev->partition.committed, 0);
    rig_done();
}

#define GIANTS 5u

/** 16 GiB in 4,096 blocks and 2,000 small allocations: the choice of a victim looks at few blocks. */
static void test_decisions(void **state)
{
    (void)state;
    struct tern_process *p[GIANTS], *q, *many;
    struct tern_allocation *a[GIANTS], *o[8], *s[2000];
    struct timespec t[2];
    rig_open("small,mem=16384M,quantum=20000,timeout=200000", NULL);
    for (uint32_t i = 0; i < GIANTS; i++) {
        p[i] = process("giant");
        a[i] = memory(p[i], 3250u * MIB, TERN_MEM_WRITE);
    }
    many = process("many");
    for (uint32_t i = 0; i < 2000; i++) {
        s[i] = memory(many, 4096, TERN_MEM_WRITE);
    }
    q = process("wants");
    struct tern_context *c = context(q, -1);
    for (uint32_t i = 0; i < 8; i++) {
        o[i] = memory(q, 32 * MIB, TERN_MEM_WRITE);
    }
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t at = tern_allocation_address(o[i]);
        ok(tern_context_set_residency(c, &at, 1));
        work_fill(&dma, at + i * MIB, 64, 1);
        ok(tern_wait(c, work_submit(&dma, c, "use"), PATIENCE));
    }
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    const struct tern_pager *g = &dev->pager;
    print_message("%llu decisions for %llu evicted blocks looked at %llu things; %.0f ms in all\n",
                  (unsigned long long)g->decisions, (unsigned long long)g->evicted / BLOCK_PAGES,
                  (unsigned long long)g->looked,
                  (double)(t[1].tv_sec - t[0].tv_sec) * 1e3 + (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e6);
    assert_true(g->evicted > 25 * BLOCK_PAGES);
    assert_true(g->looked <= 30 * g->decisions); /* contexts and names, and one or two blocks of each process */
    for (uint32_t i = 0; i < 8; i++) {
        tern_allocation_destroy(o[i]);
    }
    tern_context_destroy(c);
    ok(tern_process_destroy(q));
    for (uint32_t i = 0; i < 2000; i++) {
        tern_allocation_destroy(s[i]);
    }
    ok(tern_process_destroy(many));
    for (uint32_t i = 0; i < GIANTS; i++) {
        tern_allocation_destroy(a[i]);
        ok(tern_process_destroy(p[i]));
    }
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
