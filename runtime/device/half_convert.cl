/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Conversions to half and from it. To half in a given direction: the nearest half, or the one before it if that is on
 * the wrong side. From half: those of float, which has every half.
 */
#include "half_base.h"

/** STEP: what the bits change by. Infinity is next to the largest half, and zeros keep their signs. */
#define STEP(h, AWAY) as_half((ushort)(as_ushort(h) + ((AWAY) ? 1 : -1)))
#define DIRECTED(F, FABS)                                                    \
    CONST half convert_half_rtz(F x)                                         \
    {                                                                        \
        const half h = (half)x;                                              \
        return FABS((F)h) > FABS(x) ? STEP(h, false) : h;                    \
    }                                                                        \
    CONST half convert_half_rtp(F x)                                         \
    {                                                                        \
        const half h = (half)x;                                              \
        return (F)h < x ? STEP(h, as_short(h) >= 0) : h;                     \
    }                                                                        \
    CONST half convert_half_rtn(F x)                                         \
    {                                                                        \
        const half h = (half)x;                                              \
        return (F)h > x ? STEP(h, as_short(h) < 0) : h;                      \
    }
DIRECTED(float, __builtin_fabsf)
DIRECTED(double, __builtin_fabs)

/* An integer beyond 2^17 counts by its sign alone, since no half is as large. Smaller ones are floats. */
#define LIMIT_U(x) ((float)(int)__builtin_elementwise_min((uint)(x), 1u << 17))
#define LIMIT_I(x) ((float)__builtin_elementwise_max(__builtin_elementwise_min((int)(x), 1 << 17), -1 << 17))
#define LIMIT_UL(x) ((float)(int)__builtin_elementwise_min((ulong)(x), 1ul << 17))
#define LIMIT_L(x) ((float)(int)__builtin_elementwise_max(__builtin_elementwise_min((long)(x), 1l << 17), -1l << 17))
#define OF_INTEGER(T, LIMIT)                                                 \
    CONST half convert_half_rtz(T x)                                         \
    {                                                                        \
        return convert_half_rtz(LIMIT(x));                                   \
    }                                                                        \
    CONST half convert_half_rtp(T x)                                         \
    {                                                                        \
        return convert_half_rtp(LIMIT(x));                                   \
    }                                                                        \
    CONST half convert_half_rtn(T x)                                         \
    {                                                                        \
        return convert_half_rtn(LIMIT(x));                                   \
    }
OF_INTEGER(char, LIMIT_I)
OF_INTEGER(uchar, LIMIT_I)
OF_INTEGER(short, LIMIT_I)
OF_INTEGER(ushort, LIMIT_I)
OF_INTEGER(int, LIMIT_I)
OF_INTEGER(uint, LIMIT_U)
OF_INTEGER(long, LIMIT_L)
OF_INTEGER(ulong, LIMIT_UL)

#define OF_HALF(MODE)                                                        \
    CONST half convert_half##MODE(half x)                                    \
    {                                                                        \
        return x;                                                            \
    }
OF_HALF()
OF_HALF(_rte)
OF_HALF(_rtz)
OF_HALF(_rtp)
OF_HALF(_rtn)

#define NEAREST_N(T, N)                                                      \
    CONST half##N convert_half##N(T##N x)                                    \
    {                                                                        \
        return __builtin_convertvector(x, half##N);                          \
    }                                                                        \
    CONST half##N convert_half##N##_rte(T##N x)                              \
    {                                                                        \
        return __builtin_convertvector(x, half##N);                          \
    }
#define NEAREST(T)                                                           \
    CONST half convert_half(T x)                                             \
    {                                                                        \
        return (half)x;                                                      \
    }                                                                        \
    CONST half convert_half_rte(T x)                                         \
    {                                                                        \
        return (half)x;                                                      \
    }                                                                        \
    VECTORS_1(NEAREST_N, T)

#define PARTS_N(T, MODE, N, H)                                               \
    CONST half##N convert_half##N##MODE(T##N x)                              \
    {                                                                        \
        return (half##N)(convert_half##H##MODE(x.lo), convert_half##H##MODE(x.hi)); \
    }
#define PARTS(T, MODE)                                                       \
    PARTS_N(T, MODE, 2, )                                                    \
    CONST half3 convert_half3##MODE(T##3 x)                                  \
    {                                                                        \
        return (half3)(convert_half2##MODE(x.s01), convert_half##MODE(x.s2)); \
    }                                                                        \
    PARTS_N(T, MODE, 4, 2)                                                   \
    PARTS_N(T, MODE, 8, 4)                                                   \
    PARTS_N(T, MODE, 16, 8)
#define DIRECTIONS(T) PARTS(T, _rtz) PARTS(T, _rtp) PARTS(T, _rtn)
#define TO_HALF(T) NEAREST(T) DIRECTIONS(T)

TO_HALF(char)
TO_HALF(uchar)
TO_HALF(short)
TO_HALF(ushort)
TO_HALF(int)
TO_HALF(uint)
TO_HALF(long)
TO_HALF(ulong)
TO_HALF(float)
TO_HALF(double)
VECTORS_1(NEAREST_N, half)
DIRECTIONS(half)

#define FROM_HALF_N(T, MODE, N)                                              \
    T##N OVERLOAD __attribute__((const)) convert_##T##N##MODE(float##N x);   \
    CONST T##N convert_##T##N##MODE(half##N x)                               \
    {                                                                        \
        return convert_##T##N##MODE(wide(x));                                \
    }
#define MODES(T, SAT)                                                        \
    WIDTHS_2(FROM_HALF_N, T, SAT)                                            \
    WIDTHS_2(FROM_HALF_N, T, SAT##_rte)                                      \
    WIDTHS_2(FROM_HALF_N, T, SAT##_rtz)                                      \
    WIDTHS_2(FROM_HALF_N, T, SAT##_rtp)                                      \
    WIDTHS_2(FROM_HALF_N, T, SAT##_rtn)
#define FROM_HALF(T) MODES(T, ) MODES(T, _sat)

FROM_HALF(char)
FROM_HALF(uchar)
FROM_HALF(short)
FROM_HALF(ushort)
FROM_HALF(int)
FROM_HALF(uint)
FROM_HALF(long)
FROM_HALF(ulong)
MODES(float, )
MODES(double, )
