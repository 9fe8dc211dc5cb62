/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops over a range at the distance of the global size, of which the compiler runs several rounds at once. Sums and
 * the last index are compared with the host's, for ranges that end anywhere: at the ends of the numbers, where the
 * index plus several steps wraps, with no round, one, and any number of them.
 */
#include "clt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 12, ITEMS = 300 };

static const char source[] =
    "#define SUM(name, type, dim) kernel void name(global const uint *in, global uint *out, uint first, uint n) {"
    "    uint s = 1, id = get_global_id(dim); type i = (type)(id + first), end = (type)n;"
    "    for (; i < end; i += (type)get_global_size(dim)) s = s * 3 + in[(uint)i & 4095];"
    "    out[2 * id] = s; out[2 * id + 1] = (uint)i; }\n"
    "SUM(above, uint, 0) SUM(both, int, 0) SUM(rows, uint, 1)"
    "kernel void sums(global const uint *in, global uint *out, uint first, uint n) {"
    "    float s = 0; uint id = get_global_id(0), most = 0; for (uint i = id + first; i < n; i += get_global_size(0)) {"
    "    uint v = in[i & 4095]; s += (float)(v & 255); most = max(most, v); }"
    "    out[2 * id] = most; out[2 * id + 1] = as_uint(s); }\n";

static uint32_t seed, words[WORDS];

/** Computes what a work-item of a kernel stores. kind: 0 above, rows; 1 both; 2 sums. */
static void expect(int kind, uint32_t id, uint32_t first, uint32_t n, uint32_t size, uint32_t out[2])
{
    uint32_t i = id + first, s = 1, most = 0;
    float sum = 0;
    while (kind == 1 ? (int32_t)i < (int32_t)n : i < n) {
        const uint32_t v = words[i & (WORDS - 1)];
        s = s * 3 + v;
        sum += (float)(v & 255);
        most = v > most ? v : most;
        i += size;
    }
    out[0] = kind == 2 ? most : s;
    memcpy(&out[1], kind == 2 ? (const void *)&sum : &i, 4);
}

/** Returns a limit at most `rounds` rounds behind `first`, so that the index does not wrap. */
static uint32_t limit(uint32_t first, uint32_t size, uint32_t last)
{
    const uint32_t room = last - first > 2 * size ? last - first - 2 * size : 0, most = clt_random(&seed) % 30 * size;
    return first + (most < room ? most : room) + clt_random(&seed) % size;
}

static void test_strides(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int kind, dim;
    } kernels[] = {{"above", 0, 0}, {"both", 1, 0}, {"rows", 0, 1}, {"sums", 2, 0}};
    seed = 20261127;
    for (int i = 0; i < WORDS; i++) {
        words[i] = clt_random(&seed);
    }
    cl_mem in = clt_buffer(sizeof words, words), out = clt_buffer(ITEMS * 8, NULL);
    cl_program p = clt_build(source, "-cl-std=CL3.0");
    for (int step = 0; step < 120; step++) {
        const size_t k = (size_t)step % LENGTH(kernels);
        const uint32_t size = clt_random(&seed) % 3 == 0 ? clt_random(&seed) % 9 + 1 : clt_random(&seed) % ITEMS + 1;
        const uint32_t last = kernels[k].kind == 1 ? INT32_MAX : UINT32_MAX, any = clt_random(&seed);
        /* Ranges begin at 0, near the last number, at the first negative one, or anywhere. */
        const uint32_t starts[] = {0, last - 2000 - any % 12000, (uint32_t)INT32_MIN, any >> 1, 0u - any % 3000 - 300};
        const uint32_t first = starts[clt_random(&seed) % (kernels[k].kind == 1 ? 5 : 2)];
        uint32_t n = limit(first, size, (int32_t)first < 0 && kernels[k].kind == 1 ? first + 20000 : last);
        uint32_t got[ITEMS][2], right[2];
        size_t global[2] = {1, 1};
        if (clt_random(&seed) % 5 == 0) {
            n = first; /* no round */
        }
        global[kernels[k].dim] = size;
        cl_kernel kernel = clCreateKernel(p, kernels[k].name, &clt_error);
        MADE(kernel);
        clt_args(kernel, 4, ARG(in), ARG(out), ARG(first), ARG(n));
        OK(clEnqueueNDRangeKernel(clt_queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
        clt_read(out, got, sizeof got);
        for (uint32_t id = 0; id < size; id++) {
            expect(kernels[k].kind, id, first, n, size, right);
            if (got[id][0] != right[0] || got[id][1] != right[1]) {
                fail_msg("step %d: %s from %u to %u, work-item %u of %u: %u %u instead of %u %u", step, kernels[k].name,
                         first, n, id, size, got[id][0], got[id][1], right[0], right[1]);
            }
        }
        OK(clReleaseKernel(kernel));
    }
    OK(clReleaseProgram(p));
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strides)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
