/* SPDX-License-Identifier: Apache-2.0 */
/** Events: order across queues, user events, callbacks, failures, profiling, out-of-order queues. */
#include "clt.h"

#include <pthread.h>
#include <time.h>

#define PATIENCE 200000 /* Milliseconds. Only a failing test waits this long. */

static const char add_one[] = "kernel void f(global int *r) { r[get_global_id(0)] += 1; }";

static cl_int status_of(cl_event e)
{
    cl_int s = 99;
    OK(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof s, &s, NULL));
    return s;
}

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/** A command that waits for a user event does not begin before the event is set. Later commands of the queue wait
 * too. */
static void test_user_event(void **state)
{
    (void)state;
    int v = 1, r = 0;
    cl_mem m = clt_buffer(sizeof v, &v);
    cl_event user = clCreateUserEvent(clt_context, &clt_error);
    MADE(user);
    assert_int_equal(status_of(user), CL_SUBMITTED);
    cl_event write, read;
    const int w = 7;
    OK(clEnqueueWriteBuffer(clt_queue, m, CL_FALSE, 0, sizeof w, &w, 1, &user, &write));
    OK(clEnqueueReadBuffer(clt_queue, m, CL_FALSE, 0, sizeof r, &r, 0, NULL, &read));
    OK(clFlush(clt_queue));
    pause_ms(20);
    assert_true(status_of(write) > CL_RUNNING);
    assert_true(status_of(read) > CL_COMPLETE);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    FAILS(clSetUserEventStatus(user, CL_COMPLETE), CL_INVALID_OPERATION);
    OK(clWaitForEvents(1, &read));
    assert_int_equal(r, 7);
    assert_int_equal(status_of(write), CL_COMPLETE);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(write));
    OK(clReleaseEvent(read));
    OK(clReleaseMemObject(m));
}

/** clWaitForEvents reports a failed event at any position of its list. */
static void test_one_of_several_failed(void **state)
{
    (void)state;
    for (uint32_t failed = 0; failed < 3; failed++) {
        cl_event e[3];
        for (uint32_t i = 0; i < 3; i++) {
            e[i] = clCreateUserEvent(clt_context, &clt_error);
            MADE(e[i]);
            OK(clSetUserEventStatus(e[i], i == failed ? -7 : CL_COMPLETE));
        }
        FAILS(clWaitForEvents(3, e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        for (uint32_t i = 0; i < 3; i++) {
            OK(clReleaseEvent(e[i]));
        }
    }
}

/** A failed user event fails the commands that wait for it, and those that wait for these. The queue goes on. */
static void test_failure_spreads(void **state)
{
    (void)state;
    int v = 1, r = 0;
    cl_mem m = clt_buffer(sizeof v, &v);
    cl_kernel k = clt_kernel(add_one, "f");
    clt_args(k, 1, ARG(m));
    cl_command_queue other = clCreateCommandQueue(clt_context, clt_device, 0, &clt_error);
    MADE(other);
    cl_event user = clCreateUserEvent(clt_context, &clt_error), first, second;
    MADE(user);
    const size_t one = 1;
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 1, &user, &first));
    OK(clEnqueueNDRangeKernel(other, k, 1, NULL, &one, NULL, 1, &first, &second));
    OK(clSetUserEventStatus(user, -1234));
    FAILS(clWaitForEvents(1, &second), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(status_of(user), -1234);
    assert_int_equal(status_of(first), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(status_of(second), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, 4, &r, 1, &user, NULL),
          CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    clt_read(m, &r, sizeof r);
    assert_int_equal(r, 2);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(first));
    OK(clReleaseEvent(second));
    OK(clReleaseCommandQueue(other));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

struct log {
    pthread_mutex_t lock;
    int n;
    cl_int status[8];
};

static void CL_CALLBACK record(cl_event e, cl_int status, void *data)
{
    struct log *l = data;
    (void)e;
    pthread_mutex_lock(&l->lock);
    l->status[l->n++] = status;
    pthread_mutex_unlock(&l->lock);
}

static int logged(struct log *l)
{
    pthread_mutex_lock(&l->lock);
    const int n = l->n;
    pthread_mutex_unlock(&l->lock);
    return n;
}

static void await(struct log *l, int n)
{
    for (int ms = 0; ms < PATIENCE && logged(l) < n; ms++) {
        pause_ms(1);
    }
    assert_int_equal(logged(l), n);
}

static void test_callbacks(void **state)
{
    (void)state;
    struct log l = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int v = 1;
    cl_mem m = clt_buffer(sizeof v, &v);
    cl_kernel k = clt_kernel(add_one, "f");
    clt_args(k, 1, ARG(m));
    cl_event user = clCreateUserEvent(clt_context, &clt_error), e;
    const size_t one = 1;
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 1, &user, &e));
    OK(clSetEventCallback(e, CL_COMPLETE, record, &l));
    OK(clSetEventCallback(e, CL_RUNNING, record, &l));
    OK(clSetEventCallback(e, CL_SUBMITTED, record, &l));
    assert_int_equal(logged(&l), 0);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    await(&l, 3);
    assert_int_equal(l.status[0], CL_SUBMITTED);
    assert_int_equal(l.status[1], CL_RUNNING);
    assert_int_equal(l.status[2], CL_COMPLETE);
    OK(clSetEventCallback(e, CL_COMPLETE, record, &l)); /* The event has ended, so the callback is called at once. */
    await(&l, 4);
    assert_int_equal(l.status[3], CL_COMPLETE);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(e));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** An event that passes several states at once calls the callbacks of all of them, each with the state that it was
 *  registered for; or with the error, if it failed. */
