/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Vector forms of functions of more than a few instructions. Each calls the scalar form. The generic library's vector
 * forms have copies of its own scalar functions, which are not always Tern's, and sixteen times as much code.
 */
#include "base.h"

/* A vector of N elements has halves of H elements; an empty H stands for a scalar. */
#define UNARY_N(NAME, T, N)                                                 \
    CONST T##N NAME(T##N x)                                                    \
    {                                                                          \
        return (T##N)(NAME(x.lo), NAME(x.hi));                                 \
    }
#define UNARY(NAME, T)                                                         \
    T OVERLOAD __attribute__((const)) NAME(T x);                               \
    UNARY_N(NAME, T, 2)                                                        \
    CONST T##3 NAME(T##3 x)                                                    \
    {                                                                          \
        return (T##3)(NAME(x.s0), NAME(x.s1), NAME(x.s2));                     \
    }                                                                          \
    UNARY_N(NAME, T, 4)                                                        \
    UNARY_N(NAME, T, 8)                                                        \
    UNARY_N(NAME, T, 16)

#define BINARY_N(NAME, T, U, N)                                                \
    CONST T##N NAME(T##N x, U##N y)                                            \
    {                                                                          \
        return (T##N)(NAME(x.lo, y.lo), NAME(x.hi, y.hi));                     \
    }
#define BINARY(NAME, T, U)                                                     \
    T OVERLOAD __attribute__((const)) NAME(T x, U y);                          \
    BINARY_N(NAME, T, U, 2)                                                    \
    CONST T##3 NAME(T##3 x, U##3 y)                                            \
    {                                                                          \
        return (T##3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2));   \
    }                                                                          \
    BINARY_N(NAME, T, U, 4)                                                    \
    BINARY_N(NAME, T, U, 8)                                                    \
    BINARY_N(NAME, T, U, 16)

/** One exponent for all components. */
#define LDEXP_N(T, N)                                                          \
    CONST T##N ldexp(T##N x, int n)                                            \
    {                                                                          \
        return ldexp(x, (int##N)n);                                            \
    }
#define LDEXP(T)                                                               \
    BINARY(ldexp, T, int)                                                      \
    LDEXP_N(T, 2)                                                              \
    LDEXP_N(T, 3)                                                              \
    LDEXP_N(T, 4)                                                              \
    LDEXP_N(T, 8)                                                              \
    LDEXP_N(T, 16)

/** Functions with two results; the second, of type U, is stored through a pointer. */
#define SPLIT_N(NAME, SPACE, T, U, N, H)                                       \
    OVERLOAD T##N NAME(T##N x, SPACE U##N *p)                                  \
    {                                                                          \
        U##H low, high;                                                        \
        const T##H a = NAME(x.lo, &low), b = NAME(x.hi, &high);                \
        *p = (U##N)(low, high);                                                \
        return (T##N)(a, b);                                                   \
    }
#define SPLIT_IN(NAME, SPACE, T, U)                                            \
    SPLIT_N(NAME, SPACE, T, U, 2, )                                            \
    OVERLOAD T##3 NAME(T##3 x, SPACE U##3 *p)                                  \
    {                                                                          \
        U s0, s1, s2;                                                          \
        const T a = NAME(x.s0, &s0), b = NAME(x.s1, &s1), c = NAME(x.s2, &s2); \
        *p = (U##3)(s0, s1, s2);                                               \
        return (T##3)(a, b, c);                                                \
    }                                                                          \
    SPLIT_N(NAME, SPACE, T, U, 4, 2)                                           \
    SPLIT_N(NAME, SPACE, T, U, 8, 4)                                           \
    SPLIT_N(NAME, SPACE, T, U, 16, 8)
#define SPLIT(NAME, T, U)                                                      \
    T OVERLOAD NAME(T x, __private U *p);                                      \
    SPLIT_IN(NAME, __private, T, U)                                            \
    SPLIT_IN(NAME, __local, T, U)                                              \
    SPLIT_IN(NAME, __global, T, U)

#define REMQUO_N(SPACE, T, N, H)                                               \
    OVERLOAD T##N remquo(T##N x, T##N y, SPACE int##N *p)                      \
    {                                                                          \
        int##H low, high;                                                      \
        const T##H a = remquo(x.lo, y.lo, &low), b = remquo(x.hi, y.hi, &high); \
        *p = (int##N)(low, high);                                              \
        return (T##N)(a, b);                                                   \
    }
#define REMQUO_IN(SPACE, T)                                                    \
    REMQUO_N(SPACE, T, 2, )                                                    \
    OVERLOAD T##3 remquo(T##3 x, T##3 y, SPACE int##3 *p)                      \
    {                                                                          \
        int s0, s1, s2;                                                        \
        const T a = remquo(x.s0, y.s0, &s0), b = remquo(x.s1, y.s1, &s1);      \
        const T c = remquo(x.s2, y.s2, &s2);                                   \
        *p = (int3)(s0, s1, s2);                                               \
        return (T##3)(a, b, c);                                                \
    }                                                                          \
    REMQUO_N(SPACE, T, 4, 2)                                                   \
    REMQUO_N(SPACE, T, 8, 4)                                                   \
    REMQUO_N(SPACE, T, 16, 8)
#define REMQUO(T)                                                              \
    T OVERLOAD remquo(T x, T y, __private int *p);                             \
    REMQUO_IN(__private, T)                                                    \
    REMQUO_IN(__local, T)                                                      \
    REMQUO_IN(__global, T)

#define ALL(T)                                                           \
    UNARY(acos, T) UNARY(acosh, T) UNARY(acospi, T) UNARY(asin, T)             \
    UNARY(asinh, T) UNARY(asinpi, T) UNARY(atan, T) UNARY(atanh, T)            \
    UNARY(atanpi, T) UNARY(cbrt, T) UNARY(cos, T) UNARY(cosh, T)               \
    UNARY(cospi, T) UNARY(erf, T) UNARY(erfc, T) UNARY(exp10, T)               \
    UNARY(expm1, T) UNARY(lgamma, T) UNARY(log, T) UNARY(log2, T)              \
    UNARY(log10, T) UNARY(log1p, T) UNARY(sin, T) UNARY(sinh, T)               \
    UNARY(sinpi, T) UNARY(tan, T) UNARY(tanh, T) UNARY(tanpi, T)               \
    UNARY(tgamma, T)                                                           \
    BINARY(atan2, T, T) BINARY(atan2pi, T, T) BINARY(fmod, T, T)               \
    BINARY(hypot, T, T) BINARY(nextafter, T, T) BINARY(pow, T, T)              \
    BINARY(powr, T, T) BINARY(remainder, T, T) BINARY(pown, T, int)            \
    BINARY(rootn, T, int)                                                      \
    LDEXP(T)                                                                   \
    SPLIT(fract, T, T) SPLIT(sincos, T, T) SPLIT(lgamma_r, T, int)             \
    REMQUO(T)

ALL(float)
ALL(double)
UNARY(exp, double)
UNARY(exp2, double)

#define NAN_N(N)                                                               \
    CONST double##N nan(ulong##N code)                                         \
    {                                                                          \
        return as_double##N(code | 0x7ff8000000000000);                        \
    }

NAN_N(2)
NAN_N(3)
NAN_N(4)
NAN_N(8)
NAN_N(16)
