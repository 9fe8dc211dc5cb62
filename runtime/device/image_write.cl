/* SPDX-License-Identifier: Apache-2.0 */
/** write_imagef, write_imageh, write_imagei and write_imageui. A write outside of the image has no effect. */
#include "image_core.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define HERE static inline __attribute__((always_inline))

HERE bool within(descriptor d, uint kind, int x, int y, int z)
{
    return inside(x, FIELD(d, width)) && (!HAS_Y(kind) || inside(y, FIELD(d, height))) &&
           (!HAS_Z(kind) || inside(z, kind & ARRAY ? FIELD(d, layers) : FIELD(d, depth)));
}

/** A channel of UNORM_INT8. The hardware's smaller and larger number make 0 of NaN. */
HERE uint byte_of(float x)
{
    return (uint)__builtin_rintf(limitf(x * 255, 0, 255));
}

HERE void write_f(descriptor d, uint kind, int x, int y, int z, float4 v)
{
    if (!within(d, kind, x, y, z)) {
        return;
    }
    const uint code = FIELD(d, code), at = address_of(d, kind, code, x, y, z);
    if (code == 0) {
        *(__global uint *)(size_t)at = byte_of(v.x) | byte_of(v.y) << 8 | byte_of(v.z) << 16 | byte_of(v.w) << 24;
    } else {
        __tern_image_storef(code, at, v);
    }
}

HERE void write_i(descriptor d, uint kind, int x, int y, int z, uint4 v)
{
    if (within(d, kind, x, y, z)) {
        const uint code = FIELD(d, code);
        __tern_image_storei(code, address_of(d, kind, code, x, y, z), v);
    }
}

#define ONE(c) c, 0, 0
#define ONE_LAYER(c) (c).x, 0, (c).y
#define TWO(c) (c).x, (c).y, 0
#define THREE(c) (c).x, (c).y, (c).z

#define COLORS(image, kind, I, C)                                                                       \
    INLINE void write_imagef(image p, I c, float4 v) { write_f(of(p), kind, C(c), v); }                 \
    INLINE void write_imageh(image p, I c, half4 v)                                                     \
    {                                                                                                   \
        write_f(of(p), kind, C(c), __builtin_convertvector(v, float4));                                 \
    }                                                                                                   \
    INLINE void write_imagei(image p, I c, int4 v) { write_i(of(p), kind, C(c), as_uint4(v)); }         \
    INLINE void write_imageui(image p, I c, uint4 v) { write_i(of(p), kind, C(c), v); }
#define DEPTH(image, kind, I, C) \
    INLINE void write_imagef(image p, I c, float v) { write_f(of(p), kind, C(c), (float4)(v, 0, 0, 0)); }

#define IMAGE(TYPE, WHAT, kind, I, C)                                   \
    descriptor of(write_only TYPE) __asm__("__tern_image") OVERLOAD;    \
    descriptor of(read_write TYPE) __asm__("__tern_image") OVERLOAD;    \
    WHAT(write_only TYPE, kind, I, C)                                   \
    WHAT(read_write TYPE, kind, I, C)

IMAGE(image1d_t, COLORS, 1, int, ONE)
IMAGE(image1d_array_t, COLORS, 1 | ARRAY, int2, ONE_LAYER)
IMAGE(image1d_buffer_t, COLORS, 1, int, ONE)
IMAGE(image2d_t, COLORS, 2, int2, TWO)
IMAGE(image2d_array_t, COLORS, 2 | ARRAY, int4, THREE)
IMAGE(image3d_t, COLORS, 3, int4, THREE)
IMAGE(image2d_depth_t, DEPTH, 2, int2, TWO)
IMAGE(image2d_array_depth_t, DEPTH, 2 | ARRAY, int4, THREE)
