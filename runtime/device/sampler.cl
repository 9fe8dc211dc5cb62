/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The function by which the front end makes a sampler from its bits. The device has no images, but programs that choose
 * between images and buffers have samplers in any case.
 */
#include "base.h"

__attribute__((const, always_inline)) __constant void *__translate_sampler_initializer(int bits)
{
    return (__constant void *)bits;
}
