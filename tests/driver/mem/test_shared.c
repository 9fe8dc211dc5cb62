/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that several processes map: rights of handles, ends of processes in any order and by kills, addresses, and the
 * dirty bits of each mapping.
 */
#include "device_memory.h"
#include "os/mem/mem.h"
#include "rig.h"
#include "sharers.h"

static void expect_refused(const struct sharer *u, const uint8_t *handle, uint32_t flags, uint32_t address, int why,
                           const char *says)
{
    struct tern_allocation *a = NULL;
    assert_int_equal(tern_allocation_import(u->p, handle, flags, address, &a), why);
    assert_null(a);
    if (!strstr(tern_last_error(), says)) {
        fail_msg("'%s' does not say '%s'", tern_last_error(), says);
    }
}

/** A handle gives the exported rights to any process, until its allocation is destroyed. */
static void test_rights(void **state)
{
    (void)state;
    static const char *const unknown = "no memory is exported by this handle";
    uint8_t rw[16], ro[16], again[16], wrong[16];
    rig_open(SHARERS_CONFIG, NULL);
    const uint32_t pages = free_pages(dev);
    struct sharer p = sharer_open("makes"), q = sharer_open("uses");
    struct tern_allocation *a = memory(p.p, 3 * 4096, RW), *w, *r;
    assert_int_equal(tern_allocation_export(a, 0, rw), -EINVAL);
    assert_int_equal(tern_allocation_export(a, 8, rw), -EINVAL);
    assert_int_equal(tern_allocation_export(a, TERN_MEM_EXEC, rw), -EACCES);
    ok(tern_allocation_export(a, TERN_MEM_WRITE, rw));
    ok(tern_allocation_export(a, TERN_MEM_READ, ro));
    ok(tern_allocation_export(a, RW, again));
    assert_memory_equal(rw, again, 16);
    assert_memory_not_equal(rw, ro, 16);
    w = sharer_import(&q, rw, RW);
    r = sharer_import(&q, ro, TERN_MEM_READ);
    assert_int_equal(tern_allocation_size(w), 3 * 4096);
    expect_refused(&q, ro, TERN_MEM_WRITE, 0, -EACCES, "does not grant");
    expect_refused(&q, ro, TERN_MEM_READ | TERN_MEM_EXEC, 0, -EACCES, "does not grant");
    expect_refused(&q, rw, 0, 0, -EINVAL, "flags");
    expect_refused(&q, rw, RW, 4097, -EINVAL, "multiple of 4096");
    expect_refused(&q, rw, RW, tern_allocation_address(r), -EEXIST, "overlap");
    for (int i = 0; i < 128; i += 13) { /* some in the same hash bucket */
        memcpy(wrong, rw, 16);
        wrong[i / 8] ^= (uint8_t)(1u << i % 8);
        expect_refused(&q, wrong, RW, 0, -ENOENT, unknown);
    }
    assert_int_equal(tern_allocation_export(w, TERN_MEM_READ, again), -EACCES);
    assert_int_equal(sharer_fill(&p, a, 0, 4096, 1), 0);
    assert_int_equal(sharer_fill(&q, w, 4096, 4096, 2), 0);
    expect_bytes(r, 0, 4096, 1);
    expect_bytes(a, 4096, 4096, 2);
    expect_bytes(r, 4096, 4096, 2);
    expect_bytes(w, 8192, 4096, 0);
    ok(tern_allocation_write(w, 8192, "w", 1));
    assert_int_equal(tern_allocation_write(r, 8192, "r", 1), -EACCES);
    assert_int_equal(sharer_fill(&q, r, 0, 64, 3), -EIO); /* read-only */
    expect_says(tern_last_error(), "may not be written");
    expect_bytes(a, 0, 4096, 1);
    assert_int_equal(sharer_fill(&p, a, 0, 4096, 4), 0); /* the exporter is not affected */
    expect_bytes(a, 0, 4096, 4);
    struct tern_allocation_info info[8] = {{.size = sizeof *info}};
    const int n = tern_process_allocations(q.p, info, 8);
    for (int i = 0; i < n; i++) {
        assert_int_equal(info[i].shared, !info[i].driver);
    }
    assert_int_equal(tern_process_allocations(p.p, info, 8), n - 1);
    tern_allocation_destroy(a);
    struct sharer s = sharer_open("late");
    expect_refused(&s, rw, RW, 0, -ENOENT, unknown);
    expect_refused(&s, ro, TERN_MEM_READ, 0, -ENOENT, unknown);
    sharer_close(&s);
    expect_bytes(w, 0, 4096, 4); /* existing mappings stay */
    tern_allocation_destroy(w);
    tern_allocation_destroy(r);
    sharer_close(&p);
    sharer_close(&q);
    expect_no_memory(dev, pages);
    rig_done();
}

