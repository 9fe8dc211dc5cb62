/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels whose work-items each read a row of words. In their coarse entries, the lanes of a row load words for each
 * other (runtime/compiler/ternc/tile_rows.c). The results are compared with those of the same kernels built with
 * -tern-no-coarsen, over random ranges of one to three dimensions, with offsets and rows of any length. A kernel that
 * takes local memory shares rows. The test also runs preempted (run_rows_preempted).
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of ranges.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 1 << 12, WORDS = 1 << 20, BYTES = ITEMS_MAX * 4 }; /* words of the input; bytes of the output */

/* x, y and z are without the offset, and j is the work-item's number in the range. A row has at most n words. Only
 * PLANE reads y: tiles in y would load a row once for several work-items. */
static const char source[] =
    "#define ARGS (global const uint *in, global uint *out, int n, uint m)\n"
    "#define PLACE int x = (int)get_global_id(0) - (int)get_global_offset(0), j = x; uint s = m;\n"
    "#define PLANE int x = (int)get_global_id(0) - (int)get_global_offset(0);"
    "    int y = (int)get_global_id(1) - (int)get_global_offset(1), z = (int)(get_global_id(2) - get_global_offset(2));"
    "    uint w = get_global_size(0), j = (z * get_global_size(1) + y) * w + x, s = m;\n"
    "kernel void sum ARGS { PLACE for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k] * in[k]; out[j] = s; }\n"
    "kernel void fours ARGS { PLACE global const uint4 *v = (global const uint4 *)in; uint4 t = s;"
    "    for (int k = 0; k < n / 4; k++) t = t * 5 + v[x * (n / 4) + k]; out[j] = t.x ^ t.y * 3 ^ t.z * 7 ^ t.w; }\n"
    "kernel void guarded ARGS { PLACE"
    "    if ((uint)get_global_id(0) >= (uint)get_global_offset(0) + (m & 4095)) return;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void both ARGS { PLACE"
    "    if ((uint)get_global_id(0) > (uint)get_global_offset(0) + (m & 1023) || n < 7) return;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void back ARGS { PLACE int last = 4096 * n;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[last - x * n + k]; out[j] = s; }\n"
    "kernel void down ARGS { PLACE for (int k = n - 1; k >= 0; k--) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void two ARGS { PLACE for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k] * in[(x + 64) * n + k];"
    "    out[j] = s; }\n"
    "kernel void pairs ARGS { PLANE for (int k = 0; k < n; k++) s += abs_diff(in[x * n + k], in[y * n + k]);"
    "    out[j] = s; }\n"
    "kernel void deep ARGS { PLANE for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void planes ARGS { PLANE for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k] * in[y * 8 + z + k];"
    "    out[j] = s; }\n"
    "kernel void chosen ARGS { PLACE"
    "    for (int k = 0; k < n; k++) s = s * 3 + (m & 1 << (k & 7) ? in[x * n + k] : in[k]);"
    "    for (int k = 0; k < n; k += 8) if (m & k) { uint t = 0;"
    "        for (int i = 0; i < 8; i++) t = t * 7 + in[x * 80 + i]; s ^= t; } out[j] = s; }\n"
    "kernel void nested ARGS { PLACE for (int i = 0; i < (int)(m & 3) + 1; i++) for (int k = 0; k < n; k++)"
    "    s = s * 3 + in[(x * 2 + i) * n + k]; out[j] = s; }\n"
    "kernel void fixed ARGS { PLACE for (int i = 0; i < (int)(m & 7); i++) {"
    "    global const uint *p = in + x * 28 + i * 4; s = s * 3 + p[0] * p[3] + p[1] * p[2]; } out[j] = s; }\n"
    "kernel void floats ARGS { PLACE global const float *f = (global const float *)in; float t = 0;"
    "    for (int k = 0; k < n; k++) t = fma(f[x * n + k], f[k], t);"
    "    out[j] = as_uint(t); }\n"
    "kernel void gaps ARGS { PLACE for (int i = 0; i < (int)(m & 7); i++) {"
    "    global const uint *p = in + x * 27 + i; s = s * 3 + p[0] + p[1] * p[2] + p[3] * p[5] + p[6] * p[7] + p[8]; }"
    "    out[j] = s; }\n"
    "kernel void mixed ARGS { PLACE for (int i = 0; i < (int)(m & 7); i++) {"
    "    global const uint *p = in + x * 27 + i; uint4 v = vload4(0, p + 2) * vload4(1, p + 2);"
    "    s = (s * 3 + p[0] + p[1]) ^ v.x + v.y * 3 + v.z * 5 + v.w * 7; } out[j] = s; }\n"
    "kernel void widths ARGS { PLACE global const uint *p = in + x * n; for (int i = 0; i < (int)(m & 3) + 1; i++) {"
    "    for (int k = 0; k < 8; k++) s = s * 3 + p[k]; p = in + x * (n + i + 1); } out[j] = s; }\n"
    "kernel void later ARGS { PLACE for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k];"
    "    global const uint *p = in + (in[m & 15] & 1023) + x * n;"
    "    for (int k = 0; k < n; k++) s = s * 3 + p[k]; out[j] = s; }\n"
    "kernel void chained ARGS { PLACE for (int i = 0; i < (int)(m & 7); i++) { global const uint *p = in + x * 96 + i;"
    "    for (int k = 0; k < 8; k++) s = s * 3 + p[k]; p += in[i] & 31; for (int k = 0; k < 8; k++) s = s * 5 + p[k]; }"
    "    out[j] = s; }\n"
    "kernel void corner ARGS { PLANE if ((uint)get_global_id(0) > (uint)get_global_id(1) + 100) return;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    /* These read no rows, or may not share them. */
    "kernel void folded ARGS { PLACE if (get_global_id(0) < (get_global_id(0) * 5 & 2047)) return;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void cases ARGS { PLACE switch (x & 7) {"
    "    case 0: for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; break;"
    "    case 2: for (int k = 0; k < n; k++) s = s * 5 + in[x * n + k]; break;"
    "    case 5: s = in[x * n]; break; default: s++; } out[j] = s; }\n"
    "kernel void stored ARGS { PLACE for (int k = 0; k < n; k++) { s = s * 3 + in[x * n + k]; out[j] = s; } }\n"
    "kernel void parted ARGS { PLACE for (int k = 0; k < n - (x & 3); k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void odd ARGS { PLACE if (x & 1) for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void near ARGS { PLACE for (int k = 0; k < n; k++) s = s * 3 + in[x + k]; out[j] = s; }\n"
    "kernel void square ARGS { PLACE if (get_global_id(0) >= get_global_offset(0) + 512) return;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[x * x + k]; out[j] = s; }\n"
    "kernel void product ARGS { PLACE int q = m >> 4 & 3;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[(x * n + (m & 7)) * q + k]; out[j] = s; }\n"
    "kernel void swapped ARGS { PLACE global const uint *p = in + x * n, *q = in + x * (m & 31);"
    "    for (int i = 0; i < (int)(m & 3) + 1; i++) { global const uint *t = p;"
    "    for (int k = 0; k < 8; k++) s = s * 3 + p[k]; p = q; q = t; } out[j] = s; }\n"
    "kernel void border ARGS { PLACE if (get_global_id(0) < get_global_offset(0) + (m & 63)) s = in[m & 255] * 3;"
    "    else s = in[m & 511] ^ in[n & 63]; for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void flagged ARGS { PLACE if (in[m & 255] % 3 == 0) return;"
    "    for (int k = 0; k < n; k++) s = s * 3 + in[x * n + k]; out[j] = s; }\n"
    "kernel void until ARGS { PLACE for (int k = 0; k < n; k++) { s = s * 3 + in[x * n + k];"
    "    if (s % 50 == 0) break; } out[j] = s; }\n";

