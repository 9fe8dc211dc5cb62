/* SPDX-License-Identifier: Apache-2.0 */
/** A program of OpenCL as others write it: the first platform of the loader, a kernel from source, its result. */
#include <CL/cl.h>
#include <stdio.h>

#define N 256

static const char *const source = "kernel void hello(global int *x, int y) { x[get_global_id(0)] *= y; }";

static int ok(cl_int err, const char *what)
{
    if (err != CL_SUCCESS) {
        fprintf(stderr, "hello: %s: OpenCL error %d\n", what, err);
    }
    return err == CL_SUCCESS;
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int err, x[N], y = 7;
    char name[128];
    const size_t n = N;
    for (int i = 0; i < N; i++) {
        x[i] = i;
    }
    if (!ok(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs") ||
        !ok(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo") ||
        !ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs")) {
        return 1;
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &err);
    if (!ok(err, "clCreateProgramWithSource") ||
        !ok(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram")) {
        return 1;
    }
    cl_kernel kernel = clCreateKernel(program, "hello", &err);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x, &err);
    if (!ok(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg") ||
        !ok(clSetKernelArg(kernel, 1, sizeof y, &y), "clSetKernelArg") ||
        !ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel") ||
        !ok(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL), "clEnqueueReadBuffer")) {
        return 1;
    }
    for (int i = 0; i < N; i++) {
        if (x[i] != 7 * i) {
            fprintf(stderr, "hello: x[%d] is %d\n", i, x[i]);
            return 1;
        }
    }
    printf("%s: %d numbers are right\n", name, N);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
