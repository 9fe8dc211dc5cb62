/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shared memory is evicted from all processes at once and comes back for all, also under work of all of them. The price
 * of shared memory as a victim is that of its most important process. A pin of any process keeps it.
 */
#include "device_memory.h"
#include "os/mem/mem.h"
#include "os/mem/victim.h"
#include "page_tables.h"
#include "rig.h"
#include "sharers.h"
#include "tests/lib/submit.h"
#include "waiting.h"

#define BLOCK 1024u /* pages of a block */

/** Shared memory is evicted from all its processes at once, and the work of each finds it again. */
static void test_moves(void **state)
{
    (void)state;
    uint8_t handle[16];
    rig_open(SHARERS_CONFIG, NULL);
    const uint32_t pages = free_pages(dev);
    struct sharer p = sharer_open("makes"), q = sharer_open("uses"), o = sharer_open("other");
    struct tern_allocation *a = memory(p.p, 6 * MIB, RW), *i, *late, *large = memory(o.p, 12 * MIB, RW);
    ok(tern_allocation_export(a, RW, handle));
    i = sharer_import(&q, handle, RW);
    for (int round = 0; round < 6; round++) {
        assert_int_equal(sharer_fill(&p, a, 0, 6 * MIB, (uint8_t)(round + 1)), 0);
        assert_int_equal(sharer_fill(&o, large, 0, 12 * MIB, 0xee), 0);
        assert_false(a->mem->blocks[0].resident);
        uint32_t large_pages; /* no table of either process maps the block */
        assert_int_equal(pages_mapped(p.p, tern_allocation_address(a), BLOCK, &large_pages), 0);
        assert_int_equal(pages_mapped(q.p, tern_allocation_address(i), BLOCK, &large_pages), 0);
        late = sharer_import(&p, handle, TERN_MEM_READ); /* imported while it is evicted */
        expect_bytes(i, 0, 6 * MIB, (uint8_t)(round + 1));
        assert_int_equal(sharer_fill(&q, i, 2 * MIB, 3 * MIB, (uint8_t)(round + 100)), 0);
        assert_true(a->mem->blocks[0].resident && a->mem->blocks[1].resident);
        expect_bytes(a, 0, 2 * MIB, (uint8_t)(round + 1));
        expect_bytes(late, 2 * MIB, 3 * MIB, (uint8_t)(round + 100));
        expect_bytes(large, 0, 12 * MIB, 0xee);
        /* maps the blocks that have come back */
        work_copy(&dma, tern_allocation_address(a), tern_allocation_address(late) + 2 * MIB, MIB);
        const uint32_t set[] = {tern_allocation_address(a), tern_allocation_address(late)};
        ok(tern_context_set_residency(p.c, set, 2));
        ok(tern_wait(p.c, work_submit(&dma, p.c, "copy"), PATIENCE));
        expect_bytes(i, 0, MIB, (uint8_t)(round + 100));
        tern_allocation_destroy(late);
    }
    tern_allocation_destroy(a);
    assert_int_equal(sharer_fill(&o, large, 0, 12 * MIB, 0xdd), 0);
    expect_bytes(i, 2 * MIB, 3 * MIB, 105);
    tern_allocation_destroy(i);
    tern_allocation_destroy(large);
    sharer_close(&p);
    sharer_close(&q);
    sharer_close(&o);
    expect_no_memory(dev, pages);
    rig_done();
}

struct importer {
    const struct sharer *u;
    const uint8_t *handle;
    struct tern_allocation *a;
};

static void *import_thread(void *arg)
{
    struct importer *m = arg;
    m->a = sharer_import(m->u, m->handle, RW);
    return NULL;
}

/** An import in the middle of a move waits for the move, and maps what was brought. */
static void test_import_in_a_move(void **state)
{
    (void)state;
    uint8_t handle[16];
    pthread_t thread;
    rig_open(SHARERS_CONFIG, NULL);
    struct sharer p = sharer_open("makes"), q = sharer_open("uses");
    struct importer m = {.u = &q, .handle = handle};
    struct tern_allocation *a = memory(p.p, 4 * MIB, RW);
    ok(tern_allocation_export(a, RW, handle));
    assert_int_equal(sharer_fill(&p, a, 0, 4 * MIB, 6), 0);
    pthread_mutex_lock(&dev->lock);
    ok(tern_move_out(&a->mem->blocks[0]));
    ok(tern_pager_start(dev));
    pthread_mutex_unlock(&dev->lock);
    rig.gated = true;
    const uint32_t at = tern_allocation_address(a);
    ok(tern_context_set_residency(p.c, &at, 1));
    work_fill(&dma, at, 64, 7);
    const uint64_t fence = work_submit(&dma, p.c, "brings");
    until(rig.at_gate);
    assert_int_equal(pthread_create(&thread, NULL, import_thread, &m), 0);
    for (int i = 0; i < 50; i++) {
        nap();
    }
    rig.gated = false;
    pthread_join(thread, NULL);
    ok(tern_wait(p.c, fence, PATIENCE));
    assert_int_equal(sharer_fill(&q, m.a, 64, 64, 8), 0);
    expect_bytes(a, 0, 64, 7);
    expect_bytes(a, 64, 64, 8);
    expect_bytes(m.a, 128, 4 * MIB - 128, 6);
    tern_allocation_destroy(m.a);
    tern_allocation_destroy(a);
    sharer_close(&p);
    sharer_close(&q);
    rig_done();
}

