/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Failures while memory is moved and shared. A process is killed at each lock, wait and allocation of its thread. Each
 * allocation of host memory fails once. The device is lost at several moments. Engines do not stop, and paging buffers
 * are lost. Nothing is left behind, and processes that are not concerned have right results.
 */
#include "actor.h"
#include "device_memory.h"
#include "kill_points.h"
#include "rig.h"
#include "tests/lib/submit.h"

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(p, size);
}

static void expect_nothing_left(uint32_t pages)
{
    assert_int_equal(free_pages(dev), pages);
    pthread_mutex_lock(&dev->lock);
    assert_true(tern_list_empty(&dev->partition.retiring));
    assert_true(tern_list_empty(&dev->partition.absent));
    assert_true(tern_list_empty(&dev->partition.reclaim_requests));
    pthread_mutex_unlock(&dev->lock);
}

static uint8_t lent[TERN_HANDLE_BYTES]; /* handle of memory of another process */
static bool lends;

/**
 * A process with two allocations that do not fit on the device together, each used by a context of its own, in turn and
 * at once, and read by the host. Returns 0 or the first error.
 */
static int live(struct tern_process *p)
{
    struct tern_allocation *other = NULL, *again = NULL;
    uint8_t handle[TERN_HANDLE_BYTES];
    struct tern_context *c[2] = {NULL, NULL};
    struct tern_allocation *a[2] = {NULL, NULL};
    struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    static struct work w;
    uint64_t fence[2] = {0};
    uint8_t got[2];
    int r = 0;
    for (int i = 0; !r && i < 2; i++) {
        r = tern_context_create(p, &d, &c[i]);
        if (r == 0) {
            r = tern_allocation_create(p, 9 * MIB, TERN_MEM_WRITE, 0, &a[i]);
        }
        const uint32_t set = r ? 0 : tern_allocation_address(a[i]);
        if (r == 0) {
            r = tern_context_set_residency(c[i], &set, 1);
        }
    }
    for (int i = 0; !r && i < 4; i++) {
        w.size = 0;
        work_fill(&w, tern_allocation_address(a[i % 2]), 9 * MIB, (uint8_t)(i + 1));
        r = submit_packets(c[i % 2], w.w, w.size, "fill", &fence[i % 2]);
        if (r == 0) {
            r = tern_allocation_read(a[(i + 1) % 2], MIB, got, 1);
        }
    }
    if (r == 0) {
        r = tern_allocation_export(a[1], TERN_MEM_WRITE, handle);
    }
    if (r == 0) {
        r = tern_allocation_import(p, handle, TERN_MEM_READ, 0, &again);
    }
    if (r == 0 && lends) {
        r = tern_allocation_import(p, lent, TERN_MEM_WRITE, 0, &other);
    }
    if (r == 0 && lends) {
        r = tern_allocation_write(other, 4096, "seen", 5);
    }
    if (r == 0) {
        r = tern_allocation_make_resident(a[0]);
    }
    if (r == 0) {
        r = tern_allocation_evict(a[0]);
    }
    for (int i = 0; !r && i < 2; i++) {
        r = tern_wait(c[i], fence[i], -1);
        if (r == 0) {
            r = tern_allocation_read(a[i], 9 * MIB - 1, &got[i], 1);
        }
        assert_true(r || got[i] == i + 3);
    }
    if (r == 0) {
        r = tern_allocation_read(again, 9 * MIB - 1, got, 1);
    }
    assert_true(r || got[0] == 4);
    tern_allocation_destroy(other);
    tern_allocation_destroy(again);
    for (int i = 0; i < 2; i++) {
        tern_context_destroy(c[i]);
        tern_allocation_destroy(a[i]);
    }
    return r;
}

/* --------------------------------------------------------------------- killed */

static void test_killed(void **state)
{
    (void)state;
    struct actor works;
    struct tern_allocation *large;
    long n = -1;
    bool was;
    rig_open("small,mem=16M,quantum=20000", NULL);
    open_mix(&works, "works", -1);
    ok(tern_allocation_create(works.p, 5 * MIB, TERN_MEM_WRITE, 0, &large));
    ok(tern_allocation_export(large, TERN_MEM_WRITE, lent));
    lends = true;
    do {
        const uint64_t mix = actor_mix(&works, 20);
        was = killed_at(++n, live);
        ok(tern_process_destroy(victim));
        expect_mix(&works, mix);
    } while (was);
    print_message("killed at each of %ld kill points\n", n);
    assert_true(n > 40);
    char note[5];
    ok(tern_allocation_read(large, 4096, note, sizeof note));
    assert_memory_equal(note, "seen", sizeof note);
    lends = false;
    tern_allocation_destroy(large);
    actor_close(&works);
    rig_done();
    rig_open("small,mem=16M", NULL); /* and without another process, counting pages */
    const uint32_t pages = free_pages(dev);
    for (long k = 0; k < n; k += 7) {
        killed_at(k, live);
        ok(tern_process_destroy(victim));
        expect_nothing_left(pages);
    }
    rig_done();
}

