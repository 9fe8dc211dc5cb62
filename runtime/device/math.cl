/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Floating-point functions that are better than the generic library's. A square root is one instruction, a reciprocal
 * square root twelve. Subnormal numbers are supported. The native_ functions are short polynomials, where the generic
 * ones would call a C library: exp, exp2, log and log2 to about 1 ulp, sin and cos to 2^-24 absolute for |x| < 8192.
 */
#include "base.h"

#define VECTOR(name, F)                                                        \
    CONST float2 name(float2 x) { return (float2)(F(x.s0), F(x.s1)); }         \
    CONST float3 name(float3 x) { return (float3)(F(x.s0), F(x.s1), F(x.s2)); } \
    CONST float4 name(float4 x) { return (float4)(name(x.lo), name(x.hi)); }   \
    CONST float8 name(float8 x) { return (float8)(name(x.lo), name(x.hi)); }   \
    CONST float16 name(float16 x) { return (float16)(name(x.lo), name(x.hi)); }

#define ALL(name, F)                                                           \
    CONST float name(float x) { return F(x); }                                 \
    VECTOR(name, F)

bool __clc_fp32_subnormals_supported(void)
{
    return true;
}

static inline __attribute__((always_inline, const)) float root(float x)
{
    return __builtin_sqrtf(x);
}

/**
 * Reciprocal square root to 1.7 ulp, without the divider for positive normal numbers. The seed has an error of at most
 * 3.7 %. With e = x * seed^2 - 1, in [-0.0665, 0.0711], the result is seed * (1 + e)^(-1/2), a polynomial that is right
 * for any x with such an e. Zeros, negative numbers, infinities, NaN and half of the subnormal numbers have another e,
 * and take the slow path.
 */
static inline __attribute__((always_inline, const)) float reciprocal_root(float x)
{
    float seed = as_float(0x5f378000 - (as_uint(x) >> 1));
    float e = __builtin_fmaf(x * seed, seed, -1.0f);
    if (__builtin_expect(as_uint(e) << 1 > as_uint(0x1.24p-4f) << 1, 0)) {
        return 1.0f / __builtin_sqrtf(x);
    }
    float p = 0x1.16c5a8p-2f;
    p = __builtin_fmaf(p, e, -0x1.412e4p-2f);
    p = __builtin_fmaf(p, e, 0x1.80013ap-2f);
    p = __builtin_fmaf(p, e, -0x1.ffffd2p-2f);
    return __builtin_fmaf(seed * e, p, seed);
}

static inline __attribute__((always_inline, const)) float reciprocal(float x)
{
    return 1.0f / x;
}

ALL(sqrt, root)
ALL(half_sqrt, root)
ALL(native_sqrt, root)
ALL(rsqrt, reciprocal_root)
ALL(half_rsqrt, reciprocal_root)
ALL(native_rsqrt, reciprocal_root)
ALL(half_recip, reciprocal)
ALL(native_recip, reciprocal)

/* Constants below have zeros in the low 12 bits where that is exact enough. One instruction (lui) makes such a
 * constant, so that it needs no register of its own over a loop. */

/** 1.5 * 2^23. The last bit of such a float is worth 1, so that x + ROUNDS is ROUNDS + n for the integer n that is
 *  nearest to x, and the low bits of the word are those of n. */
#define ROUNDS 12582912.0f

/** p * 2^n for t = ROUNDS + n with n in [-160, 129], in two factors, so that the result may be subnormal. Their
 *  exponents are the halves of n + 254. */
static inline __attribute__((const)) float scale(float p, float t)
{
    const uint sum = as_uint(t) + 254, half_sum = sum >> 1;
    return p * as_float(half_sum << 23) * as_float((sum - half_sum) << 23);
}

/** The larger one of x and a negative limit; NaN stays NaN, which fmax would not return. As unsigned numbers,
 *  negative floats follow the positive ones, in the order of their magnitude. Adding 0 makes each NaN the canonical
 *  one, which is positive; it changes only -0 besides, which makes no difference here. */
static inline __attribute__((const)) float at_least(float x, float limit)
{
    return as_float(__builtin_elementwise_min(as_uint(x + 0.0f), as_uint(limit)));
}

/* Only the integer part of a large argument has a limit, 129 or less for scale. The polynomials have positive
 * coefficients and get the rest of the argument. They give at least 1 for it, and the result is infinite. */

/** 2^x, below 1 ulp, including subnormal results. */
static inline __attribute__((const)) float exp2_fast(float x)
{
    x = at_least(x, -152.0f);
    const float t = __builtin_fminf(x, 129.0f) + ROUNDS;
    float f = x - (t - ROUNDS);
    /* 2^f on [-1/2, 1/2], least squares at Chebyshev nodes: to 2^-27 */
    float p = 0x1.426p-13f;
    p = __builtin_fmaf(p, f, 0x1.5fp-10f);
    p = __builtin_fmaf(p, f, 0x1.3b2c42p-7f);
    p = __builtin_fmaf(p, f, 0x1.c6af80p-5f);
    p = __builtin_fmaf(p, f, 0x1.ebfbdep-3f);
    p = __builtin_fmaf(p, f, 0x1.62e430p-1f);
    return scale(__builtin_fmaf(p, f, 1.0f), t);
}

/** e^x, below 1 ulp, including subnormal results, which the generic library flushes. ln 2 is 0x1.63p-1 -
 *  0x1.bd0106p-13. The factor of x need not be exact: the argument of the polynomial is then within 0.36, not 0.347. */
