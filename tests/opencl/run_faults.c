/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that fault, and device memory that runs out: which context receives the error, and which go on. Released
 * memory is available to the next call even while a slow thread of the runtime still holds it (test_slow_worker,
 * test_slow_waiter).
 */
#include "clt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char wild[] = "kernel void wild_writer(global int *r, uint where) { *(global int *)(where) = "
                           "1; r[0] = 2; }";

struct told {
    pthread_mutex_t lock;
    int n;
    char text[512];
};

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    struct told *t = data;
    (void)info;
    (void)size;
    pthread_mutex_lock(&t->lock);
    t->n++;
    snprintf(t->text, sizeof t->text, "%s", text);
    pthread_mutex_unlock(&t->lock);
}

/** A context with its own queue and kernel, apart from the tests' common one. */
struct world {
    struct told told;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem mem;
};

static void open_world(struct world *w, const char *source, const char *name)
{
    pthread_mutex_init(&w->told.lock, NULL);
    w->told.n = 0;
    w->context = clCreateContext(NULL, 1, &clt_device, tell, &w->told, &clt_error);
    MADE(w->context);
    w->queue = clCreateCommandQueue(w->context, clt_device, 0, &clt_error);
    MADE(w->queue);
    w->program = clCreateProgramWithSource(w->context, 1, &source, NULL, &clt_error);
    OK(clBuildProgram(w->program, 0, NULL, NULL, NULL, NULL));
    w->kernel = clCreateKernel(w->program, name, &clt_error);
    MADE(w->kernel);
    w->mem = clCreateBuffer(w->context, CL_MEM_READ_WRITE, 64, NULL, &clt_error);
    MADE(w->mem);
}

static void close_world(struct world *w)
{
    OK(clReleaseMemObject(w->mem));
    OK(clReleaseKernel(w->kernel));
    OK(clReleaseProgram(w->program));
    OK(clReleaseCommandQueue(w->queue));
    OK(clReleaseContext(w->context));
    pthread_mutex_destroy(&w->told.lock);
}

static cl_int status_of(cl_event e)
{
    cl_int s = 99;
    OK(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof s, &s, NULL));
    return s;
}

/** The application is told once, with the address and the kernel. The context is lost, and every other context goes
 * on. */
static void test_wild_address(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, wild, "wild_writer");
    const cl_uint where = 0xbad0000;
    const size_t n = 4;
    cl_event e, after;
    clt_args(w.kernel, 2, ARG(w.mem), ARG(where));
    OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &n, NULL, 0, NULL, &e));
    FAILS(clWaitForEvents(1, &e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_true(status_of(e) < 0);
    assert_int_equal(w.told.n, 1);
    assert_non_null(strstr(w.told.text, "wild_writer"));
    assert_non_null(strstr(w.told.text, "bad0000"));

    cl_int error = clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &n, NULL, 0, NULL, &after);
    assert_int_equal(error, CL_OUT_OF_RESOURCES);
    int r;
    FAILS(clEnqueueReadBuffer(w.queue, w.mem, CL_TRUE, 0, sizeof r, &r, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
    FAILS(clFinish(w.queue), CL_OUT_OF_RESOURCES);
    assert_int_equal(w.told.n, 1);
    OK(clReleaseEvent(e));

    cl_kernel k = clt_kernel("kernel void f(global int *r) { r[get_global_id(0)] = 5; }", "f");
    int v[8] = {0};
    cl_mem m = clt_buffer(sizeof v, v);
    clt_args(k, 1, ARG(m));
    clt_run(k, 8, 0);
    clt_read(m, v, sizeof v);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(v[i], 5);
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    close_world(&w);

    /* A new context of the same application works. */
    open_world(&w, "kernel void f(global int *r) { r[0] = 9; }", "f");
    clt_args(w.kernel, 1, ARG(w.mem));
    OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(w.queue, w.mem, CL_TRUE, 0, sizeof r, &r, 0, NULL, NULL));
    assert_int_equal(r, 9);
    assert_int_equal(w.told.n, 0);
    close_world(&w);
}

/** Kernels queued behind one that faults all end in error, promptly. */
static void test_queued_behind_a_fault(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, wild, "wild_writer");
    const cl_uint where = 0x0dead000;
    const size_t n = 1;
    cl_event e[20];
    cl_event gate = clCreateUserEvent(w.context, &clt_error);
    MADE(gate);
    clt_args(w.kernel, 2, ARG(w.mem), ARG(where));
    for (int i = 0; i < 20; i++) {
        OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &n, NULL, i == 0, i == 0 ? &gate : NULL, &e[i]));
    }
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    FAILS(clFinish(w.queue), CL_OUT_OF_RESOURCES);
    for (int i = 0; i < 20; i++) {
        assert_true(status_of(e[i]) < 0);
        OK(clReleaseEvent(e[i]));
    }
    assert_int_equal(w.told.n, 1);
    OK(clReleaseEvent(gate));
    close_world(&w);
}

