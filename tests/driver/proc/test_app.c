/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The driver inside an application. The driver's threads block all signals, their stacks are large enough whatever the
 * default stack size is, and no call waits for the reader of a trace.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dut.h"
#include "open_device.h"
#include "tests/lib/submit.h"
#include "thread_signals.h"

/** The driver's threads block all signals, and the caller's signal mask is unchanged. */
static void test_signals(void **state)
{
    (void)state;
    unsigned open;
    char own[32];
    snprintf(own, sizeof own, "%d", (int)getpid());
    const uint64_t before = blocked_signals(own);
    struct tern_device *other = open_or_skip("small,mem=64M");
    assert_true(other_threads(&open) >= 2); /* one thread for each of the two devices at least */
    assert_int_equal(open, 0);
    assert_true(blocked_signals(own) == before);
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

/** The device thread works whatever default stack size the program or `ulimit -s` sets. */
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

    assert_int_equal(pthread_attr_setstacksize(&attr, 32u << 20), 0); /* a program may set a larger size */
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    struct tern_device *large = open_or_skip("small,mem=64M");
    assert_in_range(stack_size(large->thread), 32u << 20, SIZE_MAX);
    ok(tern_device_close(large));
    assert_int_equal(pthread_attr_setstacksize(&attr, before), 0);
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    pthread_attr_destroy(&attr);
}

/** No call waits for the reader of a trace. The reader reads nothing, and then closes. SIGPIPE has its default
 * action. */
static void test_trace_without_a_reader(void **state)
{
    (void)state;
    char path[] = "/tmp/tern-app-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(setenv("TERN_TRACE", path, 1), 0);
    dev = open_or_skip("small,mem=64M");
    assert_int_equal(unsetenv("TERN_TRACE"), 0);
    struct tern_process *p = process("traced");
    struct tern_context *c = context(p, -1);
    uint64_t fence = 0;
    alarm(250);
    for (int i = 0; i < 2000; i++) { /* far more than a pipe holds */
        ok(submit_null(c, "a label that makes the event longer than it would be without it", &fence));
    }
    ok(tern_wait(c, fence, -1));
    close(reader);
    for (int i = 0; i < 2000; i++) {
        ok(submit_null(c, "nobody reads", &fence));
    }
    ok(tern_wait(c, fence, -1));
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
    alarm(0);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_signals, device_setup, device_teardown),
        cmocka_unit_test(test_stack_of_the_device_thread),
        cmocka_unit_test(test_trace_without_a_reader),
    };
    return cmocka_run_group_tests_name("app", tests, NULL, NULL);
}
