/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Geometric functions of one to four elements, half, float and double, compared with MPFR within the bounds of
 * OpenCL C 3.0, 7.4. The elements have equal and different magnitudes, from subnormal to nearly infinite. The bounds
 * also hold where squares overflow or underflow.
 */
#include "sweep.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>

enum { PAIRS = 400, PRECISION = 4600 }; /* With this precision, sums of squares are exact. */

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "kernel void f(global const T *a, global const T *b, global T *r) {\n"
    "    size_t i = get_global_id(0); a += i * 4; b += i * 4; r += i * 12;\n"
    "#if N == 1\n"
    "    T x = *a, y = *b;\n"
    "    r[3] = normalize(x); r[4] = r[5] = r[6] = r[7] = r[8] = 0;\n"
    "#else\n"
    "    VECTOR x = LOAD(0, a), y = LOAD(0, b);\n"
    "    STORE(normalize(x), 0, r + 3);\n"
    "#endif\n"
    "    r[0] = dot(x, y); r[1] = length(x); r[2] = distance(x, y);\n"
    "#if N >= 3\n"
    "    STORE(cross(x, y), 0, r + 7);\n"
    "#endif\n"
    "}\n";

struct job {
    enum sweep_type type;
    unsigned n;
    const char *options;
};

/** Draws elements of similar magnitude, or of any magnitude each. */
static void fill(enum sweep_type t, double *v, uint32_t *seed)
{
    const int range = t == SWEEP_HALF ? 20 : t == SWEEP_FLOAT ? 149 : 1074;
    const int spread = clt_random(seed) % 3 == 0 ? range : 3;
    const int middle = (int)(clt_random(seed) % (unsigned)(2 * range - 24)) - range;
    for (unsigned k = 0; k < 4; k++) {
        const double m = 1 + (double)clt_random_float(seed), sign = clt_random(seed) & 1 ? -1 : 1;
        const double x = sign * ldexp(m, middle + (int)(clt_random(seed) % (unsigned)spread) - spread / 2);
        v[k] = clt_random(seed) % 9 == 0 ? 0
               : t == SWEEP_HALF         ? (double)sweep_half(x)
               : t == SWEEP_FLOAT        ? (double)(float)x
                                         : x;
        if (isinf(v[k])) {
            v[k] = t == SWEEP_FLOAT ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
        }
    }
}

/** Returns |got - x| in multiples of `unit`, or in units in the last place of x if `unit` is 0. Returns infinity for an
 * unexpected NaN or sign. */
static double error_of(enum sweep_type t, double got, mpfr_t x, double unit)
{
    const bool f = t == SWEEP_FLOAT, h = t == SWEEP_HALF;
    const double whole = mpfr_get_d(x, MPFR_RNDN);
    const double rounded = h ? (double)sweep_half(whole) : f ? (double)mpfr_get_flt(x, MPFR_RNDN) : whole;
    mpfr_t d;
    if (got == rounded) {
        return 0;
    }
    if (isnan(got)) {
        return INFINITY;
    }
    mpfr_init2(d, PRECISION);
    if (isinf(got)) {
        mpfr_set_si_2exp(d, got < 0 ? -1 : 1, h ? 16 : f ? 128 : 1024, MPFR_RNDN);
    } else {
        mpfr_set_d(d, got, MPFR_RNDN);
    }
    mpfr_sub(d, d, x, MPFR_RNDN);
    if (unit == 0) {
        const long least = h ? -24 : f ? -149 : -1074, digits = h ? 11 : f ? 24 : 53;
        const long own = mpfr_zero_p(x) ? least : (long)mpfr_get_exp(x) - digits;
        mpfr_mul_2si(d, d, -(own < least ? least : own), MPFR_RNDN);
    } else {
        mpfr_div_d(d, d, unit, MPFR_RNDN);
    }
    const double error = fabs(mpfr_get_d(d, MPFR_RNDN));
    mpfr_clear(d);
    return error;
}

