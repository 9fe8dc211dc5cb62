/* SPDX-License-Identifier: Apache-2.0 */
/** Random kernels in OpenCL C whose results do not depend on the order of work-items, and random ranges for them. */
#ifndef RANDOM_KERNEL_H
#define RANDOM_KERNEL_H

#include <CL/cl.h>

#include <stddef.h>
#include <stdint.h>

enum {
    RANDOM_ITEMS = 1 << 13,      /**< Maximum work-items of a range. */
    RANDOM_OWN = 16,             /**< Bytes of `out`, and of `io`, that belong to one work-item. */
    RANDOM_WORDS = 1 << 14,      /**< Minimum words of `in` and of `reals`. */
    RANDOM_COUNTERS = 4 * 64,    /**< Words of `counters`: 64 each for add, or, xor and max. */
    RANDOM_SOURCE = 1 << 16      /**< Maximum bytes of a kernel's source. */
};

enum random_kind { RANDOM_STRAIGHT, RANDOM_UNIFORM, RANDOM_LOOPS };

/** Functions that the kernels call. A program's source begins with this text. With -DGROUPS, kernels begin with a
 *  barrier, so that they see their groups. */
extern const char random_kernel_head[];

struct random_range {
    cl_uint dims;
    size_t global[3], offset[3]; /**< Unused dimensions have size 1 and offset 0. */
    cl_uint n, m;                /**< Arguments that kernels compare with ids. */
};

/** Returns a range of at most `most` work-items, long in x or of many rows, with ids of at most 2^30 + most. */
struct random_range random_range(uint32_t *seed, size_t most);

/**
 * Writes the source of the kernel `name` of
 *
 *     (global uint *out, global uint *io, global uint *io2, global const uint *in, global const float *reals,
 *      global uint *counters, uint n, uint m, long w)
 *
 * where io2 is io's buffer, and returns the state of the random numbers after it. A straight kernel has no loops, and
 * its only conditions are those on which a work-item does nothing. In a uniform kernel, the rounds of loops and the
 * conditions in them are the same for all work-items of a row, of a column, or of the range. Other kernels have loops
 * whose number of rounds depends on data, branches, early returns, switches, private arrays, calls and atomics.
 *
 * All behaviour of a kernel is defined by the language: integers wrap; shifts and indices are in range; there is no
 * division by zero; a float is converted only to an integer type that holds it; data that are written and read as
 * different types may alias; NaNs and the sign of zero are not stored.
 */
uint32_t random_kernel(uint32_t seed, const char *name, enum random_kind kind, char text[RANDOM_SOURCE]);

#endif
