/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels with more live values than registers, whose frames the runtime may put into local memory (core/frames.h): in
 * groups of any shape, with local memory of their own up to all that there is, as second entries, and merged. The host
 * computes the same. A kernel that is compiled for its local size may have fewer of these values. The test also runs
 * preempted (run_frames_preempted).
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of ranges.
 */
#include "clt.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 1 << 11 };

/* The computation of a work-item, on the device and on the host: 44 values that all live in each round. */
#define MIX                                                                              \
    uint s[44], sum = 0;                                                                 \
    UNROLL for (int k = 0; k < 44; k++)                                       \
        s[k] = (i + 3u) * (uint)(k * k + 1);                                             \
    for (uint r = 0; r < rounds; r++)                                                    \
        UNROLL for (int k = 0; k < 44; k++)                                   \
            s[k] = (s[k] << 5 | s[k] >> 27) + (s[(k + 1) % 44] ^ s[(k + 17) % 44]);      \
    UNROLL for (int k = 0; k < 44; k++)                                       \
        sum = sum * 5 + s[k];
#define TEXT(...) #__VA_ARGS__
#define TEXT_OF(...) TEXT(__VA_ARGS__)

typedef uint32_t uint;

static const char source[] =
    "#define UNROLL _Pragma(\"unroll\")\n"
    "kernel void mix(global const uint *in, global uint *out, uint n, uint rounds)\n"
    "{ uint w = get_global_size(0), h = get_global_size(1), x = get_global_id(0), y = get_global_id(1);\n"
    "  uint i = (get_global_id(2) * h + y) * w + x; " TEXT_OF(MIX) " out[i] = sum + in[i]; }\n"
    /* Each work-item passes a value to the next one of its group, whose place it writes before and reads afterwards. */
    "kernel void pass(global const uint *in, global uint *out, uint n, uint rounds, local uint *part)\n"
    "{ uint w = get_local_size(0), h = get_local_size(1), l = (get_local_id(2) * h + get_local_id(1)) * w +\n"
    "      get_local_id(0), size = w * h * get_local_size(2);\n"
    "  uint i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);\n"
    "  for (uint k = l; k < n; k += n / 32 + size) part[k] = k * 7;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  " TEXT_OF(MIX) "\n"
    "  uint wrong = 0; for (uint k = l; k < n; k += n / 32 + size) wrong |= part[k] ^ k * 7;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  part[l] = sum; barrier(CLK_LOCAL_MEM_FENCE); uint other = part[l + 1 < size ? l + 1 : 0];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE); out[i] = wrong ? ~0u : sum + in[i]; out[get_global_size(0) *\n"
    "      get_global_size(1) * get_global_size(2) + i] = other; }\n";

/* A group of 8 x 8 work-items computes 32 x 32 elements of a product of n x n matrices. */
static const char blocks[] =
    "#ifdef WHOLE\n#define T uint\n#define ADD(a, b, c) (a) * (b) + (c)\n"
    "#else\n#define T float\n#define ADD fma\n#endif\n"
    "kernel void product(global const T *a, global const T *b, global T *c, int n)\n"
    "{ local T as[16][33], bs[16][32]; int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0);\n"
    "  int l = y * w + x, row = get_group_id(1) * 32, col = get_group_id(0) * 32; T sum[4][4] = {{0}};\n"
    "  for (int t = 0; t < n; t += 16) {\n"
    "    for (int i = l; i < 512; i += 64) { as[i % 16][i / 16] = a[(row + i / 16) * n + t + i % 16];\n"
    "      bs[i / 32][i % 32] = b[(t + i / 32) * n + col + i % 32]; }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int k = 0; k < 16; k++) for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++)\n"
    "      sum[i][j] = ADD(as[k][y * 4 + i], bs[k][x + j * 8], sum[i][j]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++)\n"
    "    c[(row + y * 4 + i) * n + col + x + j * 8] = sum[i][j]; }\n";

static uint32_t seed;
static uint32_t in[ITEMS_MAX], want[ITEMS_MAX], out[2 * ITEMS_MAX];