/** An access beyond the end of local memory is a fault. */
static void test_local_overrun(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "kernel void f(global int *r, uint far) { local int t[16]; t[get_local_id(0) + far] = 1;"
                   " barrier(CLK_LOCAL_MEM_FENCE); r[0] = t[0]; }", "f");
    const cl_uint far = 1u << 19;
    const size_t n = 16;
    clt_args(w.kernel, 2, ARG(w.mem), ARG(far));
    OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    FAILS(clFinish(w.queue), CL_OUT_OF_RESOURCES);
    assert_int_equal(w.told.n, 1);
    assert_non_null(strstr(w.told.text, "local"));
    assert_null(strstr(w.told.text, "allocation")); /* Local memory is no allocation. */
    close_world(&w);
}

static int touch(cl_mem m)
{
    const int v = 1;
    return clEnqueueWriteBuffer(clt_queue, m, CL_TRUE, 0, sizeof v, &v, 0, NULL, NULL);
}

/** Buffers larger in sum than the device's memory: the command that needs the memory is refused, and succeeds after a
 * release. */
static void test_out_of_memory(void **state)
{
    (void)state;
    cl_ulong largest = 0, whole = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof whole, &whole, NULL));
    cl_mem m = clCreateBuffer(clt_context, 0, largest + 1, NULL, &clt_error);
    REFUSED(m, CL_INVALID_BUFFER_SIZE);
    cl_mem all[16];
    unsigned made = 0;
    cl_int error = CL_SUCCESS;
    while (error == CL_SUCCESS && made < LENGTH(all)) {
        all[made] = clCreateBuffer(clt_context, 0, whole / 3, NULL, &clt_error);
        MADE(all[made]);
        error = touch(all[made++]);
    }
    assert_in_range(made, 2, 4);
    FAILS(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    cl_kernel k = clt_kernel("kernel void f(global int *r) { r[0] = 3; }", "f");
    clt_args(k, 1, ARG(all[made - 1]));
    const size_t one = 1;
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    OK(clReleaseMemObject(all[0]));
    OK(clFinish(clt_queue));
    cl_int again = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    /* A release takes effect once the device has unmapped the memory. */
    for (int i = 0; i < 100 && again != CL_SUCCESS; i++) {
        again = clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL);
    }
    OK(again);
    int r = 0;
    clt_read(all[made - 1], &r, sizeof r);
    assert_int_equal(r, 3);
    for (unsigned i = 1; i < made; i++) {
        OK(clReleaseMemObject(all[i]));
    }
    OK(clReleaseKernel(k));
}

