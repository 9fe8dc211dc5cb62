/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that the demo's programs share: OpenCL objects, error messages, cycles. */
#include "demo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void demo_fail(struct demo *d, const char *format, ...)
{
    if (d->ok) {
        va_list ap;
        fprintf(stderr, "%s: ", d->name);
        va_start(ap, format);
        vfprintf(stderr, format, ap);
        va_end(ap);
        fputc('\n', stderr);
    }
    d->ok = false;
}

static bool good(struct demo *d, cl_int err, const char *what)
{
    if (err != CL_SUCCESS) {
        demo_fail(d, "%s gave OpenCL error %d", what, err);
    }
    return d->ok;
}

static char *load(struct demo *d, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, d->kernels);
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!f || !text || fread(text, 1, 65535, f) == 0) {
        demo_fail(d, "cannot read the kernels in %s", path);
    }
    if (f) {
        fclose(f);
    }
    return text;
}

static void show_build_log(struct demo *d)
{
    size_t size = 0;
    clGetProgramBuildInfo(d->program, d->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(1, size + 1);
    if (log) {
        clGetProgramBuildInfo(d->program, d->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    }
    demo_fail(d, "%s does not compile:\n%s", d->kernels, log ? log : "");
    free(log);
}

static void CL_CALLBACK told(const char *text, const void *info, size_t size, void *user)
{
    const struct demo *d = user;
    (void)info;
    (void)size;
    fprintf(stderr, "%s: the device says: %s\n", d->name, text);
}

bool demo_open(struct demo *d, const char *folder)
{
    cl_int err;
    d->ok = true;
    d->context = clCreateContext(NULL, 1, &d->device, told, d, &err);
    if (!good(d, err, "clCreateContext")) {
        return false;
    }
    d->queue = clCreateCommandQueueWithProperties(d->context, d->device, NULL, &err);
    if (!good(d, err, "clCreateCommandQueueWithProperties")) {
        return false;
    }
    char *text = load(d, folder);
    const char *source = text;
    if (d->ok) {
        d->program = clCreateProgramWithSource(d->context, 1, &source, NULL, &err);
        if (good(d, err, "clCreateProgramWithSource") && clBuildProgram(d->program, 1, &d->device, "", NULL, NULL)) {
            show_build_log(d);
        }
    }
    free(text);
    return d->ok;
}

void demo_close(struct demo *d)
{
    if (d->program) {
        clReleaseProgram(d->program);
    }
    if (d->queue) {
        good(d, clFinish(d->queue), "clFinish");
        clGetCommandQueueInfo(d->queue, CL_QUEUE_STATISTICS_TERN, sizeof d->ran, &d->ran, NULL);
        clReleaseCommandQueue(d->queue);
    }
    if (d->context) {
        clReleaseContext(d->context);
    }
}

cl_kernel demo_kernel(struct demo *d, const char *name)
{
    cl_int err = CL_SUCCESS;
    cl_kernel k = d->ok ? clCreateKernel(d->program, name, &err) : NULL;
    good(d, err, name);
    return k;
}

cl_mem demo_buffer(struct demo *d, size_t size, const void *data)
{
    cl_int err = CL_SUCCESS;
    cl_mem m = NULL;
    if (d->ok) {
        m = clCreateBuffer(d->context, CL_MEM_READ_WRITE, size, NULL, &err);
        good(d, err, "clCreateBuffer");
    }
    if (d->ok && data) {
        good(d, clEnqueueWriteBuffer(d->queue, m, CL_TRUE, 0, size, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
    }
    return m;
}

void demo_args(struct demo *d, cl_kernel k, ...)
{
    va_list ap;
    va_start(ap, k);
    for (cl_uint i = 0; d->ok; i++) {
        size_t size = va_arg(ap, size_t);
        if (size == 0) {
            break;
        }
        good(d, clSetKernelArg(k, i, size, va_arg(ap, const void *)), "clSetKernelArg");
    }
    va_end(ap);
}

void demo_run(struct demo *d, cl_kernel k, cl_uint dim, const size_t *global, const size_t *local)
{
    if (d->ok &&
        good(d, clEnqueueNDRangeKernel(d->queue, k, dim, NULL, global, local, 0, NULL, NULL),
             "clEnqueueNDRangeKernel")) {
        good(d, clFinish(d->queue), "clFinish");
    }
}

void demo_read(struct demo *d, cl_mem m, size_t size, void *data)
{
    if (d->ok) {
        good(d, clEnqueueReadBuffer(d->queue, m, CL_TRUE, 0, size, data, 0, NULL, NULL), "clEnqueueReadBuffer");
    }
}
