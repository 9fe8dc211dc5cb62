/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images as the OpenCL specification describes them (API, section 8), written apart from the device's functions, in
 * doubles: pixels of all formats, coordinates, filters and conversions. For tests of images.
 */
#ifndef IMAGE_REFERENCE_H
#define IMAGE_REFERENCE_H

#include "clt.h"

#include <stdbool.h>

/** The types of images, in the order of their dimensions. */
enum image_kind { IMAGE_1D, IMAGE_1D_ARRAY, IMAGE_2D, IMAGE_2D_ARRAY, IMAGE_3D, IMAGE_2D_DEPTH, IMAGE_2D_ARRAY_DEPTH,
                  IMAGE_1D_BUFFER, IMAGE_KINDS };

struct image_kind_info {
    const char *type;        /**< Name in OpenCL C. */
    cl_mem_object_type object;
    unsigned dims;           /**< Dimensions: 1 to 3. */
    bool array, depth;
};
extern const struct image_kind_info image_kinds[IMAGE_KINDS];

/** An image with its pixels, rows and slices without gaps. */
struct image {
    enum image_kind kind;
    cl_image_format format;
    unsigned size[3];  /**< Width, height and depth: 1 where it has none. The depth of an array is its layers. */
    size_t bytes;      /**< Of all pixels. */
    uint8_t *data;
    cl_mem mem, buffer; /**< buffer: that of an IMAGE_1D_BUFFER, or NULL. */
};

struct image_sampler {
    cl_addressing_mode address;
    cl_filter_mode filter;
    bool normalized;
};

/** A format, and the numbers that a channel may have. */
enum image_numbers { NUMBERS_FLOAT, NUMBERS_INT, NUMBERS_UINT };
enum image_numbers image_numbers(cl_channel_type type);

/** All formats of the device, ended by an order of 0. */
extern const cl_image_format image_formats[];

/** Bytes of a pixel. */
size_t image_pixel_size(const cl_image_format *f);
/** Fills the pixels: finite numbers of at most 2, or any bits. */
void image_fill(struct image *i, uint32_t *state, bool any_bits);
/** The pixel at this place, as read_image returns it; z is the layer of an array. */
void image_pixel(const struct image *i, int x, int y, int z, double out[4]);
/** The pixels that read_image returns for these coordinates. False: OpenCL leaves the result open. slack: the largest
 *  error that a linear filter may have. */
bool image_read(const struct image *i, const struct image_sampler *s, const float at[3], double out[4], double *slack);
/** The same for integer coordinates. */
bool image_read_at(const struct image *i, const struct image_sampler *s, const int at[3], double out[4]);
/** Bytes of a pixel that write_imagef writes, or write_imagei and write_imageui of `whole`. */
void image_store(const cl_image_format *f, const float v[4], const uint32_t whole[4], uint8_t *out);
/** The bits of a half, rounded to nearest even. */
unsigned image_half(float f);
/** True: a value that the device read is the expected one, of a channel of this type. */
bool image_same(cl_channel_type type, float got, double expected);

#endif
