/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of buffers that were released while commands still use them. A call that needs this memory waits for these
 * commands, of any queue and context. The call is refused only if none of them can end by itself, because they wait for
 * the program, or if the call is made in a callback. The device has 16 MiB, and no host memory backs it.
 */
#include "clt.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 50, INTS = 6 << 18, LOOPS = 200 };

#define BYTES (INTS * sizeof(int))

static const char source[] = "kernel void f(global int *m, int n) { int v = m[get_global_id(0)]; "
                             "for (int i = 0; i < n; i++) v = v * 3 + 1; m[get_global_id(0)] = v; }";
static cl_context contexts[2];
static cl_command_queue queues[4]; /* An in-order and an out-of-order queue of each context. */
static cl_kernel kernels[2];

static int open_queues(void **state)
{
    cl_ulong memory = 0;
    clt_open(state);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    if (memory > 16u << 20) { /* nothing would be refused, and commands would wait for ever */
        print_error("the device has %" PRIu64 " bytes of memory; this test needs one with mem=16M,host=0\n",
                    (uint64_t)memory);
        return 1;
    }
    for (unsigned i = 0; i < 2; i++) {
        const char *text = source;
        contexts[i] = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error);
        MADE(contexts[i]);
        for (unsigned j = 0; j < 2; j++) {
            queues[2 * i + j] = clCreateCommandQueue(contexts[i], clt_device,
                                                     j == 0 ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &clt_error);
            MADE(queues[2 * i + j]);
        }
        cl_program p = clCreateProgramWithSource(contexts[i], 1, &text, NULL, &clt_error);
        MADE(p);
        OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
        kernels[i] = clCreateKernel(p, "f", &clt_error);
        MADE(kernels[i]);
        OK(clReleaseProgram(p));
    }
    return 0;
}

static int close_queues(void **state)
{
    for (unsigned i = 0; i < LENGTH(queues); i++) {
        OK(clReleaseCommandQueue(queues[i]));
    }
    for (unsigned i = 0; i < 2; i++) {
        OK(clReleaseKernel(kernels[i]));
        OK(clReleaseContext(contexts[i]));
    }
    return clt_close(state);
}

static cl_mem create(unsigned q, cl_mem_flags flags, void *data)
{
    cl_mem m = clCreateBuffer(contexts[q / 2], CL_MEM_READ_WRITE | flags, BYTES, data, &clt_error);
    MADE(m);
    return m;
}

/** Enqueues a kernel that works on the buffer for a while, after these events. */
static void enqueue(unsigned q, cl_mem m, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const int loops = LOOPS;
    const size_t n = 256;
    clt_args(kernels[q / 2], 2, ARG(m), ARG(loops));
    OK(clEnqueueNDRangeKernel(queues[q], kernels[q / 2], 1, NULL, &n, NULL, n_waits, waits, event));
}

static void finish(void)
{
    for (unsigned i = 0; i < LENGTH(queues); i++) {
        OK(clFinish(queues[i]));
    }
}

/** Buffers of many times the device's memory in sum, each released before the command that uses it has run, in every
 * way that allocates memory. */
static void test_rounds(void **state)
{
    (void)state;
    static int data[INTS];
    const int three = 3;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned q = round % LENGTH(queues);
        cl_event filled = NULL;
        cl_mem m = create(q, round % 3 == 0 ? CL_MEM_COPY_HOST_PTR : 0, round % 3 == 0 ? data : NULL);
        if (round % 3 == 1) {
            OK(clEnqueueFillBuffer(queues[q], m, &three, sizeof three, 0, BYTES, 0, NULL, &filled));
        }
        enqueue(q, m, filled != NULL, filled != NULL ? &filled : NULL, NULL);
        OK(clReleaseMemObject(m));
        if (filled != NULL) {
            OK(clReleaseEvent(filled));
        }
    }
    finish();
}

/** The kernels' results are read at the end: no memory was reused too early. */
static void test_values(void **state)
{
    (void)state;
    static int got[16][4];
    static int data[INTS];
    unsigned want[4] = {1, 2, 3, 4};
    for (unsigned i = 0; i < INTS; i++) {
        data[i] = i < 4 ? (int)want[i] : 0;
    }
    for (unsigned i = 0; i < LOOPS * 4; i++) {
        want[i % 4] = want[i % 4] * 3 + 1;
    }
    for (unsigned round = 0; round < LENGTH(got); round++) {
        cl_mem m = create(0, CL_MEM_COPY_HOST_PTR, data);
        enqueue(0, m, 0, NULL, NULL);
        OK(clEnqueueReadBuffer(queues[0], m, CL_FALSE, 0, sizeof got[0], got[round], 0, NULL, NULL));
        OK(clReleaseMemObject(m));
    }
    finish();
    for (unsigned round = 0; round < LENGTH(got); round++) {
        assert_memory_equal(got[round], want, sizeof want);
    }
}

