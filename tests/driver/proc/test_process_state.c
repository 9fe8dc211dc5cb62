/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The calls on which migration and checkpoints are built. A process's allocations are listed. Pages that the process
 * has written are reported and cleared without those of other processes. The process is suspended and resumed, and
 * aborted or killed while suspended.
 */
#include "actor.h"
#include "rig.h"
#include "tests/lib/submit.h"

static void open_here(void)
{
    rig_open("small,mem=64M", NULL);
}

static void test_list(void **state)
{
    (void)state;
    struct actor a;
    struct tern_allocation_info info[8] = {{.size = sizeof *info}};
    struct tern_fence *f;
    open_here();
    open_mix(&a, "lists", 0);
    ok(tern_fence_create(a.p, 0, &f));
    const int n = tern_process_allocations(a.p, info, 8);
    assert_int_equal(n, 6); /* four of the actor, the fence, and the buffers of its context */
    assert_int_equal(tern_process_allocations(a.p, NULL, 0), n);
    info[0].size = sizeof *info;
    assert_int_equal(tern_process_allocations(a.p, info, 2), n);
    info[0].size = sizeof *info;
    assert_int_equal(tern_process_allocations(a.p, info, 8), n);
    struct tern_allocation *const mine[] = {a.code, a.args, a.stack, a.data};
    int drivers = 0, found = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(info[i].size, sizeof *info);
        assert_true(i == 0 || info[i].address >= info[i - 1].address + info[i - 1].bytes);
        drivers += info[i].driver;
        for (int m = 0; m < 4; m++) {
            if (info[i].address == tern_allocation_address(mine[m])) {
                assert_int_equal(info[i].bytes, tern_allocation_size(mine[m]));
                assert_int_equal(info[i].flags, m == 0 ? TERN_MEM_READ | TERN_MEM_EXEC : TERN_MEM_WRITE);
                found++;
            }
        }
        found += info[i].address == tern_fence_address(f);
    }
    assert_int_equal(drivers, 1);
    assert_int_equal(found, 5);
    actor_spin(&a); /* the free waits for work, and is not listed */
    tern_fence_destroy(f);
    assert_int_equal(tern_process_allocations(a.p, NULL, 0), n - 1);
    ok(tern_process_kill(a.p));
    assert_int_equal(tern_process_allocations(a.p, NULL, 0), -EIO);
    ok(tern_process_destroy(a.p));
    rig_done();
}

static bool bit(const uint32_t *bits, uint32_t i)
{
    return bits[i / 32] >> i % 32 & 1;
}

#define PAGES 1500u /* more than a superpage, and not a multiple of 32 */

static void test_dirty(void **state)
{
    (void)state;
    struct actor a, other;
    struct tern_allocation *m;
    static uint32_t bits[(PAGES + 31) / 32];
    open_here();
    open_mix(&a, "dirty", 0);
    open_mix(&other, "other", 1);
    ok(tern_allocation_create(a.p, PAGES * 4096, TERN_MEM_WRITE, 0, &m));
    const uint32_t at = tern_allocation_address(m);
    ok(tern_process_dirty(a.p, at, PAGES * 4096, true, bits));
    ok(tern_process_dirty(a.p, at, PAGES * 4096, false, bits));
    for (uint32_t i = 0; i < PAGES; i++) {
        assert_false(bit(bits, i));
    }
    const uint32_t written[] = {0, 31, 32, 1023, 1024, PAGES - 1};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) { /* by the engine and by the host */
        if (i % 2) {
            ok(tern_allocation_write(m, written[i] * 4096ull + 4095, "x", 1));
        } else {
            work_fill(&dma, at + written[i] * 4096, 1, 1);
        }
    }
    ok(tern_wait(a.c, work_submit(&dma, a.c, "fill"), PATIENCE));
    run_mix(&other, 10); /* another process's writes do not count */
    for (int clear = 0; clear < 3; clear++) {
        ok(tern_process_dirty(a.p, at, PAGES * 4096, clear == 1, bits));
        uint32_t n = 0;
        for (uint32_t i = 0; i < PAGES; i++) {
            n += bit(bits, i);
        }
        assert_int_equal(n, clear == 2 ? 0 : sizeof written / sizeof *written);
        for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
            assert_int_equal(bit(bits, written[i]), clear != 2);
        }
    }
    ok(tern_allocation_write(m, 700 * 4096ull, "x", 1));
    ok(tern_process_dirty(a.p, at + 690 * 4096, 20 * 4096, true, bits)); /* only a part is queried and cleared */
    assert_int_equal(bits[0], 1u << 10);
    assert_int_equal(tern_process_dirty(a.p, at, 100, false, bits), -EINVAL);
    assert_int_equal(tern_process_dirty(a.p, at + 4, 4096, false, bits), -EINVAL);
    assert_int_equal(tern_process_dirty(a.p, at, 0, false, bits), -EINVAL);
    assert_int_equal(tern_process_dirty(a.p, at + 4096, PAGES * 4096, false, bits), -EFAULT);
    assert_int_equal(tern_process_dirty(a.p, 0x80000000, 4096, false, bits), -EFAULT);
    tern_allocation_destroy(m);
    assert_int_equal(tern_process_dirty(a.p, at, 4096, false, bits), -EFAULT);
    actor_close(&a);
    actor_close(&other);
    rig_done();
}

/** A suspended process does not run, even if work and contexts are added. When it is resumed, its results are right. */
static void test_suspend(void **state)
{
    (void)state;
    struct actor a, works;
    struct tern_context *late;
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    open_here();
    open_spin(&a, "rests", 0);
    open_mix(&works, "works", -1);
    const uint64_t spin = actor_spin(&a);
    spins(&a);
    ok(tern_process_suspend(a.p));
    ok(tern_process_suspend(a.p));
    const uint32_t stood = actor_get(&a, 2);
    ok(tern_context_create(a.p, &d, &late));
    ok(submit_null(late, "late", NULL));
    run_mix(&works, 200);
    assert_int_equal(actor_get(&a, 2), stood);
    assert_int_equal(tern_wait(late, 1, 20), -ETIMEDOUT);
    ok(tern_process_resume(a.p));
    ok(tern_process_resume(a.p));
    ok(tern_wait(late, 1, PATIENCE));
    spins(&a);
    actor_set(&a, 0, 1);
    ok(tern_wait(a.c, spin, PATIENCE));
    assert_int_equal(actor_get(&a, 1), 1);
    tern_context_destroy(late);
    actor_close(&a);
    actor_close(&works);
    rig_done();
}

/** A suspended process can be aborted or killed. One on an engine that does not stop is put in error. */
static void test_suspended_ends(void **state)
{
    (void)state;
    struct actor a;
    for (int how = 0; how < 3; how++) {
        rig_open("small,mem=64M,timeout=20000", NULL);
        open_spin(&a, "ends", 0);
        const uint64_t spin = actor_spin(&a);
        spins(&a);
        rig.deaf = how == 2;
        ok(tern_process_suspend(a.p));
        rig.deaf = 0;
        if (how == 0) {
            tern_process_abort(a.p, "the test");
        } else if (how == 1) {
            ok(tern_process_kill(a.p));
            assert_int_equal(tern_process_suspend(a.p), -EIO);
            assert_int_equal(tern_process_resume(a.p), -EIO);
        }
        assert_int_equal(tern_wait(a.c, spin, PATIENCE), -EIO);
        assert_int_equal(rig.resets, how == 2);
        actor_close(&a);
        rig_done();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),    cmocka_unit_test(test_dirty),
        cmocka_unit_test(test_suspend), cmocka_unit_test(test_suspended_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
