/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Blocking calls in callbacks. Each is refused, and the context's error callback says so. Notify functions of builds
 * may block. No callback runs in an application's thread that waits in a call.
 */
#include "clt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CALLS = 7 };

static const char *const names[CALLS] = {"clFinish", "clWaitForEvents", "a blocking clEnqueueReadBuffer",
                                         "a blocking clEnqueueWriteBuffer", "a blocking clEnqueueReadBufferRect",
                                         "a blocking clEnqueueWriteBufferRect", "a blocking clEnqueueMapBuffer"};
static cl_context context;
static cl_command_queue queue;
static cl_mem mem;
static cl_event later; /* Event of a command of the queue that has not ended. */
static int word;

/** The results of a callback, which may be read when `calls` is not 0. */
static struct found {
    atomic_int calls;
    cl_int errors[CALLS];
    cl_int enqueued;
} found;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned heard; /* Bit i: the text about names[i] came. */
static char registered[64]; /* The callback's origin, which the text must name. */
static char unexpected[512];

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    pthread_mutex_lock(&lock);
    bool known = false;
    for (int i = 0; i < CALLS; i++) {
        char want[512];
        snprintf(want, sizeof want, "%s waits, which a callback of %s must not: the queue would wait for "
                                    "itself. Refused (CL_INVALID_OPERATION); use calls that do not block, and events.",
                                    names[i], registered);
        known = known || strcmp(text, want) == 0;
        heard |= strcmp(text, want) == 0 ? 1u << i : 0;
    }
    if (!known) {
        snprintf(unexpected, sizeof unexpected, "%s", text);
    }
    pthread_mutex_unlock(&lock);
}

/** Tries every blocking call, and one that does not block. */
static void try_all(void)
{
    const size_t zero[3] = {0}, region[3] = {4, 1, 1};
    cl_int *e = found.errors;
    e[0] = clFinish(queue);
    e[1] = clWaitForEvents(1, &later);
    e[2] = clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, &word, 0, NULL, NULL);
    e[3] = clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, 4, &word, 0, NULL, NULL);
    e[4] = clEnqueueReadBufferRect(queue, mem, CL_TRUE, zero, zero, region, 0, 0, 0, 0, &word, 0, NULL, NULL);
    e[5] = clEnqueueWriteBufferRect(queue, mem, CL_TRUE, zero, zero, region, 0, 0, 0, 0, &word, 0, NULL, NULL);
    if (clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &e[6]) != NULL) {
        e[6] = CL_SUCCESS;
    }
    found.enqueued = clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL);
    atomic_fetch_add(&found.calls, 1);
}

static void CL_CALLBACK on_event(cl_event e, cl_int status, void *data)
{
    (void)e;
    (void)status;
    (void)data;
    try_all();
}

static void CL_CALLBACK on_destroy(cl_mem m, void *data)
{
    (void)m;
    (void)data;
    try_all();
}

static void CL_CALLBACK on_end_of_context(cl_context c, void *data)
{
    (void)c;
    (void)data;
    try_all();
}

static void begin(const char *origin)
{
    context = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(context);
    queue = clCreateCommandQueue(context, clt_device, 0, &clt_error);
    MADE(queue);
    mem = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    MADE(mem);
    snprintf(registered, sizeof registered, "%s", origin);
    heard = 0;
    unexpected[0] = '\0';
    atomic_store(&found.calls, 0);
}

/** The callback was called once, every blocking call was refused in it, and the application was told of each. */
static void end(void)
{
    OK(clFinish(queue));
    assert_int_equal(atomic_load(&found.calls), 1);
    for (int i = 0; i < CALLS; i++) {
        if (found.errors[i] != CL_INVALID_OPERATION) {
            fail_msg("%s: %d", names[i], found.errors[i]);
        }
    }
    OK(found.enqueued);
    pthread_mutex_lock(&lock);
    assert_int_equal(heard, (1u << CALLS) - 1);
    assert_string_equal(unexpected, "");
    pthread_mutex_unlock(&lock);
    OK(clReleaseMemObject(mem));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
}

/** The callback runs in the queue's own worker while another command is queued. A blocking call would wait for ever. */
static void test_event(void **state)
{
    (void)state;
    begin("clSetEventCallback");
    cl_event user = clCreateUserEvent(context, &clt_error), first;
    MADE(user);
    OK(clEnqueueMarkerWithWaitList(queue, 1, &user, &first));
    OK(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, 4, &word, 0, NULL, &later));
    OK(clSetEventCallback(first, CL_COMPLETE, on_event, NULL));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &later));
    end();
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(first));
    OK(clReleaseEvent(later));
}

/** A callback for an event that has ended is called by the registering thread. Blocking calls are refused there too. */
static void test_event_at_once(void **state)
{
    (void)state;
    begin("clSetEventCallback");
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &later));
    OK(clFinish(queue));
    OK(clSetEventCallback(later, CL_COMPLETE, on_event, NULL));
    OK(clFinish(queue)); /* No callback runs during this call. */
    end();
    OK(clReleaseEvent(later));
}

/** The last reference to a buffer is a command's, so the worker destroys the buffer. */
static void test_memory(void **state)
{
    (void)state;
    begin("clSetMemObjectDestructorCallback");
    cl_event user = clCreateUserEvent(context, &clt_error);
    cl_mem m = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    OK(clSetMemObjectDestructorCallback(m, on_destroy, NULL));
    OK(clEnqueueReadBuffer(queue, m, CL_FALSE, 0, 4, &word, 1, &user, NULL));
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &later));
    OK(clReleaseMemObject(m));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &later));
    end();
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(later));
}