/** Commands that wait for the program's own event can only end after the call, so the call does not wait for them. */
static void test_gate(void **state)
{
    (void)state;
    const int three = 3;
    for (unsigned q = 0; q < 2; q++) {
        cl_event gate = clCreateUserEvent(contexts[0], &clt_error);
        MADE(gate);
        cl_mem held[2] = {create(q, 0, NULL), create(q, 0, NULL)};
        for (unsigned i = 0; i < 2; i++) {
            enqueue(q, held[i], i == 0, i == 0 ? &gate : NULL, NULL);
            OK(clReleaseMemObject(held[i]));
        }
        if (q == 1) { /* The barrier leaves one command that ends by itself, and one that waits for the gate. */
            OK(clEnqueueBarrierWithWaitList(queues[q], 1, &gate, NULL));
        }
        cl_mem m[2] = {create(q, 0, NULL), create(q, 0, NULL)};
        for (unsigned i = 0; i < 2; i++) {
            const cl_int error = clEnqueueFillBuffer(queues[q], m[i], &three, sizeof three, 0, BYTES, 0, NULL, NULL);
            FAILS(error, q == 1 && i == 0 ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE);
        }
        OK(clSetUserEventStatus(gate, CL_COMPLETE));
        OK(clEnqueueFillBuffer(queues[q], m[1], &three, sizeof three, 0, BYTES, 0, NULL, NULL));
        OK(clReleaseMemObject(m[0]));
        OK(clReleaseMemObject(m[1]));
        OK(clReleaseEvent(gate));
        finish();
    }
}

static atomic_int in_callback = 1;

static void CL_CALLBACK call(cl_event event, cl_int status, void *data)
{
    (void)event;
    (void)status;
    const int three = 3;
    atomic_store(&in_callback, clEnqueueFillBuffer(queues[0], data, &three, sizeof three, 0, BYTES, 0, NULL, NULL));
}

/** A callback runs in the queue's own thread, so a call in it is refused memory that the queue's commands hold. */
static void test_callback(void **state)
{
    (void)state;
    cl_event gate = clCreateUserEvent(contexts[0], &clt_error), event;
    MADE(gate);
    cl_mem m[3] = {create(0, 0, NULL), create(0, 0, NULL), create(0, 0, NULL)};
    OK(clEnqueueMarkerWithWaitList(queues[0], 1, &gate, &event));
    OK(clSetEventCallback(event, CL_COMPLETE, call, m[2]));
    enqueue(0, m[0], 0, NULL, NULL);
    enqueue(0, m[1], 0, NULL, NULL);
    OK(clReleaseMemObject(m[0]));
    OK(clReleaseMemObject(m[1]));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    finish();
    assert_int_equal(atomic_load(&in_callback), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    OK(clReleaseMemObject(m[2]));
    OK(clReleaseEvent(event));
    OK(clReleaseEvent(gate));
}

/** A call is refused although commands are in flight if none of them would free memory. */
static void test_too_much(void **state)
{
    (void)state;
    const int three = 3;
    cl_mem kept[3] = {create(0, 0, NULL), create(2, 0, NULL), create(0, 0, NULL)};
    enqueue(0, kept[0], 0, NULL, NULL);
    enqueue(2, kept[1], 0, NULL, NULL);
    for (unsigned i = 0; i < 20; i++) {
        enqueue(i % 2 * 2, kept[i % 2], 0, NULL, NULL);
    }
    FAILS(clEnqueueFillBuffer(queues[0], kept[2], &three, sizeof three, 0, BYTES, 0, NULL, NULL),
          CL_MEM_OBJECT_ALLOCATION_FAILURE);
    finish();
    for (unsigned i = 0; i < 3; i++) {
        OK(clReleaseMemObject(kept[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),   cmocka_unit_test(test_values),   cmocka_unit_test(test_gate),
        cmocka_unit_test(test_callback), cmocka_unit_test(test_too_much),
    };
    char config[256];
    const char *given = getenv("TERN_CONFIG");
    snprintf(config, sizeof config, "%s,mem=16M,host=0", given != NULL ? given : "default");
    setenv("TERN_CONFIG", config, 1);
    return cmocka_run_group_tests(tests, open_queues, close_queues);
}