static size_t below(size_t n)
{
    return clt_random(&seed) % n;
}

#define UNROLL
static uint32_t compute(uint32_t i, uint32_t rounds)
{
    MIX
    return sum;
}

/** The number of the work-item whose value `pass` reads: the next one of the group. */
static size_t next(const struct clt_range *r, size_t i)
{
    size_t id[3] = {i % r->global[0], i / r->global[0] % r->global[1], i / r->global[0] / r->global[1]};
    size_t l = 0, size = 1;
    for (int d = 2; d >= 0; d--) {
        l = l * r->local[d] + id[d] % r->local[d];
        size *= r->local[d];
    }
    l = l + 1 < size ? l + 1 : 0;
    for (int d = 0; d < 3; d++) {
        id[d] += l % r->local[d] - id[d] % r->local[d];
        l /= r->local[d];
    }
    return (id[2] * r->global[1] + id[1]) * r->global[0] + id[0];
}

/** Runs a kernel and compares. words: of local memory; 0: the kernel takes none. False: the device does not have such
 *  groups. */
static bool run(cl_kernel k, const struct clt_range *r, size_t words)
{
    const size_t items = r->global[0] * r->global[1] * r->global[2];
    const cl_uint n = (cl_uint)words;
    cl_mem from = clt_buffer(sizeof in, in), to = clt_buffer(sizeof out, out);
    clt_args(k, 4, ARG(from), ARG(to), ARG(n), ARG(r->m));
    if (words != 0) {
        OK(clSetKernelArg(k, 4, words * 4, NULL));
    }
    const cl_int error = clEnqueueNDRangeKernel(clt_queue, k, r->dims, NULL, r->global,
                                                r->local[0] != 0 ? r->local : NULL, 0, NULL, NULL);
    if (error == CL_INVALID_WORK_GROUP_SIZE) {
        OK(clReleaseMemObject(from));
        OK(clReleaseMemObject(to));
        return false;
    }
    OK(error);
    clt_read(to, out, sizeof out);
    for (size_t i = 0; i < items; i++) {
        want[i] = compute((uint32_t)i, r->m);
    }
    for (size_t i = 0; i < items; i++) {
        if (out[i] != want[i] + in[i] || (words != 0 && out[items + i] != want[next(r, i)])) {
            fail_msg("work-item %zu of %zu x %zu x %zu in groups of %zu x %zu x %zu, %zu words, %u rounds: 0x%x, 0x%x",
                     i, r->global[0], r->global[1], r->global[2], r->local[0], r->local[1], r->local[2], words, r->m,
                     out[i], out[items + i]);
        }
    }
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
    return true;
}

/** A random range of about `items` work-items in whole groups of at most `most`; 0: groups of the runtime's choice. */
static struct clt_range any_range(size_t most, size_t items)
{
    struct clt_range r = {.dims = (cl_uint)below(3) + 1, .global = {1, 1, 1}, .local = {1, 1, 1},
                          .m = (cl_uint)below(3) + 1};
    size_t left = most != 0 ? most : 64;
    for (cl_uint d = 0; d < r.dims; d++) {
        r.local[d] = d + 1 == r.dims && below(2) == 0 ? left : below(left) + 1;
        left /= r.local[d];
        items /= r.local[d];
    }
    items = items != 0 ? items : 1;
    for (cl_uint d = 0; d < r.dims; d++) {
        const size_t groups = d + 1 == r.dims ? items - below(items / 2 + 1) : below(items) % 6 + 1;
        r.global[d] = r.local[d] * groups;
        items /= groups;
    }
    if (most == 0) {
        r.local[0] = 0;
    }
    return r;
}

