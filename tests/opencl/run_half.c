/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Half in programs (cl_khr_fp16): arithmetic, whose results are those of exact arithmetic rounded once; vectors of all
 * widths; arguments, variables of all address spaces, literals, loops, functions of a group, printf. The sweeps compare
 * the built-in functions, and all conversions.
 */
#include "clt.h"

#include <CL/cl_ext.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ENABLE "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"

typedef __int128 integer;
enum { PRODUCT = 48, QUOTIENT = 61 }; /* Products of halves are multiples of 2^-48. */

static double value(unsigned h)
{
    const int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
    const double size = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -size : size;
}

/** Returns the half nearest to x * 2^-unit, to even. zero: the result for zero. */
static unsigned nearest(integer x, unsigned unit, unsigned zero)
{
    const unsigned least = unit - 24;
    const integer size = x < 0 ? -x : x;
    unsigned place = least; /* of the result's last bit */
    if (x == 0) {
        return zero;
    }
    while (size >> place >= 2048) {
        place++;
    }
    integer kept = size >> place;
    const integer rest = size - (kept << place), middle = (integer)1 << (place - 1);
    kept += rest > middle || (rest == middle && (kept & 1)) ? 1 : 0;
    const uint64_t bits = ((uint64_t)(place - least) << 10) + (uint64_t)kept;
    return (x < 0 ? 0x8000u : 0u) | (bits > 0x7c00 ? 0x7c00u : (unsigned)bits);
}

/** Returns the finite value of a half in units of 2^-24, which is exact; 0 for others. */
static integer scaled(double x)
{
    return isfinite(x) ? (integer)(x * 0x1p24) : 0;
}

/** The operations of `arithmetic`, in the order of their results. */
enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, FMA, CHAIN, SQUARE, LESS, OPERATIONS };

/** Returns the result of an operation of a, b and c; where it is no number, any NaN. */
static unsigned expected(int operation, unsigned a, unsigned b, unsigned c)
{
    const double x = value(a), y = value(b), z = value(c);
    const double near[OPERATIONS] = {x + y, x - y, x * y, x / y, x * y + z, x * y + z, x * x, x < y ? x : z};
    const double r = near[operation];
    const integer i = scaled(x), j = scaled(y), k = scaled(z);
    const unsigned third = operation == FMA ? c : 0;
    if (operation == LESS) {
        return x < y ? a : c;
    }
    if (operation == SQUARE) {
        return expected(MULTIPLY, a, a, 0);
    }
    if (operation == CHAIN) {
        return expected(ADD, expected(MULTIPLY, a, b, 0), c, 0);
    }
    if (!isfinite(x) || !isfinite(y) || !isfinite(value(third)) || (operation == DIVIDE && y == 0)) {
        return isnan(r) ? 0x7e00 : isinf(r) ? (r < 0 ? 0xfc00 : 0x7c00)
               : r == 0 ? (signbit(r) ? 0x8000 : 0) : nearest((integer)(r * 0x1p24) << 24, PRODUCT, 0);
    }
    const unsigned zero = signbit(r) ? 0x8000 : 0; /* of an exact result, which double has */
    switch (operation) {
    case ADD:
        return nearest((i + j) << 24, PRODUCT, zero);
    case SUBTRACT:
        return nearest((i - j) << 24, PRODUCT, zero);
    case MULTIPLY:
        return nearest(i * j, PRODUCT, zero);
    case FMA:
        return nearest(i * j + (k << 24), PRODUCT, zero);
    default: { /* a last bit stands for all bits below it */
        const integer up = (i < 0 ? -i : i) << (QUOTIENT - 1), by = j < 0 ? -j : j;
        const integer q = up / by * 2 + (up % by != 0 ? 1 : 0);
        return nearest((i < 0) != (j < 0) ? -q : q, QUOTIENT, zero);
    }
    }
}

static bool same(unsigned a, unsigned b)
{
    return a == b || (isnan(value(a)) && isnan(value(b)));
}

