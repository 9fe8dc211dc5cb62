/* SPDX-License-Identifier: Apache-2.0 */
/** The driver inside somebody's program: its threads, small stacks. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fixture.h"
#include "guest.h"

/** The threads of the driver take no signal, and the caller's mask is what it was. */
static void test_signals(void **state)
{
    (void)state;
    unsigned open;
    char own[32];
    snprintf(own, sizeof own, "%d", (int)getpid());
    const uint64_t before = guest_blocked(own);
    struct tern_device *other = open_or_skip("small,mem=64M");
    assert_true(guest_threads(&open) >= 2); /* of the two devices */
    assert_int_equal(open, 0);
    assert_true(guest_blocked(own) == before);
    ok(tern_device_close(other));
}

static size_t stack_size(pthread_t thread)
{
    pthread_attr_t attr;
    size_t size = 0;
    assert_int_equal(pthread_getattr_np(thread, &attr), 0);
    assert_int_equal(pthread_attr_getstacksize(&attr, &size), 0);
    pthread_attr_destroy(&attr);
    return size;
}

/** The default size of stacks is the program's (and `ulimit -s`'s) to choose: the device thread does not depend on it. */
static void test_stack_of_the_device_thread(void **state)
{
    (void)state;
    pthread_attr_t attr;
    size_t before;
    assert_int_equal(pthread_getattr_default_np(&attr), 0);
    assert_int_equal(pthread_attr_getstacksize(&attr, &before), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN), 0);
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    struct tern_device *small = open_or_skip("small,mem=64M");
    assert_in_range(stack_size(small->thread), 1u << 20, SIZE_MAX);
    ok(tern_device_close(small));

    assert_int_equal(pthread_attr_setstacksize(&attr, 32u << 20), 0); /* a program whose callbacks want more has it */
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    struct tern_device *large = open_or_skip("small,mem=64M");
    assert_in_range(stack_size(large->thread), 32u << 20, SIZE_MAX);
    ok(tern_device_close(large));
    assert_int_equal(pthread_attr_setstacksize(&attr, before), 0);
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    pthread_attr_destroy(&attr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
        cmocka_unit_test(test_stack_of_the_device_thread),
    };
    return cmocka_run_group_tests_name("guest", tests, NULL, NULL);
}