/* --------------------------------------------------------------------- no memory */

static void test_no_host_memory(void **state)
{
    (void)state;
    long n = 0;
    int r;
    rig_open("small,mem=16M,quantum=20000", NULL);
    const uint32_t pages = free_pages(dev);
    do {
        struct tern_process *p;
        ok(tern_process_create(dev, "fails", &p));
        atomic_store(&allocations_left, n++);
        r = live(p);
        const bool all = atomic_exchange(&allocations_left, -1) >= 0;
        if (r) {
            assert_true(r == -ENOMEM || r == -EIO || r == -ENOSPC || r == -EAGAIN);
            assert_true(strlen(tern_last_error()) > 0);
        } else if (all) {
            r = 1; /* no allocation has failed */
        }
        ok(tern_process_kill(p));
        ok(tern_process_destroy(p));
        expect_nothing_left(pages);
    } while (r != 1);
    print_message("%ld allocations failed in turn\n", n - 1);
    assert_true(n > 20);
    rig_done();
}

/* ------------------------------------------------------------------- the device */

/** The device is lost at several moments of the moves. All calls end. */
static void test_lost(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        rig_open("small,mem=16M,quantum=20000", NULL);
        const pthread_t lives = kill_point_begin(24 + 5 * k, live);
        while (sem_wait(&kill_point_reached)) {
        }
        rig.gone = true;
        pthread_join(lives, NULL);
        ok(tern_process_kill(victim));
        ok(tern_process_destroy(victim));
        sem_destroy(&kill_point_reached);
        rig_done();
    }
}

/** A block to be evicted is used by work on an engine that does not stop. That engine is reset, and the other process
 * gets its memory. */
static void test_deaf(void **state)
{
    (void)state;
    struct actor spin, works;
    struct tern_allocation *large[2];
    rig_open("small,mem=16M,quantum=20000,timeout=20000", NULL);
    open_spin(&spin, "spin", 0);
    ok(tern_allocation_create(spin.p, 12 * MIB, TERN_MEM_WRITE, 0, &large[0]));
    actor_spin(&spin);
    spins(&spin);
    rig.deaf_to = spin.c->id;
    rig.deaf = 1;
    open_mix(&works, "works", 1);
    ok(tern_allocation_create(works.p, 12 * MIB, TERN_MEM_WRITE, 0, &large[1]));
    run_mix(&works, 100);
    rig.deaf = 0;
    assert_int_equal(rig.resets, 1);
    assert_int_equal(fault_of(&spin).code, TERN_FAULT_TIMEOUT);
    tern_allocation_destroy(large[0]);
    tern_allocation_destroy(large[1]);
    actor_close(&works);
    actor_close(&spin);
    rig_done();
}

/** Paging buffers of moves are lost to resets. All processes get an error, and the device goes on. */
static void test_adapter_reset(void **state)
{
    (void)state;
    struct tern_process *p;
    struct actor after;
    rig_open("small,mem=16M,quantum=20000,timeout=20000", NULL);
    const uint32_t pages = free_pages(dev);
    ok(tern_process_create(dev, "loses", &p));
    struct tern_context *c;
    struct tern_allocation *a[2];
    const struct tern_context_desc d = {.size = sizeof d, .engine = 1};
    ok(tern_context_create(p, &d, &c));
    for (int i = 0; i < 2; i++) {
        ok(tern_allocation_create(p, 9 * MIB, TERN_MEM_WRITE, 0, &a[i]));
    }
    const uint32_t set = tern_allocation_address(a[1]);
    ok(tern_context_set_residency(c, &set, 1));
    rig.eaten = 2;
    rig.deaf = 1;
    work_fill(&dma, set, 4096, 1);
    uint64_t fence;
    ok(submit_packets(c, dma.w, dma.size, "fill", &fence));
    dma.size = 0;
    tern_wait(c, fence, PATIENCE);
    rig.deaf = 0;
    rig.eaten = 0;
    tern_context_destroy(c);
    tern_allocation_destroy(a[0]);
    tern_allocation_destroy(a[1]);
    ok(tern_process_destroy(p));
    assert_int_equal(free_pages(dev), pages);
    open_mix(&after, "after", 0);
    run_mix(&after, 50);
    actor_close(&after);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed), cmocka_unit_test(test_no_host_memory), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_deaf),   cmocka_unit_test(test_adapter_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
