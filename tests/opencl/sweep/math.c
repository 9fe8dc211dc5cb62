/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions with an error bound in units in the last place (OpenCL C 3.0, 7.4; half: cl_khr_fp16), compared with MPFR.
 * Special values follow C99's annex F, as MPFR and OpenCL do. A separate reference function gives the values on which
 * OpenCL differs.
 */
#include "sweep.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { PRECISION = 200 };
static const double PI = 0x1.921fb54442d18p1;

/** Sets r (or r and s) from the numbers a and b and the integer n. */
typedef void reference_fn(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n);

#define REFERENCE(name, ...)                                                            \
    static void ref_##name(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)           \
    {                                                                                   \
        (void)s, (void)b, (void)n;                                                      \
        __VA_ARGS__;                                                                    \
    }
/** Defines the host's double function, whose error is a few units of double (see estimate). */
#define NEAR(name, ...)               \
    static double near_##name(double x) \
    {                                 \
        return __VA_ARGS__;           \
    }
#define UNARY(name)                                  \
    REFERENCE(name, mpfr_##name(r, a, MPFR_RNDN))    \
    NEAR(name, name(x))
#define UNARY_PI(name, ...)                          \
    REFERENCE(name, mpfr_##name(r, a, MPFR_RNDN))    \
    NEAR(name, __VA_ARGS__)

UNARY(acos)
UNARY(acosh)
UNARY(asin)
UNARY(asinh)
UNARY(atan)
UNARY(atanh)
UNARY(cbrt)
UNARY(cos)
UNARY(cosh)
UNARY_PI(cospi, sin(PI * (0.5 - fabs(remainder(x, 2)))))
UNARY(erf)
UNARY(erfc)
UNARY(exp)
UNARY(exp2)
UNARY_PI(exp10, pow(10, x))
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sin)
UNARY(sinh)
UNARY_PI(sinpi, sin(PI * remainder(x, 1)) * (fabs(remainder(x, 2)) > 0.5 ? -1 : 1))
UNARY(sqrt)
UNARY(tan)
UNARY(tanh)
UNARY_PI(tanpi, near_sinpi(x) / near_cospi(x))
UNARY_PI(acospi, acos(x) / PI)
UNARY_PI(asinpi, asin(x) / PI)
UNARY_PI(atanpi, atan(x) / PI)
REFERENCE(atan2, mpfr_atan2(r, a, b, MPFR_RNDN))
REFERENCE(atan2pi, mpfr_atan2pi(r, a, b, MPFR_RNDN))
REFERENCE(hypot, mpfr_hypot(r, a, b, MPFR_RNDN))
REFERENCE(divide, mpfr_div(r, a, b, MPFR_RNDN))
REFERENCE(pow, mpfr_pow(r, a, b, MPFR_RNDN))
REFERENCE(pown, mpfr_pow_si(r, a, n, MPFR_RNDN))
REFERENCE(recip, mpfr_ui_div(r, 1, a, MPFR_RNDN))
NEAR(recip, 1 / x)
REFERENCE(sincos, mpfr_sin_cos(r, s, a, MPFR_RNDN))
NEAR(degrees, x * 180 / PI)
NEAR(radians, x * PI / 180)
NEAR(rsqrt, 1 / sqrt(x))
NEAR(tgamma, tgamma(x))
NEAR(lgamma, lgamma(x))

static void ref_degrees(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    (void)b, (void)n;
    mpfr_const_pi(s, MPFR_RNDN);
    mpfr_mul_ui(r, a, 180, MPFR_RNDN);
    mpfr_div(r, r, s, MPFR_RNDN);
}

static void ref_radians(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    (void)b, (void)n;
    mpfr_const_pi(s, MPFR_RNDN);
    mpfr_mul(r, a, s, MPFR_RNDN);
    mpfr_div_ui(r, r, 180, MPFR_RNDN);
}

/** OpenCL defines 1 / sqrt(-0) as -infinity, MPFR does not. */
static void ref_rsqrt(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    (void)s, (void)b, (void)n;
    mpfr_rec_sqrt(r, a, MPFR_RNDN);
    if (mpfr_zero_p(a)) {
        mpfr_set_inf(r, mpfr_signbit(a) ? -1 : 1);
    }
}

/** powr(1, NaN) is NaN. */
static void ref_powr(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    (void)s, (void)n;
    mpfr_powr(r, a, b, MPFR_RNDN);
    if (mpfr_nan_p(b)) {
        mpfr_set_nan(r);
    }
}

/** rootn(x, 0) is NaN. */
static void ref_rootn(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    (void)s, (void)b;
    if (n == 0) {
        mpfr_set_nan(r);
    } else {
        mpfr_rootn_si(r, a, n, MPFR_RNDN);
    }
}

/** Far outside the range, where MPFR would compute for very long, the result is set directly. */
static void ref_tgamma(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    (void)s, (void)b, (void)n;
    if (mpfr_cmp_si(a, 300) > 0) {
        mpfr_set_inf(r, 1);
    } else if (mpfr_number_p(a) && !mpfr_integer_p(a) && mpfr_cmp_si(a, -300) < 0) {
        mpfr_t f;
        mpfr_init2(f, PRECISION);
        mpfr_floor(f, a);
        mpfr_div_2ui(f, f, 1, MPFR_RNDN); /* The sign depends on whether floor(a) is even. */
        mpfr_set_zero(r, mpfr_integer_p(f) ? 1 : -1);
        mpfr_clear(f);
    } else {
        mpfr_gamma(r, a, MPFR_RNDN);
    }
}

static void ref_lgamma(mpfr_t r, mpfr_t s, mpfr_t a, mpfr_t b, int64_t n)
{
    int sign = 0;
    (void)s, (void)b, (void)n;
    mpfr_lgamma(r, &sign, a, MPFR_RNDN);
}

struct bounded {
    reference_fn *fn;
    /** The error is checked up to this absolute value of the first argument (half_ and native_ functions). 0 stands for
     *  all. */
    double domain;
    bool absolute; /**< The bound is an absolute error, not in units in the last place. */
    double (*near[2])(double x); /**< The host's function of each output, for functions of one argument only. */
};

static void set(mpfr_t x, enum sweep_type t, union sweep_value v)
{
    if (sweep_is_float(t)) {
        mpfr_set_d(x, sweep_number(t, v), MPFR_RNDN);
    } else {
        mpfr_set_si(x, v.i, MPFR_RNDN);
    }
}

/** Returns x rounded to the type, with subnormals and overflow. */
static union sweep_value rounded(enum sweep_type t, mpfr_t x)
{
    union sweep_value v = {.u = 0};
    if (t == SWEEP_HALF) {
        v.f = sweep_half(mpfr_get_d(x, MPFR_RNDN));
    } else if (t == SWEEP_FLOAT) {
        v.f = mpfr_get_flt(x, MPFR_RNDN);
    } else {
        v.d = mpfr_get_d(x, MPFR_RNDN);
    }
    return v;
}

/** Returns |got - x| in units in the last place of x. For a power of two the unit is the gap below x. */
static double ulps(enum sweep_type t, union sweep_value got, mpfr_t x, union sweep_value expected, bool absolute)
{
    const bool f = t == SWEEP_FLOAT, h = t == SWEEP_HALF;
    const double g = sweep_number(t, got), e = sweep_number(t, expected);
    const long least = h ? -24 : f ? -149 : -1074, digits = h ? 11 : f ? 24 : 53;
    if (sweep_same(t, got, expected)) {
        if (isnan(e) || isinf(e) || mpfr_zero_p(x)) {
            return 0;
        }
    } else if (isnan(g) || isnan(e) || mpfr_zero_p(x) || mpfr_inf_p(x) || (signbit(g) != 0) != (mpfr_signbit(x) != 0)) {
        return INFINITY;
    }
    mpfr_t d;
    mpfr_init2(d, PRECISION);
    if (isinf(g)) { /* Infinity counts as the next number after the largest. */
        mpfr_set_si_2exp(d, g < 0 ? -1 : 1, h ? 16 : f ? 128 : 1024, MPFR_RNDN);
    } else {
        mpfr_set_d(d, g, MPFR_RNDN);
    }
    mpfr_sub(d, d, x, MPFR_RNDA);
    long unit = (long)mpfr_get_exp(x) - digits;
    mpfr_t power;
    mpfr_init2(power, PRECISION);
    mpfr_set_si_2exp(power, 1, mpfr_get_exp(x) - 1, MPFR_RNDN);
    unit -= mpfr_cmpabs(x, power) == 0;
    mpfr_clear(power);
    unit = absolute ? 0 : unit < least ? least : unit;
    mpfr_mul_2si(d, d, -unit, MPFR_RNDA);
    const double error = fabs(mpfr_get_d(d, MPFR_RNDA));
    mpfr_clear(d);
    return error;
}

/**
 * Estimates the error of a float result with the host's double function, which has 29 more bits. Returns NaN if that
 * does not decide. Used in ranges only, and only to skip results that are certainly right: MPFR decides which are
 * wrong.
 */
static double estimate(double near, float got, bool absolute)
{
    int e;
    if (near == 0 || isnan(near) || isnan(got) || (signbit(near) != 0) != (signbit(got) != 0)) {
        return NAN;
    }
    if (isinf(got)) {
        return fabs(near) >= 0x1p128 ? 0 : NAN;
    }
    if (!(fabs(near) < 0x1p127)) {
        return NAN;
    }
    (void)frexp(near, &e);
    return fabs(got - near) / (absolute ? 1 : ldexp(1, e - 24 > -149 ? e - 24 : -149));
}

/** Estimates the larger error of the outputs. Returns NaN unless that is clearly below the bound. */
static double estimates(const struct sweep_case *c, const struct bounded *how, double x, const union sweep_value got[2])
{
    double most = NAN;
    if (sweep_is_range() && c->in[0] == SWEEP_FLOAT && how->near[0] != NULL) {
        most = estimate(how->near[0](x), got[0].f, how->absolute);
        if (c->out[1] != SWEEP_NONE) {
            const double second = estimate(how->near[1](x), got[1].f, how->absolute);
            most = second > most || isnan(second) ? second : most;
        }
    }
    return most < c->bound * (1 - 0x1p-12) ? most : NAN;
}

static double check(const struct sweep_case *c, unsigned width, const union sweep_value in[3],
                    const union sweep_value got[2], union sweep_value expected[2])
{
    const struct bounded *how = c->reference;
    mpfr_t r, s, a, b;
    (void)width;
    if (how->domain != 0) {
        const double x = fabs(sweep_number(c->in[0], in[0]));
        if (!(x <= how->domain) || (how->absolute && x < 0x1p-60) || (x != 0 && x < 0x1p-120)) {
            return 0;
        }
    }
    const double sure = estimates(c, how, sweep_number(c->in[0], in[0]), got);
    if (!isnan(sure)) {
        return sure;
    }
    mpfr_inits2(PRECISION, r, s, a, b, (mpfr_ptr)NULL);
    set(a, c->in[0], in[0]);
    if (c->in[1] != SWEEP_NONE) {
        set(b, c->in[1], in[1]);
    }
    how->fn(r, s, a, b, in[1].i);
    expected[0] = rounded(c->out[0], r);
    double error = ulps(c->out[0], got[0], r, expected[0], how->absolute);
    if (c->out[1] != SWEEP_NONE) {
        expected[1] = rounded(c->out[1], s);
        const double second = ulps(c->out[1], got[1], s, expected[1], how->absolute);
        error = second > error ? second : error;
    }
    mpfr_clears(r, s, a, b, (mpfr_ptr)NULL);
    return error;
}

#define HOW(NAME) (&(const struct bounded){.fn = ref_##NAME})
#define UNARY_HOW(NAME, ...) (&(const struct bounded){.fn = ref_##NAME, .near = {near_##NAME}, __VA_ARGS__})
#define IN(NAME, LIMIT) UNARY_HOW(NAME, .domain = (LIMIT))
#define ABSOLUTE(NAME, LIMIT) UNARY_HOW(NAME, .domain = (LIMIT), .absolute = true)
#define ONE(NAME, T, BOUND) \
    {#NAME, "r = " #NAME "(a);", {T}, {T}, .bound = BOUND, .check = check, .reference = UNARY_HOW(NAME, .domain = 0)}
#define TWO(NAME, T, BOUND) \
    {#NAME, "r = " #NAME "(a, b);", {T, T}, {T}, .bound = BOUND, .check = check, .reference = HOW(NAME)}
#define WITH_INT(NAME, T, BOUND)                                                                                       \
    {#NAME, "r = " #NAME "(a, b);", {T, SWEEP_INT}, {T}, .bound = BOUND, .check = check, .reference = HOW(NAME)}

/* The bounds are those of float unless double's are named. */
#define BOTH(T, SQRT, DIVIDE)                                                                                          \
    ONE(acos, T, 4), ONE(acosh, T, 4), ONE(acospi, T, 5), ONE(asin, T, 4), ONE(asinh, T, 4), ONE(asinpi, T, 5),        \
    ONE(atan, T, 5), ONE(atanh, T, 5), ONE(atanpi, T, 5), ONE(cbrt, T, 2), ONE(cos, T, 4), ONE(cosh, T, 4),            \
    ONE(cospi, T, 4), ONE(erf, T, 16), ONE(erfc, T, 16), ONE(exp, T, 3), ONE(exp2, T, 3), ONE(exp10, T, 3),            \
    ONE(expm1, T, 3), ONE(log, T, 3), ONE(log2, T, 3), ONE(log10, T, 3), ONE(log1p, T, 2), ONE(rsqrt, T, 2),           \
    ONE(sin, T, 4), ONE(sinh, T, 4), ONE(sinpi, T, 4), ONE(sqrt, T, SQRT), ONE(tan, T, 5), ONE(tanh, T, 5),            \
    ONE(tanpi, T, 6), ONE(tgamma, T, 16), TWO(atan2, T, 6), TWO(atan2pi, T, 6), TWO(hypot, T, 4), TWO(pow, T, 16),     \
    TWO(powr, T, 16), WITH_INT(pown, T, 16), WITH_INT(rootn, T, 16), ONE(degrees, T, 2), ONE(radians, T, 2),           \
    {"divide", "r = a / b;", {T, T}, {T}, .bound = DIVIDE, .check = check, .reference = HOW(divide)},                  \
    {"sincos", "r = sincos(a, &s);", {T}, {T, T}, .bound = 4, .check = check,                            \
     .reference = &(const struct bounded){.fn = ref_sincos, .near = {near_sin, near_cos}}}

/* The device reports CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT. */
static const struct sweep_case of_float[] = {BOTH(SWEEP_FLOAT, 0.5, 0.5)};
static const struct sweep_case of_double[] = {BOTH(SWEEP_DOUBLE, 0.5, 0.5)};

/* The bounds of half are those of the extension, from 1 to 4, for results that are all within 0.6. */
#define OF_HALF(NAME) ONE(NAME, SWEEP_HALF, 0.6)
static const struct sweep_case of_half[] = {
    OF_HALF(acos), OF_HALF(acosh), OF_HALF(acospi), OF_HALF(asin), OF_HALF(asinh), OF_HALF(asinpi), OF_HALF(atan),
    OF_HALF(atanh), OF_HALF(atanpi), OF_HALF(cbrt), OF_HALF(cos), OF_HALF(cosh), OF_HALF(cospi), OF_HALF(erf),
    OF_HALF(erfc), OF_HALF(exp), OF_HALF(exp2), OF_HALF(exp10), OF_HALF(expm1), OF_HALF(log), OF_HALF(log2),
    OF_HALF(log10), OF_HALF(log1p), OF_HALF(rsqrt), OF_HALF(sin), OF_HALF(sinh), OF_HALF(sinpi), OF_HALF(tan),
    OF_HALF(tanh), OF_HALF(tanpi), OF_HALF(tgamma), OF_HALF(degrees), OF_HALF(radians),
    ONE(sqrt, SWEEP_HALF, 0.5), TWO(atan2, SWEEP_HALF, 0.6), TWO(atan2pi, SWEEP_HALF, 0.6),
    TWO(hypot, SWEEP_HALF, 0.6), TWO(pow, SWEEP_HALF, 0.6), TWO(powr, SWEEP_HALF, 0.6),
    WITH_INT(pown, SWEEP_HALF, 0.6), WITH_INT(rootn, SWEEP_HALF, 0.6),
    {"divide", "r = a / b;", {SWEEP_HALF, SWEEP_HALF}, {SWEEP_HALF}, .bound = 0.5, .check = check,
     .reference = HOW(divide)},
    {"sincos", "r = sincos(a, &s);", {SWEEP_HALF}, {SWEEP_HALF, SWEEP_HALF}, .bound = 0.6, .check = check,
     .reference = &(const struct bounded){.fn = ref_sincos}},
};

#define HALF(NAME, OF, LIMIT)                                                                                          \
    {"half_" #NAME, "r = half_" #NAME "(a);", {SWEEP_FLOAT}, {SWEEP_FLOAT}, .bound = 8192, .check = check,             \
     .reference = LIMIT}
#define NATIVE(NAME, BOUND, HOW)                                                                                       \
    {"native_" #NAME, "r = native_" #NAME "(a);", {SWEEP_FLOAT}, {SWEEP_FLOAT}, .bound = BOUND, .check = check,        \
     .reference = HOW}

static const struct sweep_case of_half_and_native[] = {
    HALF(cos, cos, IN(cos, 0x1p16)),
    HALF(sin, sin, IN(sin, 0x1p16)),
    HALF(tan, tan, IN(tan, 0x1p16)),
    HALF(exp, exp, UNARY_HOW(exp, .domain = 0)),
    HALF(exp2, exp2, UNARY_HOW(exp2, .domain = 0)),
    HALF(exp10, exp10, UNARY_HOW(exp10, .domain = 0)),
    HALF(log, log, UNARY_HOW(log, .domain = 0)),
    HALF(log2, log2, UNARY_HOW(log2, .domain = 0)),
    HALF(log10, log10, UNARY_HOW(log10, .domain = 0)),
    HALF(recip, recip, UNARY_HOW(recip, .domain = 0)),
    HALF(rsqrt, rsqrt, UNARY_HOW(rsqrt, .domain = 0)),
    HALF(sqrt, sqrt, UNARY_HOW(sqrt, .domain = 0)),
    {"half_divide", "r = half_divide(a, b);", {SWEEP_FLOAT, SWEEP_FLOAT}, {SWEEP_FLOAT}, .bound = 8192, .check = check,
     .reference = HOW(divide)},
    {"half_powr", "r = half_powr(a, b);", {SWEEP_FLOAT, SWEEP_FLOAT}, {SWEEP_FLOAT}, .bound = 8192, .check = check,
     .reference = HOW(powr)},
    /* The bounds of native_ functions are those of docs/compiler.md. */
    NATIVE(exp, 3, IN(exp, 80)),
    NATIVE(exp2, 2, IN(exp2, 126)),
    NATIVE(log, 4, IN(log, 0x1.fffffep127)),
    NATIVE(log2, 3, IN(log2, 0x1.fffffep127)),
    NATIVE(sin, 0x1p-23, ABSOLUTE(sin, 8192)),
    NATIVE(cos, 0x1p-23, ABSOLUTE(cos, 8192)),
    NATIVE(recip, 0.5, UNARY_HOW(recip, .domain = 0)),
    NATIVE(rsqrt, 2, UNARY_HOW(rsqrt, .domain = 0)),
    NATIVE(sqrt, 0.5, UNARY_HOW(sqrt, .domain = 0)),
    {"native_divide", "r = native_divide(a, b);", {SWEEP_FLOAT, SWEEP_FLOAT}, {SWEEP_FLOAT}, .bound = 0.5,
     .check = check, .reference = HOW(divide)},
};

/** OpenCL sets no bound for lgamma. The test checks its order of magnitude and its special values. */
static const struct sweep_case of_lgamma[] = {
    ONE(lgamma, SWEEP_HALF, 0x1p9),
    ONE(lgamma, SWEEP_FLOAT, 0x1p20),
    ONE(lgamma, SWEEP_DOUBLE, 0x1p40),
};

static void test_float(void **state)
{
    (void)state;
    sweep_run(of_float, LENGTH(of_float), "");
}

static void test_double(void **state)
{
    (void)state;
    sweep_run(of_double, LENGTH(of_double), "");
}

static void test_half(void **state)
{
    (void)state;
    sweep_run(of_half, LENGTH(of_half), "");
}

static void test_half_and_native(void **state)
{
    (void)state;
    sweep_run(of_half_and_native, LENGTH(of_half_and_native), "");
}

static void test_lgamma(void **state)
{
    (void)state;
    sweep_run(of_lgamma, LENGTH(of_lgamma), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_half_and_native),
        cmocka_unit_test(test_lgamma),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
