/* SPDX-License-Identifier: Apache-2.0 */
/** Zfinx, one lane at a time: every operation, rounding mode and special value. ops_float.c is faster for common
 *  operands. */
#include <math.h>

#include "model.h"

#define NV 16u
#define NX 1u

static uint32_t as_bits(float f)
{
    uint32_t x;
    memcpy(&x, &f, 4);
    return x;
}

static bool is_nan(uint32_t x)
{
    return (x & 0x7fffffffu) > 0x7f800000u;
}

static uint32_t fclass(uint32_t x)
{
    uint32_t e = x >> 23 & 255u, m = x & 0x7fffffu;
    bool s = x >> 31;
    if (e == 255) {
        return m ? (m >> 22 ? 1u << 9 : 1u << 8) : s ? 1u << 0 : 1u << 7;
    }
    if (e == 0) {
        return m ? (s ? 1u << 2 : 1u << 5) : s ? 1u << 3 : 1u << 4;
    }
    return s ? 1u << 1 : 1u << 6;
}

/** Rounds the magnitude m * 2^e, where e may be negative, to an integer. */
static uint64_t to_integer(uint64_t m, int e, bool sign, uint32_t rm, bool *inexact)
{
    if (e >= 0) {
        *inexact = false;
        return e > 39 ? UINT64_MAX >> 1 : m << e;
    }
    int n = -e > 40 ? 40 : -e;
    uint64_t q = m >> n, rest = m & ((1ull << n) - 1), half = 1ull << (n - 1);
    *inexact = rest != 0;
    bool up = rm == 0   ? rest > half || (rest == half && (q & 1u))
              : rm == 2 ? sign && rest
              : rm == 3 ? !sign && rest
              : rm == 4 ? rest >= half
                        : false;
    return q + up;
}

static uint32_t float_to_int(uint32_t x, bool is_unsigned, uint32_t rm, uint8_t *fl)
{
    uint32_t e = x >> 23 & 255u;
    bool sign = x >> 31, inexact;
    uint32_t high = is_unsigned ? UINT32_MAX : INT32_MAX, low = is_unsigned ? 0 : 0x80000000u;
    if (e == 255) {
        *fl |= NV;
        return is_nan(x) || !sign ? high : low;
    }
    uint64_t m = to_integer((x & 0x7fffffu) | (e ? 0x800000u : 0), (int)(e ? e : 1) - 150, sign, rm, &inexact);
    uint64_t limit = sign ? (is_unsigned ? 0 : 0x80000000ull) : high;
    if (m > limit) {
        *fl |= NV;
        return sign ? low : high;
    }
    *fl |= inexact ? NX : 0;
    return sign ? 0u - (uint32_t)m : (uint32_t)m;
}

static uint32_t int_to_float(uint32_t x, bool is_unsigned, uint32_t rm, uint8_t *fl)
{
    bool sign = !is_unsigned && x >> 31, inexact;
    uint64_t m = sign ? 0u - x : x;
    if (m == 0) {
        return 0;
    }
    int top = 63 - __builtin_clzll(m);
    uint64_t q = to_integer(m, top > 23 ? 23 - top : 0, sign, rm, &inexact);
    *fl |= inexact ? NX : 0;
    return as_bits(ldexpf((float)q, top > 23 ? top - 23 : 0)) | (uint32_t)sign << 31;
}

uint32_t fp_lane(uint16_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t rm, uint8_t *fl)
{
    const uint32_t minus = 0x80000000u;
    switch (op) {
    case OP_FADD:
        return fp_exact(FP_ADD, a, b, 0, rm, fl);
    case OP_FSUB:
        return fp_exact(FP_ADD, a, b ^ minus, 0, rm, fl);
    case OP_FMUL:
        return fp_exact(FP_MUL, a, b, 0, rm, fl);
    case OP_FDIV:
        return fp_exact(FP_DIV, a, b, 0, rm, fl);
    case OP_FSQRT:
        return fp_exact(FP_SQRT, a, 0, 0, rm, fl);
    case OP_FMADD:
        return fp_exact(FP_FMA, a, b, c, rm, fl);
    case OP_FMSUB:
        return fp_exact(FP_FMA, a, b, c ^ minus, rm, fl);
    case OP_FNMSUB:
        return fp_exact(FP_FMA, a ^ minus, b, c, rm, fl);
    case OP_FNMADD:
        return fp_exact(FP_FMA, a ^ minus, b, c ^ minus, rm, fl);
    case OP_FCVT_W_S:
    case OP_FCVT_WU_S:
        return float_to_int(a, op == OP_FCVT_WU_S, rm, fl);
    case OP_FCVT_S_W:
    case OP_FCVT_S_WU:
        return int_to_float(a, op == OP_FCVT_S_WU, rm, fl);
    default: /* OP_FCLASS */
        return fclass(a);
    }
}
