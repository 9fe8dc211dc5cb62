/* SPDX-License-Identifier: Apache-2.0 */
/**
 * max, min and clamp as one or two instructions without branches. The generic library's are comparisons and selections,
 * which are branches here. For floats OpenCL leaves open what they give for NaN, and which of two zeros.
 */
#include "base.h"

#define MAX(x, y) __builtin_elementwise_max(x, y)
#define MIN(x, y) __builtin_elementwise_min(x, y)

#define CLAMP(T) \
    CONST T clamp(T x, T low, T high) { return MIN(MAX(x, low), high); }
#define CLAMP_VECTOR(T, N) \
    CLAMP(T##N)            \
    CONST T##N clamp(T##N x, T low, T high) { return MIN(MAX(x, (T##N)low), (T##N)high); }
#define EXTREMES(T)                                       \
    CONST T max(T x, T y) { return MAX(x, y); }           \
    CONST T min(T x, T y) { return MIN(x, y); }
#define EXTREMES_VECTOR(T, N)                             \
    EXTREMES(T##N)                                        \
    CONST T##N max(T##N x, T y) { return MAX(x, (T##N)y); } \
    CONST T##N min(T##N x, T y) { return MIN(x, (T##N)y); }

#define WIDTHS(VECTOR, T) VECTOR(T, 2) VECTOR(T, 3) VECTOR(T, 4) VECTOR(T, 8) VECTOR(T, 16)
#define CLAMPS(T) CLAMP(T) WIDTHS(CLAMP_VECTOR, T)

CLAMPS(char)
CLAMPS(uchar)
CLAMPS(short)
CLAMPS(ushort)
CLAMPS(int)
CLAMPS(uint)
CLAMPS(float)
EXTREMES(float)
WIDTHS(EXTREMES_VECTOR, float)
