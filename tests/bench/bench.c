/* SPDX-License-Identifier: Apache-2.0 */
/** The benches: host side. Inputs are pseudo-random with a fixed seed; every result is computed again on the host. */
#include "bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__asm__(".section .rodata\n.globl tern_bench_source\n.hidden tern_bench_source\n.globl tern_bench_source_end\n"
        ".hidden tern_bench_source_end\ntern_bench_source:\n.incbin \"" TERN_BENCH_KERNELS
        "\"\ntern_bench_source_end:\n.byte 0\n.text");

#define MAX_BUFFERS 3

/** A kernel with its buffers: argument i < n_buffers is buffer i; further arguments are set by the caller. */
struct job {
    struct bench_env *env;
    cl_kernel kernel;
    cl_mem buffer[MAX_BUFFERS];
    int n_buffers;
    bool ok;
};

static void expect(struct job *j, cl_int err, const char *what)
{
    if (err != CL_SUCCESS && j->ok) {
        fprintf(stderr, "tern bench: %s gave OpenCL error %d\n", what, err);
        j->ok = false;
    }
}

static uint32_t random32(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

static float *random_floats(size_t n, uint32_t seed)
{
    float *v = malloc(n * sizeof *v);
    for (size_t i = 0; v && i < n; i++) {
        v[i] = (float)(random32(&seed) >> 8) / 16777216.0f - 0.5f;
    }
    return v;
}

static struct job begin(struct bench_env *env, const char *kernel)
{
    struct job j = {.env = env, .ok = true};
    cl_int err = CL_SUCCESS;
    if (kernel) {
        j.kernel = clCreateKernel(env->program, kernel, &err);
    }
    expect(&j, err, "clCreateKernel");
    return j;
}

/** Adds a buffer with these contents (NULL: zeros) and sets it as the next argument. */
static void add_buffer(struct job *j, size_t size, const void *data)
{
    cl_int err;
    const cl_uint zero = 0;
    cl_mem m = clCreateBuffer(j->env->context, CL_MEM_READ_WRITE, size, NULL, &err);
    expect(j, err, "clCreateBuffer");
    if (!j->ok) {
        return;
    }
    err = data ? clEnqueueWriteBuffer(j->env->queue, m, CL_TRUE, 0, size, data, 0, NULL, NULL)
               : clEnqueueFillBuffer(j->env->queue, m, &zero, sizeof zero, 0, size, 0, NULL, NULL);
    expect(j, err, "clEnqueueWriteBuffer");
    if (j->kernel) {
        expect(j, clSetKernelArg(j->kernel, (cl_uint)j->n_buffers, sizeof m, &m), "clSetKernelArg");
    }
    j->buffer[j->n_buffers++] = m;
}

static void set_arg(struct job *j, cl_uint index, size_t size, const void *value)
{
    if (j->ok) {
        expect(j, clSetKernelArg(j->kernel, index, size, value), "clSetKernelArg");
    }
}

static void measure(struct job *j, cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (j->ok) {
        expect(j, clWaitForEvents(1, &event), "clWaitForEvents");
        expect(j, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "profiling");
        expect(j, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "profiling");
        j->env->ns = end - start;
        j->env->sample(j->env->user, true);
        clReleaseEvent(event);
    }
}

static void launch(struct job *j, cl_uint dim, const size_t *global, const size_t *local)
{
    cl_event event = NULL;
    if (j->ok) {
        expect(j, clFinish(j->env->queue), "clFinish");
        j->env->sample(j->env->user, false);
        expect(j, clEnqueueNDRangeKernel(j->env->queue, j->kernel, dim, NULL, global, local, 0, NULL, &event),
               "clEnqueueNDRangeKernel");
        measure(j, event);
    }
}

static void read_back(struct job *j, int buffer, size_t size, void *data)
{
    if (j->ok) {
        expect(j, clEnqueueReadBuffer(j->env->queue, j->buffer[buffer], CL_TRUE, 0, size, data, 0, NULL, NULL),
               "clEnqueueReadBuffer");
    }
}

static bool end(struct job *j, bool right)
{
    for (int i = 0; i < j->n_buffers; i++) {
        clReleaseMemObject(j->buffer[i]);
    }
    if (j->kernel) {
        clReleaseKernel(j->kernel);
    }
    return j->ok && right;
}

/** The group size wanted, or what the device has room for. */
static size_t group_size(const struct bench_env *env, size_t wanted)
{
    cl_device_id device;
    size_t most = wanted;
    if (clGetContextInfo(env->context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL) == CL_SUCCESS) {
        clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    }
    return most < wanted ? most : wanted;
}

static bool stream(struct bench_env *env, const char *kernel, size_t n)
{
    const size_t group = group_size(env, 256);
    bool add = strcmp(kernel, "vecadd") == 0, right = true;
    const float scale = 2.5f;
    float *a = random_floats(n, 1), *b = random_floats(n, 2), *c = calloc(n, sizeof *c);
    struct job j = begin(env, kernel);
    add_buffer(&j, n * 4, a);
    add_buffer(&j, n * 4, b);
    if (add) {
        add_buffer(&j, n * 4, NULL);
    } else {
        set_arg(&j, 2, sizeof scale, &scale);
    }
    launch(&j, 1, &n, &group);
    read_back(&j, add ? 2 : 1, n * 4, c);
    for (size_t i = 0; j.ok && i < n; i++) {
        float fused = fmaf(scale, a[i], b[i]), split = scale * a[i] + b[i];
        right = right && (add ? c[i] == a[i] + b[i] : c[i] == fused || c[i] == split);
    }
    free(a);
    free(b);
    free(c);
    return end(&j, right);
}

static bool vecadd(struct bench_env *env)
{
    return stream(env, "vecadd", 16384);
}

static bool saxpy(struct bench_env *env)
{
    return stream(env, "saxpy", 65536);
}

static bool gemm(struct bench_env *env, const char *kernel, size_t gx, size_t gy)
{
    const int n = 128;
    const size_t items = (size_t)n * (size_t)n, global[2] = {(size_t)n, (size_t)n}, local[2] = {gx, gy};
    float *a = random_floats(items, 3), *b = random_floats(items, 4), *c = calloc(items, sizeof *c);
    bool right = true;
    struct job j = begin(env, kernel);
    add_buffer(&j, items * 4, a);
    add_buffer(&j, items * 4, b);
    add_buffer(&j, items * 4, NULL);
    set_arg(&j, 3, sizeof n, &n);
    launch(&j, 2, global, local);
    read_back(&j, 2, items * 4, c);
    for (int y = 0; j.ok && y < n; y++) {
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++) {
                sum = fmaf(a[y * n + k], b[k * n + x], sum);
            }
            right = right && sum == c[y * n + x];
        }
    }
    free(a);
    free(b);
    free(c);
    return end(&j, right);
}

