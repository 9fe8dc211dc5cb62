/* SPDX-License-Identifier: Apache-2.0 */
/** Arrays of bits. Bit i is bit i % 32 of word i / 32. The functions work on runs of n bits, a word at a time. */
#ifndef TERN_KMD_BITS_H
#define TERN_KMD_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t tern_bits_bytes(uint32_t n)
{
    return (n + 31ull) / 32 * sizeof(uint32_t);
}

/** A mask of the lowest n bits; n is 1 to 32. */
static inline uint32_t tern_bits_low(uint32_t n)
{
    return UINT32_MAX >> (32 - n);
}

/** The number of bits of the run from `at` on that lie in its first word. */
static inline uint32_t tern_bits_here(uint32_t at, uint32_t n)
{
    return n < 32 - at % 32 ? n : 32 - at % 32;
}

/** The n bits from `at` on; n is 1 to 32. Words behind them are not read. */
static inline uint32_t tern_bits_get(const uint32_t *bits, uint32_t at, uint32_t n)
{
    const uint32_t here = tern_bits_here(at, n);
    uint32_t v = bits[at / 32] >> at % 32 & tern_bits_low(here);
    if (here < n) {
        v |= (bits[at / 32 + 1] & tern_bits_low(n - here)) << here;
    }
    return v;
}

static inline void tern_bits_add(uint32_t *to, uint32_t at, const uint32_t *from, uint32_t first, uint32_t n)
{
    for (uint32_t k; n; n -= k, at += k, first += k) {
        k = tern_bits_here(at, n);
        to[at / 32] |= tern_bits_get(from, first, k) << at % 32;
    }
}

static inline void tern_bits_set(uint32_t *bits, uint32_t at, uint32_t n)
{
    for (uint32_t k; n; n -= k, at += k) {
        k = tern_bits_here(at, n);
        bits[at / 32] |= tern_bits_low(k) << at % 32;
    }
}

static inline void tern_bits_clear(uint32_t *bits, uint32_t at, uint32_t n)
{
    for (uint32_t k; n; n -= k, at += k) {
        k = tern_bits_here(at, n);
        bits[at / 32] &= ~(tern_bits_low(k) << at % 32);
    }
}

static inline uint64_t tern_bits_count(const uint32_t *bits, uint32_t at, uint32_t n)
{
    uint64_t count = 0;
    for (uint32_t k; n; n -= k, at += k) {
        k = tern_bits_here(at, n);
        count += (uint32_t)__builtin_popcount(tern_bits_get(bits, at, k));
    }
    return count;
}

/** True: one of the first n bits is set. */
static inline bool tern_bits_any(const uint32_t *bits, uint32_t n)
{
    bool any = false;
    for (uint32_t at = 0, k; !any && at < n; at += k) {
        k = tern_bits_here(at, n - at);
        any = tern_bits_get(bits, at, k) != 0;
    }
    return any;
}

/** Copies n bits from `first` on into an array of bytes from its bit `at` on. There bit i is bit i % 8 of byte i / 8.
 *  Other bits of the array do not change. */
static inline void tern_bits_give(const uint32_t *bits, uint32_t first, uint32_t n, void *to, uint64_t at)
{
    uint8_t *byte = (uint8_t *)to + at / 8;
    for (uint32_t k, skew = (uint32_t)(at % 8); n; n -= k, first += k, skew = 0) {
        k = n < 8 - skew ? n : 8 - skew;
        const uint32_t mask = tern_bits_low(k) << skew, v = tern_bits_get(bits, first, k) << skew;
        *byte = (uint8_t)((*byte & ~mask) | v);
        byte++;
    }
}

#endif
