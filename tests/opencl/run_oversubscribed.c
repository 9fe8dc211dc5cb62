/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Contexts with more memory than the device has. A kernel runs if the memory that it uses fits (rule A6 of
 * docs/rules.md). A single copy, fill or transfer may use more than the device has. test_shared: memory that a kernel
 * names with clSetKernelExecInfo. test_coarse: a coarsened kernel reads and writes such memory once.
 */
#include "clt.h"

#include <stdio.h>
#include <string.h>

#define BUFFERS 12u
#define INTS (1u << 20) /* A buffer has 4 MiB, the device 16 MiB. */

static void test_stream(void **state)
{
    (void)state;
    cl_mem m[BUFFERS];
    const size_t n = INTS / 64;
    cl_kernel put = clt_kernel("kernel void put(global int *m, int v) { m[get_global_id(0) * 64] = v; }", "put");
    cl_kernel add = clt_kernel("kernel void add(global int *to, global const int *from)"
                               "{ size_t i = get_global_id(0) * 64; to[i] += from[i]; to[i + 1]++; }", "add");
    for (cl_int i = 0; i < (cl_int)BUFFERS; i++) {
        m[i] = clCreateBuffer(clt_context, 0, INTS * sizeof(int), NULL, &clt_error);
        MADE(m[i]);
        clt_args(put, 2, ARG(m[i]), ARG(i));
        OK(clEnqueueNDRangeKernel(clt_queue, put, 1, NULL, &n, NULL, 0, NULL, NULL));
    }
    for (unsigned i = 1; i < BUFFERS; i++) {
        clt_args(add, 2, ARG(m[i]), ARG(m[i - 1]));
        OK(clEnqueueNDRangeKernel(clt_queue, add, 1, NULL, &n, NULL, 0, NULL, NULL));
    }
    OK(clEnqueueCopyBuffer(clt_queue, m[BUFFERS - 1], m[0], 0, 0, INTS * sizeof(int), 0, NULL, NULL));
    OK(clFinish(clt_queue));
    int *got = malloc(INTS * sizeof *got);
    assert_non_null(got);
    for (unsigned i = 0; i < BUFFERS; i++) {
        const unsigned k = i == 0 ? BUFFERS - 1 : i; /* The first buffer is a copy of the last. */
        OK(clEnqueueReadBuffer(clt_queue, m[i], CL_TRUE, 0, INTS * sizeof *got, got, 0, NULL, NULL));
        for (unsigned x = 0; x < INTS; x++) {
            assert_int_equal(got[x], x % 64 == 0 ? k * (k + 1) / 2 : x % 64 == 1);
        }
        OK(clReleaseMemObject(m[i]));
    }
    free(got);
    OK(clReleaseKernel(put));
    OK(clReleaseKernel(add));
}

/** A coarsened kernel (docs/decisions/coarsening.md) over 24 MiB passes over its memory once. If each hardware
 *  work-item passed over all of it, the kernel would not end. */
static void test_coarse(void **state)
{
    (void)state;
    const cl_uint ints = 2 * INTS, fill = 7;
    const size_t n = ints;
    cl_kernel k = clt_kernel("kernel void add(global uint *c, global const uint *a, global const uint *b, uint n)"
                             "{ uint i = get_global_id(0); if (i < n) c[i] = a[i] + b[i] + i; }", "add");
    cl_mem m[3];
    for (unsigned i = 0; i < LENGTH(m); i++) {
        m[i] = clCreateBuffer(clt_context, 0, n * 4, NULL, &clt_error);
        MADE(m[i]);
        OK(clEnqueueFillBuffer(clt_queue, m[i], &fill, sizeof fill, 0, n * 4, 0, NULL, NULL));
    }
    clt_args(k, 4, ARG(m[0]), ARG(m[1]), ARG(m[2]), ARG(ints));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &n, NULL, 0, NULL, NULL));
    cl_uint *got = malloc(n * 4);
    assert_non_null(got);
    OK(clEnqueueReadBuffer(clt_queue, m[0], CL_TRUE, 0, n * 4, got, 0, NULL, NULL));
    for (cl_uint i = 0; i < ints; i++) {
        assert_int_equal(got[i], 2 * fill + i);
    }
    free(got);
    for (unsigned i = 0; i < LENGTH(m); i++) {
        OK(clReleaseMemObject(m[i]));
    }
    OK(clReleaseKernel(k));
}