static bool sgemm(struct bench_env *env)
{
    return gemm(env, "sgemm", 16, 4);
}

static bool sgemm_tiled(struct bench_env *env)
{
    return gemm(env, "sgemm_tiled", 8, 8);
}

static bool transpose(struct bench_env *env)
{
    const int n = 128;
    const size_t items = (size_t)n * (size_t)n, global[2] = {(size_t)n, (size_t)n}, local[2] = {8, 8};
    float *a = random_floats(items, 5), *c = calloc(items, sizeof *c);
    bool right = true;
    struct job j = begin(env, "transpose");
    add_buffer(&j, items * 4, a);
    add_buffer(&j, items * 4, NULL);
    set_arg(&j, 2, sizeof n, &n);
    launch(&j, 2, global, local);
    read_back(&j, 1, items * 4, c);
    for (size_t i = 0; j.ok && i < items; i++) {
        right = right && c[i] == a[i % (size_t)n * (size_t)n + i / (size_t)n];
    }
    free(a);
    free(c);
    return end(&j, right);
}

static bool reduce(struct bench_env *env)
{
    const cl_uint n = 65536;
    const size_t global = 1024, local = 64;
    uint32_t seed = 6, sum = 0, got = 0, *in = malloc(n * sizeof *in);
    for (cl_uint i = 0; in && i < n; i++) {
        in[i] = random32(&seed);
        sum += in[i];
    }
    struct job j = begin(env, "reduce");
    add_buffer(&j, n * 4, in);
    add_buffer(&j, 4, NULL);
    set_arg(&j, 2, local * 4, NULL);
    set_arg(&j, 3, sizeof n, &n);
    launch(&j, 1, &global, &local);
    read_back(&j, 1, 4, &got);
    free(in);
    return end(&j, got == sum);
}

