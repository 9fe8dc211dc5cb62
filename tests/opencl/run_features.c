/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images, half, 64-bit atomics, sub-groups and pointers in memory, each by a kernel that loops: short enough for an RTL
 * device that is preempted or moved meanwhile. TERN_TEST_STEPS: how often all run.
 */
#include "clt.h"

#include <CL/cl_half.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 64, GROUP = 32, SIDE = 8, ROUNDS = 40 };

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "kernel void image(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
    "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  float4 sum = 0;\n"
    "  for (int r = 0; r < 40; r++) sum += read_imagef(in, s, (float2)(at.x + r % 3 - 1, at.y + r % 5) + 0.5f);\n"
    "  write_imagef(out, at, sum);\n"
    "}\n"
    "kernel void halves(global const half *x, global half *y) {\n"
    "  const int i = get_global_id(0);\n"
    "  half h = x[i];\n"
    "  for (int r = 0; r < 40; r++) h = h * 0.75h + x[(i + r) % 64];\n"
    "  y[i] = h;\n"
    "}\n"
    "kernel void sums(global ulong *sum, global const ulong *x) {\n"
    "  for (int r = 0; r < 40; r++) atom_add(sum + r % 2, x[get_global_id(0)] + r);\n"
    "}\n"
    "kernel void lanes(global uint *x) {\n"
    "  uint v = x[get_global_id(0)];\n"
    "  for (int r = 0; r < 40; r++) v = v * 3 + sub_group_reduce_add(v) + sub_group_shuffle_xor(v, 1);\n"
    "  x[get_global_id(0)] = v;\n"
    "}\n"
    "struct node { global struct node *next; uint value; };\n"
    "kernel void chain(global struct node *n, global const uint *next) {\n"
    "  const int i = get_global_id(0);\n"
    "  n[i].next = n + next[i]; n[i].value = i * i;\n"
    "}\n"
    "kernel void walk(global struct node *n, global uint *sum) {\n"
    "  global struct node *at = n + get_global_id(0);\n"
    "  uint v = 0;\n"
    "  for (int r = 0; r < 40; r++) { v = v * 5 + at->value; at = at->next; }\n"
    "  sum[get_global_id(0)] = v;\n"
    "}\n";

static cl_program program;
static uint32_t seed;

/** Runs a kernel with work-items in one dimension. */
static void run(cl_kernel k)
{
    const size_t global = N, local = GROUP;
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clReleaseKernel(k));
}

static cl_kernel kernel_of(const char *name)
{
    cl_kernel k = clCreateKernel(program, name, &clt_error);
    MADE(k);
    return k;
}

/** The edge is clamped, and texels are small integers, so that all sums are exact. */
static void run_image(void)
{
    static const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    const cl_sampler_properties linear[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_ADDRESSING_MODE,
        CL_ADDRESS_CLAMP_TO_EDGE, CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
    const size_t origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1}, global[2] = {SIDE, SIDE};
    float in[SIDE][SIDE][4], got[SIDE][SIDE][4];
    for (size_t i = 0; i < sizeof in / sizeof(float); i++) {
        (&in[0][0][0])[i] = (float)(clt_random(&seed) % 1000);
    }
    cl_mem from = clCreateImage(clt_context, CL_MEM_COPY_HOST_PTR, &format, &desc, in, &clt_error);
    MADE(from);
    cl_mem to = clCreateImage(clt_context, CL_MEM_WRITE_ONLY, &format, &desc, NULL, &clt_error);
    MADE(to);
    cl_sampler sampler = clCreateSamplerWithProperties(clt_context, linear, &clt_error);
    MADE(sampler);
    cl_kernel k = kernel_of("image");
    clt_args(k, 3, ARG(from), ARG(to), ARG(sampler));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadImage(clt_queue, to, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL));
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            for (int c = 0; c < 4; c++) {
                float sum = 0;
                for (int r = 0; r < ROUNDS; r++) {
                    const int u = x + r % 3 - 1, v = y + r % 5;
                    sum += in[v >= SIDE ? SIDE - 1 : v][u < 0 ? 0 : u >= SIDE ? SIDE - 1 : u][c];
                }
                assert_true(got[y][x][c] == sum);
            }
        }
    }
    OK(clReleaseKernel(k));
    OK(clReleaseSampler(sampler));
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
}

