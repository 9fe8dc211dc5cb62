/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device whose time passes by itself: while the device thread waits for it, calls of other threads use the device,
 * and a submission ends the wait. In these tests nothing else ends it, neither an interrupt nor a time limit (F1).
 */
#include "rig.h"

/** The device thread waits, and nobody has woken it: with woken false before, a wait that is there has begun since. */
static bool asleep(void)
{
    return !rig.woken && rig.waiting;
}

/** An engine spins, and the device thread waits. */
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

/** Copies, time and counters need the device, and do not wait for the wait. */
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
    spins(&a); /* read from device memory, which changes */
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

/** Work for the other engine is there at once. */
static void test_submit_ends_the_wait(void **state)
{
    (void)state;
    struct actor a, other;
    uint64_t fence;
    begin(&a, &fence);
    rig.stubborn = false; /* allocations are mapped by buffers that must end */
    open_mix(&other, "other", 1);
    actor_set(&other, 0, other.n = 3);
    actor_set(&other, 1, tern_allocation_address(other.data));
    rig.stubborn = true;
    tern_kmd_wake(&dev->kmd);
    until(asleep());
    const uint32_t bells = rig.bells[1];
    actor_dispatch(&other, MIX_ITEMS);
    const uint64_t mix = work_submit(&b, other.c, "mix");
    until(rig.bells[1] != bells);
    until(last_of(&other) == mixed(other.n, MIX_ITEMS - 1)); /* it ran; that it has ended, nobody has been told yet */
    rig.stubborn = false;
    expect_mix(&other, mix);
    actor_close(&other);
    end(&a, fence);
}

/** Whoever waits for a fence has the device looked at more often from then on. */
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
