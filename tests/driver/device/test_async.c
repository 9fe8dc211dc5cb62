/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device whose time passes by itself. While the device thread waits in the hal, calls of other threads use the
 * device, and a submission ends the wait. Nothing else ends it in these tests, neither an interrupt nor a time limit
 * (F1).
 */
#include "actor.h"
#include "rig.h"

/** Returns true if the device thread is in a wait that nobody has ended. After a wake this is a new wait. */
static bool asleep(void)
{
    return !rig.woken && rig.waiting;
}

/** Starts a kernel that spins, and returns when the device thread waits. */
static void begin(struct actor *a, uint64_t *fence)
{
    rig_open("small,mem=64M", NULL);
    assert_true(rig.hal.concurrent);
    open_spin(a, "spin", 0);
    *fence = actor_spin(a);
    spins(a);
    rig.stubborn = true;
    tern_kmd_wake(&dev->kmd);
    until(asleep());
}

static void end(struct actor *a, uint64_t fence)
{
    rig.stubborn = false;
    actor_set(a, 0, 1);
    ok(tern_wait(a->c, fence, PATIENCE));
    actor_close(a);
    rig_done();
}

/** Copies, device time and counters use the device while the device thread waits. */
static void test_calls_go_ahead(void **state)
{
    (void)state;
    struct actor a;
    struct tern_engine_counters before = {.size = sizeof before}, after = {.size = sizeof after};
    uint64_t fence;
    begin(&a, &fence);
    const uint32_t ends = rig.ends;
    const uint64_t time = tern_device_time(dev);
    ok(tern_device_counters(dev, 0, &before));
    spins(&a); /* polls device memory until the count changes */
    ok(tern_device_counters(dev, 0, &after));
    assert_true(tern_device_time(dev) > time && after.issue > before.issue);
    assert_true(rig.waiting && rig.ends == ends);
    end(&a, fence);
}

static uint32_t last_of(struct actor *a)
{
    uint32_t v;
    ok(tern_allocation_read(a->data, 4 * (MIX_ITEMS - 1), &v, sizeof v));
    return v;
}

/** A submission for the other engine reaches the device at once. */
static void test_submit_ends_the_wait(void **state)
{
    (void)state;
    struct actor a, other;
    uint64_t fence;
    begin(&a, &fence);
    rig.stubborn = false; /* actor_open needs buffers that end: they map its memory */
    open_mix(&other, "other", 1);
    actor_set(&other, 0, other.n = 3);
    actor_set(&other, 1, tern_allocation_address(other.data));
    rig.stubborn = true;
    tern_kmd_wake(&dev->kmd);
    until(asleep());
    const uint32_t bells = rig.bells[1];
    actor_dispatch(&other, MIX_ITEMS);
    const uint64_t mix = work_submit(&dma, other.c, "mix");
    until(rig.bells[1] != bells);
    until(last_of(&other) == mixed(other.n, MIX_ITEMS - 1)); /* the buffer has run, and its end is not indicated yet */
    rig.stubborn = false;
    expect_mix(&other, mix);
    actor_close(&other);
    end(&a, fence);
}

/** A thread that begins to wait for a fence ends the wait, so that the device is polled more often. */
static void test_fence_waiter_ends_the_wait(void **state)
{
    (void)state;
    struct actor a;
    struct tern_fence *f;
    uint64_t fence;
    begin(&a, &fence);
    rig.stubborn = false;
    ok(tern_fence_create(a.p, 0, &f));
    rig.stubborn = true;
    tern_kmd_wake(&dev->kmd);
    until(asleep());
    const uint32_t ends = rig.ends;
    assert_int_equal(tern_fence_wait(f, 1, 1), -ETIMEDOUT);
    until(rig.ends != ends);
    rig.stubborn = false;
    tern_fence_destroy(f);
    end(&a, fence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_go_ahead),
        cmocka_unit_test(test_submit_ends_the_wait),
        cmocka_unit_test(test_fence_waiter_ends_the_wait),
    };
    return cmocka_run_group_tests_name("async", tests, NULL, NULL);
}
