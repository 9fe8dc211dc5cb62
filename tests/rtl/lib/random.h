// SPDX-License-Identifier: Apache-2.0
// Random operands for the arithmetic benches. A seed gives the same operands again; corner cases are frequent.

#ifndef TERN_TESTS_RTL_RANDOM_H
#define TERN_TESTS_RTL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state = 1;

static inline void random_seed(uint32_t seed)
{
    random_state = ((uint64_t)seed << 32 | seed) ^ 0x9e3779b97f4a7c15u;
}

// splitmix64
static inline uint64_t random_u64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint32_t random_below(uint32_t bound)
{
    return (uint32_t)(random_u64() >> 32) % bound;
}

// Returns a word: a corner case, a small number of either sign, a number with leading or trailing zeros, or any word.
static inline uint32_t random_word(void)
{
    static const uint32_t corner[] = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe,
                                      0xffff, 0x10000};
    uint64_t r = random_u64();
    switch (r & 7) {
    case 0:
        return corner[(r >> 8) % (sizeof corner / sizeof corner[0])];
    case 1:
        return (uint32_t)((int32_t)(r >> 32) >> 24);
    case 2:
        return (uint32_t)(r >> 32) >> (r >> 8 & 31);
    case 3:
        return (uint32_t)(r >> 32) << (r >> 8 & 31);
    default:
        return (uint32_t)(r >> 32);
    }
}

// Returns the bits of a float: a corner case, a subnormal or small normal, a short significand, an exponent near that
// of 1, or any float.
static inline uint32_t random_float(void)
{
    static const uint32_t corner[] = {
        0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x33800000, 0x3f7fffff, 0x3f800000,
            0x3f800001,
        0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001,
        0x3f000000};
    uint64_t r = random_u64();
    uint32_t v = (uint32_t)(r >> 32), k = (uint32_t)r >> 8;
    switch (r & 7) {
    case 0:
        return corner[k % (sizeof corner / sizeof corner[0])] | (v & 0x80000000);
    case 1:
        return (v & 0x807fffff) | (k % 4) << 23;
    case 2:
        return v & (0xff800000 | 0x7fffffu << k % 23);
    case 3:
        return (v & 0x807fffff) | (k % 68 + 95) << 23;
    default:
        return v;
    }
}

#endif
