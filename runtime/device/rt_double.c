/* SPDX-License-Identifier: Apache-2.0 */
/** Run-time library: double add, subtract, multiply, divide, compare (rt_double.h). */
#include "rt_double.h"

double __adddf3(double a, double b);
double __subdf3(double a, double b);
double __muldf3(double a, double b);
double __divdf3(double a, double b);
double __negdf2(double a);
int __unorddf2(double a, double b);
int __eqdf2(double a, double b);
int __nedf2(double a, double b);
int __ltdf2(double a, double b);
int __ledf2(double a, double b);
int __gtdf2(double a, double b);
int __gedf2(double a, double b);

static u64 add(u64 a, u64 b)
{
    u64 ma = a & ~SIGN, mb = b & ~SIGN; /* magnitudes */
    if (ma < mb) { /* the larger magnitude first */
        u64 t = a;
        a = b;
        b = t;
        t = ma;
        ma = mb;
        mb = t;
    }
    u64 sign = a & SIGN;
    int subtract = (a ^ b) >> 63 != 0;
    if (ma >= INFINITY_BITS) {
        if (is_nan(a)) {
            return quiet(a);
        }
        return subtract && mb == INFINITY_BITS ? NAN_BITS : a;
    }
    if (mb == 0) {
        return ma == 0 ? a & b : a;
    }
    s32 ea, eb;
    u64 sa, sb;
    unpack(ma, &ea, &sa);
    unpack(mb, &eb, &sb);
    sb = shift_jam(sb, ea - eb);
    if (!subtract) {
        return normalize_pack(sign, ea, sa + sb);
    }
    return sa == sb ? 0 : normalize_pack(sign, ea, sa - sb);
}

double __adddf3(double a, double b)
{
    return double_of(add(bits_of(a), bits_of(b)));
}

double __subdf3(double a, double b)
{
    u64 y = bits_of(b);
    return double_of(add(bits_of(a), is_nan(y) ? y : y ^ SIGN));
}

double __negdf2(double a)
{
    return double_of(bits_of(a) ^ SIGN);
}

double __muldf3(double a, double b)
{
    u64 x = bits_of(a), y = bits_of(b), sign = (x ^ y) & SIGN;
    u64 mx = x & ~SIGN, my = y & ~SIGN;
    if (mx >= INFINITY_BITS || my >= INFINITY_BITS) {
        if (is_nan(x)) {
            return double_of(quiet(x));
        }
        if (is_nan(y)) {
            return double_of(quiet(y));
        }
        return double_of(mx == 0 || my == 0 ? NAN_BITS : sign | INFINITY_BITS);
    }
    if (mx == 0 || my == 0) {
        return double_of(sign);
    }
    s32 ex, ey;
    u64 sx, sy, low;
    unpack(mx, &ex, &sx);
    unpack(my, &ey, &sy);
    u64 high = multiply(sx, sy << 1, &low); /* the leading one is bit 61 or 62 */
    return double_of(normalize_pack(sign, ex + ey - BIAS + 1, high | (low != 0)));
}

/** One 32-bit digit of (rest << 32) / b, for rest < b and b with its top bit set (Knuth, TAOCP 2, 4.3.1, algorithm
 *  D). */
static u32 digit(u64 *rest, u64 b)
{
    u32 bh = (u32)(b >> 32), bl = (u32)b, q = ~0u;
    u64 r;
    if ((u32)(*rest >> 32) < bh) {
        u32 small;
        q = divide_64_32(*rest, bh, &small);
        r = small;
    } else {
        r = *rest - (u64)q * bh;
    }
    u64 p = (u64)q * bl;
    while (r <= ~0u && p > r << 32) {
        q--;
        r += bh;
        p -= bl;
    }
    *rest = (r << 32) - p;
    return q;
}

double __divdf3(double a, double b)
{
    u64 x = bits_of(a), y = bits_of(b), sign = (x ^ y) & SIGN;
    u64 mx = x & ~SIGN, my = y & ~SIGN;
    if (mx >= INFINITY_BITS || my >= INFINITY_BITS) {
        if (is_nan(x)) {
            return double_of(quiet(x));
        }
        if (is_nan(y)) {
            return double_of(quiet(y));
        }
        if (mx == INFINITY_BITS) {
            return double_of(my == INFINITY_BITS ? NAN_BITS : sign | INFINITY_BITS);
        }
        return double_of(sign);
    }
    if (mx == 0 || my == 0) {
        return double_of(my != 0 ? sign : mx == 0 ? NAN_BITS : sign | INFINITY_BITS);
    }
    s32 ex, ey;
    u64 sx, sy;
    unpack(mx, &ex, &sx);
    unpack(my, &ey, &sy);
    sy <<= 1;
    u64 rest = sx; /* below sy, so that the leading one of the quotient is bit 62 or 63 */
    u64 q = (u64)digit(&rest, sy) << 32;
    q |= digit(&rest, sy);
    return double_of(normalize_pack(sign, ex - ey + BIAS - 1, q | (rest != 0)));
}

/** Compares two numbers that are not NaN: -1, 0 or 1. Sign and magnitude become integers of the same order. */
static int compare(u64 x, u64 y)
{
    if (((x | y) & ~SIGN) == 0) {
        return 0;
    }
    s64 i = (s64)x < 0 ? (s64)(SIGN - x) : (s64)x;
    s64 j = (s64)y < 0 ? (s64)(SIGN - y) : (s64)y;
    return i < j ? -1 : i > j;
}

int __unorddf2(double a, double b)
{
    return is_nan(bits_of(a)) || is_nan(bits_of(b));
}

/* Comparison functions. With a NaN each returns a value that makes its comparison false. */
#define COMPARE(name, unordered)                                         \
    int name(double a, double b)                                         \
    {                                                                    \
        u64 x = bits_of(a), y = bits_of(b);                              \
        return is_nan(x) || is_nan(y) ? (unordered) : compare(x, y);     \
    }

COMPARE(__eqdf2, 1)
COMPARE(__nedf2, 1)
COMPARE(__ltdf2, 1)
COMPARE(__ledf2, 1)
COMPARE(__gtdf2, -1)
COMPARE(__gedf2, -1)
