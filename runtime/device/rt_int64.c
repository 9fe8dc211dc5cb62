/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Run-time library: 64-bit division; other 64-bit operations are inline. One or two steps of long division, whose
 * digits the hardware's divider estimates (Knuth, TAOCP 2, 4.3.1, algorithm D). There is no loop over bits, so lanes
 * diverge little.
 */
#include "rt_double.h"

u64 __udivdi3(u64 a, u64 b);
u64 __umoddi3(u64 a, u64 b);
s64 __divdi3(s64 a, s64 b);
s64 __moddi3(s64 a, s64 b);

static inline __attribute__((always_inline)) u64 divide(u64 a, u64 b, u64 *rest)
{
    u32 ah = (u32)(a >> 32), al = (u32)a, bh = (u32)(b >> 32), bl = (u32)b;
    if (bh == 0) {
        if (ah == 0) { /* division by zero gives all ones and the dividend, as in hardware */
            u32 q = bl ? al / bl : ~0u;
            *rest = bl ? al - q * bl : al;
            return bl ? q : ~0ull;
        }
        if (bl == 0) {
            *rest = a;
            return ~0ull;
        }
        u32 qh = ah / bl, r;
        ah -= qh * bl;
        int s = __builtin_clz(bl);
        u32 ql = divide_64_32(((u64)ah << 32 | al) << s, bl << s, &r);
        *rest = r >> s;
        return (u64)qh << 32 | ql;
    }
    if (a < b) {
        *rest = a;
        return 0;
    }
    /* The quotient has one digit: estimated from the leading 64 bits of a / 2 and the leading 32 bits of b, then
     * corrected by at most one. */
    int s = __builtin_clz(bh);
    u32 top = (u32)(b << s >> 32), r;
    u64 half = a >> 1;
    u32 q = divide_64_32(half, top, &r);
    q = (u32)((u64)q << s >> 31);
    if (q) {
        q--;
    }
    u64 left = a - (u64)q * b;
    if (left >= b) {
        left -= b;
        q++;
    }
    *rest = left;
    return q;
}

u64 __udivdi3(u64 a, u64 b)
{
    u64 rest;
    return divide(a, b, &rest);
}

u64 __umoddi3(u64 a, u64 b)
{
    u64 rest;
    divide(a, b, &rest);
    return rest;
}

s64 __divdi3(s64 a, s64 b)
{
    u64 rest;
    u64 q = divide(a < 0 ? -(u64)a : (u64)a, b < 0 ? -(u64)b : (u64)b, &rest);
    return (s64)((a ^ b) < 0 ? -q : q);
}

s64 __moddi3(s64 a, s64 b)
{
    u64 rest;
    divide(a < 0 ? -(u64)a : (u64)a, b < 0 ? -(u64)b : (u64)b, &rest);
    return (s64)(a < 0 ? -rest : rest);
}
