/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mathematical functions of half. Each is a function of float, rounded: float's errors are small fractions of half's
 * last place. Functions that are short and right for the range of half are taken before those for all floats. Exact
 * functions stay exact, because their results are halves.
 */
#include "half_base.h"

#define PURE OVERLOAD __attribute__((const))
#define DECLARE_1(F, N) float##N PURE F(float##N x);
#define DECLARE_2(F, N) float##N PURE F(float##N x, float##N y);

/** NAME(x) by F of float. The scalar form is no inline function, because most are long. */
#define UNARY_N(NAME, F, N)                    \
    PURE half##N NAME(half##N x)               \
    {                                          \
        return thin(F(wide(x)));               \
    }
#define UNARY(NAME, F)                         \
    WIDTHS_1(DECLARE_1, F)                     \
    WIDTHS_2(UNARY_N, NAME, F)
#define BINARY_N(NAME, F, N)                   \
    PURE half##N NAME(half##N x, half##N y)    \
    {                                          \
        return thin(F(wide(x), wide(y)));      \
    }
#define BINARY(NAME, F)                        \
    WIDTHS_1(DECLARE_2, F)                     \
    WIDTHS_2(BINARY_N, NAME, F)

UNARY(acos, acos)
UNARY(acosh, acosh)
UNARY(acospi, acospi)
UNARY(asin, asin)
UNARY(asinh, asinh)
UNARY(asinpi, asinpi)
UNARY(atan, atan)
UNARY(atanh, atanh)
UNARY(atanpi, atanpi)
UNARY(cbrt, cbrt)
UNARY(cos, native_cos)
UNARY(cosh, cosh)
UNARY(cospi, cospi)
UNARY(erf, erf)
UNARY(erfc, erfc)
UNARY(exp, exp)
UNARY(exp2, exp2)
UNARY(exp10, native_exp10)
UNARY(expm1, expm1)
UNARY(lgamma, lgamma)
UNARY(log, native_log)
UNARY(log2, native_log2)
UNARY(log10, native_log10)
UNARY(log1p, log1p)
UNARY(logb, logb)
UNARY(rsqrt, rsqrt)
UNARY(sinh, sinh)
UNARY(sinpi, sinpi)
UNARY(tanh, tanh)
UNARY(tanpi, tanpi)
UNARY(tgamma, tgamma)
BINARY(atan2, atan2)
BINARY(atan2pi, atan2pi)
BINARY(fdim, fdim)
BINARY(fmod, fmod)
BINARY(maxmag, maxmag)
BINARY(minmag, minmag)
BINARY(powr, native_powr)
BINARY(remainder, remainder)

