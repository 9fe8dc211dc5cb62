/* SPDX-License-Identifier: Apache-2.0 */
/** The functions get_image_..., which read the descriptor. */
#include "image_core.h"

#define FIELD_OF(image, NAME, TYPE, field) \
    CONST TYPE get_image_##NAME(image p) { return (TYPE)FIELD(of(p), field); }
#define WIDTH(image)                                       \
    descriptor of(image) __asm__("__tern_image") OVERLOAD; \
    FIELD_OF(image, width, int, width)                     \
    FIELD_OF(image, channel_data_type, int, type)          \
    FIELD_OF(image, channel_order, int, order)
#define HEIGHT(image)                    \
    WIDTH(image)                         \
    FIELD_OF(image, height, int, height) \
    CONST int2 get_image_dim(image p) { return (int2)(get_image_width(p), get_image_height(p)); }
#define DEPTH(image)                   \
    WIDTH(image)                       \
    FIELD_OF(image, height, int, height) \
    FIELD_OF(image, depth, int, depth) \
    CONST int4 get_image_dim(image p)  \
    {                                  \
        return (int4)(get_image_width(p), get_image_height(p), get_image_depth(p), 0); \
    }
#define LAYERS(image) FIELD_OF(image, array_size, size_t, layers)
#define WIDTH_LAYERS(image) WIDTH(image) LAYERS(image)
#define HEIGHT_LAYERS(image) HEIGHT(image) LAYERS(image)
#define ACCESSES(WHAT, TYPE) WHAT(read_only TYPE) WHAT(write_only TYPE) WHAT(read_write TYPE)

ACCESSES(WIDTH, image1d_t)
ACCESSES(WIDTH, image1d_buffer_t)
ACCESSES(WIDTH_LAYERS, image1d_array_t)
ACCESSES(HEIGHT, image2d_t)
ACCESSES(HEIGHT, image2d_depth_t)
ACCESSES(HEIGHT_LAYERS, image2d_array_t)
ACCESSES(HEIGHT_LAYERS, image2d_array_depth_t)
ACCESSES(DEPTH, image3d_t)