/** The host rounds after each operation; float has enough bits for the product and the sum of two half. */
static void run_halves(void)
{
    cl_half in[N], got[N];
    for (int i = 0; i < N; i++) {
        in[i] = cl_half_from_float((float)(clt_random(&seed) % 4096) / 64.0f - 32.0f, CL_HALF_RTE);
    }
    cl_mem x = clt_buffer(sizeof in, in), y = clt_buffer(sizeof got, NULL);
    cl_kernel k = kernel_of("halves");
    clt_args(k, 2, ARG(x), ARG(y));
    run(k);
    clt_read(y, got, sizeof got);
    for (int i = 0; i < N; i++) {
        cl_half h = in[i];
        for (int r = 0; r < ROUNDS; r++) {
            const cl_half product = cl_half_from_float(cl_half_to_float(h) * 0.75f, CL_HALF_RTE);
            h = cl_half_from_float(cl_half_to_float(product) + cl_half_to_float(in[(i + r) % N]), CL_HALF_RTE);
        }
        assert_int_equal(got[i], h);
    }
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(y));
}

static void run_sums(void)
{
    cl_ulong in[N], sum[2] = {0, 0}, got[2];
    cl_mem s = clt_buffer(sizeof sum, sum);
    for (int i = 0; i < N; i++) {
        in[i] = (cl_ulong)clt_random(&seed) << 32 | clt_random(&seed);
        sum[0] += in[i] * (ROUNDS / 2) + (ROUNDS / 2) * (ROUNDS / 2 - 1);
        sum[1] += in[i] * (ROUNDS / 2) + (ROUNDS / 2) * (ROUNDS / 2);
    }
    cl_mem x = clt_buffer(sizeof in, in);
    cl_kernel k = kernel_of("sums");
    clt_args(k, 2, ARG(s), ARG(x));
    run(k);
    clt_read(s, got, sizeof got);
    assert_true(got[0] == sum[0] && got[1] == sum[1]);
    OK(clReleaseMemObject(s));
    OK(clReleaseMemObject(x));
}

static void run_lanes(void)
{
    size_t lanes;
    cl_uint in[N], got[N];
    for (int i = 0; i < N; i++) {
        in[i] = clt_random(&seed);
    }
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof lanes, &lanes, NULL));
    assert_true(lanes > 1 && GROUP % lanes == 0);
    cl_mem x = clt_buffer(sizeof in, in);
    cl_kernel k = kernel_of("lanes");
    clt_args(k, 1, ARG(x));
    run(k);
    clt_read(x, got, sizeof got);
    for (size_t first = 0; first < N; first += lanes) {
        for (int r = 0; r < ROUNDS; r++) {
            cl_uint sum = 0, next[N];
            for (size_t l = 0; l < lanes; l++) {
                sum += in[first + l];
            }
            for (size_t l = 0; l < lanes; l++) {
                next[l] = in[first + l] * 3 + sum + in[first + (l ^ 1)];
            }
            memcpy(in + first, next, lanes * sizeof next[0]);
        }
    }
    assert_memory_equal(got, in, sizeof in);
    OK(clReleaseMemObject(x));
}

/** A kernel stores pointers, which another one follows. */
static void run_chain(void)
{
    cl_uint next[N], got[N];
    for (int i = 0; i < N; i++) {
        next[i] = clt_random(&seed) % N;
    }
    cl_mem nodes = clt_buffer(16 * N, NULL), to = clt_buffer(sizeof next, next), sums = clt_buffer(sizeof got, NULL);
    cl_kernel k = kernel_of("chain"), walk = kernel_of("walk");
    clt_args(k, 2, ARG(nodes), ARG(to));
    run(k);
    clt_args(walk, 2, ARG(nodes), ARG(sums));
    run(walk);
    clt_read(sums, got, sizeof got);
    for (cl_uint i = 0; i < N; i++) {
        cl_uint v = 0, at = i;
        for (int r = 0; r < ROUNDS; r++) {
            v = v * 5 + at * at;
            at = next[at];
        }
        assert_int_equal(got[i], v);
    }
    OK(clReleaseMemObject(nodes));
    OK(clReleaseMemObject(to));
    OK(clReleaseMemObject(sums));
}

static void test_features(void **state)
{
    unsigned long steps;
    (void)state;
    seed = clt_seed(20261129, 2, &steps);
    program = clt_build(source, "-cl-std=CL3.0");
    for (unsigned long s = 0; s < steps; s++) {
        run_image();
        run_halves();
        run_sums();
        run_lanes();
        run_chain();
    }
    OK(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_features)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