/** Memory is exported as executable only if that was asked for. Memory that is imported as execute-only cannot be
 * read. */
static void test_exec(void **state)
{
    (void)state;
    uint8_t handle[16], x[16], got;
    rig_open(SHARERS_CONFIG, NULL);
    struct sharer p = sharer_open("code"), q = sharer_open("runs");
    struct tern_allocation *a = memory(p.p, 4096, RW | TERN_MEM_EXEC);
    ok(tern_allocation_export(a, TERN_MEM_READ, handle));
    ok(tern_allocation_export(a, TERN_MEM_EXEC, x));
    expect_refused(&q, handle, TERN_MEM_EXEC, 0, -EACCES, "does not grant");
    expect_refused(&q, x, TERN_MEM_READ, 0, -EACCES, "does not grant");
    struct tern_allocation *e = sharer_import(&q, x, TERN_MEM_EXEC);
    assert_int_equal(tern_allocation_read(e, 0, &got, 1), -EACCES);
    tern_allocation_destroy(e);
    tern_allocation_destroy(a);
    sharer_close(&p);
    sharer_close(&q);
    rig_done();
}

/** Another process writes all memory that it can get, which must not include the mapped pages. */
static void stranger(uint32_t pages, uint32_t mapped)
{
    struct sharer s = sharer_open("stranger");
    assert_true(free_pages(dev) + mapped <= pages);
    struct tern_allocation *n = memory(s.p, (free_pages(dev) - 64) * 4096, RW);
    assert_int_equal(sharer_fill(&s, n, 0, (uint32_t)tern_allocation_size(n), 0xee), 0);
    tern_allocation_destroy(n);
    sharer_close(&s);
}

/** Mappings of the exporter and of an importer (two mappings) end in any order, or by kills. The pages are freed with
 * the last mapping, not before. */
static void test_ends(void **state)
{
    (void)state;
    uint8_t handle[16];
    rig_open(SHARERS_CONFIG, NULL);
    const uint32_t pages = free_pages(dev);
    for (int i = 0; i < 24; i++) {
        struct sharer p = sharer_open("makes"), q = sharer_open("uses");
        struct tern_allocation *a = memory(p.p, i % 2 ? 5 * MIB : 8192, RW);
        ok(tern_allocation_export(a, RW, handle));
        struct tern_allocation *one = sharer_import(&q, handle, RW), *two = sharer_import(&q, handle, TERN_MEM_READ);
        assert_int_not_equal(tern_allocation_address(one), tern_allocation_address(two));
        assert_int_equal(sharer_fill(&p, a, 4096, 4096, (uint8_t)(i + 1)), 0);
        switch (i / 2 % 4) {
        case 0:
            tern_allocation_destroy(a);
            sharer_close(&p);
            stranger(pages, (uint32_t)tern_allocation_size(two) / 4096);
            expect_bytes(two, 4096, 4096, (uint8_t)(i + 1));
            assert_int_equal(sharer_fill(&q, one, 4096, 4096, 77), 0);
            expect_bytes(two, 4096, 4096, 77);
            tern_allocation_destroy(one);
            expect_bytes(two, 4096, 4096, 77);
            tern_allocation_destroy(two);
            sharer_close(&q);
            break;
        case 1:
            ok(tern_process_kill(p.p));
            expect_refused(&q, handle, RW, 0, -ENOENT, "no memory");
            assert_int_equal(tern_allocation_read(a, 0, handle, 1), -EIO);
            stranger(pages, (uint32_t)tern_allocation_size(two) / 4096);
            expect_bytes(two, 4096, 4096, (uint8_t)(i + 1));
            assert_int_equal(sharer_fill(&q, one, 4096, 4096, 78), 0);
            expect_bytes(two, 4096, 4096, 78);
            sharer_close(&p);
            tern_allocation_destroy(one);
            tern_allocation_destroy(two);
            sharer_close(&q);
            break;
        case 2:
            ok(tern_process_kill(q.p));
            expect_bytes(a, 4096, 4096, (uint8_t)(i + 1));
            assert_int_equal(sharer_fill(&p, a, 4096, 4096, 79), 0);
            expect_bytes(a, 4096, 4096, 79);
            tern_allocation_destroy(a);
            sharer_close(&p);
            sharer_close(&q);
            break;
        default:
            ok(tern_process_kill(q.p));
            ok(tern_process_kill(p.p));
            sharer_close(&q);
            sharer_close(&p);
        }
        expect_no_memory(dev, pages);
        struct sharer s = sharer_open("next"); /* the next owner reads zeros (A7) */
        struct tern_allocation *n = memory(s.p, 6 * MIB, RW);
        expect_bytes(n, 0, 6 * MIB, 0);
        tern_allocation_destroy(n);
        sharer_close(&s);
    }
    rig_done();
}

