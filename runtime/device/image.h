/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images of OpenCL as kernels see them. The runtime writes a descriptor into the argument block for each image argument
 * of a kernel, and the device library reads it. Host and device compile this file: in OpenCL C as in C.
 */
#ifndef TERN_DEVICE_IMAGE_H
#define TERN_DEVICE_IMAGE_H

/** Alignment of a descriptor in the argument block, in bytes. */
#define TERN_IMAGE_ALIGN 16u

/** The descriptor of an image. A buffer (image1d_buffer_t) is an image of one row. Pixel (x, y, z) begins at base + x *
 *  pixel_size + y * row_pitch + z * slice_pitch; for z, arrays have the number of the layer, also those of 1-D images,
 *  whose y is 0. */
struct tern_image {
    unsigned base;        /**< Device address of the pixel (0, 0, 0), a multiple of pixel_size. */
    unsigned row_pitch;   /**< Bytes between rows, a multiple of pixel_size. */
    unsigned slice_pitch; /**< Bytes between slices or layers, a multiple of pixel_size. */
    unsigned width;       /**< Pixels of a row, at least 1. */
    unsigned height;      /**< Rows, at least 1; 1 for 1-D images. */
    unsigned depth;       /**< Slices, at least 1; 1 for 1-D and 2-D images and arrays. */
    unsigned layers;      /**< Elements of an array, at least 1; 0: the image is no array. */
    unsigned code;        /**< tern_image_code(order, type). */
    unsigned order;       /**< Channel order: the number of cl_channel_order. */
    unsigned type;        /**< Channel data type: the number of cl_channel_type. */
    unsigned pixel_size;  /**< Bytes of a pixel: tern_image_pixel_size(code). */
    unsigned reserved[5]; /**< Zeros. */
};

/** Bits of a sampler in the argument block, as the compiler makes them for samplers in a program: one coordinate bit,
 *  one addressing mode, one filter. */
#define TERN_SAMPLER_NORMALIZED 1u
#define TERN_SAMPLER_ADDRESS 14u /* mask of the addressing mode */
#define TERN_SAMPLER_NONE 0u
#define TERN_SAMPLER_EDGE 2u     /* CL_ADDRESS_CLAMP_TO_EDGE */
#define TERN_SAMPLER_CLAMP 4u    /* CL_ADDRESS_CLAMP */
#define TERN_SAMPLER_REPEAT 6u
#define TERN_SAMPLER_MIRROR 8u   /* CL_ADDRESS_MIRRORED_REPEAT */
#define TERN_SAMPLER_NEAREST 0x10u
#define TERN_SAMPLER_LINEAR 0x20u

/** The code of a format, which the device library branches on: how a channel is stored, how many there are, where they
 *  go, and the border. 0, which is the fastest to compare with, is CL_RGBA of CL_UNORM_INT8. */
#define TERN_IMAGE_STORE(code) ((code) & 15u)           /* enum tern_image_store */
#define TERN_IMAGE_CHANNELS(code) ((code) >> 4 & 3u)    /* channels in memory, modulo 4 */
/* enum tern_image_places; 4 bits, so that the compiler makes no place of the code that is never reached, with which
 * groups are not merged */
#define TERN_IMAGE_PLACES(code) ((code) >> 6 & 15u)
#define TERN_IMAGE_OPAQUE_BORDER 0x400u                 /* the border is (0, 0, 0, 1) instead of (0, 0, 0, 0) */
#define TERN_IMAGE_ABSENT 0xffffffffu                   /* there is no such format */

/** How a channel is stored, or a pixel whose channels share a word. */
enum tern_image_store {
    TERN_STORE_UNORM8, TERN_STORE_SNORM8, TERN_STORE_UNORM16, TERN_STORE_SNORM16, TERN_STORE_HALF, TERN_STORE_FLOAT,
    TERN_STORE_565, TERN_STORE_555, TERN_STORE_101010, TERN_STORE_SRGB8, TERN_STORE_INT8, TERN_STORE_INT16,
    TERN_STORE_INT32, TERN_STORE_UINT8, TERN_STORE_UINT16, TERN_STORE_UINT32
};

/** The colour that is read, of the channels c0, c1, c2, c3 in the order of their addresses. Red, green and blue without
 *  a channel are 0, and alpha is 1. */
enum tern_image_places {
    TERN_PLACES_RGBA,      /**< (c0, c1, c2, c3), or the first ones: R, RG, RGB. */
    TERN_PLACES_A,         /**< (0, 0, 0, c0) */
    TERN_PLACES_RA,        /**< (c0, 0, 0, c1) */
    TERN_PLACES_INTENSITY, /**< (c0, c0, c0, c0) */
    TERN_PLACES_LUMINANCE, /**< (c0, c0, c0, 1) */
    TERN_PLACES_BGRA,      /**< (c2, c1, c0, c3) */
    TERN_PLACES_ARGB,      /**< (c1, c2, c3, c0) */
    TERN_PLACES_ABGR       /**< (c3, c2, c1, c0) */
};

