/* SPDX-License-Identifier: Apache-2.0 */
/** The front end makes each sampler from its bits by this function. The device has no images, so nothing samples, but
 *  programs that choose between images and buffers have samplers in any case. */
#include "base.h"

__attribute__((const, always_inline)) __constant void *__translate_sampler_initializer(int bits)
{
    return (__constant void *)bits;
}
