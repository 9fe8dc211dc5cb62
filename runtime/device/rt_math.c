/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Run-time library: functions that the code generator calls for operations of IEEE 754 on double other than arithmetic,
 * and remainders. All are exact or correctly rounded.
 */
#include "rt_double.h"

double sqrt(double a);
double fma(double a, double b, double c);
double floor(double a);
double ceil(double a);
double trunc(double a);
double rint(double a);
double nearbyint(double a);
double roundeven(double a);
double round(double a);
double fmin(double a, double b);
double fmax(double a, double b);
double fmod(double a, double b);
float fmodf(float a, float b);

/** Square root of a 64-bit number of which one of the top two bits is set: 32 bits, and the remainder. */
static u32 root_64(u64 n, u64 *rest)
{
    /* A 24-bit estimate of the hardware, one step of Heron's method, then an exact correction. */
    float estimate = __builtin_sqrtf((float)(u32)(n >> 32)) * 65536.0f;
    u32 s = estimate >= 4294967040.0f ? 0xffffff00u : (u32)estimate;
    s = s < 0x80000000u ? 0x80000000u : s;
    u32 unused;
    u32 q = (u32)(n >> 32) < s ? divide_64_32(n, s, &unused) : ~0u;
    s = (u32)(((u64)s + q) >> 1);
    while ((u64)s * s > n) {
        s--;
    }
    u64 r = n - (u64)s * s;
    while (r > 2ull * s) {
        r -= 2ull * s + 1;
        s++;
    }
    *rest = r;
    return s;
}

/** Zimmermann's square root: root_64 gives the upper half of the root, a division the lower half, which may be too
 *  large by one. */
double sqrt(double a)
{
    u64 x = bits_of(a), n, rest, low;
    s32 e;
    u32 unused;
    if (is_nan(x)) {
        return double_of(quiet(x));
    }
    if ((x & ~SIGN) == 0 || x == INFINITY_BITS) {
        return a;
    }
    if (x >> 63) {
        return double_of(NAN_BITS);
    }
    unpack(x, &e, &n);
    n <<= e & 1 ? 0 : 1; /* makes the exponent even */
    u32 s = root_64(n, &rest);
    u32 q = (rest >> 1) < s ? divide_64_32(rest << 31, s, &unused) : ~0u;
    u64 root = (u64)s << 32 | q;
    u64 high = multiply(root, root, &low);
    while (high > n || (high == n && low != 0)) {
        root--;
        high = multiply(root, root, &low);
    }
    s32 half = (e - BIAS - (e & 1 ? 0 : 1)) / 2;
    return double_of(normalize_pack(0, BIAS - 1 + half, root | (high != n || low != 0)));
}

/** A 128-bit number with an exponent: bit 62 of `high` has the value 2^(exponent - BIAS). */
struct wide {
    u64 high, low;
    s32 exponent;
};

static void wide_shift_jam(struct wide *w, s32 n)
{
    if (n >= 64) {
        w->low = shift_jam(w->high, n - 64) | (w->low != 0);
        w->high = 0;
    } else if (n > 0) {
        w->low = shift_jam(w->low, n) | w->high << (64 - n);
        w->high >>= n;
    }
}

static u64 wide_pack(u64 sign, struct wide w)
{
    if (w.high == 0) {
        if (w.low == 0) {
            return sign;
        }
        w.high = w.low;
        w.low = 0;
        w.exponent -= 64;
    }
    s32 n = leading_zeros(w.high);
    if (n > 0) {
        w.high = w.high << n | w.low >> (64 - n);
        w.low <<= n;
    }
    return pack(sign, w.exponent + 1 - n, shift_jam(w.high, 1) | (w.low != 0));
}

static u64 fma_special(u64 x, u64 y, u64 z)
{
    u64 mx = x & ~SIGN, my = y & ~SIGN, mz = z & ~SIGN, sign = (x ^ y) & SIGN;
    if (is_nan(x) || is_nan(y)) {
        return quiet(is_nan(x) ? x : y);
    }
    int infinite = mx == INFINITY_BITS || my == INFINITY_BITS;
    if (infinite && (mx == 0 || my == 0)) {
        return NAN_BITS;
    }
    if (is_nan(z)) {
        return quiet(z);
    }
    if (infinite) {
        return mz == INFINITY_BITS && (z & SIGN) != sign ? NAN_BITS : sign | INFINITY_BITS;
    }
    if (mz == INFINITY_BITS || mz != 0) {
        return z; /* the product is zero, or z is infinite */
    }
    return sign == (z & SIGN) ? sign : 0;
}

double fma(double a, double b, double c)
{
    u64 x = bits_of(a), y = bits_of(b), z = bits_of(c);
    u64 mx = x & ~SIGN, my = y & ~SIGN, mz = z & ~SIGN, sign = (x ^ y) & SIGN;
    if (mx >= INFINITY_BITS || my >= INFINITY_BITS || mz >= INFINITY_BITS || mx == 0 || my == 0) {
        return double_of(fma_special(x, y, z));
    }
    s32 ex, ey;
    u64 sx, sy;
    struct wide p, q = {0};
    unpack(mx, &ex, &sx);
    unpack(my, &ey, &sy);
    p.high = multiply(sx << 1, sy, &p.low);
    p.exponent = ex + ey - BIAS + 1;
    if (!(p.high >> 62)) {
        p.high = p.high << 1 | p.low >> 63;
        p.low <<= 1;
        p.exponent--;
    }
    if (mz == 0) {
        return double_of(wide_pack(sign, p));
    }
    unpack(mz, &q.exponent, &q.high);
    int subtract = sign != (z & SIGN);
    if (q.exponent > p.exponent || (q.exponent == p.exponent && (q.high > p.high))) {
        struct wide t = p;
        p = q;
        q = t;
        sign = z & SIGN;
    }
    wide_shift_jam(&q, p.exponent - q.exponent);
    if (subtract) {
        p.high -= q.high + (p.low < q.low);
        p.low -= q.low;
        if (p.high == 0 && p.low == 0) {
            sign = 0;
        }
    } else {
        p.low += q.low;
        p.high += q.high + (p.low < q.low);
    }
    return double_of(wide_pack(sign, p));
}

