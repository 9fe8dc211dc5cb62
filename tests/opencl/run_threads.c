/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several threads share what the specification allows: the context, a program, buffers, an out-of-order queue and
 * events. Each also creates, uses and releases objects of its own. Every call must succeed and all data be right; the
 * thread sanitizer checks the accesses. The order of calls differs between runs, but the results do not.
 */
#include "clt.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, STEPS = 120, SLICE = 128 };

static cl_program program;
static cl_command_queue common; /* An out-of-order queue. */
static cl_mem shared;           /* Holds a slice for each thread, and one for a sum. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_event latest;         /* Guarded by `lock`. Event of some thread's last command, with a reference. */
static atomic_uint called, expected, increments;
static atomic_int wrong;        /* The first error; only the main thread may call cmocka. */
static const char *_Atomic wrong_at;

static bool good(cl_int error, const char *where)
{
    int none = CL_SUCCESS;
    if (error != CL_SUCCESS && atomic_compare_exchange_strong(&wrong, &none, error)) {
        atomic_store(&wrong_at, where);
    }
    return error == CL_SUCCESS;
}

static void same(bool equal, const char *where)
{
    good(equal ? CL_SUCCESS : 1, where);
}

/** State of one thread. */
struct self {
    unsigned id;
    uint32_t seed;
    cl_command_queue queue;
    cl_kernel add, count;
    unsigned char bytes[SLICE]; /* Expected contents of the thread's slice of `shared`. */
};

static void CL_CALLBACK on_event(cl_event e, cl_int status, void *data)
{
    (void)e;
    (void)data;
    same(status == CL_COMPLETE, "status in a callback");
    atomic_fetch_add(&called, 1);
}

/** Creates a buffer, runs a kernel on it and checks the result. */
static void own_buffer(struct self *s)
{
    cl_int error;
    int v[64], by = (int)(clt_random(&s->seed) % 1000);
    const size_t n = LENGTH(v);
    for (size_t i = 0; i < n; i++) {
        v[i] = (int)i;
    }
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_COPY_HOST_PTR, sizeof v, v, &error);
    good(error, "clCreateBuffer");
    good(clSetKernelArg(s->add, 0, sizeof m, &m), "clSetKernelArg");
    good(clSetKernelArg(s->add, 1, sizeof by, &by), "clSetKernelArg");
    good(clEnqueueNDRangeKernel(s->queue, s->add, 1, NULL, &n, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    good(clEnqueueReadBuffer(s->queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (size_t i = 0; i < n; i++) {
        same(v[i] == (int)i + by, "what the kernel made");
    }
    good(clReleaseMemObject(m), "clReleaseMemObject");
}

/** Reads and writes the thread's slice of `shared`, as a sub-buffer or mapped. */
static void own_slice(struct self *s)
{
    cl_int error;
    const cl_buffer_region r = {(s->id + 1) * (size_t)SLICE, SLICE};
    unsigned char now[SLICE];
    if (clt_random(&s->seed) % 2 == 0) {
        cl_mem sub = clCreateSubBuffer(shared, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &error);
        good(error, "clCreateSubBuffer");
        good(clEnqueueReadBuffer(s->queue, sub, CL_TRUE, 0, SLICE, now, 0, NULL, NULL), "clEnqueueReadBuffer");
        same(memcmp(now, s->bytes, SLICE) == 0, "the slice");
        memset(s->bytes, (int)clt_random(&s->seed), SLICE / 2);
        good(clEnqueueWriteBuffer(s->queue, sub, CL_TRUE, 0, SLICE, s->bytes, 0, NULL, NULL), "clEnqueueWriteBuffer");
        good(clReleaseMemObject(sub), "clReleaseMemObject");
        return;
    }
    cl_uint maps;
    unsigned char *p = clEnqueueMapBuffer(s->queue, shared, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, r.origin, SLICE, 0,
                                          NULL, NULL, &error);
    if (good(error, "clEnqueueMapBuffer")) {
        same(memcmp(p, s->bytes, SLICE) == 0, "the mapped slice");
        memset(p + SLICE / 2, (int)s->seed & 0xff, SLICE / 2);
        memcpy(s->bytes, p, SLICE);
        good(clGetMemObjectInfo(shared, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL), "CL_MEM_MAP_COUNT");
        same(maps >= 1 && maps <= THREADS, "the count of mappings");
        good(clEnqueueUnmapMemObject(s->queue, shared, p, 0, NULL, NULL), "clEnqueueUnmapMemObject");
        good(clFinish(s->queue), "clFinish");
    }
}

/** Enqueues an addition to the sum in the common queue, after a user event and another thread's last command. */
static void in_common(struct self *s)
{
    cl_int error;
    const size_t n = 1 + clt_random(&s->seed) % 40;
    cl_event waits[2], e;
    cl_uint n_waits = 1;
    waits[0] = clCreateUserEvent(clt_context, &error);
    good(error, "clCreateUserEvent");
    pthread_mutex_lock(&lock);
    if (latest != NULL) {
        waits[n_waits++] = latest; /* The reference is now this thread's. */
        latest = NULL;
    }
    pthread_mutex_unlock(&lock);
    good(clEnqueueNDRangeKernel(common, s->count, 1, NULL, &n, NULL, n_waits, waits, &e), "clEnqueueNDRangeKernel");
    atomic_fetch_add(&increments, (unsigned)n);
    atomic_fetch_add(&expected, 2);
    good(clSetEventCallback(e, CL_COMPLETE, on_event, NULL), "clSetEventCallback");
    good(clSetEventCallback(waits[0], CL_COMPLETE, on_event, NULL), "clSetEventCallback");
    if (clt_random(&s->seed) % 4 == 0) {
        good(clEnqueueBarrierWithWaitList(common, 0, NULL, NULL), "clEnqueueBarrierWithWaitList");
    }
    good(clSetUserEventStatus(waits[0], CL_COMPLETE), "clSetUserEventStatus");
    if (clt_random(&s->seed) % 4 == 0) {
        good(clWaitForEvents(1, &e), "clWaitForEvents");
    }
    pthread_mutex_lock(&lock);
    cl_event before = latest;
    latest = e;
    pthread_mutex_unlock(&lock);
    good(before == NULL ? CL_SUCCESS : clReleaseEvent(before), "clReleaseEvent");
    for (cl_uint i = 0; i < n_waits; i++) {
        good(clReleaseEvent(waits[i]), "clReleaseEvent");
    }
}

/** Queries objects that other threads use. */
static void ask(struct self *s)
{
    char text[256];
    cl_uint refs;
    cl_event e = NULL;
    pthread_mutex_lock(&lock);
    if (latest != NULL) {
        e = latest;
        good(clRetainEvent(e), "clRetainEvent");
    }
    pthread_mutex_unlock(&lock);
    if (e != NULL) {
        cl_int status;
        cl_ulong t[2] = {0};
        good(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), "clGetEventInfo");
        same(status >= CL_COMPLETE, "an event");
        if (status == CL_COMPLETE) {
            good(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof t[0], &t[0], NULL),
                 "clGetEventProfilingInfo");
            good(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof t[1], &t[1], NULL),
                 "clGetEventProfilingInfo");
            same(t[0] <= t[1], "times");
        }
        good(clReleaseEvent(e), "clReleaseEvent");
    }
    good(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL), "CL_PROGRAM_KERNEL_NAMES");
    good(clGetMemObjectInfo(shared, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs, NULL), "CL_MEM_REFERENCE_COUNT");
    good(clGetContextInfo(clt_context, CL_CONTEXT_REFERENCE_COUNT, sizeof refs, &refs, NULL),
         "CL_CONTEXT_REFERENCE_COUNT");
    good(clGetKernelInfo(s->add, CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL), "CL_KERNEL_FUNCTION_NAME");
    good(clRetainContext(clt_context), "clRetainContext");
    good(clRetainMemObject(shared), "clRetainMemObject");
    good(clRetainProgram(program), "clRetainProgram");
    good(clReleaseProgram(program), "clReleaseProgram");
    good(clReleaseMemObject(shared), "clReleaseMemObject");
    good(clReleaseContext(clt_context), "clReleaseContext");
}

