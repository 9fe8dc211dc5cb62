// SPDX-License-Identifier: Apache-2.0

#include "float_reference.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum kind { KIND_FMA, KIND_DIV, KIND_SQRT, KIND_INT };

// One operation and its operands; doubles hold every float and every 32-bit integer.
struct operation {
    enum kind kind;
    double a, b, c;
};

static float to_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static int is_nan(uint32_t a)
{
    return (a & 0x7fffffff) > 0x7f800000;
}

static int is_signaling(uint32_t a)
{
    return is_nan(a) && !(a & 0x00400000);
}

static float evaluate(const struct operation *op, int mode, uint32_t *flags)
{
    volatile float r = 0, a = (float)op->a, b = (float)op->b, c = (float)op->c;
    volatile double integer = op->a;

    fesetround(mode);
    feclearexcept(FE_ALL_EXCEPT);
    switch (op->kind) {
    case KIND_FMA: r = fmaf(a, b, c); break;
    case KIND_DIV: r = a / b; break;
    case KIND_SQRT: r = sqrtf(a); break;
    case KIND_INT: r = (float)integer; break;
    }
    int raised = fetestexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    *flags = (raised & FE_INVALID ? FLAG_NV : 0u) | (raised & FE_DIVBYZERO ? FLAG_DZ : 0u) |
        (raised & FE_OVERFLOW ? FLAG_OF : 0u)
             | (raised & FE_UNDERFLOW ? FLAG_UF : 0u) | (raised & FE_INEXACT ? FLAG_NX : 0u);
    return r;
}

