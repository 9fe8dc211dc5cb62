/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of the soak test: a plain OpenCL program that runs a random mix of kernels on small data until SIGTERM, and
 * compares each result with what the host computes. The program prints a line when it is ready for SIGTERM, and one at
 * the end: {"rounds": number of kernels that were checked}.
 *
 *     ternd_soak_client SEED
 *
 * Exit status: 0 all results right, 1 one was not or a call failed; stderr then says which, with the seed.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 4096u /* Elements of a buffer. */
#define BINS 64u

static const char source[] =
    "kernel void mix(global const uint *a, global const uint *b, global uint *c, uint k) {\n"
    "    size_t i = get_global_id(0);\n"
    "    uint v = a[i];\n"
    "    for (uint j = 0; j < k; j++) v = rotate(v * 1664525u + b[i], 7u);\n"
    "    c[i] = v;\n"
    "}\n"
    "kernel void sums(global const uint *a, global uint *c, local uint *part) {\n"
    "    uint l = get_local_id(0);\n"
    "    part[l] = a[get_global_id(0)];\n"
    "    for (uint s = get_local_size(0) / 2; s; s >>= 1) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (l < s) part[l] += part[l + s];\n"
    "    }\n"
    "    if (!l) c[get_group_id(0)] = part[0];\n"
    "}\n"
    "kernel void bins(global const uint *a, global uint *c) {\n"
    "    atomic_inc(&c[a[get_global_id(0)] % 64u]);\n"
    "}\n";

static volatile sig_atomic_t ended;
static uint64_t state;
static unsigned long seed, rounds;
static cl_context context;
static cl_command_queue queue;
static cl_kernel mix, sums, bins;
static uint32_t a[ELEMENTS_MAX], b[ELEMENTS_MAX], c[ELEMENTS_MAX], want[ELEMENTS_MAX];

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

/** SplitMix64. */
static uint32_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z ^ z >> 31);
}

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "soak client, seed %lu, round %lu: %s: OpenCL error %d\n", seed, rounds, what, error);
        exit(1);
    }
}

static cl_mem buffer(size_t n, const uint32_t *data)
{
    cl_int error;
    cl_mem m = clCreateBuffer(context, data ? CL_MEM_COPY_HOST_PTR : 0, n * 4, (void *)(uintptr_t)data, &error);
    check(error, "clCreateBuffer");
    return m;
}

static void run(cl_kernel k, uint32_t n, size_t local)
{
    size_t global = n;
    check(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL), "enqueue");
}

static void compare(cl_mem m, uint32_t n, const char *kernel)
{
    check(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, n * 4, c, 0, NULL, NULL), kernel);
    for (uint32_t i = 0; i < n; i++) {
        if (c[i] != want[i]) {
            fprintf(stderr, "soak client, seed %lu, round %lu: %s: element %u is 0x%08x, not 0x%08x\n", seed, rounds,
                    kernel, i, c[i], want[i]);
            exit(1);
        }
    }
}

static void run_mix(uint32_t n)
{
    cl_mem x = buffer(n, a), y = buffer(n, b), z = buffer(n, NULL);
    cl_uint k = draw() % 200;
    check(clSetKernelArg(mix, 0, sizeof x, &x) | clSetKernelArg(mix, 1, sizeof y, &y) |
          clSetKernelArg(mix, 2, sizeof z, &z) | clSetKernelArg(mix, 3, sizeof k, &k), "arguments of mix");
    run(mix, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = a[i];
        for (uint32_t j = 0; j < k; j++) {
            v = v * 1664525u + b[i];
            v = v << 7 | v >> 25;
        }
        want[i] = v;
    }
    compare(z, n, "mix");
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseMemObject(z);
}

static void run_sums(uint32_t n)
{
    const uint32_t local = 64;
    n = (n + local - 1) / local * local;
    cl_mem x = buffer(n, a), z = buffer(n / local, NULL);
    check(clSetKernelArg(sums, 0, sizeof x, &x) | clSetKernelArg(sums, 1, sizeof z, &z) |
          clSetKernelArg(sums, 2, local * 4, NULL), "arguments of sums");
    run(sums, n, local);
    memset(want, 0, sizeof want);
    for (uint32_t i = 0; i < n; i++) {
        want[i / local] += a[i];
    }
    compare(z, n / local, "sums");
    clReleaseMemObject(x);
    clReleaseMemObject(z);
}

static void run_bins(uint32_t n)
{
    memset(want, 0, sizeof want);
    cl_mem x = buffer(n, a), z = buffer(BINS, want);
    check(clSetKernelArg(bins, 0, sizeof x, &x) | clSetKernelArg(bins, 1, sizeof z, &z), "arguments of bins");
    run(bins, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        want[a[i] % BINS]++;
    }
    compare(z, BINS, "bins");
    clReleaseMemObject(x);
    clReleaseMemObject(z);
}

static cl_kernel kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel k = clCreateKernel(program, name, &error);
    check(error, name);
    return k;
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    state = seed;
    signal(SIGTERM, end);
    puts("begins");
    fflush(stdout);
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    mix = kernel(program, "mix");
    sums = kernel(program, "sums");
    bins = kernel(program, "bins");
    for (; !ended; rounds++) {
        const uint32_t n = 1 + draw() % (ELEMENTS_MAX - 64);
        for (uint32_t i = 0; i < n + 64 && i < ELEMENTS_MAX; i++) {
            a[i] = draw();
            b[i] = draw();
        }
        static void (*const kinds[])(uint32_t) = {run_mix, run_sums, run_bins};
        kinds[draw() % 3](n);
    }
    clReleaseKernel(mix);
    clReleaseKernel(sums);
    clReleaseKernel(bins);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("{\"rounds\": %lu}\n", rounds);
    return 0;
}