/* Odd functions that lose the sign of zero, from the magnitude. */
#define ODD_N(NAME, F, N)                                    \
    PURE half##N NAME(half##N x)                             \
    {                                                        \
        const float##N v = wide(x), r = F(__builtin_elementwise_abs(v)); \
        return thin(as_float##N(as_uint##N(r) ^ (as_uint##N(v) & 0x80000000))); \
    }
#define ODD(NAME, F)                                         \
    WIDTHS_1(DECLARE_1, F)                                   \
    WIDTHS_2(ODD_N, NAME, F)
ODD(sin, native_sin)
ODD(tan, native_tan)

/* One instruction of float, or a few. */
#define SHORT_1(NAME, N)                                     \
    CONST half##N NAME(half##N x)                            \
    {                                                        \
        return __builtin_elementwise_##NAME(x);              \
    }
WIDTHS_1(SHORT_1, ceil)
WIDTHS_1(SHORT_1, floor)
WIDTHS_1(SHORT_1, rint)
WIDTHS_1(SHORT_1, round)
WIDTHS_1(SHORT_1, trunc)
WIDTHS_1(SHORT_1, sqrt)

#define SHORT_N(N)                                           \
    CONST half##N fabs(half##N x)                            \
    {                                                        \
        return __builtin_elementwise_abs(x);                 \
    }                                                        \
    CONST half##N copysign(half##N x, half##N y)             \
    {                                                        \
        return __builtin_elementwise_copysign(x, y);         \
    }                                                        \
    CONST half##N fma(half##N x, half##N y, half##N z)       \
    {                                                        \
        return __builtin_elementwise_fma(x, y, z);           \
    }                                                        \
    CONST half##N mad(half##N x, half##N y, half##N z)       \
    {                                                        \
        return x * y + z;                                    \
    }                                                        \
    CONST half##N fmax(half##N x, half##N y)                 \
    {                                                        \
        return __builtin_elementwise_max(x, y);              \
    }                                                        \
    CONST half##N fmin(half##N x, half##N y)                 \
    {                                                        \
        return __builtin_elementwise_min(x, y);              \
    }                                                        \
    CONST half##N nan(ushort##N code)                        \
    {                                                        \
        return as_half##N((ushort##N)(code | (ushort)0x7e00)); \
    }
WIDTHS(SHORT_N)

#define SCALAR_N(N)                                          \
    CONST half##N fmax(half##N x, half y)                    \
    {                                                        \
        return __builtin_elementwise_max(x, (half##N)y);     \
    }                                                        \
    CONST half##N fmin(half##N x, half y)                    \
    {                                                        \
        return __builtin_elementwise_min(x, (half##N)y);     \
    }                                                        \
    PURE half##N ldexp(half##N x, int n)                     \
    {                                                        \
        return thin(ldexp(wide(x), (int##N)n));              \
    }

#define WITH_INT_N(N)                                        \
    float##N PURE ldexp(float##N x, int##N n);               \
    int##N PURE ilogb(float##N x);                           \
    PURE half##N ldexp(half##N x, int##N n)                  \
    {                                                        \
        return thin(ldexp(wide(x), n));                      \
    }                                                        \
    PURE int##N ilogb(half##N x)                             \
    {                                                        \
        return ilogb(wide(x));                               \
    }
WIDTHS(WITH_INT_N)
VECTORS(SCALAR_N)

/** The squares are floats without overflow, and not subnormal. */
PURE half hypot(half x, half y)
{
    const float a = wide(x), b = wide(y), most = __builtin_inff();
    const float length = __builtin_sqrtf(__builtin_fmaf(a, a, b * b));
    return thin(__builtin_fabsf(a) == most || __builtin_fabsf(b) == most ? most : length);
}

/** |x|^y by the logarithm, whose error times 24, the largest useful exponent, is far below half's last place. */
WITHIN float power(float x, float y)
{
    return exp2(y * native_log2(__builtin_fabsf(x)));
}

PURE half pow(half x, half y)
{
    const float a = wide(x), b = wide(y), most = __builtin_inff();
    const bool whole = __builtin_rintf(b) == b, odd = whole && __builtin_rintf(0.5f * b) != 0.5f * b;
    if (b == 0 || a == 1 || (a == -1 && __builtin_fabsf(b) == most)) {
        return 1;
    }
    const float r = power(a, b);
    return a < 0 && a > -most && !whole ? __builtin_nanf("") : thin(odd ? __builtin_copysignf(r, a) : r);
}

PURE half pown(half x, int n)
{
    const float a = wide(x), r = power(a, (float)n);
    return n == 0 ? (half)1 : thin(n & 1 ? __builtin_copysignf(r, a) : r);
}

PURE half rootn(half x, int n)
{
    const float a = wide(x), r = exp2(native_log2(__builtin_fabsf(a)) / (float)n);
    return n == 0 || (a < 0 && !(n & 1)) ? __builtin_nanf("") : thin(n & 1 ? __builtin_copysignf(r, a) : r);
}

/** Numbers of one sign are ordered like their bits. */
PURE half nextafter(half x, half y)
{
    const ushort bits = as_ushort(x);
    if (x != x || y != y) {
        return x + y;
    }
    if (x == y) {
        return y;
    }
    if (x == 0) {
        return as_half((ushort)((as_ushort(y) & 0x8000) | 1));
    }
    return as_half((ushort)(bits + ((x < y) == (x > 0) ? 1 : -1)));
}

/* Vector forms of functions that have no vector form of float: halves of the vector. */
#define SPLIT_N(NAME, U, N)                                             \
    PURE half##N NAME(half##N x, U##N y)                                \
    {                                                                   \
        return (half##N)(NAME(x.lo, y.lo), NAME(x.hi, y.hi));           \
    }
#define SPLIT(NAME, U)                                                  \
    SPLIT_N(NAME, U, 2)                                                 \
    PURE half3 NAME(half3 x, U##3 y)                                    \
    {                                                                   \
        return (half3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); \
    }                                                                   \
    SPLIT_N(NAME, U, 4)                                                 \
    SPLIT_N(NAME, U, 8)                                                 \
    SPLIT_N(NAME, U, 16)

SPLIT(hypot, half)
SPLIT(nextafter, half)
SPLIT(pow, half)
SPLIT(pown, int)
SPLIT(rootn, int)

/* Functions with a second result, which is stored through a pointer. */
#define LARGEST 0x1.ffcp-1h /* below 1 */
#define SECOND_N(SPACE, N)                                              \
    OVERLOAD half##N modf(half##N x, SPACE half##N *whole)              \
    {                                                                   \
        float##N w;                                                     \
        const half##N r = thin(modf(wide(x), &w));                      \
        *whole = thin(w);                                               \
        return r;                                                       \
    }                                                                   \
    OVERLOAD half##N fract(half##N x, SPACE half##N *whole)             \
    {                                                                   \
        float##N w;                                                     \
        const half##N r = thin(fract(wide(x), &w));                     \
        *whole = thin(w);                                               \
        return r > (half##N)LARGEST ? (half##N)LARGEST : r;             \
    }                                                                   \
    OVERLOAD half##N frexp(half##N x, SPACE int##N *exponent)           \
    {                                                                   \
        int##N e;                                                       \
        const half##N r = thin(frexp(wide(x), &e));                     \
        *exponent = e;                                                  \
        return r;                                                       \
    }                                                                   \
    OVERLOAD half##N lgamma_r(half##N x, SPACE int##N *sign)            \
    {                                                                   \
        int##N s;                                                       \
        const half##N r = thin(lgamma_r(wide(x), &s));                  \
        *sign = s;                                                      \
        return r;                                                       \
    }                                                                   \
    OVERLOAD half##N remquo(half##N x, half##N y, SPACE int##N *quotient) \
    {                                                                   \
        int##N q;                                                       \
        const half##N r = thin(remquo(wide(x), wide(y), &q));           \
        *quotient = q;                                                  \
        return r;                                                       \
    }                                                                   \
    OVERLOAD half##N sincos(half##N x, SPACE half##N *cosine)           \
    {                                                                   \
        *cosine = cos(x);                                               \
        return sin(x);                                                  \
    }
#define DECLARE_SECOND(N)                                               \
    float##N OVERLOAD modf(float##N x, __private float##N *whole);      \
    float##N OVERLOAD fract(float##N x, __private float##N *whole);     \
    float##N OVERLOAD frexp(float##N x, __private int##N *exponent);    \
    float##N OVERLOAD lgamma_r(float##N x, __private int##N *sign);     \
    float##N OVERLOAD remquo(float##N x, float##N y, __private int##N *quotient);
WIDTHS(DECLARE_SECOND)
WIDTHS_1(SECOND_N, __private)
WIDTHS_1(SECOND_N, __local)
WIDTHS_1(SECOND_N, __global)
