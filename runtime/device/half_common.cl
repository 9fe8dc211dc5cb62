/* SPDX-License-Identifier: Apache-2.0 */
/** Common, geometric and relational functions of half. Sums and products are computed in float and rounded once. */
#include "half_base.h"

#define DEGREES 0x1.ca5dc2p+5f
#define RADIANS 0x1.1df46ap-6f
#define ONE(N) ((float##N)1)

#define COMMON_N(N)                                                          \
    CONST half##N max(half##N x, half##N y)                                  \
    {                                                                        \
        return __builtin_elementwise_max(x, y);                              \
    }                                                                        \
    CONST half##N min(half##N x, half##N y)                                  \
    {                                                                        \
        return __builtin_elementwise_min(x, y);                              \
    }                                                                        \
    CONST half##N clamp(half##N x, half##N low, half##N high)                \
    {                                                                        \
        return min(max(x, low), high);                                       \
    }                                                                        \
    CONST half##N degrees(half##N x)                                         \
    {                                                                        \
        return thin(wide(x) * DEGREES);                                      \
    }                                                                        \
    CONST half##N radians(half##N x)                                         \
    {                                                                        \
        return thin(wide(x) * RADIANS);                                      \
    }                                                                        \
    CONST half##N mix(half##N x, half##N y, half##N a)                       \
    {                                                                        \
        const float##N from = wide(x);                                       \
        return thin(from + (wide(y) - from) * wide(a));                      \
    }                                                                        \
    CONST half##N step(half##N edge, half##N x)                              \
    {                                                                        \
        return x < edge ? (half##N)0 : (half##N)1;                           \
    }                                                                        \
    CONST half##N smoothstep(half##N edge0, half##N edge1, half##N x)        \
    {                                                                        \
        const float##N from = wide(edge0);                                   \
        float##N t = (wide(x) - from) / (wide(edge1) - from);                \
        t = __builtin_elementwise_min(__builtin_elementwise_max(t, (float##N)0), ONE(N)); \
        return thin(t * t * (3 - 2 * t));                                    \
    }                                                                        \
    CONST half##N sign(half##N x)                                            \
    {                                                                        \
        const half##N of = __builtin_elementwise_copysign((half##N)1, x);    \
        return x == (half##N)0 ? x : x == x ? of : (half##N)0;               \
    }
WIDTHS(COMMON_N)

#define COMMON_SCALAR_N(N)                                                   \
    CONST half##N max(half##N x, half y)                                     \
    {                                                                        \
        return max(x, (half##N)y);                                           \
    }                                                                        \
    CONST half##N min(half##N x, half y)                                     \
    {                                                                        \
        return min(x, (half##N)y);                                           \
    }                                                                        \
    CONST half##N clamp(half##N x, half low, half high)                      \
    {                                                                        \
        return clamp(x, (half##N)low, (half##N)high);                        \
    }                                                                        \
    CONST half##N mix(half##N x, half##N y, half a)                          \
    {                                                                        \
        return mix(x, y, (half##N)a);                                        \
    }                                                                        \
    CONST half##N step(half edge, half##N x)                                 \
    {                                                                        \
        return step((half##N)edge, x);                                       \
    }                                                                        \
    CONST half##N smoothstep(half edge0, half edge1, half##N x)              \
    {                                                                        \
        return smoothstep((half##N)edge0, (half##N)edge1, x);                \
    }
VECTORS(COMMON_SCALAR_N)

/* Products of halves are floats without overflow, and not subnormal, so that no vector is scaled. */
WITHIN float sum(float x, float y)
{
    return x * y;
}

WITHIN float sum(float2 x, float2 y)
{
    return x.s0 * y.s0 + x.s1 * y.s1;
}

WITHIN float sum(float3 x, float3 y)
{
    return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2;
}

WITHIN float sum(float4 x, float4 y)
{
    return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3;
}

#define CROSS(N, ...)                                                        \
    CONST half##N cross(half##N x, half##N y)                                \
    {                                                                        \
        const float##N a = wide(x), b = wide(y);                             \
        const float3 r = a.yzx * b.zxy - a.zxy * b.yzx;                      \
        return thin((float##N)(__VA_ARGS__));                                \
    }
CROSS(3, r)
CROSS(4, r, 0)

/** Of infinite components normalize takes the signs, of the others zeros. A zero vector stays. */
#define GEOMETRIC_N(N, ANY_INFINITE)                                         \
    CONST half dot(half##N x, half##N y)                                     \
    {                                                                        \
        return thin(sum(wide(x), wide(y)));                                  \
    }                                                                        \
    CONST half length(half##N x)                                             \
    {                                                                        \
        return thin(__builtin_sqrtf(sum(wide(x), wide(x))));                 \
    }                                                                        \
    CONST half distance(half##N x, half##N y)                                \
    {                                                                        \
        const float##N d = wide(x) - wide(y);                                \
        return thin(__builtin_sqrtf(sum(d, d)));                             \
    }                                                                        \
    CONST half##N normalize(half##N x)                                       \
    {                                                                        \
        float##N v = wide(x);                                                \
        const float##N size = __builtin_elementwise_abs(v), most = (float##N)__builtin_inff(); \
        v = (ANY_INFINITE) ? __builtin_elementwise_copysign(size == most ? ONE(N) : ONE(N) * 0, v) : v; \
        const float squares = sum(v, v);                                     \
        return thin(squares == 0 ? v : v * (1.0f / __builtin_sqrtf(squares))); \
    }

#define IS(C) (size.C == __builtin_inff())
GEOMETRIC_N(, size == __builtin_inff())
GEOMETRIC_N(2, IS(s0) | IS(s1))
GEOMETRIC_N(3, IS(s0) | IS(s1) | IS(s2))
GEOMETRIC_N(4, IS(s0) | IS(s1) | IS(s2) | IS(s3))

/* Relational functions give int 1 for a scalar and short -1 for each element of a vector, as comparisons do. */
#define BITS(N, x) as_ushort##N(x)
#define SIZE(N, x) ((ushort##N)(BITS(N, x) & (ushort)0x7fff))
#define RELATION_2(NAME, N, R, E)                                            \
    CONST R NAME(half##N x, half##N y)                                       \
    {                                                                        \
        return E;                                                            \
    }
#define RELATION_1(NAME, N, R, E)                                            \
    CONST R NAME(half##N x)                                                  \
    {                                                                        \
        return E;                                                            \
    }
#define RELATIONS_N(N, R)                                                    \
    RELATION_2(isequal, N, R, x == y)                                        \
    RELATION_2(isnotequal, N, R, x != y)                                     \
    RELATION_2(isgreater, N, R, x > y)                                       \
    RELATION_2(isgreaterequal, N, R, x >= y)                                 \
    RELATION_2(isless, N, R, x < y)                                          \
    RELATION_2(islessequal, N, R, x <= y)                                    \
    RELATION_2(islessgreater, N, R, (x < y) | (x > y))                       \
    RELATION_2(isordered, N, R, (x == x) & (y == y))                         \
    RELATION_2(isunordered, N, R, (x != x) | (y != y))                       \
    RELATION_1(isfinite, N, R, SIZE(N, x) < (ushort##N)0x7c00)               \
    RELATION_1(isinf, N, R, SIZE(N, x) == (ushort##N)0x7c00)                 \
    RELATION_1(isnan, N, R, SIZE(N, x) > (ushort##N)0x7c00)                  \
    RELATION_1(isnormal, N, R, (ushort##N)(SIZE(N, x) - (ushort)0x400) < (ushort##N)0x7800) \
    RELATION_1(signbit, N, R, BITS(N, x) > (ushort##N)0x7fff)
RELATIONS_N(, int)
RELATIONS_N(2, short2)
RELATIONS_N(3, short3)
RELATIONS_N(4, short4)
RELATIONS_N(8, short8)
RELATIONS_N(16, short16)