/** The code of a format, or TERN_IMAGE_ABSENT: OpenCL does not combine these, or the device does not have it. order and
 *  type: numbers of cl_channel_order and cl_channel_type. */
static inline unsigned tern_image_code(unsigned order, unsigned type)
{
    enum { R = 0x10b0, A, RG, RA, RGB, RGBA, BGRA, ARGB, INTENSITY, LUMINANCE, RX, RGX, RGBX, DEPTH, SRGBA = 0x10c1,
           SBGRA, ABGR };
    enum { SNORM8 = 0x10d0, SNORM16, UNORM8, UNORM16, S565, S555, S101010, INT8, INT16, INT32, UINT8, UINT16, UINT32,
           HALF, FLOAT };
    unsigned store, bytes, channels, places = TERN_PLACES_RGBA, opaque = 0, fits;
    switch (type) {
    case SNORM8: store = TERN_STORE_SNORM8; bytes = 1; break;
    case SNORM16: store = TERN_STORE_SNORM16; bytes = 2; break;
    case UNORM8: store = TERN_STORE_UNORM8; bytes = 1; break;
    case UNORM16: store = TERN_STORE_UNORM16; bytes = 2; break;
    case S565: store = TERN_STORE_565; bytes = 0; break; /* 0: of a whole pixel */
    case S555: store = TERN_STORE_555; bytes = 0; break;
    case S101010: store = TERN_STORE_101010; bytes = 0; break;
    case INT8: store = TERN_STORE_INT8; bytes = 1; break;
    case INT16: store = TERN_STORE_INT16; bytes = 2; break;
    case INT32: store = TERN_STORE_INT32; bytes = 4; break;
    case UINT8: store = TERN_STORE_UINT8; bytes = 1; break;
    case UINT16: store = TERN_STORE_UINT16; bytes = 2; break;
    case UINT32: store = TERN_STORE_UINT32; bytes = 4; break;
    case HALF: store = TERN_STORE_HALF; bytes = 2; break;
    case FLOAT: store = TERN_STORE_FLOAT; bytes = 4; break;
    default: return TERN_IMAGE_ABSENT;
    }
    const unsigned whole = store >= TERN_STORE_INT8;
    switch (order) {
    case R: channels = 1; opaque = 1; fits = bytes; break;
    case RX: channels = 1; fits = bytes; break;
    case A: channels = 1; places = TERN_PLACES_A; fits = bytes; break;
    case INTENSITY: channels = 1; places = TERN_PLACES_INTENSITY; fits = bytes && !whole; break;
    case LUMINANCE: channels = 1; places = TERN_PLACES_LUMINANCE; opaque = 1; fits = bytes && !whole; break;
    case DEPTH: channels = 1; fits = type == UNORM16 || type == FLOAT; break;
    case RG: channels = 2; opaque = 1; fits = bytes; break;
    case RGX: channels = 2; fits = bytes; break;
    case RA: channels = 2; places = TERN_PLACES_RA; fits = bytes; break;
    case RGB: channels = 3; opaque = 1; fits = !bytes; break;
    case RGBX: channels = 3; fits = !bytes; break;
    case RGBA: channels = 4; fits = bytes; break;
    case BGRA: channels = 4; places = TERN_PLACES_BGRA; fits = bytes == 1; break;
    case ARGB: channels = 4; places = TERN_PLACES_ARGB; fits = bytes == 1; break;
    case ABGR: channels = 4; places = TERN_PLACES_ABGR; fits = bytes == 1; break;
    case SRGBA: channels = 4; fits = type == UNORM8; store = TERN_STORE_SRGB8; break;
    case SBGRA: channels = 4; places = TERN_PLACES_BGRA; fits = type == UNORM8; store = TERN_STORE_SRGB8; break;
    default: return TERN_IMAGE_ABSENT;
    }
    return fits ? store | (channels & 3) << 4 | places << 6 | (opaque ? TERN_IMAGE_OPAQUE_BORDER : 0u)
                : TERN_IMAGE_ABSENT;
}

/** Bytes of a pixel of a format that exists. */
static inline unsigned tern_image_pixel_size(unsigned code)
{
    const unsigned channels = TERN_IMAGE_CHANNELS(code) ? TERN_IMAGE_CHANNELS(code) : 4;
    switch (TERN_IMAGE_STORE(code)) {
    case TERN_STORE_565: case TERN_STORE_555: return 2;
    case TERN_STORE_101010: return 4;
    case TERN_STORE_UNORM8: case TERN_STORE_SNORM8: case TERN_STORE_SRGB8: case TERN_STORE_INT8: case TERN_STORE_UINT8:
        return channels;
    case TERN_STORE_FLOAT: case TERN_STORE_INT32: case TERN_STORE_UINT32: return 4 * channels;
    default: return 2 * channels;
    }
}

#endif
