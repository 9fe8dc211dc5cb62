/* SPDX-License-Identifier: Apache-2.0 */
/** Run-time library: conversions of half and float, round to nearest even, for vload_half and vstore_half. */
typedef unsigned int u32;

float __extendhfsf2(unsigned short h);
unsigned short __truncsfhf2(float f);

float __extendhfsf2(unsigned short h)
{
    u32 sign = (u32)(h & 0x8000) << 16, exponent = (u32)h >> 10 & 31, fraction = h & 1023;
    u32 bits;
    if (exponent == 31) {
        bits = 0x7f800000 | fraction << 13;
    } else if (exponent || !fraction) {
        bits = exponent ? (exponent + 112) << 23 | fraction << 13 : 0;
    } else {
        u32 shift = (u32)__builtin_clz(fraction) - 21;
        bits = (113 - shift) << 23 | (fraction << shift & 1023) << 13;
    }
    return __builtin_bit_cast(float, sign | bits);
}

unsigned short __truncsfhf2(float f)
{
    u32 bits = __builtin_bit_cast(u32, f), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    u32 kept, rest, half;
    if (magnitude > 0x7f800000) {
        return (unsigned short)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
    }
    if (magnitude >= 0x477ff000) { /* rounds to 65536 or more */
        return (unsigned short)(sign | 0x7c00);
    }
    if (magnitude >= 0x38800000) {
        kept = (magnitude - 0x38000000) >> 13;
        rest = magnitude & 0x1fff;
        half = 0x1000;
    } else if (magnitude >= 0x33000000) {
        u32 fraction = (magnitude & 0x7fffff) | 0x800000, shift = 126 - (magnitude >> 23);
        kept = fraction >> shift;
        rest = fraction & ((1u << shift) - 1);
        half = 1u << (shift - 1);
    } else {
        return (unsigned short)sign;
    }
    kept += rest > half || (rest == half && (kept & 1));
    return (unsigned short)(sign | kept);
}
