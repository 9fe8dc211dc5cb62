/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The front end emits a call of this function for each sampler that a program initializes. The value of a sampler is
 * its bits (image.h).
 */
#include "base.h"

__attribute__((const, always_inline)) __constant void *__translate_sampler_initializer(int bits)
{
    return (__constant void *)(size_t)bits;
}