/** Kernels run if the shared memory that they name fits, although all shared memory together does not. */
static void test_shared(void **state)
{
    (void)state;
    cl_uint *a[BUFFERS];
    const cl_uint two = 2;
    cl_kernel k = clt_kernel("kernel void sum(global uint *list, uint n, global uint *out)"
                             "{ *out = 0; for (uint i = 0; i < n; i++) { *out += *(global uint *)list[i]; } }", "sum");
    cl_uint *list = clSVMAlloc(clt_context, 0, 8, 0), *out = clSVMAlloc(clt_context, 0, 4, 0);
    for (cl_uint i = 0; i < LENGTH(a); i++) {
        a[i] = clSVMAlloc(clt_context, 0, INTS * 4, 0);
        assert_non_null(a[i]);
        OK(clEnqueueSVMMemFill(clt_queue, a[i] + 5, &(cl_uint){i + 1}, 4, 4, 0, NULL, NULL));
        OK(clEnqueueSVMMemFill(clt_queue, a[i] + INTS - 1, &(cl_uint){i + 1}, 4, 4, 0, NULL, NULL));
    }
    OK(clSetKernelArgSVMPointer(k, 0, list));
    OK(clSetKernelArg(k, 1, sizeof two, &two));
    OK(clSetKernelArgSVMPointer(k, 2, out));
    /* The kernel reaches two allocations of 4 MiB by pointers in memory. */
    for (unsigned i = 0; i + 1 < LENGTH(a); i++) {
        const cl_uint at[2] = {(cl_uint)(uintptr_t)(a[i] + 5), (cl_uint)(uintptr_t)(a[i + 1] + INTS - 1)};
        OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, list, at, 8, 0, NULL, NULL));
        OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 2 * sizeof(void *), &a[i]));
        clt_run(k, 1, 0);
        cl_uint got = 0;
        OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, &got, out, 4, 0, NULL, NULL));
        assert_int_equal(got, 2 * i + 3);
    }
    for (unsigned i = 0; i < LENGTH(a); i++) {
        clSVMFree(clt_context, a[i]);
    }
    clSVMFree(clt_context, list);
    clSVMFree(clt_context, out);
    OK(clReleaseKernel(k));
}

/** Commands that each use more than the 16 MiB that the device has: linear and box copies, fills and transfers of the
 *  largest buffers, and of shared memory. */
static void test_large(void **state)
{
    (void)state;
    enum { ROW = 4096, PATTERN = 128 };
    cl_mem m[2];
    cl_ulong most;
    cl_uint pattern[PATTERN / 4];
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    const size_t size = (size_t)most / ROW * ROW, rows = size / ROW;
    cl_uint *has = malloc(size), *got = calloc(1, size);
    cl_uint *svm[2] = {clSVMAlloc(clt_context, 0, size, 0), clSVMAlloc(clt_context, 0, size, 0)};
    assert_true(has && got && svm[0] && svm[1] && size >= 8u << 20);
    for (cl_uint i = 0; i < size / 4; i++) {
        has[i] = i * 2654435761u;
    }
    memcpy(pattern, has, sizeof pattern);
    for (unsigned i = 0; i < LENGTH(m); i++) {
        m[i] = clCreateBuffer(clt_context, 0, size, NULL, &clt_error);
        MADE(m[i]);
    }
    OK(clEnqueueWriteBuffer(clt_queue, m[0], CL_TRUE, 0, size, has, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(clt_queue, m[0], m[1], 0, 12, size - 12, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(clt_queue, m[1], CL_TRUE, 12, size - 12, got, 0, NULL, NULL));
    assert_memory_equal(got, has, size - 12);
    OK(clEnqueueFillBuffer(clt_queue, m[1], pattern, sizeof pattern, 0, size, 0, NULL, NULL));
    /* The left half of each row goes to the right half. */
    const size_t from[3] = {0}, to[3] = {ROW / 2, 0, 0}, box[3] = {ROW / 2, rows, 1};
    OK(clEnqueueCopyBufferRect(clt_queue, m[0], m[1], from, to, box, ROW, 0, ROW, 0, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(clt_queue, m[1], CL_TRUE, 0, size, got, 0, NULL, NULL));
    for (size_t y = 0; y < rows; y++) {
        for (size_t x = 0; x < ROW / 4; x++) {
            assert_int_equal(got[y * ROW / 4 + x], x < ROW / 8 ? pattern[x % (PATTERN / 4)]
                                                               : has[y * ROW / 4 + x - ROW / 8]);
        }
    }
    OK(clEnqueueSVMMemFill(clt_queue, svm[0], pattern, sizeof pattern, size, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, svm[1], svm[0], size, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, got, svm[1], size, 0, NULL, NULL));
    for (size_t i = 0; i < size / 4; i++) {
        assert_int_equal(got[i], pattern[i % (PATTERN / 4)]);
    }
    for (unsigned i = 0; i < LENGTH(m); i++) {
        OK(clReleaseMemObject(m[i]));
        clSVMFree(clt_context, svm[i]);
    }
    free(has);
    free(got);
}

int main(void)
{
    const char *config = getenv("TERN_CONFIG");
    char text[256];
    snprintf(text, sizeof text, "%s,mem=16M", config == NULL ? "default" : config);
    setenv("TERN_CONFIG", text, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stream), cmocka_unit_test(test_shared),
                                       cmocka_unit_test(test_large), cmocka_unit_test(test_coarse)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