static void test_callbacks_of_passed_states(void **state)
{
    (void)state;
    static const cl_int ends[] = {CL_COMPLETE, -5};
    for (size_t i = 0; i < LENGTH(ends); i++) {
        struct log l = {.lock = PTHREAD_MUTEX_INITIALIZER};
        cl_event user = clCreateUserEvent(clt_context, &clt_error);
        OK(clSetEventCallback(user, CL_SUBMITTED, record, &l)); /* The event has this state. */
        await(&l, 1);
        assert_int_equal(l.status[0], CL_SUBMITTED);
        OK(clSetEventCallback(user, CL_COMPLETE, record, &l));
        OK(clSetEventCallback(user, CL_RUNNING, record, &l));
        OK(clSetUserEventStatus(user, ends[i]));
        await(&l, 3);
        assert_int_equal(l.status[1], ends[i] < 0 ? ends[i] : CL_RUNNING);
        assert_int_equal(l.status[2], ends[i] < 0 ? ends[i] : CL_COMPLETE);
        OK(clSetEventCallback(user, CL_RUNNING, record, &l));
        await(&l, 4);
        assert_int_equal(l.status[3], ends[i] < 0 ? ends[i] : CL_RUNNING);
        OK(clReleaseEvent(user));
    }
}

static void test_callback_of_a_failure(void **state)
{
    (void)state;
    struct log l = {.lock = PTHREAD_MUTEX_INITIALIZER};
    cl_event user = clCreateUserEvent(clt_context, &clt_error), e;
    OK(clEnqueueMarkerWithWaitList(clt_queue, 1, &user, &e));
    OK(clSetEventCallback(e, CL_COMPLETE, record, &l));
    OK(clSetEventCallback(user, CL_COMPLETE, record, &l));
    OK(clSetUserEventStatus(user, -5));
    await(&l, 2);
    assert_int_equal(l.status[0] + l.status[1], -5 + CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(e));
}

static cl_ulong time_of(cl_event e, cl_profiling_info what)
{
    cl_ulong t = 0;
    OK(clGetEventProfilingInfo(e, what, sizeof t, &t, NULL));
    return t;
}

