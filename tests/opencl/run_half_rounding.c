/* SPDX-License-Identifier: Apache-2.0 */
/** Stores of halves in each rounding mode, from float and double, compared with halves that the host finds by value. */
#include "clt.h"

#include <math.h>
#include <stdbool.h>

enum { N = 512, MODES = 4 };

static double value(unsigned h)
{
    const int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
    const double size = exponent == 31 ? INFINITY : exponent == 0 ? ldexp(fraction, -24)
                                                                  : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -size : size;
}

/** Returns the bits of the half next to `size`, rounded towards zero or away from it. */
static unsigned around(double size, bool away)
{
    unsigned low = 0, high = 0x7c00;
    while (low < high) { /* The search ends at the least half that is not below `size`. */
        const unsigned middle = (low + high) / 2;
        if (value(middle) < size) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return away || value(low) == size ? low : low - 1;
}

static unsigned expected(double x, unsigned mode)
{
    const bool negative = signbit(x) != 0;
    const unsigned below = around(fabs(x), false), above = around(fabs(x), true), sign = negative ? 0x8000 : 0;
    const double step = above == 0x7c00 ? 65536.0 : value(above);
    const double left = fabs(x) - value(below), right = step - fabs(x);
    switch (mode) {
    case 0:
        return sign | (left < right || (left == right && (below & 1) == 0) ? below : above);
    case 1:
        return sign | below;
    case 2:
        return sign | (negative ? below : above);
    default:
        return sign | (negative ? above : below);
    }
}

/** Ties and their neighbours, and all magnitudes from far below the least half to beyond the largest. */
static void fill(double *x)
{
    uint32_t seed = 17;
    for (int i = 0; i < N; i++) {
        static const double more[] = {0, 0x1p-10, 0x1p-11, 0x1p-11 + 0x1p-20, 0x1p-20};
        const double scale = ldexp(1.0 + more[i % 5], i / 4 % 64 - 45);
        x[i] = i % 7 == 0 ? scale : scale * (1 + clt_random_float(&seed));
        x[i] = (double)(float)(i & 1 ? -x[i] : x[i]);
    }
    x[0] = 65504.0;
    x[1] = -65519.0;
    x[2] = 65520.0;
    x[3] = 0.0;
    x[4] = -INFINITY;
    x[5] = -0x1p-30;
    x[6] = 0x1p-30;
}

static const char source[] =
    "kernel void f(global const TYPE *x, global half *r, global half *v) {"
    "    size_t i = get_global_id(0), n = get_global_size(0);"
    "    vstore_half(x[i], i, r); vstore_half_rtz(x[i], i, r + n);"
    "    vstore_half_rtp(x[i], i, r + 2 * n); vstore_half_rtn(x[i], i, r + 3 * n);"
    "    if (i % 16 == 0) {"
    "        vstore_half16(vload16(i / 16, x), i / 16, v); vstorea_half16_rtz(vload16(i / 16, x), i / 16, v + n);"
    "        vstore_half8_rtp(vload8(i / 8, x), i / 8, v + 2 * n);"
    "        vstorea_half8_rtp(vload8(i / 8 + 1, x), i / 8 + 1, v + 2 * n);"
    "        for (int j = 0; j < 16; j += 4) vstore_half4_rtn(vload4((i + j) / 4, x), (i + j) / 4, v + 3 * n);"
    "    }"
    "}";

static void check(const char *options, const void *x, size_t size, const double *wide)
{
    cl_program p = clt_build(source, options);
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    static cl_half r[MODES][N], v[MODES][N];
    cl_mem in = clt_buffer(size, x), out = clt_buffer(sizeof r, NULL), vectors = clt_buffer(sizeof v, NULL);
    clt_args(k, 3, ARG(in), ARG(out), ARG(vectors));
    clt_run(k, N, 64);
    clt_read(out, r, sizeof r);
    clt_read(vectors, v, sizeof v);
    for (unsigned mode = 0; mode < MODES; mode++) {
        for (unsigned i = 0; i < N; i++) {
            const unsigned want = expected(wide[i], mode);
            if (r[mode][i] != want || v[mode][i] != want) {
                fail_msg("%s, mode %u: %a gives %04x, as a vector %04x, not %04x", options, mode, wide[i], r[mode][i],
                         v[mode][i], want);
            }
        }
    }
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
    OK(clReleaseMemObject(vectors));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

static void test_float(void **state)
{
    (void)state;
    static double x[N];
    static float narrow[N];
    fill(x);
    for (int i = 0; i < N; i++) {
        narrow[i] = (float)x[i];
    }
    check("-DTYPE=float", narrow, sizeof narrow, x);
}

static void test_double(void **state)
{
    (void)state;
    static double x[N];
    fill(x);
    for (int i = 7; i < N; i += 3) {
        x[i] *= 1.0 + 0x1p-40; /* The value is just beyond what a float distinguishes from a tie. */
    }
    check("-DTYPE=double", x, sizeof x, x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_float), cmocka_unit_test(test_double)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
