/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls in the child of a fork whose parent uses OpenCL. Every call fails at once, and one line on stderr says why.
 * Objects can be released, and the child may end in any way. The parent is not affected.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

#define N 1024u

static cl_program program;
static cl_kernel kernel;
static cl_mem buffer;
static cl_event gate, done; /* `done`: event of a kernel that waits for the gate. */
static cl_uint *mapped, *shared;

static void make_all(void)
{
    const cl_uint n = N;
    program = clt_build("kernel void k(global uint *x, uint n) { x[get_global_id(0)] = n + get_global_id(0); }", "");
    kernel = clCreateKernel(program, "k", &clt_error);
    MADE(kernel);
    buffer = clt_buffer(N * sizeof n, NULL);
    mapped = clEnqueueMapBuffer(clt_queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &clt_error);
    MADE(mapped);
    OK(clEnqueueUnmapMemObject(clt_queue, buffer, mapped, 0, NULL, NULL));
    shared = clSVMAlloc(clt_context, 0, 4096, 0);
    assert_non_null(shared);
    OK(clEnqueueSVMMemFill(clt_queue, shared, &n, sizeof n, 4096, 0, NULL, NULL));
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_WRITE, shared, 4096, 0, NULL, NULL));
    gate = clCreateUserEvent(clt_context, &clt_error);
    MADE(gate);
    clt_args(kernel, 2, ARG(buffer), ARG(n));
    OK(clEnqueueNDRangeKernel(clt_queue, kernel, 1, NULL, &(size_t){N}, NULL, 1, &gate, &done));
}