/** The answer to whether lanes load words for each other. */
enum shares { NO, YES, EITHER };

static const struct {
    const char *name;
    enum shares shares;
    bool plane; /* The kernel reads y and z. */
} kernels[] = {
    {"sum", YES, false},    {"fours", YES, false},  {"guarded", YES, false}, {"both", YES, false},
    {"back", YES, false},   {"down", YES, false},   {"two", YES, false},     {"pairs", EITHER, true},
    {"deep", YES, true},    {"planes", EITHER, true}, {"chosen", YES, false}, {"nested", YES, false},
    {"gaps", YES, false},   {"mixed", YES, false},  {"widths", YES, false},  {"later", YES, false},
    {"corner", EITHER, true}, {"folded", NO, false}, {"cases", NO, false},   {"product", NO, false},
    {"swapped", NO, false}, {"border", NO, false}, {"chained", YES, false}, {"flagged", NO, false},
    {"fixed", YES, false},  {"floats", YES, false}, {"stored", NO, false},   {"parted", NO, false},
    {"odd", NO, false},     {"near", NO, false},    {"square", NO, false},   {"until", NO, false}};

static uint32_t seed;

static size_t below(size_t n)
{
    return clt_random(&seed) % n;
}

/** Returns a random range, which is mostly long enough for coarse dispatches. */
static struct clt_range any_range(void)
{
    struct clt_range r = {.dims = below(2) == 0 ? 1 : (cl_uint)below(2) + 2, .global = {1, 1, 1},
                          .m = clt_random(&seed)};
    size_t left = ITEMS_MAX;
    for (cl_uint d = 0; d < r.dims; d++) {
        r.global[d] = d + 1 == r.dims ? left - below(left / 4 + 1) : below(left / 4 + 1) + 1;
        left /= r.global[d];
        r.offset[d] = below(2) == 0 ? 0 : below(2) == 0 ? below(100) : below(1u << 30);
    }
    r.n = (cl_uint)below(60);
    return r;
}