static double evaluate_double(const struct operation *op, int mode)
{
    volatile double r = 0, a = op->a, b = op->b, c = op->c;

    fesetround(mode);
    switch (op->kind) {
    case KIND_FMA: r = fma(a, b, c); break;
    case KIND_DIV: r = a / b; break;
    case KIND_SQRT: r = sqrt(a); break;
    case KIND_INT: r = a; break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

// Returns whether |exact value| < bound.
static int magnitude_below(const struct operation *op, int negative, double bound)
{
    return negative ? evaluate_double(op, FE_UPWARD) > -bound : evaluate_double(op, FE_DOWNWARD) < bound;
}

static float evaluate_away(const struct operation *op, uint32_t *flags)
{
    float down = evaluate(op, FE_DOWNWARD, flags), up = evaluate(op, FE_UPWARD, flags);
    float nearest = evaluate(op, FE_TONEAREST, flags);
    if (!(*flags & FLAG_NX))
        return nearest;
    int negative = signbit(nearest) != 0;
    double low = fabs((double)(negative ? up : down)), high = fabs((double)(negative ? down : up));
    if (isinf(high))
        high = 0x1p128;
    double rounded = magnitude_below(op, negative, (low + high) / 2) ? low : high;
    // tiny after rounding: below the value that would round to the smallest normal if the exponent were unbounded
    int tiny = magnitude_below(op, negative, 0x1p-126 - 0x1p-151);
    *flags = FLAG_NX | (rounded > (double)FLT_MAX ? FLAG_OF : 0u) | (tiny ? FLAG_UF : 0u);
    float magnitude = rounded > (double)FLT_MAX ? (float)INFINITY : (float)rounded;
    return negative ? -magnitude : magnitude;
}

static struct float_result finish(const struct operation *op, uint32_t rm, int invalid)
{
    static const int host[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    struct float_result result;
    float r = rm == RM_RMM ? evaluate_away(op, &result.flags) : evaluate(op, host[rm], &result.flags);
    result.bits = isnan(r) ? FLOAT_NAN : to_bits(r);
    if (isnan(r))
        result.flags = invalid ? FLAG_NV : 0;
    return result;
}

static int is_inf(uint32_t a)
{
    return (a & 0x7fffffff) == 0x7f800000;
}

static int is_zero(uint32_t a)
{
    return (a & 0x7fffffff) == 0;
}

struct float_result float_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t rm)
{
    struct operation op = {KIND_FMA, (double)to_float(a), (double)to_float(b), (double)to_float(c)};
    int any_nan = is_nan(a) || is_nan(b) || is_nan(c);
    int zero_inf = (is_inf(a) && is_zero(b)) || (is_inf(b) && is_zero(a));
    // A NaN result is invalid if no operand is a NaN, if an operand is a signaling NaN, or if the product is inf * 0.
    return finish(&op, rm, !any_nan || zero_inf || is_signaling(a) || is_signaling(b) || is_signaling(c));
}

struct float_result float_div(uint32_t a, uint32_t b, uint32_t rm)
{
    struct operation op = {KIND_DIV, (double)to_float(a), (double)to_float(b), 0};
    return finish(&op, rm, (!is_nan(a) && !is_nan(b)) || is_signaling(a) || is_signaling(b));
}

struct float_result float_sqrt(uint32_t a, uint32_t rm)
{
    struct operation op = {KIND_SQRT, (double)to_float(a), 0, 0};
    return finish(&op, rm, !is_nan(a) || is_signaling(a));
}

struct float_result float_from_int(int64_t value, uint32_t rm)
{
    struct operation op = {KIND_INT, (double)value, 0, 0};
    return finish(&op, rm, 0);
}

struct float_result float_to_int(uint32_t a, int is_unsigned, uint32_t rm)
{
    static const int host[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    double low = is_unsigned ? 0 : -0x1p31, high = is_unsigned ? 0x1p32 - 1 : 0x1p31 - 1;
    uint32_t low_bits = is_unsigned ? 0 : 0x80000000, high_bits = is_unsigned ? 0xffffffff : 0x7fffffff;
    volatile double value = (double)to_float(a), rounded;

    if (is_nan(a))
        return (struct float_result){high_bits, FLAG_NV};
    if (rm == RM_RMM) {
        rounded = round(value);
    } else {
        fesetround(host[rm]);
        rounded = rint(value);
        fesetround(FE_TONEAREST);
    }
    if (rounded < low)
        return (struct float_result){low_bits, FLAG_NV};
    if (rounded > high)
        return (struct float_result){high_bits, FLAG_NV};
    return (struct float_result){(uint32_t)(int64_t)rounded, rounded != value ? FLAG_NX : 0};
}

struct float_result float_min_max(uint32_t a, uint32_t b, int is_max)
{
    struct float_result result = {0, is_signaling(a) || is_signaling(b) ? FLAG_NV : 0};
    float fa = to_float(a), fb = to_float(b);
    if (is_nan(a))
        result.bits = is_nan(b) ? FLOAT_NAN : b;
    else if (is_nan(b))
        result.bits = a;
    else if (fa != fb)
        result.bits = (fa < fb) != (is_max != 0) ? a : b;
    else
        result.bits = is_max ? a & b : a | b;  // equal: the same bits, or zeros; -0 counts as less than +0
    return result;
}

struct float_result float_compare(uint32_t a, uint32_t b, int less, int equal)
{
    struct float_result result = {0, 0};
    if (is_nan(a) || is_nan(b)) {
        result.flags = less || is_signaling(a) || is_signaling(b) ? FLAG_NV : 0;
        return result;
    }
    float fa = to_float(a), fb = to_float(b);
    result.bits = (less && fa < fb) || (equal && fa == fb);
    return result;
}

uint32_t float_class(uint32_t a)
{
    float f = to_float(a);
    int negative = a >> 31 != 0;
    switch (fpclassify(f)) {
    case FP_INFINITE: return negative ? 1u << 0 : 1u << 7;
    case FP_NORMAL: return negative ? 1u << 1 : 1u << 6;
    case FP_SUBNORMAL: return negative ? 1u << 2 : 1u << 5;
    case FP_ZERO: return negative ? 1u << 3 : 1u << 4;
    default: return is_signaling(a) ? 1u << 8 : 1u << 9;
    }
}