static void test_profiling(void **state)
{
    (void)state;
    enum { N = 256 };
    static int a[N];
    cl_kernel k = clt_kernel("kernel void f(global int *r) { int s = 0;"
                             " for (int i = 0; i < 50; i++) s += r[(get_global_id(0) + i) % 256]; "
                             "r[get_global_id(0)] = s; }", "f");
    cl_mem m = clt_buffer(sizeof a, a);
    clt_args(k, 1, ARG(m));
    const size_t n = N;
    cl_event e[3];
    cl_ulong last = 0;
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &n, NULL, 0, NULL, &e[0]));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &n, NULL, 0, NULL, &e[1]));
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, sizeof a, a, 0, NULL, &e[2]));
    for (int i = 0; i < 3; i++) {
        const cl_ulong queued = time_of(e[i], CL_PROFILING_COMMAND_QUEUED);
        const cl_ulong submit = time_of(e[i], CL_PROFILING_COMMAND_SUBMIT);
        const cl_ulong start = time_of(e[i], CL_PROFILING_COMMAND_START);
        const cl_ulong end = time_of(e[i], CL_PROFILING_COMMAND_END);
        assert_true(queued <= submit && submit <= start && start <= end);
        assert_true(start >= last); /* The queue is in-order: no command begins before the one before it has ended. */
        assert_true(i == 2 || end > start);
        last = end;
    }
    cl_event user = clCreateUserEvent(clt_context, &clt_error);
    cl_ulong t;
    FAILS(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
    FAILS(clGetEventProfilingInfo(e[0], 0, sizeof t, &t, NULL), CL_INVALID_VALUE);
    FAILS(clGetEventProfilingInfo(e[0], CL_PROFILING_COMMAND_END, 4, &t, NULL), CL_INVALID_VALUE);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clReleaseEvent(user));
    for (int i = 0; i < 3; i++) {
        OK(clReleaseEvent(e[i]));
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** In an out-of-order queue, a command that waits for the application delays only commands that depend on it. */
static void test_out_of_order(void **state)
{
    (void)state;
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                              &clt_error);
    MADE(q);
    int v = 1, r = 0;
    cl_mem a = clt_buffer(sizeof v, &v), b = clt_buffer(sizeof v, &v);
    cl_event user = clCreateUserEvent(clt_context, &clt_error), blocked, free_one, barrier, after;
    cl_kernel k = clt_kernel(add_one, "f");
    const size_t one = 1;
    clt_args(k, 1, ARG(a));
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 1, &user, &blocked));
    clt_args(k, 1, ARG(b));
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, &free_one));
    OK(clWaitForEvents(1, &free_one));
    assert_true(status_of(blocked) > CL_RUNNING);
    OK(clEnqueueBarrierWithWaitList(q, 0, NULL, &barrier));
    OK(clEnqueueReadBuffer(q, a, CL_FALSE, 0, sizeof r, &r, 0, NULL, &after));
    pause_ms(20);
    assert_true(status_of(barrier) > CL_COMPLETE);
    assert_true(status_of(after) > CL_RUNNING);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clFinish(q));
    assert_int_equal(status_of(barrier), CL_COMPLETE);
    assert_int_equal(r, 2);
    cl_event all[] = {user, blocked, free_one, barrier, after};
    for (size_t i = 0; i < LENGTH(all); i++) {
        OK(clReleaseEvent(all[i]));
    }
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(q));
}

/** Dependent commands of an out-of-order queue run in the order of their events. */
static void test_out_of_order_chain(void **state)
{
    (void)state;
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                              &clt_error);
    MADE(q);
    cl_kernel k = clt_kernel("kernel void f(global uint *r, uint i) { r[0] = r[0] * 3 + i; }", "f");
    cl_uint r = 1, want = 1;
    cl_mem m = clt_buffer(sizeof r, &r);
    const size_t one = 1;
    cl_event e[20];
    for (cl_uint i = 0; i < 20; i++) {
        clt_args(k, 2, ARG(m), ARG(i));
        OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, i > 0, i > 0 ? &e[i - 1] : NULL, &e[i]));
        want = want * 3 + i;
    }
    OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof r, &r, 1, &e[19], NULL));
    assert_int_equal(r, want);
    for (int i = 0; i < 20; i++) {
        OK(clReleaseEvent(e[i]));
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(q));
}

