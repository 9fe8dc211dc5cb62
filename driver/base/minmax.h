/* SPDX-License-Identifier: Apache-2.0 */
/** The smaller and the larger of two numbers. */
#ifndef TERN_BASE_MINMAX_H
#define TERN_BASE_MINMAX_H

#include <stdint.h>

static inline uint32_t tern_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t tern_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t tern_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t tern_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