enum direction { TOWARDS_ZERO, DOWN, UP, TO_EVEN, AWAY };

/** Rounds to an integral value. The direction determines what is added before the fraction is cut off. */
INLINE double integral(double a, enum direction direction)
{
    u64 x = bits_of(a), sign = x & SIGN, m = x & ~SIGN;
    s32 e = (s32)(m >> 52);
    if (e >= BIAS + 52) {
        return is_nan(x) ? double_of(quiet(x)) : a;
    }
    int outward = direction == (sign ? DOWN : UP);
    if (e < BIAS) { /* less than one */
        int up = m != 0 && (outward || (direction == AWAY && e == BIAS - 1) ||
                            (direction == TO_EVEN && m > 0x3fe0000000000000ull));
        return double_of(sign | (up ? 0x3ff0000000000000ull : 0));
    }
    u64 one = 1ull << (BIAS + 52 - e), rest = m & (one - 1), half = one >> 1;
    if (rest) {
        int up = outward || (direction == AWAY && rest >= half) ||
                 (direction == TO_EVEN && (rest > half || (rest == half && (m & one))));
        m = m - rest + (up ? one : 0);
    }
    return double_of(sign | m);
}

double trunc(double a)
{
    return integral(a, TOWARDS_ZERO);
}

double floor(double a)
{
    return integral(a, DOWN);
}

double ceil(double a)
{
    return integral(a, UP);
}

double round(double a)
{
    return integral(a, AWAY);
}

double rint(double a)
{
    return integral(a, TO_EVEN);
}

double nearbyint(double a)
{
    return integral(a, TO_EVEN);
}

double roundeven(double a)
{
    return integral(a, TO_EVEN);
}

/** True: a < b, for numbers; -0 is less than 0. */
INLINE int below(u64 x, u64 y)
{
    s64 i = (s64)x < 0 ? (s64)~(x & ~SIGN) : (s64)x;
    s64 j = (s64)y < 0 ? (s64)~(y & ~SIGN) : (s64)y;
    return i < j;
}

double fmin(double a, double b)
{
    u64 x = bits_of(a), y = bits_of(b);
    return is_nan(x) ? b : is_nan(y) || below(x, y) ? a : b;
}

double fmax(double a, double b)
{
    u64 x = bits_of(a), y = bits_of(b);
    return is_nan(x) ? b : is_nan(y) || below(y, x) ? a : b;
}

/** Long division, eleven bits of the quotient in each step; only the remainder is kept. */
double fmod(double a, double b)
{
    u64 x = bits_of(a), y = bits_of(b), sign = x & SIGN, mx = x & ~SIGN, my = y & ~SIGN;
    if (is_nan(x) || is_nan(y) || mx == INFINITY_BITS || my == 0) {
        return double_of(is_nan(x) ? quiet(x) : is_nan(y) ? quiet(y) : NAN_BITS);
    }
    if (mx < my) {
        return a;
    }
    s32 ex, ey;
    u64 sx, sy;
    unpack(mx, &ex, &sx);
    unpack(my, &ey, &sy);
    sx >>= 10;
    sy >>= 10;
    s32 n = ex - ey;
    u64 r = sx % sy;
    while (n > 0 && r) {
        s32 step = n < 11 ? n : 11;
        r = (r << step) % sy;
        n -= step;
    }
    return double_of(r ? normalize_pack(sign, ey, r << 10) : sign);
}

float fmodf(float a, float b)
{
    u32 x = __builtin_bit_cast(u32, a), y = __builtin_bit_cast(u32, b), sign = x & 0x80000000u;
    u32 mx = x & 0x7fffffffu, my = y & 0x7fffffffu;
    if (mx >= 0x7f800000u || my > 0x7f800000u || my == 0) {
        return __builtin_bit_cast(float, 0x7fc00000u);
    }
    if (mx < my) {
        return a;
    }
    s32 ex = (s32)(mx >> 23), ey = (s32)(my >> 23);
    u32 sx = mx & 0x7fffffu, sy = my & 0x7fffffu;
    sx = ex ? sx | 0x800000u : sx;
    sy = ey ? sy | 0x800000u : sy;
    s32 n = (ex ? ex : 1) - (ey ? ey : 1);
    u32 r = sx % sy;
    while (n > 0 && r) {
        /* sy may be as small as that of a subnormal number; r < sy < 2^24 */
        s32 step = n < 8 ? n : 8;
        r = (r << step) % sy;
        n -= step;
    }
    if (r == 0) {
        return __builtin_bit_cast(float, sign);
    }
    s32 shift = __builtin_clz(r) - 8, e = (ey ? ey : 1) - shift;
    u32 bits = e > 0 ? ((u32)(e - 1) << 23) + (r << shift) : r << ((ey ? ey : 1) - 1);
    return __builtin_bit_cast(float, sign | bits);
}