/** Replaces the thread's queue and kernels. */
static void change_own(struct self *s)
{
    cl_int error;
    cl_kernel clone = clCloneKernel(s->count, &error);
    good(error, "clCloneKernel");
    good(clReleaseKernel(s->count), "clReleaseKernel");
    s->count = clone;
    good(clReleaseKernel(s->add), "clReleaseKernel");
    s->add = clCreateKernel(program, "add", &error);
    good(error, "clCreateKernel");
    good(clReleaseCommandQueue(s->queue), "clReleaseCommandQueue");
    s->queue = clCreateCommandQueue(clt_context, clt_device, 0, &error);
    good(error, "clCreateCommandQueue");
}

static void *work(void *arg)
{
    static void (*const steps[])(struct self *) = {own_buffer, own_slice, in_common, in_common, ask, change_own};
    struct self s = {.id = (unsigned)(uintptr_t)arg, .seed = 1000 + (unsigned)(uintptr_t)arg};
    cl_int error;
    s.queue = clCreateCommandQueue(clt_context, clt_device, 0, &error);
    good(error, "clCreateCommandQueue");
    s.add = clCreateKernel(program, "add", &error);
    good(error, "clCreateKernel");
    s.count = clCreateKernel(program, "count", &error);
    good(error, "clCreateKernel");
    good(clSetKernelArg(s.count, 0, sizeof shared, &shared), "clSetKernelArg");
    for (unsigned i = 0; i < STEPS && atomic_load(&wrong) == CL_SUCCESS; i++) {
        steps[clt_random(&s.seed) % LENGTH(steps)](&s);
    }
    good(clFinish(s.queue), "clFinish");
    good(clFinish(common), "clFinish");
    good(clReleaseKernel(s.add), "clReleaseKernel");
    good(clReleaseKernel(s.count), "clReleaseKernel");
    good(clReleaseCommandQueue(s.queue), "clReleaseCommandQueue");
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    static const unsigned char zeros[(THREADS + 1) * SLICE];
    unsigned sum = 0;
    program = clt_build("kernel void add(global int *r, int by) { r[get_global_id(0)] += by; }\n"
                        "kernel void count(global uint *sum) { atomic_inc(sum); }\n", "");
    common = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                  CL_QUEUE_PROFILING_ENABLE, &clt_error);
    MADE(common);
    shared = clt_buffer(sizeof zeros, zeros);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    if (atomic_load(&wrong) != CL_SUCCESS) {
        fail_msg("%s: %d", atomic_load(&wrong_at), atomic_load(&wrong));
    }
    OK(clFinish(common));
    clt_read(shared, &sum, sizeof sum);
    assert_int_equal(sum, atomic_load(&increments));
    assert_true(sum > THREADS * STEPS / 4);
    if (latest != NULL) {
        OK(clReleaseEvent(latest));
    }
    OK(clReleaseCommandQueue(common)); /* The last callbacks may still be running. */
    while (atomic_load(&called) != atomic_load(&expected)) {
        sched_yield();
    }
    OK(clReleaseMemObject(shared));
    OK(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
