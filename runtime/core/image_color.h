/* SPDX-License-Identifier: Apache-2.0 */
/** Colours of images as bytes. */
#ifndef RT_IMAGE_COLOR_H
#define RT_IMAGE_COLOR_H

#include <stdint.h>

#define RT_PIXEL_MAX 16u /**< Bytes of the largest pixel. */

/**
 * Converts a colour to a pixel, as write_image of OpenCL C does: four components red, green, blue and alpha, or one if
 * the format has depths. Components are floats for a format with normalised or floating-point channels, else int32_t
 * or uint32_t. Normalised channels and half are rounded to the nearest, ties to even, and saturated; NaN becomes 0 in a
 * normalised channel. Linear red, green and blue become sRGB if the format is. `code`: tern_image_code of a format that
 * exists.
 */
void rt_image_color_pack(unsigned code, const void *color, uint8_t pixel[RT_PIXEL_MAX]);

#endif