static void compare(cl_program programs[2], unsigned long step, const char *name, const struct clt_range *r,
                    cl_mem in)
{
    static uint8_t shared[BYTES], plain[BYTES];
    OK(clt_run_range(programs[0], name, r, in, shared, BYTES));
    OK(clt_run_range(programs[1], name, r, in, plain, BYTES));
    const size_t at = clt_first_difference(shared, plain, BYTES);
    if (at < BYTES) {
        fail_msg("step %lu: %s over %zu x %zu x %zu from (%zu, %zu, %zu), n %u, m %u: byte %zu is 0x%02x, without "
                 "coarsening 0x%02x", step, name, r->global[0], r->global[1], r->global[2], r->offset[0], r->offset[1],
                 r->offset[2], r->n, r->m, at, shared[at], plain[at]);
    }
}

static void test_random(void **state)
{
    (void)state;
    static uint32_t data[WORDS];
    /* The RTL is simulated cycle by cycle, so fewer ranges run there. */
    const bool slow = clt_on_rtl();
    unsigned long steps;
    seed = clt_seed(20261128, slow ? 1 : 4, &steps);
    for (size_t i = 0; i < LENGTH(data); i++) {
        data[i] = clt_random(&seed);
    }
    cl_mem in = clt_buffer(sizeof data, data);
    cl_program programs[2] = {clt_build(source, "-cl-std=CL3.0"), clt_build(source, "-cl-std=CL3.0 -tern-no-coarsen")};
    for (unsigned long step = 0; step < steps; step++) {
        const struct clt_range r = any_range();
        for (size_t i = 0; i < LENGTH(kernels); i++) {
            if (r.dims == 1 || kernels[i].plane) { /* else, several work-items would have the same element */
                compare(programs, step, kernels[i].name, &r, in);
            }
        }
    }
    OK(clReleaseProgram(programs[0]));
    OK(clReleaseProgram(programs[1]));
    OK(clReleaseMemObject(in));
}

/** The words pass through local memory, which the kernels do not use else. */
static void test_shares(void **state)
{
    (void)state;
    cl_program p = clt_build(source, "-cl-std=CL3.0");
    for (size_t i = 0; i < LENGTH(kernels); i++) {
        cl_ulong bytes;
        cl_kernel k = clCreateKernel(p, kernels[i].name, &clt_error);
        MADE(k);
        OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
        if (kernels[i].shares != EITHER && (bytes != 0) != (kernels[i].shares == YES)) {
            fail_msg("%s takes %llu bytes of local memory", kernels[i].name, (unsigned long long)bytes);
        }
        OK(clReleaseKernel(k));
    }
    OK(clReleaseProgram(p));
}

/** A program is compiled to the same code each time, wherever the compiler's memory lies. */
static void test_repeats(void **state)
{
    (void)state;
    enum { MOST = 1 << 20 };
    static const char text[] = "kernel void two(global const float *a, global float *b, int n) {"
        "    int x = get_global_id(0); float s = 0;"
        "    for (int k = 0; k < n; k++) s = fma(a[x * n + k], a[(x + 64) * n + k], s); b[x] = s; }";
    static uint8_t first[MOST], again[MOST];
    size_t size, length;
    assert_int_equal(setenv("TERN_CACHE", "0", 1), 0);
    for (int i = 0; i < 8; i++) {
        unsigned char *to = i == 0 ? first : again;
        cl_program p = clt_build(text, "");
        OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL));
        assert_true(length <= MOST);
        OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof to, &to, NULL));
        size = i == 0 ? length : size;
        assert_int_equal(length, size);
        assert_memory_equal(to, first, size);
        OK(clReleaseProgram(p));
    }
    assert_int_equal(unsetenv("TERN_CACHE"), 0);
}

/** The report of a fault names the work-items of which one faulted, and with -g that one. */
static void test_faults(void **state)
{
    (void)state;
    static const char text[] = "kernel void f(global uint *a, uint bad) {"
        "    uint i = get_global_id(0), s = 0;"
        "    for (uint k = 0; k < bad; k++) s += a[(i << 20) + k]; a[0] = s; }";
    const size_t global = 512, offset = 0;
    const char *who = strstr(clt_fault(text, "", 1, &offset, &global, NULL, 0, 8), "kernel f: ");
    assert_non_null(who);
    unsigned n = 0, first = 1;
    assert_int_equal(sscanf(who, "kernel f: one of %u work-items (x, y, 0), the first with x = %u, y = 0: load", &n,
                            &first), 2);
    assert_int_equal(n, 16);
    assert_int_equal(first % 16, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
