/* SPDX-License-Identifier: Apache-2.0 */
/** The runtime's threads inside a program that uses signals: no signal of the program is delivered to one of them. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "clt.h"
#include "thread_signals.h"

static atomic_uint seen, open_threads;

static void CL_CALLBACK look(cl_program p, void *data)
{
    (void)p;
    (void)data;
    unsigned open;
    other_threads(&open);
    atomic_fetch_add(&open_threads, open);
    atomic_fetch_add(&seen, 1);
}

/** Checks the device's thread, a queue's thread, and the thread of a background build from its callback. */
static void test_threads_block_all_signals(void **state)
{
    (void)state;
    unsigned open;
    const char *source = "kernel void k(global int *x) { *x = 1; }";
    cl_program p = clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error);
    MADE(p);
    OK(clBuildProgram(p, 1, &clt_device, NULL, look, NULL));
    for (int i = 0; i < 20000 && atomic_load(&seen) == 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_int_equal(atomic_load(&seen), 1);
    assert_int_equal(atomic_load(&open_threads), 0);
    assert_true(other_threads(&open) >= 2);
    assert_int_equal(open, 0);
    OK(clReleaseProgram(p));
}

static atomic_bool arrived;
static _Thread_local bool first;

static void on_signal(int signal)
{
    (void)signal;
    if (!first) {
        static const char text[] = "a signal of the program arrived in a thread of the library\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(1);
    }
    atomic_store(&arrived, true);
}

/** The first thread blocks the signal for a while. The signal must stay pending until then, and no thread of the
 * library may take it. */
static void test_a_signal_waits_for_the_program(void **state)
{
    (void)state;
    sigset_t set, old;
    struct sigaction action = {.sa_handler = on_signal}, before;
    first = true;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    cl_mem m = clt_buffer(4096, NULL);
    const cl_uint one = 1;
    OK(clEnqueueFillBuffer(clt_queue, m, &one, sizeof one, 0, 4096, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    OK(clReleaseMemObject(m));
    assert_false(atomic_load(&arrived));
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    assert_true(atomic_load(&arrived));
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_block_all_signals),
        cmocka_unit_test(test_a_signal_waits_for_the_program),
    };
    return cmocka_run_group_tests_name("app_threads", tests, clt_open, clt_close);
}