static const char arithmetic[] = ENABLE
    "#define JOIN(a, b) a##b\n"
    "#define NAME(a, b) JOIN(a, b)\n"
    "#if N == 1\n"
    "#define LOAD(p) p[i]\n"
    "#define STORE(v, p) p[i] = v\n"
    "typedef half T;\n"
    "#else\n"
    "typedef NAME(half, N) T;\n"
    "#define LOAD(p) NAME(vload, N)(i, p)\n"
    "#define STORE(v, p) NAME(vstore, N)(v, i, p)\n"
    "#endif\n"
    "#ifdef CALLED\n" /* a function that is too long to be inlined, most of which never runs */
    "#define EIGHT(s) s s s s s s s s\n"
    "T product(T x, T y, uint n) {\n"
    "    T p = x * y; if (n == 1) { EIGHT(EIGHT(p = p * x + y; p = p / y - x;)) } return p;\n"
    "}\n"
    "#else\n"
    "#define product(x, y, n) x * y\n"
    "#endif\n"
    "kernel void f(global const half *a, global const half *b, global const half *c, global half *r, uint n) {\n"
    "    size_t i = get_global_id(0); T x = LOAD(a), y = LOAD(b), z = LOAD(c);\n"
    "    STORE(x + y, r); r += n; STORE(x - y, r); r += n; STORE(product(x, y, n), r); r += n;\n"
    "    STORE(x / y, r); r += n;\n"
    "    STORE(fma(x, y, z), r); r += n; STORE(x * y + z, r); r += n; T t = product(x, x, n);\n"
    "    STORE(t, r); r += n;\n"
    "    STORE(x < y ? x : z, r);\n"
    "}\n";

/** Corner values, with both signs, then random bits. A half of the random triples nearly cancels. A quarter has a
 *  product half-way between two halves, and a third number far below it, which float loses. */
static const uint16_t corners[] = {
    0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x0401, 0x1400, 0x2e66, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x4248, 0x5bff,
    0x6400, 0x77ff, 0x7800, 0x7bff, 0x7c00, 0x7e00,
};

enum { CORNERS = 2 * LENGTH(corners), RANDOM = 2000 };
enum { TRIPLES = (CORNERS * CORNERS + RANDOM + 47) / 48 * 48 };

static void fill(uint16_t *a, uint16_t *b, uint16_t *c)
{
    uint32_t seed = 3;
    for (unsigned i = 0; i < TRIPLES; i++) {
        const uint32_t x = clt_random(&seed), y = clt_random(&seed);
        const unsigned p = i % CORNERS, q = i / CORNERS;
        a[i] = (uint16_t)x;
        b[i] = (uint16_t)(x >> 16);
        c[i] = (uint16_t)y;
        if (q < CORNERS) {
            a[i] = (uint16_t)(corners[p / 2] | p % 2 << 15);
            b[i] = (uint16_t)(corners[q / 2] | q % 2 << 15);
            c[i] = (uint16_t)(corners[y % LENGTH(corners)] | (y >> 16 & 0x8000));
        } else if (y >> 31) {
            c[i] = (uint16_t)((expected(MULTIPLY, a[i], b[i], 0) ^ 0x8000) + y % 5 - 2);
        } else if (y >> 30) {
            a[i] = (uint16_t)(0x3e00 | (x & 0x8000));
            b[i] = (uint16_t)((b[i] & 0x81ff) | 0x3c01);
            c[i] = (uint16_t)(y % 4 | (y >> 8 & 0x8000));
        }
    }
}