/** A memory is no victim while it is imported, since the importer's tables get its places; it is one later. */
static void test_no_victim_while_imported(void **state)
{
    (void)state;
    rig_open(SHARERS_CONFIG, NULL);
    struct sharer p = sharer_open("makes"), o = sharer_open("other");
    struct tern_allocation *a = memory(p.p, 4 * MIB, RW);
    assert_int_equal(sharer_fill(&p, a, 0, 4 * MIB, 1), 0);
    struct tern_search during = {.proc = o.p}, after = {.proc = o.p};
    pthread_mutex_lock(&dev->lock);
    a->mem->moving = true; /* as map_shared sets it, which releases dev->lock */
    tern_victim_find(dev, &during);
    a->mem->moving = false;
    tern_victim_find(dev, &after);
    pthread_mutex_unlock(&dev->lock);
    assert_null(during.best);
    assert_true(during.later);
    assert_ptr_equal(after.best, &a->mem->blocks[0]);
    tern_allocation_destroy(a);
    sharer_close(&p);
    sharer_close(&o);
    rig_done();
}

/** Submits an endless fill of the allocation, and waits until it has begun. */
static uint64_t fill_on(const struct sharer *u, struct tern_allocation *a)
{
    uint8_t got = 0;
    struct tern_pkt_fill f = {.dst_lo = tern_allocation_address(a), .width = (uint32_t)tern_allocation_size(a),
                              .rows = UINT32_MAX, .slices = 1, .pattern = {0x77}};
    assert_int_equal(tern_pkt_fill_pack(&f, work_add(&dma, 2)), 0);
    const uint64_t fence = work_submit(&dma, u->c, "fills");
    while (!got) {
        ok(tern_allocation_read(a, tern_allocation_size(a) / 2, &got, 1));
    }
    return fence;
}

static void in_use(bool maker)
{
    const struct tern_context_desc d = {.size = sizeof d, .engine = 1};
    struct tern_fault f = {.size = sizeof f};
    uint8_t handle[16];
    rig_open(SHARERS_CONFIG, NULL);
    struct sharer works, other = sharer_open("other");
    ok(tern_process_create(dev, "works", &works.p));
    ok(tern_context_create(works.p, &d, &works.c));
    struct tern_allocation *a = memory(maker ? works.p : other.p, 2 * MIB, RW);
    ok(tern_allocation_export(a, RW, handle));
    struct tern_allocation *i = sharer_import(maker ? &other : &works, handle, RW);
    rig.deaf_to = works.c->id;
    rig.deaf = 2;
    const uint64_t fence = fill_on(&works, maker ? a : i);
    pthread_mutex_lock(&dev->lock);
    ok(tern_pager_start(dev));
    ok(tern_move_out(&a->mem->blocks[0]));
    pthread_mutex_unlock(&dev->lock);
    rig.deaf = 0;
    assert_int_equal(tern_wait(works.c, fence, PATIENCE), -EIO);
    assert_int_equal(tern_process_status(works.p, &f), -EIO);
    assert_int_equal(f.code, TERN_FAULT_TIMEOUT);
    assert_int_equal(rig.resets, 1);
    assert_int_equal(sharer_fill(&other, maker ? i : a, 0, 2 * MIB, 99), 0); /* the other process lost nothing */
    expect_bytes(maker ? i : a, 0, 2 * MIB, 99);
    tern_allocation_destroy(i);
    tern_allocation_destroy(a);
    sharer_close(&works);
    sharer_close(&other);
    rig_done();
}

/** A block is not unmapped while work of its exporter or importer uses it. If the engine does not stop, it is reset
 *  first. */
static void test_in_use(void **state)
{
    (void)state;
    in_use(true);
    in_use(false);
}

/** Waits until all frees have ended. */
static void unmapped(void)
{
    pthread_mutex_lock(&dev->lock);
    while (!tern_list_empty(&dev->partition.retiring)) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
}

