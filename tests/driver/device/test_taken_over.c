/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A driver was killed while it used a device (F3). The next driver finds nothing of its work, whether that ran, waited,
 * or had been indicated. A reset that does not end is an error.
 */
#include "actor.h"
#include "device_memory.h"
#include "rig.h"

static struct tern_policy policy;

/** Stops the driver as a kill would: nothing it does reaches the device any more, which keeps running. */
static struct tern_hal *killed(struct actor *a)
{
    rig.kept = rig.gone = true;
    ok(tern_process_kill(a->p));
    ok(tern_process_destroy(a->p));
    rig_done();
    struct tern_config *c;
    ok(tern_policy_parse(NULL, "small,mem=64M", &policy, &c));
    free(c);
    struct tern_hal *real = rig.real;
    memset(&rig, 0, sizeof rig);
    return real;
}

/** The next driver works, and has reset so many engines. */
static void expect_works(struct tern_hal *real, uint32_t resets)
{
    struct actor works[2];
    ok(rig_drive(real, &policy));
    assert_int_equal(rig.resets, resets);
    for (int e = 0; e < 2; e++) {
        open_mix(&works[e], "works", e);
        run_mix(&works[e], 100);
        actor_close(&works[e]);
    }
    rig_done();
}

static void test_endless_work(void **state)
{
    (void)state;
    struct actor endless;
    rig_open("small,mem=64M", NULL);
    open_spin(&endless, "endless", 1);
    actor_spin(&endless);
    actor_spin(&endless); /* waits behind the first */
    spins(&endless);
    expect_works(killed(&endless), 1);
}

/** Work that has ended and was indicated raises the interrupt when the next driver opens the device. */
static void test_indications(void **state)
{
    (void)state;
    struct actor ends;
    rig_open("small,mem=64M", NULL);
    open_spin(&ends, "ends", 0);
    actor_spin(&ends);
    spins(&ends);
    const uint32_t stop = 1;
    uint32_t status = 0;
    uint64_t contiguous;
    const struct tern_iovec word = {physical_of(ends.args, 0, &contiguous), &stop, sizeof stop};
    struct tern_hal *real = killed(&ends);
    ok(real->ops->mem_write(real, &word, 1)); /* only now, so that its own driver cannot take the indication */
    ok(real->ops->flush(real));
    for (int i = 0; i < 100 && !(status & TERN_ENGINE_STATUS_INDICATIONS_MASK); i++) {
        assert_true(real->ops->wait(real, 1000) >= 0);
        ok(real->ops->read32(real, TERN_REG_ENGINE_STATUS(0), &status));
    }
    assert_true(status & TERN_ENGINE_STATUS_INDICATIONS_MASK);
    expect_works(real, 1);
}

static void test_idle(void **state)
{
    (void)state;
    struct actor ends;
    rig_open("small,mem=64M", NULL);
    open_mix(&ends, "ends", 0);
    run_mix(&ends, 100);
    expect_works(killed(&ends), 0);
}

static void test_reset_fails(void **state)
{
    (void)state;
    struct actor endless;
    rig_open("small,mem=64M", NULL);
    open_spin(&endless, "endless", 0);
    actor_spin(&endless);
    spins(&endless);
    struct tern_hal *real = killed(&endless);
    rig.failing = 1;
    rig.lock_held = true; /* the lock does not exist yet */
    assert_int_equal(rig_drive(real, &policy), -ETIMEDOUT);
    assert_non_null(strstr(tern_last_error(), "engine 0 does not come out of reset"));
    rig.held = 0; /* the engine has come out of reset */
    expect_works(real, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_endless_work, rig_teardown),
        cmocka_unit_test_teardown(test_indications, rig_teardown),
        cmocka_unit_test_teardown(test_idle, rig_teardown),
        cmocka_unit_test_teardown(test_reset_fails, rig_teardown),
    };
    return cmocka_run_group_tests_name("taken_over", tests, NULL, NULL);
}