static void run_arithmetic(const char *flags, bool finite)
{
    static const unsigned widths[] = {1, 2, 3, 4, 8, 16};
    static const char *const names[] = {"a + b", "a - b", "a * b", "a / b", "fma(a, b, c)", "a * b + c", "a * a",
                                        "a < b ? a : c"};
    static uint16_t a[TRIPLES], b[TRIPLES], c[TRIPLES], r[OPERATIONS][TRIPLES], s[OPERATIONS][TRIPLES];
    fill(a, b, c);
    cl_mem in[3] = {clt_buffer(sizeof a, a), clt_buffer(sizeof b, b), clt_buffer(sizeof c, c)};
    cl_mem out = clt_buffer(sizeof r, NULL);
    const cl_uint n = TRIPLES;
    for (unsigned w = 0; w < (finite ? 1 : LENGTH(widths)); w++) {
        char options[96];
        snprintf(options, sizeof options, "-DN=%u %s", widths[w], flags);
        cl_program p = clt_build(arithmetic, options);
        cl_kernel k = clCreateKernel(p, "f", &clt_error);
        MADE(k);
        clt_args(k, 5, ARG(in[0]), ARG(in[1]), ARG(in[2]), ARG(out), ARG(n));
        clt_run(k, TRIPLES / widths[w], 0);
        clt_read(out, w == 0 ? r : s, sizeof r);
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
        if (w > 0 && memcmp(r, s, sizeof r) != 0) {
            fail_msg("half%u differs from half", widths[w]);
        }
    }
    for (int o = 0; o < OPERATIONS; o++) {
        for (unsigned i = 0; i < TRIPLES; i++) {
            const unsigned want = expected(o, a[i], b[i], c[i]);
            const bool counts = !finite || ((want & 0x7fff) <= 0x7c00 && isfinite(value(a[i])) &&
                                            isfinite(value(b[i])) && isfinite(value(c[i])) && o != CHAIN && o != LESS);
            if (counts && !same(r[o][i], want)) {
                fail_msg("%s %s: a = %a, b = %a, c = %a: %04x instead of %04x", names[o], flags, value(a[i]),
                         value(b[i]), value(c[i]), r[o][i], want);
            }
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        OK(clReleaseMemObject(in[i]));
    }
    OK(clReleaseMemObject(out));
}

static void test_arithmetic(void **state)
{
    (void)state;
    run_arithmetic("", false);
    run_arithmetic("-cl-std=CL3.0", true);
}

/** These options allow other results of an expression, but not of a single operation with numbers. */
static void test_relaxed(void **state)
{
    (void)state;
    run_arithmetic("-cl-mad-enable", true);
    run_arithmetic("-cl-unsafe-math-optimizations", true);
    run_arithmetic("-cl-opt-disable", true);
    run_arithmetic("-cl-unsafe-math-optimizations -DCALLED", true);
}

static const char places[] = ENABLE
    "struct both { half h; float f; half4 v; };\n"
    "constant half table[] = {1.5h, 2.5h, -3.0h, 0x1p-24h};\n"
    "#if __OPENCL_C_VERSION__ >= 200\n"
    "global half kept = 7.0h;\n"
    "#endif\n"
    "half twice(half x) { return x + x; }\n"
    "kernel void f(global half *r, half s, half4 v, half3 t, struct both both, local half *words) {\n"
    "    size_t l = get_local_id(0), n = get_local_size(0); local half2 pairs[64]; half own[4];\n"
    "    words[l] = (half)(short)l / 8; pairs[l] = (half2)(s, (half)(float)l);\n"
    "    for (int i = 0; i < 4; i++) own[(i + l) & 3] = table[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    half sum = 0; for (size_t i = 0; i < n; i++) sum += words[i] * pairs[i].y;\n"
    "    r += l * 16;\n"
    "    r[0] = sum; r[1] = twice(s); r[2] = v.w - v.x; r[3] = t.z; r[4] = both.h + (half)both.f; r[5] = both.v.y;\n"
    "    r[6] = own[(l + 2) & 3]; r[7] = words[(l + 1) % n] > 0.7h ? -s : fabs(-s); r[8] = HALF_MAX; r[9] = as_half(\n"
    "    (short)0x3c01); r[10] = (half)(l * 4097); r[11] = (half)((long)l * -70000); r[12] = (int)(s * 100); r[13] = \n"
    "    (half)0.1; r[14] = select(s, v.x, (short)(l & 1)); r[15] = all(isequal(v, v)) && !isnan(s);\n"
    "#if __OPENCL_C_VERSION__ >= 200\n"
    "    r[15] += kept; barrier(CLK_GLOBAL_MEM_FENCE); if (l == 0) kept += 1;\n"
    "#endif\n"
    "}\n";

static void run_places(const char *options, double kept)
{
    enum { ITEMS = 64 };
    static uint16_t r[ITEMS][16];
    struct {
        cl_half h;
        cl_float f;
        cl_half v[4];
    } both = {0x3c00, 0.5f, {0, 0x4500, 0, 0}};
    const cl_half s = 0x3e00, v[4] = {0x3c00, 0x4000, 0x4200, 0x4400}, t[4] = {0, 0, 0xc000, 0};
    cl_program p = clt_build(places, options);
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    cl_mem out = clt_buffer(sizeof r, NULL);
    OK(clSetKernelArg(k, 5, ITEMS * sizeof(cl_half), NULL));
    FAILS(clSetKernelArg(k, 1, sizeof(cl_float), &both.f), CL_INVALID_ARG_SIZE);
    clt_args(k, 5, ARG(out), ARG(s), ARG(v), ARG(t), ARG(both));
    clt_run(k, ITEMS, ITEMS);
    clt_read(out, r, sizeof r);
    double sum = 0; /* of squares, each rounded, and each sum rounded */
    for (unsigned i = 0; i < ITEMS; i++) {
        const double square = value(nearest((integer)i * i << (PRODUCT - 3), PRODUCT, 0));
        sum = value(nearest((integer)((sum + square) * 0x1p24) << 24, PRODUCT, 0));
    }
    for (unsigned l = 0; l < ITEMS; l++) {
        const double want[16] = {
            sum, 3, 3, -2, 1.5, 5, -3, (l + 1) % ITEMS > 5 ? -1.5 : 1.5, 65504, 0x1.004p0,
            value(nearest((integer)(l * 4097) << PRODUCT, PRODUCT, 0)), l ? (double)-INFINITY : 0, 150, 0x1.998p-4,
            l & 1 ? 1 : 1.5, 1 + kept,
        };
        for (unsigned i = 0; i < LENGTH(want); i++) {
            if (value(r[l][i]) != want[i]) {
                fail_msg("%s: result %u of work-item %u: %a instead of %a", options, i, l, value(r[l][i]), want[i]);
            }
        }
    }
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

static void test_places(void **state)
{
    (void)state;
    run_places("", 0);
    run_places("-cl-std=CL2.0", 7);
    run_places("-cl-std=CL3.0 -cl-opt-disable", 7);
}

static const char group[] = ENABLE
    "kernel void f(global const half *a, global half *r, global half3 *v, local half *copy) {\n"
    "    size_t l = get_local_id(0), n = get_local_size(0); half x = a[l];\n"
    "    event_t e = async_work_group_copy(copy, a, n, 0); wait_group_events(1, &e); prefetch(a, n);\n"
    "    r[l] = work_group_reduce_add(x); r[n + l] = work_group_scan_exclusive_max(x);\n"
    "    r[2 * n + l] = work_group_scan_inclusive_add(x); r[3 * n + l] = work_group_broadcast(x, 5);\n"
    "    r[4 * n + l] = copy[n - 1 - l]; r[5 * n + l] = work_group_reduce_min(-x);\n"
    "    v[l] = (half3)(0, l, 3); barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    e = async_work_group_strided_copy((global half *)v, copy, n, 4, 0); wait_group_events(1, &e);\n"
    "}\n";

static void test_group(void **state)
{
    enum { ITEMS = 64 };
    uint16_t a[ITEMS], r[6][ITEMS], v[ITEMS][4];
    (void)state;
    for (unsigned i = 0; i < ITEMS; i++) {
        a[i] = (uint16_t)nearest((integer)(i * 7 % 64) << PRODUCT, PRODUCT, 0);
    }
    cl_program p = clt_build(group, "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    cl_mem in = clt_buffer(sizeof a, a), out = clt_buffer(sizeof r, NULL), vectors = clt_buffer(sizeof v, NULL);
    clt_args(k, 3, ARG(in), ARG(out), ARG(vectors));
    OK(clSetKernelArg(k, 3, sizeof a, NULL));
    clt_run(k, ITEMS, ITEMS);
    clt_read(out, r, sizeof r);
    clt_read(vectors, v, sizeof v);
    double sum = 0, most = (double)-INFINITY;
    for (unsigned i = 0; i < ITEMS; i++) {
        assert_true(value(r[0][i]) == 2016 && value(r[1][i]) == most && value(r[3][i]) == 35);
        sum += value(a[i]);
        most = fmax(most, value(a[i]));
        assert_true(value(r[2][i]) == sum && r[4][i] == a[ITEMS - 1 - i] && value(r[5][i]) == -63);
        assert_true(v[i][0] == a[i] && value(v[i][1]) == i && value(v[i][2]) == 3);
    }
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
    OK(clReleaseMemObject(vectors));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

static const char pixels[] = ENABLE
    "kernel void f(read_only image2d_t from, write_only image2d_t to, sampler_t s) {\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    half4 v = read_imageh(from, at), w = read_imageh(from, s, convert_float2(at) + 0.5f);\n"
    "    write_imageh(to, at, (v + w) * 1.5h);\n"
    "}\n";

static void test_images(void **state)
{
    enum { SIDE = 8 };
    static uint16_t a[SIDE][SIDE][4], r[SIDE][SIDE][4];
    const cl_image_format format = {CL_RGBA, CL_HALF_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    const size_t origin[3] = {0, 0, 0}, size[3] = {SIDE, SIDE, 1};
    uint32_t seed = 5;
    (void)state;
    for (unsigned i = 0; i < SIDE * SIDE * 4; i++) {
        a[i / 32][i / 4 % 8][i % 4] = (uint16_t)(clt_random(&seed) % 0x7800 + (clt_random(&seed) & 0x8000));
    }
    cl_mem from = clCreateImage(clt_context, CL_MEM_COPY_HOST_PTR, &format, &desc, a, &clt_error);
    MADE(from);
    cl_mem to = clCreateImage(clt_context, 0, &format, &desc, NULL, &clt_error);
    MADE(to);
    cl_sampler s = clCreateSampler(clt_context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &clt_error);
    MADE(s);
    cl_kernel k = clt_kernel(pixels, "f");
    clt_args(k, 3, ARG(from), ARG(to), ARG(s));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, size, NULL, 0, NULL, NULL));
    OK(clEnqueueReadImage(clt_queue, to, CL_TRUE, origin, size, 0, 0, r, 0, NULL, NULL));
    for (unsigned i = 0; i < SIDE * SIDE * 4; i++) {
        const unsigned x = a[i / 32][i / 4 % 8][i % 4];
        assert_int_equal(r[i / 32][i / 4 % 8][i % 4], expected(MULTIPLY, expected(ADD, x, x, 0), 0x3e00, 0));
    }
    OK(clReleaseSampler(s));
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
    OK(clReleaseKernel(k));
}

static void test_queries(void **state)
{
    cl_device_fp_config config = 0;
    cl_uint width[2] = {0, 0};
    char names[4096];
    (void)state;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_HALF_FP_CONFIG, sizeof config, &config, NULL));
    assert_true((config & (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST)) ==
                (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, sizeof width[0], &width[0], NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, sizeof width[1], &width[1], NULL));
    assert_true(width[0] == 1 && width[1] == 1);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    assert_non_null(strstr(names, "cl_khr_fp16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_relaxed), cmocka_unit_test(test_places),
        cmocka_unit_test(test_group),      cmocka_unit_test(test_images),  cmocka_unit_test(test_queries),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
