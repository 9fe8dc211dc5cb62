/* SPDX-License-Identifier: Apache-2.0 */
/** Ranges for which coarse dispatches pay (compiler.h), by measurement. */
#include "compiler.h"

#define FULL_ROUND 16u /* work-items of a round of those kernels that gain most (ternc/coarse.c) */

struct tc_coarse_range tc_coarse_least(const struct tc_kernel *k, uint32_t threads)
{
    const uint32_t wide = TC_COARSE_STRIDE * k->coarse;
    struct tc_coarse_range least = {.x = wide, .y = 1, .hardware = threads / 2};
    if (k->tile) {
        /* A quarter of the lanes suffices for kernels that gain most (sgemm, 64 x 16 elements: 17,635 cycles, 23,406
         * with one element each), but not for those that gain a fifth. */
        least.x = k->coarse > 1 ? wide : 1;
        least.y = k->tile;
    } else if (k->coarse < FULL_ROUND) {
        least.hardware = 2 * threads; /* long kernels gain less */
    }
    return least;
}
