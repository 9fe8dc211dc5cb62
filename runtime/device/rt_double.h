/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Double in integer arithmetic, for hardware with 32-bit floating point: IEEE 754 binary64, round to nearest even, with
 * subnormals, without flags. NaNs are returned quiet. A finite number is represented by sign, exponent and a
 * significand whose leading one is bit 62, ten bits more than the format has. The last bit is sticky, so rounding is
 * exact.
 */
#ifndef TERN_RT_DOUBLE_H
#define TERN_RT_DOUBLE_H

typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define INLINE static inline __attribute__((always_inline, unused))
#define SIGN (1ull << 63)
#define INFINITY_BITS 0x7ff0000000000000ull
#define NAN_BITS 0x7ff8000000000000ull
#define BIAS 1023

INLINE u64 bits_of(double d)
{
    return __builtin_bit_cast(u64, d);
}

INLINE double double_of(u64 bits)
{
    return __builtin_bit_cast(double, bits);
}

INLINE int is_nan(u64 bits)
{
    return (bits & ~SIGN) > INFINITY_BITS;
}

INLINE u64 quiet(u64 bits)
{
    return bits | 1ull << 51;
}

/** x >> n; bit 0 is also the OR of all bits that are shifted out. */
INLINE u64 shift_jam(u64 x, s32 n)
{
    if (n > 63) {
        return x != 0;
    }
    return n > 0 ? x >> n | ((x << (64 - n)) != 0) : x;
}

INLINE s32 leading_zeros(u64 x)
{
    u32 high = (u32)(x >> 32);
    return high ? __builtin_clz(high) : (u32)x ? 32 + __builtin_clz((u32)x) : 64;
}

/** The biased exponent, which may be below 1, and the significand with its leading one at bit 62, of a finite
 *  nonzero number. */
INLINE void unpack(u64 bits, s32 *exponent, u64 *significand)
{
    s32 e = (s32)(bits >> 52 & 0x7ff);
    u64 s = bits & ((1ull << 52) - 1);
    if (e) {
        *exponent = e;
        *significand = (s | 1ull << 52) << 10;
    } else {
        s32 shift = leading_zeros(s) - 1;
        *exponent = 11 - shift;
        *significand = s << shift;
    }
}

/** Rounds and packs. The significand is zero, or its leading one is bit 62. */
INLINE u64 pack(u64 sign, s32 exponent, u64 significand)
{
    if (exponent >= 0x7ff) {
        return sign | INFINITY_BITS;
    }
    if (exponent <= 0) {
        significand = shift_jam(significand, 1 - exponent);
        exponent = 1;
    }
    u32 rest = (u32)significand & 0x3ff;
    u64 rounded = (significand + 0x200) >> 10;
    if (rest == 0x200) {
        rounded &= ~1ull;
    }
    return sign | (((u64)(u32)(exponent - 1) << 52) + rounded);
}

/** As pack, for any nonzero significand. */
INLINE u64 normalize_pack(u64 sign, s32 exponent, u64 significand)
{
    s32 shift = leading_zeros(significand) - 1;
    if (shift < 0) {
        return pack(sign, exponent + 1, shift_jam(significand, 1));
    }
    return pack(sign, exponent - shift, significand << shift);
}

/** The 128-bit product: returns the upper half. */
INLINE u64 multiply(u64 a, u64 b, u64 *low)
{
    u32 al = (u32)a, ah = (u32)(a >> 32), bl = (u32)b, bh = (u32)(b >> 32);
    u64 ll = (u64)al * bl, lh = (u64)al * bh, hl = (u64)ah * bl, hh = (u64)ah * bh;
    u64 middle = (ll >> 32) + (u32)lh + (u32)hl;
    *low = middle << 32 | (u32)ll;
    return hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
}

/** Quotient of a 64-bit number and b, for a quotient below 2^32 and b with its top bit set: two 16-bit digits,
 *  estimated with the hardware's divider. */
INLINE u32 divide_64_32(u64 a, u32 b, u32 *rest)
{
    u32 b1 = b >> 16, b0 = b & 0xffff, high = (u32)(a >> 32), digits[2];
    for (int i = 0; i < 2; i++) {
        u32 next = i ? (u32)a & 0xffff : (u32)a >> 16;
        u32 q = high / b1;
        u32 r = high - q * b1;
        while (q > 0xffff || q * b0 > (r << 16 | next)) {
            q--;
            r += b1;
            if (r > 0xffff) {
                break;
            }
        }
        high = (high << 16 | next) - q * b;
        digits[i] = q;
    }
    *rest = high;
    return digits[0] << 16 | digits[1];
}

#endif
