/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions whose results are exact, including subnormal numbers, signs of zeros and NaN: ldexp, fmod, remainder,
 * remquo, fract, nextafter, nan. The generic library's flush subnormal floats, treat a NaN as a number, and fail for
 * large quotients.
 */
#include "base.h"

#define QUIET_NAN __builtin_nanf("")

/** At most three exact multiplications, of which only the last may round. A step down by 2^-102 leaves 24 bits above
 *  the subnormal numbers. */
OVERLOAD __attribute__((const)) float ldexp(float x, int n)
{
    if (n > 127) {
        x *= 0x1p127f;
        n -= 127;
        if (n > 127) {
            x *= 0x1p127f;
            n = n > 254 ? 127 : n - 127;
        }
    } else if (n < -126) {
        x *= 0x1p-102f;
        n += 102;
        if (n < -126) {
            x *= 0x1p-102f;
            n = n < -228 ? -126 : n + 102;
        }
    }
    return x * as_float((n + 127) << 23);
}

/** Changes the bits, because a multiplication of doubles is expensive. Only a subnormal result is multiplied, which
 *  rounds. */
OVERLOAD __attribute__((const)) double ldexp(double x, int n)
{
    const ulong field = 0x7ffUL << 52;
    int e = (int)(as_ulong(x) >> 52 & 0x7ff);
    if (e == 0x7ff || x == 0) {
        return x + x;
    }
    if (e == 0) {
        x *= 0x1p54;
        e = (int)(as_ulong(x) >> 52 & 0x7ff) - 54;
    }
    e += n > 5000 ? 5000 : n < -5000 ? -5000 : n;
    if (e > 0x7fe) {
        return __builtin_copysign(__builtin_inf(), x);
    }
    if (e > 0) {
        return as_double((as_ulong(x) & ~field) | (ulong)e << 52);
    }
    e = e < -54 ? -54 : e;
    return as_double((as_ulong(x) & ~field) | (ulong)(e + 55) << 52) * 0x1p-55;
}

/** frem, which the run-time library implements. */
OVERLOAD __attribute__((const)) float fmod(float x, float y)
{
    return __builtin_fmodf(x, y);
}

OVERLOAD __attribute__((const)) double fmod(double x, double y)
{
    return __builtin_fmod(x, y);
}

/** Long division of significands, STEP bits of the quotient at a time, then one step to the nearest quotient. */
#define REMAINDER(T, U, S, FRACTION, BIAS, STEP)                                       \
    static OVERLOAD T nearest_remainder(T x, T y, int *quotient)                       \
    {                                                                                  \
        const U sign = (U)1 << (sizeof(U) * 8 - 1), one = (U)1 << FRACTION;            \
        const U mx = as_##U(x) & ~sign, my = as_##U(y) & ~sign, infinity = sign - one; \
        *quotient = 0;                                                                 \
        if (mx >= infinity || my > infinity || my == 0) {                              \
            return QUIET_NAN;                                                          \
        }                                                                              \
        const int ex = mx < one ? 1 : (int)(mx >> FRACTION);                           \
        const int ey = my < one ? 1 : (int)(my >> FRACTION);                           \
        int n = ex - ey, unit = ey;                                                    \
        if (my == infinity || n < -1) {                                                \
            return x;                                                                  \
        }                                                                              \
        U r = mx - ((U)(ex - 1) << FRACTION), d = my - ((U)(ey - 1) << FRACTION);      \
        if (n < 0) { /* both in units of the smaller exponent's last place */          \
            d <<= 1;                                                                   \
            unit = ex;                                                                 \
        }                                                                              \
        U q = r / d;                                                                   \
        r -= q * d;                                                                    \
        while (n > 0) {                                                                \
            const int step = n < STEP ? n : STEP;                                      \
            r <<= step;                                                                \
            const U digit = r / d;                                                     \
            r -= digit * d;                                                            \
            q = q << step | digit;                                                     \
            n -= step;                                                                 \
        }                                                                              \
        const bool more = 2 * r > d || (2 * r == d && (q & 1));                        \
        const T rest = ldexp((T)(S)(more ? r - d : r), unit - BIAS - FRACTION);        \
        const int low = (int)(q + more) & 127;                                         \
        *quotient = (as_##U(x) ^ as_##U(y)) & sign ? -low : low;                       \
        return as_##T(as_##U(rest) ^ (as_##U(x) & sign));                              \
    }                                                                                  \
    OVERLOAD __attribute__((const)) T remainder(T x, T y)                              \
    {                                                                                  \
        int unused;                                                                    \
        return nearest_remainder(x, y, &unused);                                       \
    }                                                                                  \
    REMQUO(__private, T)                                                               \
    REMQUO(__local, T)                                                                 \
    REMQUO(__global, T)
#define REMQUO(SPACE, T)                                                               \
    OVERLOAD T remquo(T x, T y, SPACE int *quotient)                                   \
    {                                                                                  \
        int q;                                                                         \
        const T r = nearest_remainder(x, y, &q);                                       \
        *quotient = q;                                                                 \
        return r;                                                                      \
    }

REMAINDER(float, uint, int, 23, 127, 7)
REMAINDER(double, ulong, long, 52, 1023, 10)

/** A difference that rounds to 1 becomes the number below 1; that of infinity is 0. */
#define FRACT(SPACE, T, MOST, FLOOR, COPYSIGN, FABS, INFINITE)        \
    OVERLOAD T fract(T x, SPACE T *whole)                             \
    {                                                                 \
        const T w = FLOOR(x), r = x - w;                              \
        *whole = w;                                                   \
        return x == 0 || FABS(x) == INFINITE ? COPYSIGN((T)0, x) : r > MOST ? MOST : r; \
    }
#define FRACTS(SPACE)                                                                                                 \
    FRACT(SPACE, float, 0x1.fffffep-1f, __builtin_floorf, __builtin_copysignf, __builtin_fabsf, __builtin_inff())      \
    FRACT(SPACE, double, 0x1.fffffffffffffp-1, __builtin_floor, __builtin_copysign, __builtin_fabs, __builtin_inf())

FRACTS(__private)
FRACTS(__local)
FRACTS(__global)

/** Numbers of one sign are ordered like their bits. */
#define NEXTAFTER(T, BITS, AS_T, AS_BITS)                             \
    OVERLOAD __attribute__((const)) T nextafter(T x, T y)             \
    {                                                                 \
        const BITS sign = (BITS)1 << (sizeof(T) * 8 - 1);             \
        if (x != x || y != y) {                                       \
            return x + y;                                             \
        }                                                             \
        if (x == y) {                                                 \
            return y;                                                 \
        }                                                             \
        if (x == 0) {                                                 \
            return AS_T((AS_BITS(y) & sign) | 1);                     \
        }                                                             \
        return AS_T(AS_BITS(x) + ((x < y) == (x > 0) ? (BITS)1 : ~(BITS)0)); \
    }

NEXTAFTER(float, uint, as_float, as_uint)
NEXTAFTER(double, ulong, as_double, as_ulong)

OVERLOAD __attribute__((const)) double nan(ulong code)
{
    return as_double(code | 0x7ff8000000000000);
}