/** The price of a block is the highest of its processes' prices. A pin of either process keeps the block. */
static void test_price(void **state)
{
    (void)state;
    uint8_t handle[16];
    rig_open(SHARERS_CONFIG, NULL);
    struct sharer p = sharer_open("idle"), q = sharer_open("focus"), o = sharer_open("other");
    struct tern_allocation *a = memory(p.p, 4 * MIB, RW), *mine = memory(o.p, 4 * MIB, RW), *i, *want;
    ok(tern_allocation_export(a, RW, handle));
    i = sharer_import(&q, handle, RW);
    ok(tern_context_set_priority(p.c, TERN_BAND_IDLE, 0));
    ok(tern_context_set_priority(q.c, TERN_BAND_FOCUS, 0));
    assert_int_equal(sharer_fill(&p, a, 0, 4 * MIB, 1), 0);
    assert_int_equal(sharer_fill(&o, mine, 0, 4 * MIB, 2), 0);
    want = memory(o.p, 8 * MIB, RW);
    assert_int_equal(sharer_fill(&o, want, 0, 8 * MIB, 3), 0);
    assert_true(a->mem->blocks[0].resident); /* used longest ago, but also by a process in FOCUS */
    assert_false(mine->mem->blocks[0].resident);
    tern_allocation_destroy(i);
    unmapped();
    assert_int_equal(sharer_fill(&o, mine, 0, 4 * MIB, 2), 0);
    assert_false(a->mem->blocks[0].resident); /* now only of a process in IDLE */
    i = sharer_import(&q, handle, RW);
    ok(tern_allocation_make_resident(i));
    assert_true(a->mem->blocks[0].resident);
    assert_int_equal(sharer_fill(&o, want, 0, 8 * MIB, 3), 0);
    assert_int_equal(sharer_fill(&o, mine, 0, 4 * MIB, 2), 0);
    assert_true(a->mem->blocks[0].resident);
    tern_allocation_destroy(i); /* and its pin */
    unmapped();
    ok(tern_allocation_make_resident(want));
    assert_int_equal(sharer_fill(&o, mine, 0, 4 * MIB, 2), 0);
    assert_false(a->mem->blocks[0].resident);
    ok(tern_allocation_evict(want));
    tern_allocation_destroy(a);
    tern_allocation_destroy(mine);
    tern_allocation_destroy(want);
    sharer_close(&p);
    sharer_close(&q);
    sharer_close(&o);
    rig_done();
}

/* ---------------------------------------------------------------------- at once */

#define SIDES 3u
#define PART (2u * MIB)

struct side {
    struct sharer u;
    struct tern_allocation *all, *own;
    pthread_t thread;
    uint32_t n;
};

/** A thread that fills its part of the shared memory and copies it to memory of its own, again and again, while others
 * evict both. */
static void *work_side(void *arg)
{
    struct side *s = arg;
    static __thread struct work w;
    uint8_t got[64];
    for (uint32_t k = 0; k < 12; k++) {
        const uint8_t value = (uint8_t)(k * SIDES + s->n + 1);
        const uint32_t set[] = {tern_allocation_address(s->all), tern_allocation_address(s->own)};
        uint64_t fence = 0;
        w.size = 0;
        work_fill(&w, set[0] + s->n * PART, PART, value);
        work_copy(&w, set[1], set[0] + s->n * PART, PART);
        ok(tern_context_set_residency(s->u.c, set, 2));
        ok(submit_packets(s->u.c, w.w, w.size, "part", &fence));
        ok(tern_wait(s->u.c, fence, PATIENCE));
        for (uint32_t at = 0; at < PART; at += 61 * 64) {
            ok(tern_allocation_read(k % 2 ? s->all : s->own, (k % 2 ? s->n * PART : 0) + at, got, 64));
            for (int i = 0; i < 64; i++) {
                if (got[i] != value) {
                    print_error("side %u, round %u: %u and not %u\n", s->n, k, got[i], value);
                    abort();
                }
            }
        }
    }
    return NULL;
}

static void test_at_once(void **state)
{
    (void)state;
    uint8_t handle[16];
    struct side s[SIDES];
    rig_open(SHARERS_CONFIG, NULL);
    const uint32_t pages = free_pages(dev);
    for (uint32_t i = 0; i < SIDES; i++) {
        s[i] = (struct side){.u = sharer_open("side"), .n = i};
        s[i].own = memory(s[i].u.p, 4 * MIB, RW);
        if (i == 0) {
            s[0].all = memory(s[0].u.p, SIDES * PART, RW);
            ok(tern_allocation_export(s[0].all, RW, handle));
        } else {
            s[i].all = sharer_import(&s[i].u, handle, RW);
        }
    }
    for (uint32_t i = 0; i < SIDES; i++) {
        assert_int_equal(pthread_create(&s[i].thread, NULL, work_side, &s[i]), 0);
    }
    for (uint32_t i = 0; i < SIDES; i++) {
        pthread_join(s[i].thread, NULL);
    }
    for (uint32_t i = 0; i < SIDES; i++) {
        tern_allocation_destroy(s[i].all);
        tern_allocation_destroy(s[i].own);
        sharer_close(&s[i].u);
    }
    assert_true(dev->pager.evicted > 0);
    expect_no_memory(dev, pages);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_import_in_a_move),
        cmocka_unit_test(test_no_victim_while_imported),
        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_price),
        cmocka_unit_test(test_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
