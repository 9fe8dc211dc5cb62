/* SPDX-License-Identifier: Apache-2.0 */
/** Common functions of the OpenCL tests (clt.h). */
#include "clt.h"

#include <CL/cl_tern.h>
#include <stdio.h>
#include <string.h>

#define REPORT_BYTES 2048

cl_platform_id clt_platform;
cl_device_id clt_device;
cl_context clt_context;
cl_command_queue clt_queue;
cl_int clt_error;

static cl_platform_id find_platform(void)
{
    cl_platform_id all[16];
    cl_uint n = 0;
    char name[64];
    OK(clGetPlatformIDs(16, all, &n));
    for (cl_uint i = 0; i < n && i < 16; i++) {
        if (clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
            strcmp(name, "Tern") == 0) {
            return all[i];
        }
    }
    return NULL;
}

int clt_open(void **state)
{
    (void)state;
    setenv("TERN_BACKEND", "model", 0);
    clt_platform = find_platform();
    assert_non_null(clt_platform);
    OK(clGetDeviceIDs(clt_platform, CL_DEVICE_TYPE_ALL, 1, &clt_device, NULL));
    clt_context = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error);
    MADE(clt_context);
    clt_queue = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_PROFILING_ENABLE, &clt_error);
    MADE(clt_queue);
    return 0;
}

int clt_close(void **state)
{
    (void)state;
    OK(clReleaseCommandQueue(clt_queue));
    OK(clReleaseContext(clt_context));
    return 0;
}

cl_program clt_build(const char *source, const char *options)
{
    cl_program p = clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error);
    MADE(p);
    if (clBuildProgram(p, 1, &clt_device, options, NULL, NULL) != CL_SUCCESS) {
        char log[8192] = "";
        clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("the program does not build:\n%s", log);
    }
    return p;
}

cl_kernel clt_kernel(const char *source, const char *name)
{
    cl_program p = clt_build(source, "-cl-kernel-arg-info");
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    OK(clReleaseProgram(p));
    return k;
}

cl_mem clt_buffer(size_t size, const void *data)
{
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (data == NULL ? 0 : CL_MEM_COPY_HOST_PTR);
    cl_mem m = clCreateBuffer(clt_context, flags, size, (void *)(uintptr_t)data, &clt_error);
    MADE(m);
    return m;
}

void clt_args(cl_kernel k, unsigned n, ...)
{
    va_list list;
    va_start(list, n);
    for (cl_uint i = 0; i < n; i++) {
        const size_t size = va_arg(list, size_t);
        OK(clSetKernelArg(k, i, size, va_arg(list, void *)));
    }
    va_end(list);
}

void clt_run(cl_kernel k, size_t global, size_t local)
{
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &global, local == 0 ? NULL : &local, 0, NULL, NULL));
    OK(clFinish(clt_queue));
}

void clt_read(cl_mem m, void *data, size_t size)
{
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, size, data, 0, NULL, NULL));
}

cl_int clt_run_range(cl_program p, const char *name, const struct clt_range *r, cl_mem in, void *result, size_t bytes)
{
    static const uint32_t fill = 0xa5c3e1f7u;
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    cl_mem out = clt_buffer(bytes, NULL);
    OK(clEnqueueFillBuffer(clt_queue, out, &fill, sizeof fill, 0, bytes, 0, NULL, NULL));
    clt_args(k, 4, ARG(in), ARG(out), ARG(r->n), ARG(r->m));
    const size_t *local = r->local[0] != 0 ? r->local : NULL;
    const cl_int error = clEnqueueNDRangeKernel(clt_queue, k, r->dims, r->offset, r->global, local, 0, NULL, NULL);
    if (error != CL_INVALID_WORK_GROUP_SIZE) {
        OK(error);
    }
    clt_read(out, result, bytes);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
    return error;
}

size_t clt_first_difference(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && a[at] == b[at]) {
        at++;
    }
    return at;
}

bool clt_on_rtl(void)
{
    const char *backend = getenv("TERN_BACKEND");
    return backend != NULL && strcmp(backend, "rtl") == 0;
}

uint32_t clt_seed(uint32_t usual, unsigned long usual_steps, unsigned long *steps)
{
    const char *seed = getenv("TERN_TEST_SEED"), *length = getenv("TERN_TEST_STEPS");
    const uint32_t chosen = seed != NULL ? (uint32_t)strtoul(seed, NULL, 0) : usual;
    *steps = length != NULL ? strtoul(length, NULL, 0) : usual_steps;
    printf("TERN_TEST_SEED=%u TERN_TEST_STEPS=%lu\n", chosen, *steps);
    return chosen;
}

uint32_t clt_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

float clt_random_float(uint32_t *state)
{
    return (float)(clt_random(state) >> 8) / 16777216.0f;
}

cl_ulong clt_instructions(void)
{
    const clGetDeviceCountersTERN_fn read = (clGetDeviceCountersTERN_fn)(uintptr_t)
        clGetExtensionFunctionAddressForPlatform(clt_platform, "clGetDeviceCountersTERN");
    cl_tern_counters c = {.engines = 1};
    cl_ulong sum = 0;
    assert_non_null(read);
    for (cl_uint e = 0; e < c.engines; e++) {
        OK(read(clt_device, e, &c));
        sum += c.lanes_active;
    }
    return sum;
}

static void CL_CALLBACK on_report(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    snprintf(data, REPORT_BYTES, "%s", text);
}

const char *clt_fault(const char *text, const char *options, cl_uint dims, const size_t *offset, const size_t *global,
                      const size_t *local, size_t local_bytes, cl_uint bad)
{
    static char report[REPORT_BYTES];
    cl_context c = clCreateContext(NULL, 1, &clt_device, on_report, report, &clt_error);
    MADE(c);
    cl_program p = clCreateProgramWithSource(c, 1, &text, NULL, &clt_error);
    MADE(p);
    OK(clBuildProgram(p, 0, NULL, options, NULL, NULL));
    cl_command_queue q = clCreateCommandQueue(c, clt_device, 0, &clt_error);
    MADE(q);
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    cl_mem m = clCreateBuffer(c, 0, 1 << 18, NULL, &clt_error);
    MADE(m);
    OK(clSetKernelArg(k, 0, sizeof m, &m));
    if (local_bytes > 0) {
        OK(clSetKernelArg(k, 1, local_bytes, NULL));
    }
    OK(clSetKernelArg(k, local_bytes > 0 ? 2 : 1, sizeof bad, &bad));
    report[0] = '\0';
    OK(clEnqueueNDRangeKernel(q, k, dims, offset, global, local, 0, NULL, NULL));
    FAILS(clFinish(q), CL_OUT_OF_RESOURCES);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseProgram(p));
    OK(clReleaseContext(c));
    return report;
}
