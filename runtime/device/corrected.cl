/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of the generic library that are right except for the sign of a zero or a special value. Each calls the
 * generic function, which retarget.sh renames to generic_NAME; CMakeLists.txt lists the names.
 */
#include "base.h"

#define PURE OVERLOAD __attribute__((const))
#define GENERIC(T, NAME) T OVERLOAD __attribute__((const)) generic_##NAME(T x)

/** Odd functions, for which -0 stays -0. */
#define ODD(T, NAME)                               \
    GENERIC(T, NAME);                              \
    PURE T NAME(T x)                               \
    {                                              \
        return x == 0 ? x : generic_##NAME(x);     \
    }

ODD(double, atan)
ODD(double, atanpi)
ODD(double, erf)
ODD(double, expm1)
ODD(double, sin)
ODD(double, tan)

#define SINCOS(SPACE)                                                          \
    double OVERLOAD generic_sincos(double x, SPACE double *cosine);            \
    OVERLOAD double sincos(double x, SPACE double *cosine)                     \
    {                                                                          \
        const double sine = generic_sincos(x, cosine);                         \
        return x == 0 ? x : sine;                                              \
    }

SINCOS(__private)
SINCOS(__local)
SINCOS(__global)

/** Zeros of sinpi have the sign of the argument, those of cospi are positive, those of tanpi alternate from integer
 *  to integer. */
#define OF_PI(T, COPYSIGN, FABS)                                               \
    GENERIC(T, sinpi);                                                         \
    GENERIC(T, cospi);                                                         \
    GENERIC(T, tanpi);                                                         \
    PURE T sinpi(T x)                                                          \
    {                                                                          \
        const T y = generic_sinpi(x);                                          \
        return y == 0 ? COPYSIGN(y, x) : y;                                    \
    }                                                                          \
    PURE T cospi(T x)                                                          \
    {                                                                          \
        const T y = generic_cospi(x);                                          \
        return y == 0 ? FABS(y) : y;                                           \
    }                                                                          \
    PURE T tanpi(T x)                                                          \
    {                                                                          \
        const T y = generic_tanpi(x);                                          \
        return y == 0 ? COPYSIGN(y, x) * generic_cospi(x) : y;                 \
    }

OF_PI(float, __builtin_copysignf, __builtin_fabsf)
OF_PI(double, __builtin_copysign, __builtin_fabs)

/** With n of 1 the result is the argument, which the generic function flushes if it is subnormal. */
float OVERLOAD __attribute__((const)) generic_rootn(float x, int n);
PURE float rootn(float x, int n)
{
    return n == 1 ? x : n == -1 ? 1 / x : generic_rootn(x, n);
}

/** The logarithm of |gamma| is infinite for -infinity, and is that of 1/|x| near zero. */
float OVERLOAD __attribute__((const)) log(float x);

#define LGAMMA(SPACE)                                                          \
    float OVERLOAD generic_lgamma_r(float x, SPACE int *sign);                 \
    OVERLOAD float lgamma_r(float x, SPACE int *sign)                          \
    {                                                                          \
        if (__builtin_fabsf(x) < 0x1p-60f) {                                   \
            *sign = as_int(x) < 0 ? -1 : 1;                                    \
            return -log(__builtin_fabsf(x));                                   \
        }                                                                      \
        if (x == -__builtin_inff()) {                                          \
            *sign = 1;                                                         \
            return -x;                                                         \
        }                                                                      \
        return generic_lgamma_r(x, sign);                                      \
    }

LGAMMA(__private)
LGAMMA(__local)
LGAMMA(__global)

PURE float lgamma(float x)
{
    int sign;
    return lgamma_r(x, &sign);
}