static void test_marker_and_barrier(void **state)
{
    (void)state;
    cl_event user = clCreateUserEvent(clt_context, &clt_error), marker, barrier, old;
    OK(clEnqueueMarkerWithWaitList(clt_queue, 1, &user, &marker));
    OK(clEnqueueBarrierWithWaitList(clt_queue, 1, &user, &barrier));
    OK(clEnqueueMarker(clt_queue, &old));
    OK(clEnqueueBarrier(clt_queue));
    OK(clEnqueueWaitForEvents(clt_queue, 1, &user));
    assert_true(status_of(old) > CL_COMPLETE);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clFinish(clt_queue));
    cl_event all[] = {marker, barrier, old, user};
    const cl_command_type types[] = {CL_COMMAND_MARKER, CL_COMMAND_BARRIER, CL_COMMAND_MARKER, CL_COMMAND_USER};
    for (size_t i = 0; i < LENGTH(all); i++) {
        cl_command_type type = 0;
        assert_int_equal(status_of(all[i]), CL_COMPLETE);
        OK(clGetEventInfo(all[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        assert_int_equal(type, types[i]);
        OK(clReleaseEvent(all[i]));
    }
}

/** A queue may be released while it has work. The events of the work stay valid. */
static void test_release_busy_queue(void **state)
{
    (void)state;
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, 0, &clt_error);
    MADE(q);
    int v = 5, r = 0;
    cl_mem m = clt_buffer(sizeof v, &v);
    cl_event user = clCreateUserEvent(clt_context, &clt_error), e;
    OK(clEnqueueReadBuffer(q, m, CL_FALSE, 0, sizeof r, &r, 1, &user, &e));
    OK(clReleaseMemObject(m));
    OK(clReleaseCommandQueue(q));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &e));
    assert_int_equal(r, 5);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(e));
}

struct work {
    cl_kernel kernel;
    cl_mem mem;
    int result;
};

/** A thread that runs its kernel 20 times on a queue of its own, without cmocka checks, which only the main thread may
 *  make. */
static void *hammer(void *data)
{
    struct work *w = data;
    cl_int error;
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, 0, &error);
    const size_t one = 1;
    for (int i = 0; i < 20 && error == CL_SUCCESS; i++) {
        error = clEnqueueNDRangeKernel(q, w->kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    }
    if (error == CL_SUCCESS) {
        error = clEnqueueReadBuffer(q, w->mem, CL_TRUE, 0, sizeof w->result, &w->result, 0, NULL, NULL);
    }
    if (error != CL_SUCCESS) {
        w->result = error;
    }
    clReleaseCommandQueue(q);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    struct work w[N];
    pthread_t t[N];
    const int zero = 0;
    for (int i = 0; i < N; i++) {
        w[i] = (struct work){clt_kernel(add_one, "f"), clt_buffer(sizeof zero, &zero), 0};
        clt_args(w[i].kernel, 1, ARG(w[i].mem));
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_create(&t[i], NULL, hammer, &w[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(w[i].result, 20);
        OK(clReleaseMemObject(w[i].mem));
        OK(clReleaseKernel(w[i].kernel));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_event),         cmocka_unit_test(test_one_of_several_failed),
        cmocka_unit_test(test_failure_spreads),
        cmocka_unit_test(test_callbacks),          cmocka_unit_test(test_callbacks_of_passed_states),
        cmocka_unit_test(test_callback_of_a_failure),
        cmocka_unit_test(test_profiling),          cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_out_of_order_chain), cmocka_unit_test(test_marker_and_barrier),
        cmocka_unit_test(test_release_busy_queue), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