struct results {
    const struct job *job;
    const double *a, *b;
    unsigned wrong;
};

static void expect(struct results *all, const char *name, double got, mpfr_t x, double unit, double bound)
{
    const double error = error_of(all->job->type, got, x, unit);
    if (!(error <= bound) && all->wrong++ < 8) {
        printf("  %s of %u %ss:", name, all->job->n, sweep_names[all->job->type]);
        for (unsigned k = 0; k < all->job->n; k++) {
            printf(" (%a, %a)", all->a[k], all->b[k]);
        }
        printf(": %a instead of %a, error %g, bound %g\n", got, mpfr_get_d(x, MPFR_RNDN), error, bound);
    }
}

/** Sets x to the length of v, which is exact except for the root's rounding. */
static void set_length(mpfr_t x, const double *v, unsigned n)
{
    mpfr_t e;
    mpfr_init2(e, PRECISION);
    mpfr_set_zero(x, 1);
    for (unsigned k = 0; k < n; k++) {
        mpfr_set_d(e, v[k], MPFR_RNDN);
        mpfr_sqr(e, e, MPFR_RNDN);
        mpfr_add(x, x, e, MPFR_RNDN);
    }
    mpfr_sqrt(x, x, MPFR_RNDN);
    mpfr_clear(e);
}

static void set_product(mpfr_t x, double a, double b)
{
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_mul_d(x, x, b, MPFR_RNDN);
}

