/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A process is killed at each lock, wait and allocation of its thread. No page, object or queue entry is left, and the
 * calls of the process end. The cases: an endless kernel, an engine that does not stop, a lost device, a suspension, a
 * copy in progress.
 */
#include <poll.h>

#include "actor.h"
#include "base/completions.h"
#include "device_memory.h"
#include "kill_points.h"
#include "rig.h"
#include "tests/lib/submit.h"

/* ------------------------------------------------------------- nothing is left */

static void expect_nothing_left(uint32_t pages)
{
    assert_int_equal(free_pages(dev), pages);
    pthread_mutex_lock(&dev->lock);
    assert_true(tern_list_empty(&dev->processes));
    assert_true(tern_list_empty(&dev->partition.retiring));
    assert_int_equal(dev->process_count, 0);
    assert_int_equal(dev->fence_waiters, 0);
    assert_int_equal(dev->frees_waiters, 0);
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        assert_int_equal(dev->sched.engine[e].n, 0);
        assert_true(tern_list_empty(&dev->paging[e].jobs));
    }
    pthread_mutex_unlock(&dev->lock);
}

/** Objects of a killed process can still be queried, and refuse work. */
static void expect_refusals(struct actor *a)
{
    uint32_t v = 0;
    uint64_t fence;
    struct tern_fence *f;
    struct tern_context *c;
    struct tern_allocation *m;
    struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    actor_dispatch(a, 1);
    assert_int_equal(submit_packets(a->c, dma.w, dma.size, "late", &fence), -EIO);
    dma.size = 0;
    assert_int_equal(submit_null(a->c, "late", &fence), -EIO);
    assert_int_equal(tern_context_take_data(a->c), -EIO);
    assert_int_equal(tern_allocation_read(a->args, 0, &v, sizeof v), -EIO);
    assert_int_equal(tern_allocation_write(a->args, 0, &v, sizeof v), -EIO);
    assert_int_equal(tern_allocation_create(a->p, 4096, TERN_MEM_READ, 0, &m), -EIO);
    assert_int_equal(tern_context_create(a->p, &d, &c), -EIO);
    assert_int_equal(tern_fence_create(a->p, 0, &f), -EIO);
    assert_int_equal(tern_context_set_priority(a->c, TERN_BAND_FOCUS, 0), -EIO);
    assert_int_equal(tern_allocation_size(a->args), 4096);
    assert_int_equal(fault_of(a).code, TERN_FAULT_KILLED);
    expect_says(tern_last_error(), "it was killed");
}

/* ---------------------------------------------------------------- kill points */

static void test_endless(void **state)
{
    (void)state;
    struct actor endless, works;
    rig_open("small,mem=64M", NULL);
    open_mix(&works, "works", -1);
    const uint32_t pages = free_pages(dev);
    open_spin(&endless, "endless", 0);
    actor_spin(&endless);
    const uint64_t last = actor_spin(&endless);
    spins(&endless);
    const uint64_t mix = actor_mix(&works, 100);
    ok(tern_process_kill(endless.p));
    assert_int_equal(free_pages(dev), pages);
    assert_int_equal(tern_context_ended(endless.c), last);
    assert_int_equal(tern_wait(endless.c, last, -1), -EIO);
    ok(tern_process_kill(endless.p)); /* a second kill changes nothing */
    expect_refusals(&endless);
    expect_mix(&works, mix);
    assert_int_equal(rig.resets, 0);
    actor_close(&endless); /* its objects can be destroyed one by one */
    actor_close(&works);
    rig_done();
}

/** An engine that does not stop is reset. The other process goes on. */
static void test_deaf_engine(void **state)
{
    (void)state;
    struct actor endless, works;
    rig_open("small,mem=64M,timeout=20000", NULL);
    open_mix(&works, "works", 1);
    const uint32_t pages = free_pages(dev);
    open_spin(&endless, "endless", 0);
    actor_spin(&endless);
    spins(&endless);
    rig.deaf = 1;
    ok(tern_process_kill(endless.p));
    rig.deaf = 0;
    assert_int_equal(rig.resets, 1);
    ok(tern_process_destroy(endless.p)); /* with all its objects */
    assert_int_equal(free_pages(dev), pages);
    run_mix(&works, 100);
    actor_close(&works);
    rig_done();
}

static void test_lost_device(void **state)
{
    (void)state;
    struct actor endless;
    rig_open("small,mem=64M", NULL);
    open_spin(&endless, "endless", 0);
    actor_spin(&endless);
    spins(&endless);
    rig.gone = true;
    ok(tern_process_kill(endless.p));
    ok(tern_process_destroy(endless.p));
    rig_done();
}

/** Suspended work and work that waits for a fence are dropped too. */
static void test_held(void **state)
{
    (void)state;
    struct actor spins_on, waits;
    struct tern_fence *f;
    rig_open("small,mem=64M", NULL);
    const uint32_t pages = free_pages(dev);
    open_spin(&spins_on, "suspended", 0);
    open_mix(&waits, "waits", 0);
    ok(tern_fence_create(waits.p, 0, &f));
    actor_spin(&spins_on);
    spins(&spins_on);
    actor_suspend(&spins_on);
    work_wait(&dma, tern_fence_address(f), 1);
    work_submit(&dma, waits.c, "wait");
    ok(tern_process_kill(waits.p));
    ok(tern_process_kill(spins_on.p));
    ok(tern_process_destroy(waits.p));
    ok(tern_process_destroy(spins_on.p));
    expect_nothing_left(pages);
    rig_done();
}

struct copier {
    struct tern_allocation *a;
    int result;
};

static void *copy(void *arg)
{
    struct copier *c = arg;
    uint8_t *data = calloc(1, 16u << 20);
    assert_non_null(data);
    c->result = tern_allocation_write(c->a, 0, data, 16u << 20);
    free(data);
    return NULL;
}

