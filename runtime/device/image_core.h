/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Internal functions of the library for images. A program's constant samplers leave of these functions what they need:
 * nearest pixels of any format, and linear filters of two dimensions, are read by code in the kernel, with the format
 * RGBA of UNORM_INT8 without a call. The functions of image_pixel.cl and image_sample.cl are called for the rest; if
 * a program calls one of them only once, it is inlined as well.
 */
#ifndef TERN_IMAGE_CORE_H
#define TERN_IMAGE_CORE_H

#include "base.h"
#include "image.h"

typedef __global const struct tern_image *descriptor;

/** A field of a descriptor. Descriptors do not change while a kernel runs; retarget.sh makes this load invariant. */
#define FIELD(d, field) __builtin_nontemporal_load(&(d)->field)

/** The dimensions of an image: 1, 2 or 3, and whether it is an array. Coordinates are (x, y, z); z is the layer of an
 *  array, and y of 1-D images is 0. */
#define ARRAY 4u
#define DIMS(kind) ((kind) & 3u)
#define HAS_Y(kind) (DIMS(kind) >= 2)
#define HAS_Z(kind) (DIMS(kind) == 3 || ((kind) & ARRAY))

#define ADDRESSING(sampler) ((sampler) & TERN_SAMPLER_ADDRESS)

/** Address of a pixel. */
static inline __attribute__((always_inline)) uint address_of(descriptor d, uint kind, uint code, int x, int y, int z)
{
    uint at = FIELD(d, base) + (uint)x * (code == 0 ? 4 : FIELD(d, pixel_size));
    at += HAS_Y(kind) ? (uint)y * FIELD(d, row_pitch) : 0;
    return at + (HAS_Z(kind) ? (uint)z * FIELD(d, slice_pitch) : 0);
}

/** Word i at an address. */
static inline __attribute__((always_inline)) uint word_at(uint at, uint i)
{
    return ((__global const uint *)(size_t)at)[i];
}

/** The channels of a pixel of code 0, not divided by 255. */
static inline __attribute__((always_inline)) float4 bytes_of(uint word)
{
    return (float4)(word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24);
}

static inline __attribute__((always_inline)) float alpha_of_border(uint code)
{
    return code & TERN_IMAGE_OPAQUE_BORDER ? 1 : 0;
}

/** The pixel at an address, of a format for read_imagef (image_pixel.cl). Formats of integers: the result is
 *  undefined. */
float4 __tern_image_pixelf(uint code, uint at);
/** The same for read_imagei and read_imageui. */
uint4 __tern_image_pixeli(uint code, uint at);
/** Writes a pixel to an address, for write_imagef, or for write_imagei and write_imageui. */
void __tern_image_storef(uint code, uint at, float4 v);
void __tern_image_storei(uint code, uint at, uint4 v);

/** A read with any sampler (image_sample.cl). */
float4 __tern_image_samplef(descriptor d, uint sampler, uint kind, float x, float y, float z);
uint4 __tern_image_samplei(descriptor d, uint sampler, uint kind, float x, float y, float z);
/** A read with a linear filter. */
float4 __tern_image_linear(descriptor d, uint sampler, uint kind, float x, float y, float z);

static inline __attribute__((always_inline)) float4 pixelf(uint code, uint at)
{
    return code == 0 ? bytes_of(word_at(at, 0)) * (1 / 255.0f) : __tern_image_pixelf(code, at);
}

static inline __attribute__((always_inline)) uint4 pixeli(uint code, uint at)
{
    return __tern_image_pixeli(code, at);
}

static inline __attribute__((always_inline)) float4 borderf(uint code)
{
    return (float4)(0, 0, 0, alpha_of_border(code));
}

static inline __attribute__((always_inline)) uint4 borderi(uint code)
{
    return (uint4)(0, 0, 0, code & TERN_IMAGE_OPAQUE_BORDER ? 1 : 0);
}

static inline __attribute__((always_inline)) int limit(int x, uint size)
{
    return __builtin_elementwise_min(__builtin_elementwise_max(x, 0), (int)size - 1);
}

/** x, or a bound if x is NaN: the hardware's smaller and larger number. */
static inline __attribute__((always_inline)) float limitf(float x, float least, float most)
{
    return __builtin_elementwise_min(__builtin_elementwise_max(x, least), most);
}

/** The number of a layer (OpenCL 3.0, 8.1). */
static inline __attribute__((always_inline)) int layer_of(descriptor d, float z)
{
    return (int)__builtin_rintf(limitf(z, 0, (float)(FIELD(d, layers) - 1)));
}

/** True: x is a place in an image of this size. */
static inline __attribute__((always_inline)) bool inside(int x, uint size)
{
    return (uint)x < size;
}

/** A normalized coordinate in the image for CLK_ADDRESS_REPEAT: from 0 to 1. */
static inline __attribute__((always_inline)) float repeat(float s)
{
    return s - __builtin_floorf(s);
}

/** The same for CLK_ADDRESS_MIRRORED_REPEAT. */
static inline __attribute__((always_inline)) float mirror(float s)
{
    return __builtin_fabsf(s - 2.0f * __builtin_rintf(0.5f * s));
}

/** The place of the nearest pixel in one dimension (OpenCL 3.0, 8.2): within the image, or with CLK_ADDRESS_CLAMP also
 *  -1 or size. */
static inline __attribute__((always_inline)) int nearest(uint sampler, float x, uint size)
{
    const uint mode = sampler & (TERN_SAMPLER_ADDRESS | TERN_SAMPLER_NORMALIZED);
    if (mode == (TERN_SAMPLER_REPEAT | TERN_SAMPLER_NORMALIZED)) {
        const float u = repeat(x) * (float)size;
        const int i = (int)limitf(u, 0, (float)size);
        return i == (int)size ? 0 : i;
    }
    if (mode == (TERN_SAMPLER_MIRROR | TERN_SAMPLER_NORMALIZED)) {
        x = mirror(x);
    }
    x = sampler & TERN_SAMPLER_NORMALIZED ? x * (float)size : x;
    if (ADDRESSING(sampler) == TERN_SAMPLER_CLAMP) {
        return (int)__builtin_floorf(limitf(x, -1, (float)size));
    }
    return (int)limitf(x, 0, (float)((int)size - 1));
}

/** Defines nearest_T: a read with the filter CLK_FILTER_NEAREST of the type V. */
#define NEAREST(V, T)                                                                                           \
    static inline __attribute__((always_inline)) V nearest_##T(descriptor d, uint sampler, uint kind, float x, \
                                                               float y, float z)                               \
    {                                                                                                           \
        const uint code = FIELD(d, code), width = FIELD(d, width);                                              \
        const uint height = HAS_Y(kind) ? FIELD(d, height) : 1, depth = DIMS(kind) == 3 ? FIELD(d, depth) : 1;   \
        const int i = nearest(sampler, x, width);                                                               \
        const int j = HAS_Y(kind) ? nearest(sampler, y, height) : 0;                                            \
        const int k = kind & ARRAY ? layer_of(d, z) : DIMS(kind) == 3 ? nearest(sampler, z, depth) : 0;         \
        if (ADDRESSING(sampler) == TERN_SAMPLER_CLAMP &&                                                        \
            !(inside(i, width) && inside(j, height) && (DIMS(kind) != 3 || inside(k, depth)))) {                \
            return border##T(code);                                                                             \
        }                                                                                                       \
        return pixel##T(code, address_of(d, kind, code, i, j, k));                                              \
    }

#endif