/** Addresses of an import: each block must be mapped by one second-level table or one superpage in each process. */
static void test_places(void **state)
{
    (void)state;
    uint8_t tiny[16], large[16];
    struct tern_allocation *a;
    rig_open(SHARERS_CONFIG, NULL);
    const uint32_t pages = free_pages(dev);
    struct sharer p = sharer_open("makes"), q = sharer_open("uses");
    struct tern_allocation *t = memory(p.p, 5 * 4096, RW), *l;
    ok(tern_allocation_create(p.p, 6 * MIB, RW, 0x01203000, &l)); /* its end is 6 MiB and 3 pages above 0x01000000 */
    ok(tern_allocation_export(t, RW, tiny));
    ok(tern_allocation_export(l, RW, large));
    expect_refused(&q, tiny, RW, 0x023fd000, -EINVAL, "within an aligned 4 MiB");
    ok(tern_allocation_import(q.p, tiny, RW, 0x023fb000, &a));
    tern_allocation_destroy(a);
    expect_refused(&q, large, RW, 0x02204000, -EINVAL, "multiple of 4 MiB");
    ok(tern_allocation_import(q.p, large, RW, 0x02203000, &a));
    struct tern_allocation *n = sharer_import(&q, large, RW);
    assert_int_equal(tern_allocation_address(n) % (4 * MIB), 0x203000);
    assert_int_equal(sharer_fill(&q, a, 0, 6 * MIB, 0x5a), 0);
    expect_bytes(n, 0, 6 * MIB, 0x5a);
    expect_bytes(l, 0, 6 * MIB, 0x5a);
    work_copy(&dma, tern_allocation_address(n), tern_allocation_address(n) + 3 * MIB, 3 * MIB);
    work_run(&dma, q.c, "copy");
    tern_allocation_destroy(a);
    tern_allocation_destroy(n);
    tern_allocation_destroy(l);
    tern_allocation_destroy(t);
    sharer_close(&p);
    sharer_close(&q);
    expect_no_memory(dev, pages);
    rig_done();
}

static uint32_t written(const struct sharer *u, struct tern_allocation *a, bool clear)
{
    uint32_t bits[2 * 256 / 32], n = 0;
    ok(tern_process_dirty(u->p, tern_allocation_address(a), 2 * MIB, clear, bits));
    for (uint32_t i = 0; i < 2 * 256; i++) {
        n += bits[i / 32] >> i % 32 & 1;
    }
    return n;
}

/** Bits that one process has queried and cleared are still reported to another (D7), whether the pages are on the
 * device or not. */
static void test_dirty(void **state)
{
    (void)state;
    uint8_t handle[16];
    rig_open(SHARERS_CONFIG, NULL);
    struct sharer p = sharer_open("makes"), q = sharer_open("uses");
    struct tern_allocation *a = memory(p.p, 2 * MIB, RW), *i;
    assert_int_equal(sharer_fill(&p, a, 0, 3 * 4096, 1), 0);
    assert_int_equal(written(&p, a, true), 3);
    ok(tern_allocation_export(a, RW, handle));
    i = sharer_import(&q, handle, RW);
    assert_int_equal(written(&q, i, true), 512); /* it may have been written before */
    assert_int_equal(written(&q, i, false), 0);
    for (int round = 0; round < 4; round++) {
        assert_int_equal(sharer_fill(&q, i, 0, 5 * 4096, 2), 0);
        if (round & 1) {
            pthread_mutex_lock(&dev->lock);
            ok(tern_move_out(&a->mem->blocks[0]));
            pthread_mutex_unlock(&dev->lock);
        }
        assert_int_equal(written(&p, a, true), 5);
        assert_int_equal(written(&p, a, true), 0);
        if (round & 2) {
            pthread_mutex_lock(&dev->lock);
            ok(tern_pager_start(dev));
            pthread_mutex_unlock(&dev->lock);
            assert_int_equal(sharer_fill(&p, a, 8 * 4096, 64, 2), 0);
            assert_int_equal(written(&p, a, false), 1);
            assert_int_equal(written(&q, i, false), 6);
            assert_int_equal(written(&p, a, true), 1);
        }
        assert_int_equal(written(&q, i, true), round & 2 ? 6 : 5);
        assert_int_equal(written(&q, i, true), 0);
        assert_int_equal(written(&p, a, true), 0);
        pthread_mutex_lock(&dev->lock);
        ok(a->mem->blocks[0].resident ? 0 : tern_move_in(&a->mem->blocks[0]));
        pthread_mutex_unlock(&dev->lock);
    }
    tern_allocation_destroy(a);
    tern_allocation_destroy(i);
    sharer_close(&p);
    sharer_close(&q);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rights), cmocka_unit_test(test_exec),  cmocka_unit_test(test_ends),
        cmocka_unit_test(test_places), cmocka_unit_test(test_dirty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