static void *kill_it(void *p)
{
    ok(tern_process_kill(p));
    return NULL;
}

/** A kill waits for a copy of another thread, so that the copy cannot write pages of a new owner. */
static void test_copy(void **state)
{
    (void)state;
    struct tern_process *p;
    struct copier c = {.result = 1};
    pthread_t copies, kills;
    rig_open("small,mem=64M", NULL);
    const uint32_t pages = free_pages(dev);
    ok(tern_process_create(dev, "copies", &p));
    ok(tern_allocation_create(p, 16u << 20, TERN_MEM_WRITE, 0, &c.a));
    rig.gated = true;
    assert_int_equal(pthread_create(&copies, NULL, copy, &c), 0);
    until(rig.at_gate);
    assert_int_equal(pthread_create(&kills, NULL, kill_it, p), 0);
    until(p->killed);
    for (int i = 0; i < 20; i++) {
        nap();
    }
    assert_true(free_pages(dev) < pages - (16u << 20) / 4096);
    rig.gated = false;
    pthread_join(copies, NULL);
    pthread_join(kills, NULL);
    assert_int_equal(c.result, -EIO);
    ok(tern_process_destroy(p));
    expect_nothing_left(pages);
    rig_done();
}

static void kill_in_callback(void *user, const struct tern_completion *done)
{
    (void)done;
    assert_int_equal(tern_process_kill(user), -EDEADLK);
}

static void test_callback(void **state)
{
    (void)state;
    struct tern_process *p;
    struct tern_context *c;
    uint64_t fence;
    rig_open("small,mem=64M", NULL);
    ok(tern_process_create(dev, "callback", &p));
    const struct tern_context_desc d = {.size = sizeof d, .engine = 0, .completed = kill_in_callback, .user = p};
    ok(tern_context_create(p, &d, &c));
    ok(submit_null(c, "one", &fence));
    ok(tern_wait(c, fence, PATIENCE));
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
    rig_done();
}

/* -------------------------------------------------------------------- sweep */

static struct tern_completion_queue *queue;

/** Uses every kind of call. Returns the first error, which a kill may cause. The test hangs if a call waits for
 * ever. */
static int live(struct tern_process *p)
{
    struct tern_context *c = NULL, *second = NULL;
    struct tern_allocation *a = NULL, *large = NULL;
    struct tern_fence *f = NULL;
    static struct work w;
    uint8_t data[256] = {0};
    uint64_t fence, value;
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1, .completions = queue};
    w.size = 0;
    int r = tern_allocation_create(p, sizeof data, TERN_MEM_WRITE, 0, &a);
    if (r == 0) {
        r = tern_context_create(p, &d, &c);
    }
    if (r == 0) {
        r = tern_context_take_data(c);
    }
    if (r == 0) {
        r = tern_fence_create(p, 1, &f);
    }
    if (r == 0) {
        r = tern_context_create(p, &d, &second);
    }
    if (r == 0) {
        r = tern_allocation_create(p, 5u << 20, TERN_MEM_WRITE, 0, &large);
    }
    if (!r) {
        work_fill(&w, tern_allocation_address(large), 4u << 20, 0x5a);
        work_wait(&w, tern_fence_address(f), 2);
        r = submit_data(c, w.w, w.size, data, sizeof data, "fill", &fence);
        if (r == 0) {
            r = submit_null(second, "null", NULL);
        }
        if (r == 0) {
            r = tern_allocation_write(a, 0, data, sizeof data);
        }
        if (r == 0) {
            r = tern_fence_value(f, &value);
        }
        if (r == 0) {
            r = tern_fence_wait(f, 2, 0) == -ETIMEDOUT ? 0 : -EIO;
        }
        if (r == 0) {
            r = tern_context_set_priority(c, TERN_BAND_FOCUS, 7);
        }
        tern_allocation_destroy(large); /* waits for the buffer */
        large = NULL;
        if (r == 0) {
            r = tern_fence_signal(f, 2);
        }
        if (r == 0) {
            r = tern_wait(c, fence, -1);
        }
        if (r == 0) {
            r = tern_allocation_read(a, 0, data, sizeof data);
        }
        tern_context_destroy(second);
        second = NULL;
        if (r == 0) {
            r = submit_null(c, "last", NULL);
        }
        if (r == 0) {
            r = tern_wait(c, fence + 1, -1);
        }
    }
    tern_fence_destroy(f);
    return r;
}

static void test_every_kill_point(void **state)
{
    (void)state;
    struct actor works;
    long n = -1;
    bool was;
    rig_open("small,mem=64M,quantum=2000", NULL);
    open_mix(&works, "works", -1);
    const uint32_t pages = free_pages(dev);
    ok(tern_completion_queue_create(dev, &queue));
    do {
        const uint64_t mix = actor_mix(&works, 20);
        was = killed_at(++n, live);
        struct pollfd ready = {.fd = tern_completion_queue_fd(queue), .events = POLLIN};
        struct tern_completion done = {.size = sizeof done};
        assert_int_equal(poll(&ready, 1, 0), 0);
        assert_int_equal(tern_completion_queue_take(queue, &done, 1), 0);
        assert_int_equal(free_pages(dev), pages);
        ok(tern_process_destroy(victim));
        assert_int_equal(queue->users, 0);
        expect_mix(&works, mix);
    } while (was);
    print_message("killed at each of %ld kill points\n", n);
    assert_true(n > 40);
    ok(tern_completion_queue_destroy(queue));
    actor_close(&works);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endless),   cmocka_unit_test(test_deaf_engine), cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_held),      cmocka_unit_test(test_copy),        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_every_kill_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
