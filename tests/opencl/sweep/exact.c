/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of half, float and double that are exact or correctly rounded, relational functions and the common
 * functions, all compared with the host's C library and arithmetic, which round in the same way. Functions of half
 * are compared with those of double, rounded to half.
 */
#include "sweep.h"

#include <limits.h>
#include <math.h>
#include <mpfr.h>

typedef union sweep_value value;
/** Computes in double if is_double, otherwise in float. */
typedef void exact_fn(bool is_double, const value *in, value *out);

#define BOTH_TYPES(NAME, FLOAT, DOUBLE)                                        \
    static void ref_##NAME(bool is_double, const value *in, value *out)        \
    {                                                                          \
        if (is_double) {                                                       \
            DOUBLE;                                                            \
        } else {                                                               \
            FLOAT;                                                             \
        }                                                                      \
    }
#define UNARY(NAME) BOTH_TYPES(NAME, out->f = NAME##f(in->f), out->d = NAME(in->d))
#define BINARY(NAME) BOTH_TYPES(NAME, out->f = NAME##f(in[0].f, in[1].f), out->d = NAME(in[0].d, in[1].d))
/** Defines a reference by an expression over x, y, z of either type. */
#define EXPRESSION(NAME, E)                                                    \
    static double double_##NAME(double x, double y, double z)                  \
    {                                                                          \
        (void)y, (void)z;                                                      \
        return E;                                                              \
    }                                                                          \
    static float float_##NAME(float x, float y, float z)                       \
    {                                                                          \
        (void)y, (void)z;                                                      \
        return E;                                                              \
    }                                                                          \
    BOTH_TYPES(NAME, out->f = float_##NAME(in[0].f, in[1].f, in[2].f),         \
               out->d = double_##NAME(in[0].d, in[1].d, in[2].d))

UNARY(ceil)
UNARY(fabs)
UNARY(floor)
UNARY(logb)
UNARY(rint)
UNARY(round)
UNARY(trunc)
BINARY(copysign)
BINARY(fdim)
BINARY(fmod)
BINARY(nextafter)
BINARY(remainder)
BOTH_TYPES(fma, out->f = fmaf(in[0].f, in[1].f, in[2].f), out->d = fma(in[0].d, in[1].d, in[2].d))
BOTH_TYPES(fused_mix, out->f = fmaf(in[1].f - in[0].f, in[2].f, in[0].f),
           out->d = fma(in[1].d - in[0].d, in[2].d, in[0].d))
BOTH_TYPES(modf, out[0].f = modff(in->f, &out[1].f), out[0].d = modf(in->d, &out[1].d))
BOTH_TYPES(nan, (void)in; out->f = NAN, (void)in; out->d = NAN)
EXPRESSION(add, x + y)
EXPRESSION(subtract, x - y)
EXPRESSION(multiply, x * y)
EXPRESSION(mad, x * y + z)
EXPRESSION(mix, x + (y - x) * z)
EXPRESSION(maxmag, isnan(x) ? y : isnan(y) ? x : fabs(x) > fabs(y) ? x : fabs(x) < fabs(y) ? y : x > y ? x : y)
EXPRESSION(minmag, isnan(x) ? y : isnan(y) ? x : fabs(x) < fabs(y) ? x : fabs(x) > fabs(y) ? y : x < y ? x : y)
EXPRESSION(clamp, x < y ? y : x > z ? z : x)
EXPRESSION(fmax, isnan(x) ? y : x < y ? y : x) /* The host's fmax does not ignore a signalling NaN. */
EXPRESSION(fmin, isnan(x) ? y : y < x ? y : x)
EXPRESSION(max, x < y ? y : x)
EXPRESSION(min, y < x ? y : x)
EXPRESSION(step, y < x ? 0 : 1)
EXPRESSION(sign, isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x)

static void ref_ldexp(bool is_double, const value *in, value *out)
{
    const int n = in[1].i > 100000 ? 100000 : in[1].i < -100000 ? -100000 : (int)in[1].i;
    if (is_double) {
        out->d = ldexp(in->d, n);
    } else {
        out->f = ldexpf(in->f, n);
    }
}

static void ref_ilogb(bool is_double, const value *in, value *out)
{
    const double x = is_double ? in->d : (double)in->f;
    /* FP_ILOGBNAN is INT_MAX and FP_ILOGB0 is INT_MIN. */
    out->i = isnan(x) || isinf(x) ? INT_MAX : x == 0 ? INT_MIN : ilogb(x);
}

static void ref_frexp(bool is_double, const value *in, value *out)
{
    int n = 0;
    const double x = is_double ? in->d : (double)in->f, r = isfinite(x) ? frexp(x, &n) : x;
    out[1].i = n;
    if (is_double) {
        out->d = r;
    } else {
        out->f = (float)r;
    }
}

static void ref_fract(bool is_double, const value *in, value *out)
{
    if (is_double) {
        const double whole = floor(in->d), part = in->d - whole, most = 0x1.fffffffffffffp-1;
        out[0].d = in->d == 0 || isinf(in->d) ? copysign(0, in->d) : part > most ? most : part;
        out[1].d = whole;
    } else {
        const float whole = floorf(in->f), part = in->f - whole, most = 0x1.fffffep-1f;
        out[0].f = in->f == 0 || isinf(in->f) ? copysignf(0, in->f) : part > most ? most : part;
        out[1].f = whole;
    }
}

/** Sets out[1] to the quotient's low seven bits with its sign, or 0 if there is no quotient. MPFR gives at least these
 * bits. */
static void ref_remquo(bool is_double, const value *in, value *out)
{
    const double x = is_double ? in[0].d : (double)in[0].f, y = is_double ? in[1].d : (double)in[1].f;
    ref_remainder(is_double, in, out);
    out[1].i = 0;
    if (isfinite(x) && !isnan(y) && y != 0) {
        mpfr_t a, b, r;
        long q = 0;
        mpfr_inits2(64, a, b, r, (mpfr_ptr)NULL);
        mpfr_set_d(a, fabs(x), MPFR_RNDN);
        mpfr_set_d(b, fabs(y), MPFR_RNDN);
        mpfr_remquo(r, &q, a, b, MPFR_RNDN);
        out[1].i = (signbit(x) != 0) != (signbit(y) != 0) ? -(q & 127) : q & 127;
        mpfr_clears(a, b, r, (mpfr_ptr)NULL);
    }
}

/** Half: the sum of a product and a number, which MPFR has without rounding. */
static void ref_half_fma(bool is_double, const value *in, value *out)
{
    mpfr_t a, b;
    (void)is_double;
    mpfr_inits2(200, a, b, (mpfr_ptr)NULL);
    mpfr_set_d(a, in[0].d, MPFR_RNDN);
    mpfr_mul_d(a, a, in[1].d, MPFR_RNDN);
    mpfr_set_d(b, in[2].d, MPFR_RNDN);
    mpfr_add(a, a, b, MPFR_RNDN);
    /* double rounds to odd, so that half does not round twice */
    const double down = mpfr_get_d(a, MPFR_RNDD), up = mpfr_get_d(a, MPFR_RNDU);
    union sweep_value odd = {.d = down};
    out->d = odd.u & 1 ? down : down == up ? mpfr_get_d(a, MPFR_RNDN) : up;
    mpfr_clears(a, b, (mpfr_ptr)NULL);
}

static void ref_half_mad(bool is_double, const value *in, value *out)
{
    (void)is_double;
    out->d = (double)sweep_half(in[0].d * in[1].d) + in[2].d;
}

/** Adds the smaller one of the gaps around x, or twice that if it is half of the gap and does not reach the next half.
 */
static void ref_half_nextafter(bool is_double, const value *in, value *out)
{
    const double x = in[0].d, y = in[1].d, up = y > x ? 1 : -1;
    int e = 0;
    (void)is_double;
    (void)frexp(x, &e);
    const double gap = up * ldexp(1, x == 0 || e < -12 ? -24 : e - 12), half = (double)sweep_half(x + gap);
    const double next = half == x ? x + 2 * gap : half;
    out->d = isnan(x) || isnan(y) ? NAN
             : x == y             ? y
             : isinf(x)           ? copysign(65504, x)
             : next == 0          ? copysign(0, x)
                                  : next;
}

static void ref_half_fract(bool is_double, const value *in, value *out)
{
    ref_fract(is_double, in, out);
    out[0].d = out[0].d > 0x1.ffcp-1 ? 0x1.ffcp-1 : out[0].d;
}

struct exact {
    exact_fn *fn;
    bool either_zero; /**< Either sign of a zero is right. */
    bool no_nan; /**< With a NaN argument any result is right. */
    bool ordered; /**< Unless b <= c, any result is right. */
    exact_fn *or; /**< The result of this function is right too. */
};

/** Computes in double for half, and rounds to half. */
static void compute(const struct sweep_case *c, exact_fn *fn, const value *in, value *out)
{
    value wide[3] = {{.u = 0}};
    const bool half = c->in[0] == SWEEP_HALF || c->out[0] == SWEEP_HALF;
    for (unsigned k = 0; k < 3; k++) {
        wide[k] = c->in[k] == SWEEP_HALF ? (value){.d = sweep_number(SWEEP_HALF, in[k])} : in[k];
    }
    fn(half || c->in[0] == SWEEP_DOUBLE || c->out[0] == SWEEP_DOUBLE, wide, out);
    for (unsigned k = 0; k < 2; k++) {
        out[k] = c->out[k] == SWEEP_HALF ? (value){.f = sweep_half(out[k].d)} : out[k];
    }
}

static double check(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                    value expected[2])
{
    const struct exact *how = c->reference;
    (void)width;
    for (unsigned k = 0; k < 3; k++) {
        if (how->no_nan && sweep_is_nan(c->in[k], in[k])) {
            return 0;
        }
    }
    if (how->ordered && !(sweep_number(c->in[1], in[1]) <= sweep_number(c->in[2], in[2]))) {
        return 0;
    }
    compute(c, how->fn, in, expected);
    if (how->either_zero && sweep_number(c->out[0], got[0]) == 0 && sweep_number(c->out[0], expected[0]) == 0) {
        return 0;
    }
    if (how->or != NULL) {
        value other[2];
        compute(c, how->or, in, other);
        expected[0] = sweep_exact(c, got, other) == 0 ? other[0] : expected[0];
    }
    return sweep_exact(c, got, expected);
}

/** The bound is 2^-16, of half 2^-10. Any result is right unless a < b, and where a difference would overflow. */
static double check_smoothstep(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                               value expected[2])
{
    const double a = sweep_number(c->in[0], in[0]), b = sweep_number(c->in[1], in[1]),
        x = sweep_number(c->in[2], in[2]);
    const double limit = c->in[0] == SWEEP_HALF ? 0x1p15 : c->in[0] == SWEEP_FLOAT ? 0x1p126 : 0x1p1022;
    const double bound = c->in[0] == SWEEP_HALF ? 0x1p-10 : 0x1p-16;
    (void)width;
    if (!(a < b) || !(fabs(a) < limit) || !(fabs(b) < limit) || !(fabs(x) < limit)) {
        return 0;
    }
    const long double t = x <= a ? 0 : x >= b ? 1 : ((long double)x - a) / ((long double)b - a);
    const double y = (double)(t * t * (3 - 2 * t));
    if (c->out[0] != SWEEP_DOUBLE) {
        expected[0].f = (float)y;
    } else {
        expected[0].d = y;
    }
    return fabs(sweep_number(c->out[0], got[0]) - y) <= bound ? 0 : INFINITY;
}

/** mix of half is computed in float: the error is half a unit, and float's error of a sum. */
static double check_half_mix(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                             value expected[2])
{
    const double x = (double)in[0].f, y = (double)in[1].f, a = (double)in[2].f, exact = x + (y - x) * a;
    (void)width;
    expected[0].f = sweep_half(exact);
    const double error = fabs((double)got[0].f - exact), unit = fmax(fabs(exact) * 0x1p-11, 0x1p-25);
    const bool near = error <= unit + 0x1p-22 * (fabs(x) + fabs(y - x) * fabs(a));
    return near ? 0 : sweep_exact(c, got, expected);
}

#define HOW(NAME, ...) (&(const struct exact){.fn = ref_##NAME, __VA_ARGS__})
#define CASE(NAME, CODE, HOW, ...) {#NAME, CODE, __VA_ARGS__, .check = check, .reference = HOW}
#define ONE(NAME, T) CASE(NAME, "r = " #NAME "(a);", HOW(NAME, 0), {T}, {T})
#define TWO(NAME, T) CASE(NAME, "r = " #NAME "(a, b);", HOW(NAME, 0), {T, T}, {T})
#define OPERATOR(NAME, SIGN, T) CASE(NAME, "r = a " #SIGN " b;", HOW(NAME, 0), {T, T}, {T})
/** The second form takes a scalar. */
#define LOOSE(NAME, T, ...)                                                                            \
    CASE(NAME, "r = " #NAME "(a, b);", HOW(NAME, __VA_ARGS__), {T, T}, {T}),                           \
    {#NAME, "r = " #NAME "(a, b);", {T, T}, {T}, .scalar = 2, .check = check, .reference = HOW(NAME, __VA_ARGS__)}

#define ALL(T, UNSIGNED)                                                                               \
    ONE(ceil, T), ONE(fabs, T), ONE(floor, T), ONE(logb, T), ONE(rint, T), ONE(round, T),              \
    ONE(trunc, T), TWO(copysign, T), TWO(fdim, T), TWO(fmod, T), TWO(remainder, T),                   \
    LOOSE(fmax, T, .either_zero = true), LOOSE(fmin, T, .either_zero = true),                          \
    LOOSE(max, T, .either_zero = true, .no_nan = true), LOOSE(min, T, .either_zero = true, .no_nan = true), \
    CASE(maxmag, "r = maxmag(a, b);", HOW(maxmag, .either_zero = true), {T, T}, {T}),                  \
    CASE(minmag, "r = minmag(a, b);", HOW(minmag, .either_zero = true), {T, T}, {T}),                  \
    OPERATOR(add, +, T), OPERATOR(subtract, -, T), OPERATOR(multiply, *, T),                           \
    CASE(clamp, "r = clamp(a, b, c);", HOW(clamp, .no_nan = true, .ordered = true, .either_zero = true),               \
         {T, T, T}, {T}),                                                                              \
    {"clamp", "r = clamp(a, b, c);", {T, T, T}, {T}, .scalar = 6, .check = check,                      \
     .reference = HOW(clamp, .no_nan = true, .ordered = true, .either_zero = true)},                   \
    {"smoothstep", "r = smoothstep(a, b, c);", {T, T, T}, {T}, .check = check_smoothstep},             \
    {"smoothstep", "r = smoothstep(a, b, c);", {T, T, T}, {T}, .scalar = 3, .check = check_smoothstep}, \
    CASE(step, "r = step(a, b);", HOW(step, .no_nan = true), {T, T}, {T}),                             \
    {"step", "r = step(a, b);", {T, T}, {T}, .scalar = 1, .check = check, .reference = HOW(step, .no_nan = true)}, \
    ONE(sign, T),                                                                                      \
    CASE(ldexp, "r = ldexp(a, b);", HOW(ldexp, 0), {T, SWEEP_INT}, {T}),                               \
    {"ldexp", "r = ldexp(a, b);", {T, SWEEP_INT}, {T}, .scalar = 2, .check = check, .reference = HOW(ldexp, 0)}, \
    CASE(ilogb, "r = ilogb(a);", HOW(ilogb, 0), {T}, {SWEEP_INT}),                                     \
    CASE(frexp, "r = frexp(a, &s);", HOW(frexp, 0), {T}, {T, SWEEP_INT}),                              \
    CASE(modf, "r = modf(a, &s);", HOW(modf, 0), {T}, {T, T}),                                         \
    CASE(remquo, "r = remquo(a, b, &s);", HOW(remquo, 0), {T, T}, {T, SWEEP_INT}),                     \
    CASE(nan, "r = nan(a);", HOW(nan, 0), {UNSIGNED}, {T})

#define BOTH(T, UNSIGNED)                                                                              \
    ALL(T, UNSIGNED), TWO(nextafter, T),                                                               \
    CASE(fma, "r = fma(a, b, c);", HOW(fma, 0), {T, T, T}, {T}),                                       \
    CASE(mad, "r = mad(a, b, c);", HOW(fma, .or = ref_mad), {T, T, T}, {T}),                           \
    CASE(mix, "r = mix(a, b, c);", HOW(mix, .or = ref_fused_mix), {T, T, T}, {T}),                     \
    {"mix", "r = mix(a, b, c);", {T, T, T}, {T}, .scalar = 4, .check = check,                          \
     .reference = HOW(mix, .or = ref_fused_mix)},                                                      \
    CASE(fract, "r = fract(a, &s);", HOW(fract, 0), {T}, {T, T})

/* The quotient is exact in double to more than twice half's digits. mad is a product and a sum, each rounded, also
 * where the compiler may contract. */
#define H SWEEP_HALF
static const struct sweep_case of_half[] = {
    ALL(H, SWEEP_USHORT),
    CASE(nextafter, "r = nextafter(a, b);", HOW(half_nextafter, 0), {H, H}, {H}),
    CASE(fma, "r = fma(a, b, c);", HOW(half_fma, 0), {H, H, H}, {H}),
    CASE(mad, "r = mad(a, b, c);", HOW(half_mad, 0), {H, H, H}, {H}),
    CASE(expression, "r = a * b + c;", HOW(half_mad, 0), {H, H, H}, {H}),
    CASE(fract, "r = fract(a, &s);", HOW(half_fract, 0), {H}, {H, H}),
    {"mix", "r = mix(a, b, c);", {H, H, H}, {H}, .check = check_half_mix},
    {"mix", "r = mix(a, b, c);", {H, H, H}, {H}, .scalar = 4, .check = check_half_mix},
};

static const struct sweep_case of_float[] = {BOTH(SWEEP_FLOAT, SWEEP_UINT)};
static const struct sweep_case of_double[] = {BOTH(SWEEP_DOUBLE, SWEEP_ULONG)};

/** A relational function returns 1 for true in scalar forms, -1 in vector forms. */
typedef bool relation_fn(double x, double y);

#define RELATION(NAME, E)                                  \
    static bool ref_##NAME(double x, double y)             \
    {                                                      \
        (void)y;                                           \
        return E;                                          \
    }

RELATION(isequal, x == y)
RELATION(isnotequal, x != y)
RELATION(isgreater, x > y)
RELATION(isgreaterequal, x >= y)
RELATION(isless, x < y)
RELATION(islessequal, x <= y)
RELATION(islessgreater, x < y || x > y)
RELATION(isordered, !isnan(x) && !isnan(y))
RELATION(isunordered, isnan(x) || isnan(y))
RELATION(isfinite, isfinite(x) != 0)
RELATION(isinf, isinf(x) != 0)
RELATION(isnan, isnan(x) != 0)
RELATION(signbit, signbit(x) != 0)

static double check_relation(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                             value expected[2])
{
    relation_fn *const *fn = c->reference;
    const bool two = c->in[1] != SWEEP_NONE;
    const bool is = (*fn)(sweep_number(c->in[0], in[0]), two ? sweep_number(c->in[1], in[1]) : 0);
    expected[0].i = is ? (width == 1 ? 1 : -1) : 0;
    return sweep_exact(c, got, expected);
}

static double check_isnormal(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                             value expected[2])
{
    const bool is = c->in[0] == SWEEP_HALF    ? isnormal(in[0].f) && fabsf(in[0].f) >= 0x1p-14f
                    : c->in[0] == SWEEP_FLOAT ? isnormal(in[0].f)
                                              : isnormal(in[0].d);
    expected[0].i = is ? (width == 1 ? 1 : -1) : 0;
    return sweep_exact(c, got, expected);
}

#define RELATION_OF(NAME) (&(relation_fn *const){ref_##NAME})
#define IS_ONE(NAME, T, R) \
    {#NAME, "r = " #NAME "(a);", {T}, {R}, .check = check_relation, .reference = RELATION_OF(NAME)}
#define IS_TWO(NAME, T, R) \
    {#NAME, "r = " #NAME "(a, b);", {T, T}, {R}, .check = check_relation, .reference = RELATION_OF(NAME)}
#define RELATIONS(T, R)                                                                                 \
    IS_TWO(isequal, T, R), IS_TWO(isnotequal, T, R), IS_TWO(isgreater, T, R), IS_TWO(isgreaterequal, T, R), \
    IS_TWO(isless, T, R), IS_TWO(islessequal, T, R), IS_TWO(islessgreater, T, R), IS_TWO(isordered, T, R),  \
    IS_TWO(isunordered, T, R), IS_ONE(isfinite, T, R), IS_ONE(isinf, T, R), IS_ONE(isnan, T, R),       \
    IS_ONE(signbit, T, R), {"isnormal", "r = isnormal(a);", {T}, {R}, .check = check_isnormal}

static const struct sweep_case of_relations[] = {
    RELATIONS(SWEEP_FLOAT, SWEEP_INT), RELATIONS(SWEEP_DOUBLE, SWEEP_LONG), RELATIONS(SWEEP_HALF, SWEEP_SHORT),
};

static void test_half(void **state)
{
    (void)state;
    sweep_run(of_half, LENGTH(of_half), "");
}

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

static void test_relations(void **state)
{
    (void)state;
    sweep_run(of_relations, LENGTH(of_relations), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_relations),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