/** Creates and releases all kinds of objects, in sum far more than the device's memory. Nothing leaks. */
static void test_nothing_leaks(void **state)
{
    (void)state;
    cl_ulong whole = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof whole, &whole, NULL));
    for (int i = 0; i < 12; i++) {
        struct world w;
        open_world(&w, "kernel void f(global int *r) { r[0] += 3; }", "f");
        cl_mem big = clCreateBuffer(w.context, 0, whole / 4, NULL, &clt_error);
        MADE(big);
        const int v = 4;
        int r = 0;
        const size_t one = 1;
        OK(clEnqueueWriteBuffer(w.queue, big, CL_FALSE, 0, sizeof v, &v, 0, NULL, NULL));
        clt_args(w.kernel, 1, ARG(big));
        OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(w.queue, big, CL_TRUE, 0, sizeof r, &r, 0, NULL, NULL));
        assert_int_equal(r, 7);
        OK(clReleaseMemObject(big));
        close_world(&w);
    }
}

static void CL_CALLBACK linger(cl_context context, void *data)
{
    (void)context;
    (void)data;
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

/** Returns the bytes that fit into the device, in buffers of decreasing size down to a page. */
static size_t fill(void)
{
    cl_mem all[64];
    unsigned made = 0;
    size_t sum = 0;
    for (size_t size = 1u << 20; size >= 4096; size /= 16) {
        cl_int error = CL_SUCCESS;
        while (error == CL_SUCCESS) {
            assert_in_range(made, 0, LENGTH(all) - 1);
            all[made] = clCreateBuffer(clt_context, 0, size, NULL, &clt_error);
            MADE(all[made]);
            error = touch(all[made++]);
            sum += error == CL_SUCCESS ? size : 0;
        }
        FAILS(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    for (unsigned i = 0; i < made; i++) {
        OK(clReleaseMemObject(all[i]));
    }
    OK(clFinish(clt_queue));
    return sum;
}

/** The memory of a released context is available to the next call, although a thread of the runtime still holds the
 *  context. */
static void test_released_is_free(void **state)
{
    (void)state;
    const size_t before = fill();
    for (int i = 0; i < 2; i++) {
        struct world w;
        open_world(&w, "kernel void f(global int *r) { r[0] += 3; }", "f");
        const size_t one = 1;
        clt_args(w.kernel, 1, ARG(w.mem));
        OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
        OK(clFinish(w.queue));
        OK(clSetContextDestructorCallback(w.context, linger, NULL));
        close_world(&w);
        assert_int_equal(fill(), before);
    }
}

/* The sanitizers define functions of the same name. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define SLOW_THREADS
/* A thread that reports the end of a command, and is slow to release what it holds of the command. In a thread marked
 * as `finishes`, the unlock after which the watched event has ended and no lock is held returns late. */
#define INTERPOSED __attribute__((visibility("default"))) int
static _Thread_local bool finishes;
static _Thread_local int locks;
static _Atomic(cl_event) watched;
static atomic_bool slow; /* The slow unlock has begun. */

static int call_real(const char *name, pthread_mutex_t *m)
{
    int (*real)(pthread_mutex_t *);
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&real, &found, sizeof real);
    return real(m);
}

INTERPOSED pthread_mutex_lock(pthread_mutex_t *m)
{
    locks++;
    return call_real("pthread_mutex_lock", m);
}

INTERPOSED pthread_mutex_unlock(pthread_mutex_t *m)
{
    const int r = call_real("pthread_mutex_unlock", m);
    cl_event e = atomic_load(&watched);
    cl_int status = CL_QUEUED;
    if (finishes && locks == 1 && e != NULL) {
        /* `locks` is 2 during this call, so it does not recurse. */
        clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    }
    locks--;
    if (status == CL_COMPLETE) {
        atomic_store(&watched, NULL);
        atomic_store(&slow, true);
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    return r;
}

/** Loads the runtime before the OpenCL loader does. Loaded by the loader, the runtime would bind to the C library's
 * functions instead of those above. */
static void load_runtime(void)
{
    char path[4096] = "";
    const char *named = getenv("OCL_ICD_VENDORS");
    FILE *f = named == NULL ? NULL : fopen(named, "r");
    const bool read = f != NULL && fgets(path, sizeof path, f) != NULL;
    if (f != NULL) {
        fclose(f);
    }
    path[strcspn(path, "\n")] = '\0';
    if (!read || dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) {
        fprintf(stderr, "OCL_ICD_VENDORS names no file with the runtime's path\n");
        exit(1);
    }
}

static void CL_CALLBACK mark(cl_event e, cl_int status, void *data)
{
    (void)e;
    (void)status;
    (void)data;
    finishes = true;
}

/** Opens a world whose worker thread is marked. */
static void open_slow_world(struct world *w)
{
    cl_event marker, gate;
    open_world(w, "kernel void f(global int *r) { r[0] += 3; }", "f");
    gate = clCreateUserEvent(w->context, &clt_error);
    MADE(gate);
    OK(clEnqueueMarkerWithWaitList(w->queue, 1, &gate, &marker));
    OK(clSetEventCallback(marker, CL_COMPLETE, mark, NULL));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(w->queue));
    OK(clReleaseEvent(marker));
    OK(clReleaseEvent(gate));
}

static void *finish(void *queue)
{
    finishes = true;
    return clFinish(queue) == CL_SUCCESS ? queue : NULL;
}

/** Enqueues a fill of the buffer that begins when the gate opens and whose end is slow. */
static cl_event enqueue_slow(struct world *w, cl_mem m, cl_event gate)
{
    const int zero = 0;
    size_t size = 0;
    cl_event e;
    OK(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
    OK(clEnqueueFillBuffer(w->queue, m, &zero, 4, 0, size, 1, &gate, &e));
    atomic_store(&slow, false);
    atomic_store(&watched, e);
    return e;
}

/** Opens the gate, waits until the slow unlock has begun, and releases the events. */
static void until_slow(cl_event gate, cl_event e)
{
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    while (!atomic_load(&slow)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(e));
}

/** A context is released while the thread that finishes its last command still holds the event, and so the queue. */
static void test_slow_worker(void **state)
{
    (void)state;
    const size_t before = fill();
    struct world w;
    open_slow_world(&w);
    cl_event gate = clCreateUserEvent(w.context, &clt_error);
    MADE(gate);
    until_slow(gate, enqueue_slow(&w, w.mem, gate));
    close_world(&w);
    assert_int_equal(fill(), before);
}

/** A buffer is released while the command's finishing thread, which waits in clFinish or is the worker, is slow. */
static void test_slow_waiter(void **state)
{
    (void)state;
    struct world w;
    open_slow_world(&w);
    pthread_t thread;
    void *finished = NULL;
    const int zero = 0;
    cl_mem m = clCreateBuffer(w.context, 0, 1u << 20, NULL, &clt_error);
    MADE(m);
    OK(clEnqueueWriteBuffer(w.queue, m, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL));
    OK(clReleaseMemObject(m)); /* The buffer's page table stays. */
    const size_t before = fill();
    m = clCreateBuffer(w.context, 0, 1u << 20, NULL, &clt_error);
    MADE(m);
    cl_event gate = clCreateUserEvent(w.context, &clt_error);
    MADE(gate);
    cl_event e = enqueue_slow(&w, m, gate);
    assert_int_equal(pthread_create(&thread, NULL, finish, w.queue), 0);
    until_slow(gate, e);
    OK(clReleaseMemObject(m));
    assert_int_equal(fill(), before);
    pthread_join(thread, &finished);
    assert_non_null(finished);
    close_world(&w);
}
#endif

/** Gives the device little memory, so that it is filled quickly in simulation. */
static void shrink_memory(void)
{
    const char *config = getenv("TERN_CONFIG");
    char text[256];
    snprintf(text, sizeof text, "%s,mem=16M,host=0", config == NULL ? "default" : config);
    setenv("TERN_CONFIG", text, 1);
}

int main(void)
{
    shrink_memory();
#ifdef SLOW_THREADS
    load_runtime();
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wild_address),  cmocka_unit_test(test_queued_behind_a_fault),
        cmocka_unit_test(test_local_overrun), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_nothing_leaks), cmocka_unit_test(test_released_is_free),
#ifdef SLOW_THREADS
        cmocka_unit_test(test_slow_worker),   cmocka_unit_test(test_slow_waiter),
#endif
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
