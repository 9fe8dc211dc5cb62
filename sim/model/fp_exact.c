/* SPDX-License-Identifier: Apache-2.0 */
/** IEEE 754 binary32 arithmetic on integers, by the plain definition. rm is a rounding mode of RISC-V: 0 RNE, 1 RTZ,
 *  2 RDN, 3 RUP, 4 RMM. This is slow; fp.c has the fast path. */
#include "model.h"

/* flags of fcsr */
#define NV 16u
#define DZ 8u
#define OF 4u
#define UF 2u
#define NX 1u
#define QNAN 0x7fc00000u
#define INF 0x7f800000u

typedef unsigned __int128 u128;

struct number {
    bool sign, nan, snan, inf, zero;
    int exp;       /* value = mant * 2^exp */
    uint64_t mant;
};

static struct number unpack(uint32_t x)
{
    uint32_t e = x >> 23 & 255u, m = x & 0x7fffffu;
    struct number n = {.sign = x >> 31, .exp = (int)(e ? e : 1) - 150, .mant = m | (e ? 0x800000u : 0)};
    n.nan = e == 255 && m;
    n.snan = n.nan && !(m >> 22);
    n.inf = e == 255 && !m;
    n.zero = !(x << 1);
    return n;
}

/** half, rest: the first bit that is dropped, and whether any after it is set. */
static bool round_up(bool sign, bool odd, bool half, bool rest, uint32_t rm)
{
    switch (rm) {
    case 0:
        return half && (rest || odd);
    case 2:
        return sign && (half || rest);
    case 3:
        return !sign && (half || rest);
    case 4:
        return half;
    default:
        return false;
    }
}

static u128 shift_right_sticky(u128 m, int n, bool *half, bool *rest)
{
    *half = *rest = false;
    if (n <= 0) {
        return m << -n;
    }
    if (n > 127) {
        *rest = m != 0;
        return 0;
    }
    *half = m >> (n - 1) & 1u;
    *rest = (m & (((u128)1 << (n - 1)) - 1)) != 0;
    return m >> n;
}

/** Rounds mant * 2^exp, with `sticky` for a nonzero rest below, to binary32. */
static uint32_t pack(bool sign, u128 mant, int exp, bool sticky, uint32_t rm, uint8_t *fl)
{
    int top = 127;
    bool half, rest, h2, r2;
    while (!(mant >> top)) {
        top--;
    }
    int drop = top - 23;                              /* bits below a normal significand */
    int unit = exp + drop;                            /* exponent of its last bit */
    bool subnormal = unit < -149;
    u128 full = shift_right_sticky(mant, drop, &h2, &r2);
    bool up2 = round_up(sign, full & 1u, h2, r2 || sticky, rm);
    /* tininess is found after rounding: a value that rounds up to the smallest normal number is not tiny */
    bool tiny = subnormal && !(unit == -150 && full + up2 == (u128)1 << 24);
    if (subnormal) {
        drop += -149 - unit;
        unit = -149;
    }
    u128 m = shift_right_sticky(mant, drop, &half, &rest);
    rest = rest || sticky;
    m += round_up(sign, m & 1u, half, rest, rm);
    if (half || rest) {
        *fl |= (uint8_t)(NX | (tiny ? UF : 0u));
    }
    uint32_t s = (uint32_t)sign << 31;
    if (m >> 24) {
        m >>= 1;
        unit++;
    }
    if (unit + 23 > 127) {
        bool to_inf = rm == 0 || rm == 4 || (rm == 3 && !sign) || (rm == 2 && sign);
        *fl |= OF | NX;
        return s | (to_inf ? INF : INF - 1);
    }
    uint32_t e = m >> 23 ? (uint32_t)(unit + 150) : 0;
    return s | e << 23 | ((uint32_t)m & 0x7fffffu);
}

static uint32_t nan_result(bool invalid, uint8_t *fl)
{
    *fl |= invalid ? NV : 0;
    return QNAN;
}

