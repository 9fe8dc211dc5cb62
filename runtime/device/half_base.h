/* SPDX-License-Identifier: Apache-2.0 */
/** Common begin of the functions of half (cl_khr_fp16): conversions of all widths to float and back. */
#ifndef TERN_DEVICE_HALF_BASE_H
#define TERN_DEVICE_HALF_BASE_H

#include "base.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* M(N) for each width; the empty N is that of a scalar. */
#define VECTORS(M) M(2) M(3) M(4) M(8) M(16)
#define WIDTHS(M) M() VECTORS(M)
/* The same with an argument before N. */
#define VECTORS_1(M, A) M(A, 2) M(A, 3) M(A, 4) M(A, 8) M(A, 16)
#define WIDTHS_1(M, A) M(A, ) VECTORS_1(M, A)
#define VECTORS_2(M, A, B) M(A, B, 2) M(A, B, 3) M(A, B, 4) M(A, B, 8) M(A, B, 16)
#define WIDTHS_2(M, A, B) M(A, B, ) VECTORS_2(M, A, B)

#define WITHIN static inline __attribute__((overloadable, always_inline, const, unused))

WITHIN float wide(half x)
{
    return (float)x;
}

WITHIN half thin(float x)
{
    return (half)x;
}

#define WIDE_N(N)                                    \
    WITHIN float##N wide(half##N x)                  \
    {                                                \
        return __builtin_convertvector(x, float##N); \
    }                                                \
    WITHIN half##N thin(float##N x)                  \
    {                                                \
        return __builtin_convertvector(x, half##N);  \
    }
VECTORS(WIDE_N)

#endif
