/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Conversions in which the generic library is wrong:
 *   - floating point to integer with saturation: NaN must give 0;
 *   - integer to floating point in a given direction: a value that rounds up to 2^n exceeds the largest integer;
 *   - double to float: a result of zero lost its sign.
 */
#include "base.h"

#define VECTOR(T, F, NAME, N, H)                                                       \
    CONST T##N convert_##T##N##_##NAME(F##N x)                                         \
    {                                                                                  \
        return (T##N)(convert_##T##H##_##NAME(x.lo), convert_##T##H##_##NAME(x.hi));   \
    }
#define VECTORS(T, F, NAME)                                                            \
    VECTOR(T, F, NAME, 2, )                                                            \
    CONST T##3 convert_##T##3##_##NAME(F##3 x)                                         \
    {                                                                                  \
        return (T##3)(convert_##T##2##_##NAME(x.s01), convert_##T##_##NAME(x.s2));     \
    }                                                                                  \
    VECTOR(T, F, NAME, 4, 2)                                                           \
    VECTOR(T, F, NAME, 8, 4)                                                           \
    VECTOR(T, F, NAME, 16, 8)

/** LEAST and LIMIT, the first number that is too large, are exact in F. */
#define SATURATE(T, F, NAME, ROUND, LEAST, MOST, LIMIT)                                 \
    CONST T convert_##T##_##NAME(F x)                                                  \
    {                                                                                  \
        const F r = ROUND(x);                                                          \
        return r != r ? (T)0 : r <= (F)LEAST ? LEAST : r >= LIMIT ? MOST : (T)r;       \
    }                                                                                  \
    VECTORS(T, F, NAME)
#define MODES(T, F, SUFFIX, LEAST, MOST, LIMIT)                                        \
    SATURATE(T, F, sat, , LEAST, MOST, LIMIT)                                           \
    SATURATE(T, F, sat_rtz, , LEAST, MOST, LIMIT)                                       \
    SATURATE(T, F, sat_rte, __builtin_rint##SUFFIX, LEAST, MOST, LIMIT)                 \
    SATURATE(T, F, sat_rtp, __builtin_ceil##SUFFIX, LEAST, MOST, LIMIT)                 \
    SATURATE(T, F, sat_rtn, __builtin_floor##SUFFIX, LEAST, MOST, LIMIT)
#define TYPES(F, SUFFIX)                                                               \
    MODES(char, F, SUFFIX, CHAR_MIN, CHAR_MAX, 0x1p7f)                                 \
    MODES(uchar, F, SUFFIX, 0, UCHAR_MAX, 0x1p8f)                                      \
    MODES(short, F, SUFFIX, SHRT_MIN, SHRT_MAX, 0x1p15f)                               \
    MODES(ushort, F, SUFFIX, 0, USHRT_MAX, 0x1p16f)                                    \
    MODES(int, F, SUFFIX, INT_MIN, INT_MAX, 0x1p31f)                                   \
    MODES(uint, F, SUFFIX, 0, UINT_MAX, 0x1p32f)                                       \
    MODES(long, F, SUFFIX, LONG_MIN, LONG_MAX, 0x1p63f)                                \
    MODES(ulong, F, SUFFIX, 0, ULONG_MAX, 0x1p64f)

TYPES(float, f)
TYPES(double, )

/** Rounds to nearest, then steps back if that was in the wrong direction. LIMIT is not representable in I, but
 *  rounding may give it. */
#define DIRECTED(T, BITS, I, LIMIT)                                                    \
    CONST T convert_##T##_rtn(I x)                                                     \
    {                                                                                  \
        const T f = (T)x;                                                              \
        return f >= LIMIT || (I)f > x ? as_##T(as_##BITS(f) + (f < 0 ? 1 : -1)) : f;   \
    }                                                                                  \
    CONST T convert_##T##_rtp(I x)                                                     \
    {                                                                                  \
        const T f = (T)x;                                                              \
        return f < LIMIT && (I)f < x ? as_##T(as_##BITS(f) + (f < 0 ? -1 : 1)) : f;    \
    }                                                                                  \
    CONST T convert_##T##_rtz(I x)                                                     \
    {                                                                                  \
        return x < 0 ? convert_##T##_rtp(x) : convert_##T##_rtn(x);                    \
    }                                                                                  \
    VECTORS(T, I, rtn)                                                                 \
    VECTORS(T, I, rtp)                                                                 \
    VECTORS(T, I, rtz)

DIRECTED(float, uint, int, 0x1p31f)
DIRECTED(float, uint, uint, 0x1p32f)
DIRECTED(float, uint, long, 0x1p63f)
DIRECTED(float, uint, ulong, 0x1p64f)
DIRECTED(double, ulong, long, 0x1p63)
DIRECTED(double, ulong, ulong, 0x1p64)

/** From double: a step of the bits towards zero or away from zero, so that a zero keeps its sign. */
#define STEP(F, AWAY) as_float(as_uint(F) + ((AWAY) ? 1 : -1))
CONST float convert_float_rtn(double x)
{
    const float f = (float)x;
    return (double)f > x ? STEP(f, as_int(f) < 0) : f;
}

CONST float convert_float_rtp(double x)
{
    const float f = (float)x;
    return (double)f < x ? STEP(f, as_int(f) >= 0) : f;
}

CONST float convert_float_rtz(double x)
{
    const float f = (float)x;
    return __builtin_fabs((double)f) > __builtin_fabs(x) ? STEP(f, false) : f;
}

VECTORS(float, double, rtn)
VECTORS(float, double, rtp)
VECTORS(float, double, rtz)