static void test_random(void **state)
{
    (void)state;
    const bool slow = clt_on_rtl();
    unsigned long steps;
    seed = clt_seed(20261129, slow ? 2 : 25, &steps);
    const size_t items = slow ? ITEMS_MAX / 8 : ITEMS_MAX;
    unsigned long ran = 0;
    for (size_t i = 0; i < LENGTH(in); i++) {
        in[i] = clt_random(&seed);
    }
    cl_program p = clt_build(source, "");
    cl_kernel mix = clCreateKernel(p, "mix", &clt_error), pass = clCreateKernel(p, "pass", &clt_error);
    MADE(pass);
    cl_ulong memory;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof memory, &memory, NULL));
    for (unsigned long step = 0; step < steps; step++) {
        size_t most;
        OK(clGetKernelWorkGroupInfo(pass, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
        struct clt_range r = any_range(below(4) == 0 ? most : below(64) + 1, items);
        const size_t least = r.local[0] * r.local[1] * r.local[2];
        const size_t room = memory / 4 - least; /* Half of the ranges leave little room for frames, or none. */
        ran += run(pass, &r, least + (below(2) == 0 ? below(room / 8 + 1) : below(4) == 0 ? room : below(room + 1)));
        r = any_range(below(2) == 0 ? 0 : below(64) + 1, items);
        ran += run(mix, &r, 0);
    }
    assert_true(ran >= steps);
    OK(clReleaseKernel(mix));
    OK(clReleaseKernel(pass));
    OK(clReleaseProgram(p));
}

/** Runs `product`, compares with the host, and returns the instructions of work-items. */
static cl_ulong multiply(bool whole, const char *options)
{
    enum { N = 128 };
    static union { float f; uint32_t u; } a[N * N], b[N * N], c[N * N];
    const size_t global[2] = {N / 4, N / 4}, local[2] = {8, 8};
    const cl_int n = N;
    for (size_t i = 0; i < LENGTH(a); i++) {
        if (whole) {
            a[i].u = clt_random(&seed);
            b[i].u = clt_random(&seed);
        } else {
            a[i].f = clt_random_float(&seed);
            b[i].f = clt_random_float(&seed);
        }
    }
    cl_program p = clt_build(blocks, options);
    cl_kernel k = clCreateKernel(p, "product", &clt_error);
    MADE(k);
    cl_mem m[3] = {clt_buffer(sizeof a, a), clt_buffer(sizeof b, b), clt_buffer(sizeof c, NULL)};
    clt_args(k, 4, ARG(m[0]), ARG(m[1]), ARG(m[2]), ARG(n));
    const cl_ulong before = clt_instructions();
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, local, 0, NULL, NULL));
    clt_read(m[2], c, sizeof c);
    const cl_ulong instructions = clt_instructions() - before;
    for (size_t i = 0; i < LENGTH(c); i++) {
        float sum = 0;
        uint32_t sum_of_whole = 0;
        for (size_t t = 0; t < N; t++) {
            sum = fmaf(a[i / N * N + t].f, b[t * N + i % N].f, sum);
            sum_of_whole += a[i / N * N + t].u * b[t * N + i % N].u;
        }
        assert_true(whole ? c[i].u == sum_of_whole : c[i].f == sum);
    }
    for (int i = 0; i < 3; i++) {
        OK(clReleaseMemObject(m[i]));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    return instructions;
}

/** A kernel whose work-items are not merged is compiled for its local size if it then has fewer spilled values. The
 *  product of whole numbers is not merged: it would have hundreds of them, and need more instructions. */
static void test_known_size(void **state)
{
    (void)state;
    const char *config = getenv("TERN_CONFIG");
    size_t most;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    if (most < 64 || clt_on_rtl()) {
        skip(); /* The device has no such groups, or simulates them for minutes. */
    }
    for (int whole = 0; whole < 2; whole++) {
        const cl_ulong known = multiply(whole, whole ? "-D WHOLE" : "");
        const cl_ulong plain = multiply(whole, whole ? "-D WHOLE -tern-no-coarsen" : "-tern-no-coarsen");
        printf("%lu instructions with the local size known, %lu without\n", (unsigned long)known,
               (unsigned long)plain);
        if (whole || (config != NULL && strstr(config, "tiny") != NULL)) {
            assert_true(known <= plain); /* An engine of `tiny` holds no group, so that both are merged there. */
        } else {
            assert_true(known < plain - plain / 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_known_size)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