static bool histogram(struct bench_env *env)
{
    const cl_uint n = 32768;
    const size_t global = 512, local = 64;
    uint32_t seed = 7, want[256] = {0}, got[256] = {0};
    uint8_t *in = malloc(n);
    for (cl_uint i = 0; in && i < n; i++) {
        in[i] = (uint8_t)(random32(&seed) >> 24);
        want[in[i]]++;
    }
    struct job j = begin(env, "histogram");
    add_buffer(&j, n, in);
    add_buffer(&j, sizeof got, NULL);
    set_arg(&j, 2, sizeof n, &n);
    launch(&j, 1, &global, &local);
    read_back(&j, 1, sizeof got, got);
    free(in);
    return end(&j, memcmp(want, got, sizeof got) == 0);
}

static bool mandelbrot(struct bench_env *env)
{
    enum { N = 64 };
    const size_t global[2] = {N, N}, local[2] = {8, 8};
    const float x0 = -2.0f, y0 = -1.25f, step = 0.0390625f;
    const cl_uint limit = 64;
    static uint32_t out[N * N];
    bool right = true;
    struct job j = begin(env, "mandelbrot");
    add_buffer(&j, sizeof out, NULL);
    set_arg(&j, 1, 4, &x0);
    set_arg(&j, 2, 4, &y0);
    set_arg(&j, 3, 4, &step);
    set_arg(&j, 4, 4, &limit);
    launch(&j, 2, global, local);
    read_back(&j, 0, sizeof out, out);
    long differ = 0;
    for (int i = 0; j.ok && i < N * N; i++) {
        float cx = x0 + (float)(i % N) * step, cy = y0 + (float)(i / N) * step, x = 0, y = 0;
        uint32_t n = 0;
        while (n < limit && x * x + y * y < 4.0f) {
            float t = fmaf(x, x, fmaf(-y, y, cx));
            y = fmaf(2.0f * x, y, cy);
            x = t;
            n++;
        }
        differ += out[i] != n;
    }
    right = differ <= N * N / 100; /* x * x + y * y may be contracted, which moves a few border pixels */
    return end(&j, right);
}

static bool mover(struct bench_env *env, bool copy)
{
    const size_t n = 262144;
    const cl_uint pattern = 0x5eed5eedu;
    bool right = true;
    float *a = random_floats(n, 8);
    uint32_t *c = calloc(n, sizeof *c);
    cl_event event = NULL;
    struct job j = begin(env, NULL);
    add_buffer(&j, n * 4, a);
    add_buffer(&j, n * 4, NULL);
    if (j.ok) {
        expect(&j, clFinish(env->queue), "clFinish");
        env->sample(env->user, false);
        expect(&j, copy ? clEnqueueCopyBuffer(env->queue, j.buffer[0], j.buffer[1], 0, 0, n * 4, 0, NULL, &event)
                        : clEnqueueFillBuffer(env->queue, j.buffer[1], &pattern, 4, 0, n * 4, 0, NULL, &event),
               "copy or fill");
        measure(&j, event);
    }
    read_back(&j, 1, n * 4, c);
    for (size_t i = 0; j.ok && !copy && i < n; i++) {
        right = right && c[i] == pattern;
    }
    right = right && (!copy || memcmp(a, c, n * 4) == 0);
    free(a);
    free(c);
    return end(&j, right);
}

static bool copy_1m(struct bench_env *env)
{
    return mover(env, true);
}

static bool fill_1m(struct bench_env *env)
{
    return mover(env, false);
}

const struct bench tern_benches[] = {
    {"vecadd-16384", vecadd},       {"saxpy-65536", saxpy},   {"sgemm-128", sgemm},
    {"sgemm-tiled-128", sgemm_tiled}, {"transpose-128", transpose}, {"reduce-65536", reduce},
    {"histogram-32768", histogram}, {"mandelbrot-64", mandelbrot}, {"copy-1m", copy_1m},
    {"fill-1m", fill_1m},
};
const unsigned tern_n_benches = sizeof tern_benches / sizeof tern_benches[0];
