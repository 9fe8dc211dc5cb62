/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels of halves of which several work-items run in one of the hardware, in rounds, tiles and merged groups, give
 * the same results as without, in fewer instructions.
 */
#include "clt.h"

#include <string.h>

#define ENABLE "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"

static const char shapes[] = ENABLE
    "kernel void scale(global const half *a, global half *r, uint n) {\n"
    "    size_t i = get_global_id(0); r[i] = a[i] * 1.5h;\n"
    "}\n"
    "kernel void pairs(global const half *a, global half *r, uint n) {\n"
    "    size_t i = get_global_id(0); if (i < n / 4) vstore4(vload4(i, a) + (half4)(1, 2, 3, 4), i, r);\n"
    "}\n"
    "kernel void sum(global const half *a, global half *r, uint n) {\n"
    "    half s = 0; for (uint k = 0; k < 1024; k++) s += a[k]; r[get_global_id(0)] = s;\n"
    "}\n"
    "kernel void product(global const half *a, global half *r, uint n) {\n"
    "    size_t x = get_global_id(0) % 64, y = get_global_id(0) / 64; half s = 0;\n"
    "    for (uint k = 0; k < 24; k++) s += a[(y & 15) * 64 + k] * a[k * 64 + x];\n"
    "    r[y * 64 + x] = s;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void turn(global const half *a, global half *r, uint n) {\n"
    "    local half w[64]; size_t l = get_local_id(0), i = get_global_id(0); w[l] = a[i]; barrier(1);\n"
    "    half s = w[63 - l]; for (uint d = 32; d; d /= 2) { s = max(s, w[l ^ d]) + 0.25h; } r[i] = s;\n"
    "}\n";

static void test_shapes(void **state)
{
    enum { ITEMS = 1 << 15 };
    static uint16_t a[ITEMS], r[2][ITEMS];
    static const char *const names[] = {"scale", "pairs", "product", "turn"};
    const cl_uint n = ITEMS;
    uint32_t seed = 9;
    cl_ulong instructions[2] = {0, 0};
    (void)state;
    for (unsigned i = 0; i < ITEMS; i++) {
        a[i] = (uint16_t)(clt_random(&seed) % 0x4000 + (clt_random(&seed) & 0x8000));
    }
    cl_mem in = clt_buffer(sizeof a, a), out = clt_buffer(sizeof r[0], NULL);
    for (unsigned f = 0; f < LENGTH(names); f++) {
        for (unsigned plain = 0; plain < 2; plain++) {
            cl_program p = clt_build(shapes, plain ? "-tern-no-coarsen" : "");
            cl_kernel k = clCreateKernel(p, names[f], &clt_error);
            MADE(k);
            clt_args(k, 3, ARG(in), ARG(out), ARG(n));
            const cl_ulong before = clt_instructions();
            clt_run(k, ITEMS, f == 3 ? 64 : 0);
            instructions[plain] += clt_instructions() - before;
            clt_read(out, r[plain], sizeof r[plain]);
            OK(clReleaseKernel(k));
            OK(clReleaseProgram(p));
        }
        if (memcmp(r[0], r[1], sizeof r[0]) != 0) {
            fail_msg("kernel %s: the results differ without second entries", names[f]);
        }
    }
    /* An element of a sum takes 19 instructions, if the sum stays a float over the loop. */
    cl_program p = clt_build(shapes, "-tern-no-coarsen");
    cl_kernel k = clCreateKernel(p, "sum", &clt_error);
    MADE(k);
    clt_args(k, 3, ARG(in), ARG(out), ARG(n));
    const cl_ulong before = clt_instructions();
    clt_run(k, 64, 64);
    const cl_ulong each = (clt_instructions() - before) / 64 / 1024;
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    if (each > 20) {
        fail_msg("a sum takes %llu instructions for each element", (unsigned long long)each);
    }
    if (instructions[0] >= instructions[1]) {
        fail_msg("%llu instructions, and %llu without second entries", (unsigned long long)instructions[0],
                 (unsigned long long)instructions[1]);
    }
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