/** The parent's work completes with the right results. */
static void finish_all(void)
{
    cl_uint got[N];
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &done));
    clt_read(buffer, got, sizeof got);
    for (cl_uint i = 0; i < N; i++) {
        assert_int_equal(got[i], N + i);
    }
    assert_int_equal(shared[1], N);
    OK(clEnqueueSVMUnmap(clt_queue, shared, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, shared);
    OK(clReleaseEvent(done));
    OK(clReleaseEvent(gate));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

#define REFUSED_IN_CHILD(call) refused((call), #call)
#define NOTHING_IN_CHILD(call) nothing((const void *)(call), #call)

static void refused(cl_int error, const char *call)
{
    if (error >= 0) {
        fprintf(stderr, "%s: %d\n", call, error);
        _exit(1);
    }
}

static void nothing(const void *made, const char *call)
{
    refused(made != NULL ? CL_SUCCESS : clt_error, call);
}

static void call_everything(void)
{
    const size_t zero[3] = {0}, one[3] = {1, 1, 1}, size = 1;
    const cl_uint word = 0;
    const char *source = "kernel void k() {}";
    cl_uint out[64];
    cl_device_id device;
    cl_event e;

    REFUSED_IN_CHILD(clFinish(clt_queue));
    REFUSED_IN_CHILD(clFlush(clt_queue));
    REFUSED_IN_CHILD(clWaitForEvents(1, &done));
    REFUSED_IN_CHILD(clSetUserEventStatus(gate, CL_COMPLETE));
    REFUSED_IN_CHILD(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof out[0], out, NULL));
    REFUSED_IN_CHILD(clEnqueueReadBuffer(clt_queue, buffer, CL_TRUE, 0, 4, out, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueWriteBuffer(clt_queue, buffer, CL_TRUE, 0, 4, out, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueReadBufferRect(clt_queue, buffer, CL_TRUE, zero, zero, one, 0, 0, 0, 0, out, 0,
                                             NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueWriteBufferRect(clt_queue, buffer, CL_TRUE, zero, zero, one, 0, 0, 0, 0, out, 0,
                                              NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueCopyBuffer(clt_queue, buffer, buffer, 0, 64, 4, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueFillBuffer(clt_queue, buffer, &word, 4, 0, 4, 0, NULL, &e));
    REFUSED_IN_CHILD(clEnqueueUnmapMemObject(clt_queue, buffer, mapped, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueNDRangeKernel(clt_queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueMarkerWithWaitList(clt_queue, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueBarrierWithWaitList(clt_queue, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueMigrateMemObjects(clt_queue, 1, &buffer, 0, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueSVMFree(clt_queue, 1, (void *[]){shared}, NULL, NULL, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, shared, out, 4, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueSVMMemFill(clt_queue, shared, &word, 4, 4, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, shared, 4, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueSVMUnmap(clt_queue, shared, 0, NULL, NULL));
    REFUSED_IN_CHILD(clEnqueueSVMMigrateMem(clt_queue, 1, (const void *[]){shared}, NULL, 0, 0, NULL, NULL));
    REFUSED_IN_CHILD(clSetKernelArgSVMPointer(kernel, 0, shared));
    REFUSED_IN_CHILD(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    REFUSED_IN_CHILD(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    REFUSED_IN_CHILD(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    REFUSED_IN_CHILD(clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    REFUSED_IN_CHILD(clCreateKernelsInProgram(program, 1, &kernel, NULL));
    REFUSED_IN_CHILD(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof zero, out, NULL));
    REFUSED_IN_CHILD(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof out, out, NULL));
    REFUSED_IN_CHILD(clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof out, out, NULL));
    REFUSED_IN_CHILD(clGetCommandQueueInfo(clt_queue, CL_QUEUE_PROPERTIES, sizeof out, out, NULL));
    REFUSED_IN_CHILD(clGetContextInfo(clt_context, CL_CONTEXT_NUM_DEVICES, sizeof out, out, NULL));
    REFUSED_IN_CHILD(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof out, out, NULL));
    REFUSED_IN_CHILD(clGetDeviceIDs(clt_platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    REFUSED_IN_CHILD(clRetainContext(clt_context));
    NOTHING_IN_CHILD(clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error));
    NOTHING_IN_CHILD(clCreateCommandQueue(clt_context, clt_device, 0, &clt_error));
    NOTHING_IN_CHILD(clCreateBuffer(clt_context, CL_MEM_READ_WRITE, 64, NULL, &clt_error));
    NOTHING_IN_CHILD(clSVMAlloc(clt_context, 0, 64, 0));
    NOTHING_IN_CHILD(clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error));
    NOTHING_IN_CHILD(clCreateKernel(program, "k", &clt_error));
    NOTHING_IN_CHILD(clCreateUserEvent(clt_context, &clt_error));
    NOTHING_IN_CHILD(clEnqueueMapBuffer(clt_queue, buffer, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &clt_error));
}

/** Releases all objects, as destructors of a C++ or Rust wrapper do. Some wrappers end the program if a release
 * fails. */
static void release_everything(void)
{
    refused(shared[1] == N ? -1 : 0, "the child's copy of shared memory");
    shared[1] = 0; /* This changes the child's copy only. */
    clSVMFree(clt_context, shared);
    OK(clReleaseEvent(done));
    OK(clReleaseEvent(gate));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(clt_queue));
    OK(clReleaseContext(clt_context));
    OK(clReleaseDevice(clt_device));
}

static void call_and_release(void)
{
    call_everything();
    release_everything();
}

static void test_every_call(void **state)
{
    char said[4096];
    (void)state;
    make_all();
    const int status = in_child(call_and_release, 250, said, sizeof said);
    finish_all();
    ended_well(status, said);
    const char *line = strstr(said, "was forked from one that had opened the device");
    assert_non_null(line);
    assert_null(strstr(line + 1, "was forked")); /* The line is printed once. */
}

static void test_nothing_is_said_of_releases(void **state)
{
    char said[4096];
    (void)state;
    make_all();
    const int status = in_child(release_everything, 250, said, sizeof said);
    finish_all();
    ended_well(status, said);
    assert_string_equal(said, "");
}

static atomic_bool over;

static void *work_on(void *user)
{
    (void)user;
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, 0, &clt_error);
    while (!atomic_load(&over)) {
        const cl_uint word = 0;
        cl_mem m = clCreateBuffer(clt_context, CL_MEM_READ_WRITE, 256, NULL, NULL);
        clEnqueueFillBuffer(q, m, &word, sizeof word, 0, 256, 0, NULL, NULL);
        clFinish(q);
        clSVMFree(clt_context, clSVMAlloc(clt_context, 0, 64, 0));
        clReleaseMemObject(m);
    }
    clReleaseCommandQueue(q);
    return NULL;
}

static void finish_and_release(void)
{
    REFUSED_IN_CHILD(clFinish(clt_queue));
    release_everything();
}

/** Forks while another thread of the parent makes calls, so that the child may inherit locks that are held. */
static void test_at_any_moment(void **state)
{
    char said[4096];
    pthread_t thread;
    (void)state;
    make_all();
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, work_on, NULL), 0);
    int status = 0;
    for (int i = 0; i < 100 && status == 0; i++) {
        status = in_child(finish_and_release, 250, said, sizeof said);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    finish_all();
    ended_well(status, said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),
        cmocka_unit_test(test_nothing_is_said_of_releases),
        cmocka_unit_test(test_at_any_moment),
    };
    return cmocka_run_group_tests_name("app_fork", tests, clt_open, clt_close);
}
