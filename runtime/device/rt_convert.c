/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Run-time library: conversions of double and of 64-bit integers. Conversions to integer round towards zero and
 * saturate; NaN gives 0.
 */
#include "rt_double.h"

double __extendsfdf2(float a);
float __truncdfsf2(double a);
unsigned short __truncdfhf2(double a);
double __floatsidf(s32 a);
double __floatunsidf(u32 a);
double __floatdidf(s64 a);
double __floatundidf(u64 a);
float __floatdisf(s64 a);
float __floatundisf(u64 a);
s32 __fixdfsi(double a);
u32 __fixunsdfsi(double a);
s64 __fixdfdi(double a);
u64 __fixunsdfdi(double a);
s64 __fixsfdi(float a);
u64 __fixunssfdi(float a);

double __extendsfdf2(float a)
{
    u32 x = __builtin_bit_cast(u32, a), e = x >> 23 & 255, f = x & 0x7fffff;
    u64 sign = (u64)(x & 0x80000000u) << 32;
    if (e == 255) {
        return double_of(sign | INFINITY_BITS | (u64)f << 29 | (f ? 1ull << 51 : 0));
    }
    if (e == 0) {
        if (f == 0) {
            return double_of(sign);
        }
        u32 shift = (u32)__builtin_clz(f) - 8;
        e = 1 - shift;
        f = f << shift & 0x7fffff;
    }
    return double_of(sign | (u64)(e + BIAS - 127) << 52 | (u64)f << 29);
}

/** Converts to a format with `fraction` fraction bits and the largest exponent `top` (all ones). The result has no
 *  sign. */
INLINE u32 narrow(u64 magnitude, s32 fraction, s32 top)
{
    if (magnitude > INFINITY_BITS) {
        return (u32)top << fraction | 1u << (fraction - 1) |
               ((u32)(magnitude >> (52 - fraction)) & ((1u << fraction) - 1));
    }
    s32 exponent;
    u64 s;
    if (magnitude == 0) {
        return 0;
    }
    unpack(magnitude, &exponent, &s);
    exponent += (top >> 1) - BIAS;
    if (exponent >= top) {
        return (u32)top << fraction;
    }
    if (exponent <= 0) {
        s = shift_jam(s, 1 - exponent);
        exponent = 1;
    }
    s32 drop = 62 - fraction;
    u64 half = 1ull << (drop - 1), rest = s & ((1ull << drop) - 1);
    u32 kept = (u32)(s >> drop);
    kept += rest > half || (rest == half && (kept & 1));
    return ((u32)(exponent - 1) << fraction) + kept;
}

float __truncdfsf2(double a)
{
    u64 x = bits_of(a);
    return __builtin_bit_cast(float, ((u32)(x >> 32) & 0x80000000u) | narrow(x & ~SIGN, 23, 255));
}

unsigned short __truncdfhf2(double a)
{
    u64 x = bits_of(a);
    return (unsigned short)(((u32)(x >> 48) & 0x8000u) | narrow(x & ~SIGN, 10, 31));
}

double __floatundidf(u64 a)
{
    return double_of(a ? normalize_pack(0, BIAS + 62, a) : 0);
}

double __floatdidf(s64 a)
{
    u64 sign = a < 0 ? SIGN : 0;
    return double_of(a ? normalize_pack(sign, BIAS + 62, a < 0 ? -(u64)a : (u64)a) : 0);
}

double __floatunsidf(u32 a)
{
    return __floatundidf(a);
}

double __floatsidf(s32 a)
{
    return __floatdidf(a);
}

/** The top bits as a 32-bit integer with a sticky bit, which the hardware rounds; scaling is exact. */
float __floatundisf(u64 a)
{
    if (a <= ~0u) {
        return (float)(u32)a;
    }
    s32 shift = 32 - leading_zeros(a);
    u32 top = (u32)shift_jam(a, shift);
    return (float)top * __builtin_bit_cast(float, (u32)(127 + shift) << 23);
}

float __floatdisf(s64 a)
{
    float f = __floatundisf(a < 0 ? -(u64)a : (u64)a);
    return a < 0 ? -f : f;
}

/** The integer part of a magnitude, at most `limit`. */
INLINE u64 to_integer(u64 magnitude, u64 limit)
{
    s32 e = (s32)(magnitude >> 52);
    u64 s = (magnitude & ((1ull << 52) - 1)) | 1ull << 52;
    u64 value = limit;
    if (e < BIAS) {
        value = 0;
    } else if (e < BIAS + 64) {
        value = e < BIAS + 52 ? s >> (BIAS + 52 - e) : s << (e - BIAS - 52);
    }
    return value < limit ? value : limit;
}

s64 __fixdfdi(double a)
{
    u64 x = bits_of(a);
    if (is_nan(x)) {
        return 0;
    }
    u64 value = to_integer(x & ~SIGN, x >> 63 ? SIGN : SIGN - 1);
    return (s64)(x >> 63 ? -value : value);
}

u64 __fixunsdfdi(double a)
{
    u64 x = bits_of(a);
    return is_nan(x) || x >> 63 ? 0 : to_integer(x, ~0ull);
}

s32 __fixdfsi(double a)
{
    u64 x = bits_of(a);
    if (is_nan(x)) {
        return 0;
    }
    u32 value = (u32)to_integer(x & ~SIGN, x >> 63 ? 0x80000000u : 0x7fffffffu);
    return (s32)(x >> 63 ? -value : value);
}

u32 __fixunsdfsi(double a)
{
    u64 x = bits_of(a);
    return is_nan(x) || x >> 63 ? 0 : (u32)to_integer(x, ~0u);
}

s64 __fixsfdi(float a)
{
    return __fixdfdi(__extendsfdf2(a));
}

u64 __fixunssfdi(float a)
{
    return __fixunsdfdi(__extendsfdf2(a));
}
