/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images: shape and format of a memory object (memory.h), whose bytes are the pixels, row behind row. The layout on
 * the device is that of the application's memory (host_ptr), so that bytes move as they are, and without gaps if there
 * is no such memory. An image that is made of a buffer, or of another image, is a range of it.
 *
 * Alternative dropped: tiles, which a cache without hardware for images does not reward.
 *
 * Positions. Calls give an origin and a region in pixels, whose y is the layer of a 1-D array, and whose z is the layer
 * of a 2-D array. `size`, `row` and `slice` are in these terms, so that calls treat all kinds alike.
 */
#ifndef RT_IMAGE_H
#define RT_IMAGE_H

#include "runtime/core/memory.h"
#include "runtime/device/image.h"

#define RT_IMAGE_2D_MAX 16384u     /**< Pixels of a side of a 1-D or 2-D image, at most. */
#define RT_IMAGE_3D_MAX 2048u      /**< Pixels of a side of a 3-D image, at most. */
#define RT_IMAGE_LAYERS_MAX 2048u  /**< Layers of an array, at most. */
#define RT_IMAGE_BUFFER_MAX (1u << 27) /**< Pixels of an image of one row in a buffer, at most. */
#define RT_IMAGE_READS_MAX 128u    /**< Image arguments of a kernel that are read_only, at most. */
#define RT_IMAGE_WRITES_MAX 64u    /**< Image arguments of a kernel that are write_only or read_write, at most. */
#define RT_SAMPLERS_MAX 16u        /**< Samplers of a kernel, at least. */

/** Shape and format of an image. Constant. */
struct rt_image {
    cl_mem_object_type type;
    cl_image_format format;
    cl_image_desc desc;  /**< As given, with the pitches that apply, and 0 in fields that its type does not use. */
    unsigned code;       /**< The format in the terms of the device (tern_image_code). */
    size_t pixel;        /**< Bytes of a pixel. */
    size_t size[3];      /**< Pixels in x, y and z; 1 in a dimension that the type does not have. */
    size_t row;          /**< Bytes from y to y + 1. */
    size_t slice;        /**< Bytes from z to z + 1. */
};

/** Completes the description of an image of a known format: pitches of 0 get their defaults, and `*bytes` is the memory
 *  that the image takes. False: the number of bytes overflows. */
bool rt_image_shape(const cl_image_format *format, const cl_image_desc *desc, struct rt_image *out, size_t *bytes);
/** Makes an image, or a view of desc.mem_object, from valid arguments. properties (may be NULL) are copied. */
cl_int rt_image_create(cl_context ctx, const cl_mem_properties *properties, cl_mem_flags flags,
                       const struct rt_image *shape, size_t bytes, void *host_ptr, cl_mem *out);
cl_int rt_image_query(cl_mem mem, cl_image_info name, const struct rt_answer *a);

/** The box of an image in bytes. False (CL_INVALID_VALUE): it is empty, or not within the image. */
bool rt_image_box(const struct rt_image *image, const size_t origin[3], const size_t region[3], struct rt_side *at,
                  size_t bytes[3]);
/** Fills the descriptor that a kernel gets of a resident image. */
void rt_image_describe(cl_mem mem, struct tern_image *out);

/** "2-D image", "1-D array" ... for messages. */
const char *rt_image_type_name(cl_mem_object_type type);

#endif