static inline __attribute__((const)) float exp_exact(float x)
{
    x = at_least(x, -104.0f);
    const float t = __builtin_fmaf(__builtin_fminf(x, 89.0f), 0x1.714p+0f, ROUNDS), n = t - ROUNDS;
    float r = __builtin_fmaf(n, -0x1.63p-1f, x);
    r = __builtin_fmaf(n, 0x1.bd0106p-13f, r);
    float p = 0x1.6ccp-10f;
    p = __builtin_fmaf(p, r, 0x1.126p-7f);
    p = __builtin_fmaf(p, r, 0x1.555576p-5f);
    p = __builtin_fmaf(p, r, 0x1.555456p-3f);
    p = __builtin_fmaf(p, r, 0.5f);
    p = __builtin_fmaf(p, r, 1.0f);
    return scale(__builtin_fmaf(p, r, 1.0f), t);
}

/** log2 of a positive number; -infinity for zero, NaN for negative numbers and NaN. */
static inline __attribute__((const)) float log2_fast(float x)
{
    float scale = 0.0f;
    if (x < 0x1p-126f) {
        x *= 0x1p23f;
        scale = -23.0f;
    }
    int bits = as_int(x), e = (bits - 0x3f3504f3) >> 23; /* mantissa in [sqrt 1/2, sqrt 2) */
    float m = as_float(bits - (e << 23)) - 1.0f;
    /* log(1+m) = 2 atanh(s), s = m / (2 + m) */
    float s = m / (2.0f + m), z = s * s;
    float p = 0x1.b4fd8cp-2f;
    p = __builtin_fmaf(p, z, 0x1.27618ep-1f);
    p = __builtin_fmaf(p, z, 0x1.ec70a6p-1f);
    float y = __builtin_fmaf(s * z, p, s * 0x1.715476p+1f);
    y += (float)e + scale;
    y = x == 0.0f ? -__builtin_inff() : y;
    y = x == __builtin_inff() ? x : y;
    return x >= 0.0f ? y : __builtin_nanf("");
}

/** Sine of x + quarter * pi/2. Multiples of pi/2 are subtracted in three parts, exactly for |x| < 8192. */
static inline __attribute__((const)) float sine_fast(float x, int quarter)
{
    float n = __builtin_rintf(x * 0x1.45f306p-1f);
    float r = __builtin_fmaf(n, -0x1.921fb6p+0f, x);
    r = __builtin_fmaf(n, 0x1.777a5cp-25f, r);
    r = __builtin_fmaf(n, 0x1.ee59dap-50f, r);
    int q = (int)n + quarter;
    float z = r * r;
    float s = -0x1.9ac9b0p-13f;
    s = __builtin_fmaf(s, z, 0x1.110c28p-7f);
    s = __builtin_fmaf(s, z, -0x1.555552p-3f);
    s = __builtin_fmaf(s * z, r, r);
    float c = 0x1.9bd89cp-16f;
    c = __builtin_fmaf(c, z, -0x1.6c12d2p-10f);
    c = __builtin_fmaf(c, z, 0x1.555554p-5f);
    c = __builtin_fmaf(c, z, -0x1.000000p-1f);
    c = __builtin_fmaf(c, z, 1.0f);
    float v = q & 1 ? c : s;
    return q & 2 ? -v : v;
}

#define SINE(x) sine_fast(x, 0)
#define COSINE(x) sine_fast(x, 1)
#define TANGENT(x) (sine_fast(x, 0) / sine_fast(x, 1))
#define EXP10(x) exp2_fast((x) * 0x1.a934f0p+1f)
#define LOG(x) (log2_fast(x) * 0x1.62e430p-1f)
#define LOG10(x) (log2_fast(x) * 0x1.344136p-2f)

ALL(exp2, exp2_fast)
ALL(half_exp2, exp2_fast)
ALL(native_exp2, exp2_fast)
ALL(exp, exp_exact)
ALL(half_exp, exp_exact)
ALL(native_exp, exp_exact)
ALL(native_exp10, EXP10)
ALL(native_log2, log2_fast)
ALL(native_log, LOG)
ALL(native_log10, LOG10)
ALL(native_sin, SINE)
ALL(native_cos, COSINE)
ALL(native_tan, TANGENT)

#define POWR(TYPE)                                       \
    CONST TYPE native_powr(TYPE x, TYPE y)               \
    {                                                    \
        return native_exp2(y * native_log2(x));          \
    }

POWR(float)
POWR(float2)
POWR(float3)
POWR(float4)
POWR(float8)
POWR(float16)

/* The generic library's version in float exceeds OpenCL's error bound; that in double, rounded, meets it. */
double OVERLOAD erfc(double x);

OVERLOAD __attribute__((const)) float erfc(float x)
{
    return (float)erfc((double)x);
}

#define SMOOTHSTEP(TYPE)                                                     \
    TYPE OVERLOAD smoothstep(TYPE edge0, TYPE edge1, TYPE x);                \
    CONST TYPE smoothstep(double edge0, double edge1, TYPE x)                \
    {                                                                        \
        return smoothstep((TYPE)edge0, (TYPE)edge1, x);                      \
    }

SMOOTHSTEP(double2)
SMOOTHSTEP(double3)
SMOOTHSTEP(double4)
SMOOTHSTEP(double8)
SMOOTHSTEP(double16)
