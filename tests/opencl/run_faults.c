/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that go wrong, and memory that runs out: which context gets the error, and which ones go on undisturbed.
 * Released memory is free for the next call, although a slow thread of the runtime still holds it (test_slow_worker,
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

/** A context with its own queue and kernel, apart from the test's common one. */
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

/** The application hears of it once, by address and kernel; the context is lost, every other one goes on. */
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

    open_world(&w, "kernel void f(global int *r) { r[0] = 9; }", "f"); /* a new context of the same application works */
    clt_args(w.kernel, 1, ARG(w.mem));
    OK(clEnqueueNDRangeKernel(w.queue, w.kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(w.queue, w.mem, CL_TRUE, 0, sizeof r, &r, 0, NULL, NULL));
    assert_int_equal(r, 9);
    assert_int_equal(w.told.n, 0);
    close_world(&w);
}

/** Kernels queued behind the one that faults end in error, all of them, and promptly. */
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

/** Local memory has an end, and so has each buffer's page. */
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
    assert_null(strstr(w.told.text, "allocation")); /* of which local memory is none */
    close_world(&w);
}

static int touch(cl_mem m)
{
    const int v = 1;
    return clEnqueueWriteBuffer(clt_queue, m, CL_TRUE, 0, sizeof v, &v, 0, NULL, NULL);
}

/** More memory than there is: refused when it is needed, and as good as new once something is released. */
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
    for (int i = 0; i < 100 && again != CL_SUCCESS; i++) { /* a free takes effect once the device has unmapped it */
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

/** Making and dropping all kinds of objects leaves nothing behind: far more in sum than the device has. */
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

/** Bytes that fit into the device, in buffers that get smaller and smaller, of a page at last. */
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

/** What a context had that the program has released is there for the next call, though a thread of the
 *  runtime is not done with it. */
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

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* they have functions of this name */
#define SLOW_THREADS
/* A thread that has told the end of a command, and is slow to give back what it holds of it: in a thread that is marked
 * as one that may finish commands, the first unlock after which the event is over and no lock is held ends late. */
#define INTERPOSED __attribute__((visibility("default"))) int
static _Thread_local bool finishes;
static _Thread_local int locks;
static _Atomic(cl_event) watched;
static atomic_bool slow; /* it is there */

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
        clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL); /* here locks is 2 */
    }
    locks--;
    if (status == CL_COMPLETE) {
        atomic_store(&watched, NULL);
        atomic_store(&slow, true);
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    return r;
}

/** Loads the runtime before the loader of OpenCL does, which would have it find the C library's functions first. */
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

/** A world whose worker is marked. */
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

/** A fill of the buffer that ends slowly, and begins when the gate opens. */
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

/** Opens the gate, and gives the events back when the command has ended. */
static void until_slow(cl_event gate, cl_event e)
{
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    while (!atomic_load(&slow)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(e));
}

/** All of a context, when the thread that finishes its last command still has the event, and so the queue. */
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

/** A buffer of a command that a thread finishes which waits for the queue, or the worker. */
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
    OK(clReleaseMemObject(m)); /* the page table for it stays */
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

/** A device with little memory, so that filling it is quick in a simulated one. */
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
