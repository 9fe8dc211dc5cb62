/* SPDX-License-Identifier: Apache-2.0 */
/** Common host code of the benches (job.h). */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>

void job_expect(struct job *j, cl_int err, const char *what)
{
    if (err != CL_SUCCESS && j->ok) {
        fprintf(stderr, "tern bench: %s gave OpenCL error %d\n", what, err);
        j->ok = false;
    }
}

uint32_t random32(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

void *job_memory(size_t size)
{
    void *p = calloc(1, size);
    if (!p) {
        fprintf(stderr, "tern bench: no memory for %zu bytes\n", size);
        exit(1); /* Each bench has its own process. */
    }
    return p;
}

uint32_t *random_words(size_t n, uint32_t seed)
{
    uint32_t *v = job_memory(n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        v[i] = random32(&seed);
    }
    return v;
}

float *random_floats(size_t n, uint32_t seed)
{
    float *v = job_memory(n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        v[i] = (float)(random32(&seed) >> 8) / 16777216.0f - 0.5f;
    }
    return v;
}

void job_kernel(struct job *j, const char *kernel, int n)
{
    cl_int err = CL_SUCCESS;
    if (!j->ok) {
        return;
    }
    if (j->kernel) {
        clReleaseKernel(j->kernel);
    }
    j->kernel = clCreateKernel(j->env->program, kernel, &err);
    job_expect(j, err, "clCreateKernel");
    for (int i = 0; i < n; i++) {
        job_arg(j, (cl_uint)i, sizeof j->buffer[i], &j->buffer[i]);
    }
}

struct job job_begin(struct bench_env *env, const char *kernel)
{
    struct job j = {.env = env, .ok = true};
    env->ns = 0;
    env->measured = false;
    if (kernel) {
        job_kernel(&j, kernel, 0);
    }
    return j;
}

void job_buffer(struct job *j, size_t size, const void *data)
{
    cl_int err;
    const cl_uint zero = 0;
    if (!j->ok) {
        return;
    }
    cl_mem m = clCreateBuffer(j->env->context, CL_MEM_READ_WRITE, size, NULL, &err);
    job_expect(j, err, "clCreateBuffer");
    if (!j->ok) {
        return;
    }
    err = data ? clEnqueueWriteBuffer(j->env->queue, m, CL_TRUE, 0, size, data, 0, NULL, NULL)
               : clEnqueueFillBuffer(j->env->queue, m, &zero, sizeof zero, 0, size, 0, NULL, NULL);
    job_expect(j, err, "clEnqueueWriteBuffer");
    if (j->kernel) {
        job_expect(j, clSetKernelArg(j->kernel, (cl_uint)j->n_buffers, sizeof m, &m), "clSetKernelArg");
    }
    j->buffer[j->n_buffers++] = m;
}

void job_arg(struct job *j, cl_uint index, size_t size, const void *value)
{
    if (j->ok) {
        job_expect(j, clSetKernelArg(j->kernel, index, size, value), "clSetKernelArg");
    }
}

void job_before(struct job *j)
{
    if (j->ok) {
        job_expect(j, clFinish(j->env->queue), "clFinish");
    }
    if (j->ok && !j->env->measured) {
        j->env->sample(j->env->user, false);
        j->env->measured = true;
    }
}

void job_after(struct job *j, cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (j->ok) {
        job_expect(j, clWaitForEvents(1, &event), "clWaitForEvents");
        job_expect(j, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
                   "profiling");
        job_expect(j, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "profiling");
        j->env->ns += end - start;
        j->env->sample(j->env->user, true);
        clReleaseEvent(event);
    }
}

void job_launch(struct job *j, cl_uint dim, const size_t *global, const size_t *local)
{
    cl_event event = NULL;
    job_before(j);
    if (j->ok) {
        job_expect(j, clEnqueueNDRangeKernel(j->env->queue, j->kernel, dim, NULL, global, local, 0, NULL, &event),
                   "clEnqueueNDRangeKernel");
        job_after(j, event);
    }
}

void job_forget(struct job *j)
{
    j->env->ns = 0;
    j->env->measured = false;
}

void job_read(struct job *j, int buffer, size_t size, void *data)
{
    if (j->ok) {
        job_expect(j, clEnqueueReadBuffer(j->env->queue, j->buffer[buffer], CL_TRUE, 0, size, data, 0, NULL, NULL),
                   "clEnqueueReadBuffer");
    }
}

bool job_end(struct job *j, bool right)
{
    for (int i = 0; i < j->n_buffers; i++) {
        clReleaseMemObject(j->buffer[i]);
    }
    if (j->kernel) {
        clReleaseKernel(j->kernel);
    }
    return j->ok && right;
}

size_t group_size(const struct bench_env *env, size_t wanted)
{
    cl_device_id device;
    size_t most = wanted;
    if (clGetContextInfo(env->context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL) == CL_SUCCESS) {
        clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    }
    return most < wanted ? most : wanted;
}