/** product (mant, exp, sign) + c, both finite and not both zero in value. */
static uint32_t sum(bool ps, u128 pm, int pe, bool cs, u128 cm, int ce, uint32_t rm, uint8_t *fl)
{
    bool sticky = false;
    if (pm == 0 || cm == 0) {
        return pm ? pack(ps, pm, pe, false, rm, fl) : pack(cs, cm, ce, false, rm, fl);
    }
    while (!(pm >> 123)) {
        pm <<= 1;
        pe--;
    }
    while (!(cm >> 123)) {
        cm <<= 1;
        ce--;
    }
    u128 *low = pe < ce ? &pm : &cm;
    int n = pe < ce ? ce - pe : pe - ce;
    if (n) {
        sticky = n > 127 ? *low != 0 : (*low & (((u128)1 << n) - 1)) != 0;
        *low = n > 127 ? 0 : *low >> n;
        *low |= sticky; /* far below the rounding bit, so it only keeps the direction */
    }
    int e = pe > ce ? pe : ce;
    if (ps == cs) {
        return pack(ps, pm + cm, e, false, rm, fl);
    }
    if (pm == cm) {
        return (uint32_t)(rm == 2) << 31;
    }
    return pm > cm ? pack(ps, pm - cm, e, false, rm, fl) : pack(cs, cm - pm, e, false, rm, fl);
}

static uint32_t fma_exact(uint32_t ua, uint32_t ub, uint32_t uc, uint32_t rm, uint8_t *fl)
{
    struct number a = unpack(ua), b = unpack(ub), c = unpack(uc);
    bool ps = a.sign != b.sign, undefined = (a.inf && b.zero) || (a.zero && b.inf);
    if (undefined || a.nan || b.nan || c.nan) {
        return nan_result(undefined || a.snan || b.snan || c.snan, fl);
    }
    if (a.inf || b.inf) {
        return c.inf && c.sign != ps ? nan_result(true, fl) : (uint32_t)ps << 31 | INF;
    }
    if (c.inf) {
        return uc;
    }
    if ((a.zero || b.zero) && c.zero) {
        return (uint32_t)(ps == c.sign ? ps : rm == 2) << 31;
    }
    return sum(ps, (u128)a.mant * b.mant, a.exp + b.exp, c.sign, c.mant, c.exp, rm, fl);
}

static uint32_t mul_exact(uint32_t ua, uint32_t ub, uint32_t rm, uint8_t *fl)
{
    uint32_t zero = (ua ^ ub) & 0x80000000u; /* adding a zero with the product's sign changes nothing */
    return fma_exact(ua, ub, zero, rm, fl);
}

static uint32_t div_exact(uint32_t ua, uint32_t ub, uint32_t rm, uint8_t *fl)
{
    struct number a = unpack(ua), b = unpack(ub);
    bool s = a.sign != b.sign, undefined = (a.inf && b.inf) || (a.zero && b.zero);
    if (undefined || a.nan || b.nan) {
        return nan_result(undefined || a.snan || b.snan, fl);
    }
    if (b.zero || a.inf) {
        *fl |= b.zero && !a.inf ? DZ : 0;
        return (uint32_t)s << 31 | INF;
    }
    if (a.zero || b.inf) {
        return (uint32_t)s << 31;
    }
    u128 n = (u128)a.mant << 64;
    return pack(s, n / b.mant, a.exp - b.exp - 64, n % b.mant != 0, rm, fl);
}

static uint32_t sqrt_exact(uint32_t ua, uint32_t rm, uint8_t *fl)
{
    struct number a = unpack(ua);
    if (a.nan || (a.sign && !a.zero)) {
        return nan_result(a.snan || !a.nan, fl);
    }
    if (a.zero || a.inf) {
        return ua;
    }
    int e = a.exp;
    u128 m = a.mant;
    m <<= 70 + (e & 1);
    e -= 70 + (e & 1);
    u128 root = 0;
    for (int bit = 60; bit >= 0; bit--) {
        u128 t = root | (u128)1 << bit;
        root = t * t <= m ? t : root;
    }
    return pack(false, root, e / 2, root * root != m, rm, fl);
}

uint32_t fp_exact(enum fp_kind kind, uint32_t a, uint32_t b, uint32_t c, uint32_t rm, uint8_t *flags)
{
    switch (kind) {
    case FP_ADD:
        return fma_exact(a, 0x3f800000u, b, rm, flags);
    case FP_MUL:
        return mul_exact(a, b, rm, flags);
    case FP_DIV:
        return div_exact(a, b, rm, flags);
    case FP_SQRT:
        return sqrt_exact(a, rm, flags);
    default:
        return fma_exact(a, b, c, rm, flags);
    }
}