static void test_context(void **state)
{
    (void)state;
    begin("clSetContextDestructorCallback");
    cl_context other = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error);
    MADE(other);
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &later));
    OK(clSetContextDestructorCallback(other, on_end_of_context, NULL));
    OK(clReleaseContext(other));
    end();
    OK(clReleaseEvent(later));
}

static void CL_CALLBACK on_error(const char *text, const void *info, size_t size, void *data)
{
    (void)text;
    (void)info;
    (void)size;
    (void)data;
    try_all();
}

/** The error callback of a context whose kernel has faulted makes blocking calls on another, healthy context. */
static void test_errors(void **state)
{
    (void)state;
    begin("clCreateContext");
    const char *source = "kernel void f(global int *r) { *(global int *)16 = 1; }";
    const size_t one = 1;
    cl_context other = clCreateContext(NULL, 1, &clt_device, on_error, NULL, &clt_error);
    MADE(other);
    cl_command_queue q = clCreateCommandQueue(other, clt_device, 0, &clt_error);
    MADE(q);
    cl_program p = clCreateProgramWithSource(other, 1, &source, NULL, &clt_error);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    OK(clSetKernelArg(k, 0, sizeof(cl_mem), NULL));
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &later));
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    FAILS(clFinish(q), CL_OUT_OF_RESOURCES);
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseContext(other));
    end();
    OK(clReleaseEvent(later));
}

static cl_int in_build;

static void CL_CALLBACK on_build(cl_program p, void *data)
{
    (void)p;
    (void)data;
    in_build = clFinish(queue);
    if (in_build == CL_SUCCESS) {
        in_build = clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, &word, 0, NULL, NULL);
    }
    clSetUserEventStatus(data, CL_COMPLETE);
}

static void test_build_may_wait(void **state)
{
    (void)state;
    begin("nothing");
    const char *source = "kernel void f(global int *r) { r[0] = 3; }";
    cl_event built = clCreateUserEvent(context, &clt_error);
    MADE(built);
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &clt_error);
    in_build = 99;
    OK(clBuildProgram(p, 0, NULL, NULL, on_build, built));
    OK(clWaitForEvents(1, &built));
    OK(in_build);
    OK(clReleaseEvent(built));
    OK(clReleaseProgram(p));
    OK(clReleaseMemObject(mem));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
}

/* Callbacks while a thread waits in a call do not run in that thread, which may hold a lock that they take. */
static pthread_t waiter;
static atomic_bool waits;
static atomic_int called, wrong;

static void note(void)
{
    if (atomic_load(&waits) && pthread_equal(pthread_self(), waiter)) {
        atomic_fetch_add(&wrong, 1);
    }
    atomic_fetch_add(&called, 1);
}

static void CL_CALLBACK note_event(cl_event e, cl_int status, void *data)
{
    (void)e;
    (void)status;
    (void)data;
    note();
}

static void CL_CALLBACK note_destroy(cl_mem m, void *data)
{
    (void)m;
    (void)data;
    note();
}

/** Enqueues two fills and registers one callback: for the end of the buffer, the start of the second fill, or the end
 *  of the first. With a user event the fills begin after the registration, otherwise perhaps before it. */
static void fill_twice(unsigned kind, cl_event user, bool by_event)
{
    const size_t size = 65536;
    const cl_uint n = user != NULL;
    const cl_event *list = user != NULL ? &user : NULL;
    cl_event e[2];
    cl_mem m = clCreateBuffer(context, 0, size, NULL, &clt_error);
    MADE(m);
    if (kind == 0) {
        OK(clSetMemObjectDestructorCallback(m, note_destroy, NULL));
    }
    OK(clEnqueueFillBuffer(queue, m, &word, 4, 0, size, n, list, &e[0]));
    OK(clEnqueueFillBuffer(queue, m, &word, 4, 0, size, n, list, &e[1]));
    OK(clReleaseMemObject(m));
    if (kind != 0) {
        OK(clSetEventCallback(e[kind == 1], kind == 1 ? CL_RUNNING : CL_COMPLETE, note_event, NULL));
    }
    waiter = pthread_self();
    atomic_store(&waits, true);
    if (user != NULL) {
        OK(clSetUserEventStatus(user, CL_COMPLETE));
    }
    OK(by_event ? clWaitForEvents(2, e) : clFinish(queue));
    atomic_store(&waits, false);
    OK(clReleaseEvent(e[0]));
    OK(clReleaseEvent(e[1]));
}

static void test_not_in_the_waiting_thread(void **state)
{
    (void)state;
    enum { ROUNDS = 120 };
    begin("nothing");
    for (unsigned i = 0; i < ROUNDS; i++) {
        cl_event user = i / 3 % 2 ? clCreateUserEvent(context, &clt_error) : NULL;
        fill_twice(i % 3, user, i / 6 % 2);
        if (user != NULL) {
            OK(clReleaseEvent(user));
        }
    }
    OK(clReleaseMemObject(mem));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
    for (int ms = 0; atomic_load(&called) != ROUNDS && ms < 200000; ms++) { /* A thread of the library calls them. */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(atomic_load(&called), ROUNDS);
    assert_int_equal(atomic_load(&wrong), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event),  cmocka_unit_test(test_event_at_once), cmocka_unit_test(test_memory),
            cmocka_unit_test(test_context),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_build_may_wait),
        cmocka_unit_test(test_not_in_the_waiting_thread),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
