/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Values of images and samplers: the address of a descriptor, and bits. The types of OpenCL C allow no
 * conversion, so image_core.h declares these functions by the same symbols for each type.
 */
#include "base.h"

__attribute__((const, always_inline)) __global const void *__tern_image(__global const void *image)
{
    return image;
}

__attribute__((const, always_inline)) uint __tern_sampler(__constant const void *sampler)
{
    return (uint)(size_t)sampler;
}
