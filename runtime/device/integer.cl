/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Integer functions that the generic library lacks, or in which it is wrong: sub_sat of int and long, mad_sat of long.
 */
#include "base.h"

#define DECLARE(TYPE)                                 \
    TYPE OVERLOAD mul_hi(TYPE a, TYPE b);             \
    TYPE OVERLOAD popcount(TYPE a);

#define DEFINE(TYPE)                                  \
    DECLARE(TYPE)                                     \
    CONST TYPE mad_hi(TYPE a, TYPE b, TYPE c)         \
    {                                                 \
        return mul_hi(a, b) + c;                      \
    }                                                 \
    CONST TYPE ctz(TYPE a)                            \
    {                                                 \
        return popcount((TYPE)(~a & (a - (TYPE)1)));  \
    }

#define WIDTHS(TYPE) DEFINE(TYPE) DEFINE(TYPE##2) DEFINE(TYPE##3) DEFINE(TYPE##4) DEFINE(TYPE##8) DEFINE(TYPE##16)

WIDTHS(char)
WIDTHS(uchar)
WIDTHS(short)
WIDTHS(ushort)
WIDTHS(int)
WIDTHS(uint)
WIDTHS(long)
WIDTHS(ulong)

#define SUB_SAT(T)                                 \
    CONST T sub_sat(T x, T y)                      \
    {                                              \
        return __builtin_elementwise_sub_sat(x, y); \
    }
#define SUB_SATS(T) SUB_SAT(T) SUB_SAT(T##2) SUB_SAT(T##3) SUB_SAT(T##4) SUB_SAT(T##8) SUB_SAT(T##16)

SUB_SATS(int)
SUB_SATS(long)

/** The sum in 128 bits. The sum fits if the upper half is the sign extension of the lower half. */
OVERLOAD __attribute__((const)) long mad_sat(long a, long b, long c)
{
    const ulong product = (ulong)a * (ulong)b, low = product + (ulong)c;
    const long high = mul_hi(a, b) + (c >> 63) + (low < product);
    return high == (long)low >> 63 ? (long)low : high < 0 ? LONG_MIN : LONG_MAX;
}

OVERLOAD __attribute__((const)) ulong mad_sat(ulong a, ulong b, ulong c)
{
    const ulong product = a * b, low = product + c;
    return mul_hi(a, b) != 0 || low < product ? ULONG_MAX : low;
}

#define MAD_SAT(T, N)                                                                  \
    CONST T##N mad_sat(T##N a, T##N b, T##N c)                                         \
    {                                                                                  \
        return (T##N)(mad_sat(a.lo, b.lo, c.lo), mad_sat(a.hi, b.hi, c.hi));           \
    }
#define MAD_SATS(T)                                                                    \
    MAD_SAT(T, 2)                                                                      \
    CONST T##3 mad_sat(T##3 a, T##3 b, T##3 c)                                         \
    {                                                                                  \
        return (T##3)(mad_sat(a.s01, b.s01, c.s01), mad_sat(a.s2, b.s2, c.s2));        \
    }                                                                                  \
    MAD_SAT(T, 4)                                                                      \
    MAD_SAT(T, 8)                                                                      \
    MAD_SAT(T, 16)

MAD_SATS(long)
MAD_SATS(ulong)