/** r holds dot, length, distance, 4 values of normalize and 4 of cross. */
static void compare(struct results *all, const double *r)
{
    const unsigned n = all->job->n;
    const double *a = all->a, *b = all->b;
    const bool f = all->job->type == SWEEP_FLOAT, h = all->job->type == SWEEP_HALF;
    const double epsilon = h ? 0x1p-10 : f ? 0x1p-23 : 0x1p-52, least = h ? 0x1p-24 : f ? 0x1p-149 : 0x1p-1074;
    const double limit = h ? 0x1p7 : f ? 0x1p63 : 0x1p511;
    double most = 0, apart[4];
    mpfr_t x, y;
    mpfr_inits2(PRECISION, x, y, (mpfr_ptr)NULL);
    for (unsigned k = 0; k < n; k++) {
        most = fmax(most, fmax(fabs(a[k]), fabs(b[k])));
        apart[k] = f ? (double)((float)a[k] - (float)b[k]) : a[k] - b[k];
    }
    set_length(x, a, n);
    /* Functions of half are computed in float, and rounded once. */
    expect(all, "length", r[1], x, 0, h ? 0.6 : f ? 2.75 + 0.5 * n : 5.5 + n);
    for (unsigned k = 0; k < n; k++) {
        if (mpfr_zero_p(x)) {
            mpfr_set_zero(y, 1);
        } else {
            mpfr_set_d(y, a[k], MPFR_RNDN);
            mpfr_div(y, y, x, MPFR_RNDN);
        }
        expect(all, "normalize", r[3 + k], y, 0, h ? 0.6 : f ? 2.0 + n : 4.5 + n);
    }
    if (most < limit) { /* No product or difference overflows. */
        const double unit = fmax(most * most * epsilon, least);
        mpfr_set_zero(x, 1);
        for (unsigned k = 0; k < n; k++) {
            set_product(y, a[k], b[k]);
            mpfr_add(x, x, y, MPFR_RNDN);
        }
        expect(all, "dot", r[0], x, unit, h ? 0.6 * n : 2 * n - 1);
        for (unsigned k = 0; k < 3 && n >= 3; k++) {
            set_product(x, a[(k + 1) % 3], b[(k + 2) % 3]);
            set_product(y, a[(k + 2) % 3], b[(k + 1) % 3]);
            mpfr_sub(x, x, y, MPFR_RNDN);
            expect(all, "cross", r[7 + k], x, unit, h ? 1.2 : 3);
        }
        set_length(x, apart, n); /* The differences are rounded: one part in 2^24 of the result. */
        expect(all, "distance", r[2], x, 0, h ? 0.6 : f ? 2.5 + 2 * n : 5.5 + 2 * n);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

static void run(const struct job *job)
{
    const bool f = job->type == SWEEP_FLOAT, h = job->type == SWEEP_HALF;
    const size_t size = sweep_sizes[job->type];
    static double in[2][PAIRS * 4], r[PAIRS * 12];
    static float narrow[PAIRS * 12];
    static _Float16 halves[PAIRS * 12];
    cl_mem buffers[3];
    uint32_t seed = 77 + job->n;
    struct results all = {.job = job};
    for (unsigned i = 0; i < PAIRS; i++) {
        fill(job->type, &in[0][4 * i], &seed);
        fill(job->type, &in[1][4 * i], &seed);
        /* Half of the pairs have elements of equal magnitude, so that their differences are not trivial. */
        for (unsigned k = 0; k < 4 && i % 2 == 0; k++) {
            in[1][4 * i + k] = in[0][4 * i + (k + 1) % 4];
        }
    }
    for (unsigned j = 0; j < 2; j++) {
        for (unsigned i = 0; i < PAIRS * 4; i++) {
            narrow[i] = (float)in[j][i];
            halves[i] = (_Float16)in[j][i];
        }
        buffers[j] = clt_buffer(PAIRS * 4 * size, h ? (void *)halves : f ? (void *)narrow : (void *)in[j]);
    }
    buffers[2] = clt_buffer(PAIRS * 12 * size, NULL);
    cl_program p = clt_build(source, job->options);
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    clt_args(k, 3, ARG(buffers[0]), ARG(buffers[1]), ARG(buffers[2]));
    clt_run(k, PAIRS, 0);
    clt_read(buffers[2], h ? (void *)halves : f ? (void *)narrow : (void *)r, PAIRS * 12 * size);
    for (unsigned i = 0; i < PAIRS; i++) {
        for (unsigned e = 0; e < 12 && (f || h); e++) {
            r[12 * i + e] = h ? (double)halves[12 * i + e] : (double)narrow[12 * i + e];
        }
        all.a = &in[0][4 * i];
        all.b = &in[1][4 * i];
        compare(&all, &r[12 * i]);
    }
    for (unsigned j = 0; j < 3; j++) {
        OK(clReleaseMemObject(buffers[j]));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    if (all.wrong != 0) {
        fail_msg("%u results are wrong", all.wrong);
    }
}

#define TEST(T, TYPE, N)                                                                                               \
    static void test_##T##N(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run(&(const struct job){TYPE, N, "-DT=" #T " -DVECTOR=" #T #N " -DN=" #N " -DLOAD=vload" #N                    \
                                         " -DSTORE=vstore" #N});                                                       \
    }

TEST(half, SWEEP_HALF, 1)
TEST(half, SWEEP_HALF, 2)
TEST(half, SWEEP_HALF, 3)
TEST(half, SWEEP_HALF, 4)
TEST(float, SWEEP_FLOAT, 1)
TEST(float, SWEEP_FLOAT, 2)
TEST(float, SWEEP_FLOAT, 3)
TEST(float, SWEEP_FLOAT, 4)
TEST(double, SWEEP_DOUBLE, 1)
TEST(double, SWEEP_DOUBLE, 2)
TEST(double, SWEEP_DOUBLE, 3)
TEST(double, SWEEP_DOUBLE, 4)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half1),   cmocka_unit_test(test_half2),   cmocka_unit_test(test_half3),
        cmocka_unit_test(test_half4),   cmocka_unit_test(test_float1),  cmocka_unit_test(test_float2),
        cmocka_unit_test(test_float3),  cmocka_unit_test(test_float4),  cmocka_unit_test(test_double1),
        cmocka_unit_test(test_double2), cmocka_unit_test(test_double3), cmocka_unit_test(test_double4),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
