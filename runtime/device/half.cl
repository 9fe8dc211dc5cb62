/* SPDX-License-Identifier: Apache-2.0 */
/**
 * vstore_half and vstorea_half that round up or down. The generic library's lose values below half's smallest number: a
 * value below 2^-25, rounded up, became zero. Here a value is first rounded to a float that is representable as half,
 * so that the store is exact. A double is first rounded to float in the same direction, which gives the same result.
 */
#include "base.h"

float OVERLOAD convert_float_rtp(double x);
float OVERLOAD convert_float_rtn(double x);

/** Rounds x to a multiple of half's last place, away from zero or towards zero. NaN and infinities are unchanged. */
static float half_of(float x, bool away)
{
    const uint bits = as_uint(x), sign = bits & 0x80000000, size = bits ^ sign;
    if (size >= 0x7f800000) {
        return x;
    }
    if (size < 0x38800000) { /* a subnormal half: multiples of 2^-24 */
        const float n = as_float(size) * 0x1p24f, whole = away ? __builtin_ceilf(n) : __builtin_truncf(n);
        return as_float(as_uint(whole * 0x1p-24f) | sign);
    }
    const uint kept = (size + (away ? 0x1fff : 0)) & ~0x1fffu, largest = 0x477fe000; /* 65504 */
    return as_float((!away && kept > largest ? largest : kept) | sign);
}

static float up(float x)
{
    return half_of(x, as_int(x) >= 0);
}

static float down(float x)
{
    return half_of(x, as_int(x) < 0);
}

static float up_double(double x)
{
    return up(convert_float_rtp(x));
}

static float down_double(double x)
{
    return down(convert_float_rtn(x));
}

#define STORE(NAME, ROUND, SPACE, TYPE, VECTOR, N, STRIDE)                                   \
    OVERLOAD void NAME(VECTOR v, size_t offset, SPACE half *p)                               \
    {                                                                                        \
        for (uint i = 0; i < N; i++) {                                                       \
            __builtin_store_halff(ROUND(((const TYPE *)&v)[i]), p + offset * STRIDE + i);    \
        }                                                                                    \
    }

#define WIDTHS(MODE, ROUND, SPACE, TYPE)                              \
    STORE(vstore_half_##MODE, ROUND, SPACE, TYPE, TYPE, 1, 1)         \
    STORE(vstore_half2_##MODE, ROUND, SPACE, TYPE, TYPE##2, 2, 2)     \
    STORE(vstore_half3_##MODE, ROUND, SPACE, TYPE, TYPE##3, 3, 3)     \
    STORE(vstore_half4_##MODE, ROUND, SPACE, TYPE, TYPE##4, 4, 4)     \
    STORE(vstore_half8_##MODE, ROUND, SPACE, TYPE, TYPE##8, 8, 8)     \
    STORE(vstore_half16_##MODE, ROUND, SPACE, TYPE, TYPE##16, 16, 16) \
    STORE(vstorea_half_##MODE, ROUND, SPACE, TYPE, TYPE, 1, 1)        \
    STORE(vstorea_half2_##MODE, ROUND, SPACE, TYPE, TYPE##2, 2, 2)    \
    STORE(vstorea_half3_##MODE, ROUND, SPACE, TYPE, TYPE##3, 3, 4)    \
    STORE(vstorea_half4_##MODE, ROUND, SPACE, TYPE, TYPE##4, 4, 4)    \
    STORE(vstorea_half8_##MODE, ROUND, SPACE, TYPE, TYPE##8, 8, 8)    \
    STORE(vstorea_half16_##MODE, ROUND, SPACE, TYPE, TYPE##16, 16, 16)

#define SPACES(SPACE)                        \
    WIDTHS(rtp, up, SPACE, float)            \
    WIDTHS(rtn, down, SPACE, float)          \
    WIDTHS(rtp, up_double, SPACE, double)    \
    WIDTHS(rtn, down_double, SPACE, double)

SPACES(__private) /* replaces functions of the generic library with the same names */
SPACES(__local)
SPACES(__global)
