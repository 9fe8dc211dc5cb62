/* SPDX-License-Identifier: Apache-2.0 */
/** read_imagef, read_imageh, read_imagei and read_imageui. */
#include "image_core.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

NEAREST(float4, f)
NEAREST(uint4, i)

#define HERE static inline __attribute__((always_inline))

/** Defines at_T: a read of the pixel at integer coordinates. */
#define AT_PLACE(V, T)                                                                                           \
    HERE V at_##T(descriptor d, uint sampler, uint kind, int x, int y, int z)                                    \
    {                                                                                                            \
        const uint code = FIELD(d, code), width = FIELD(d, width);                                               \
        const uint height = HAS_Y(kind) ? FIELD(d, height) : 1;                                                  \
        const uint depth = kind & ARRAY ? FIELD(d, layers) : DIMS(kind) == 3 ? FIELD(d, depth) : 1;              \
        if (ADDRESSING(sampler) == TERN_SAMPLER_CLAMP) {                                                         \
            if (!(inside(x, width) && inside(y, height) && (DIMS(kind) != 3 || inside(z, depth)))) {             \
                return border##T(code);                                                                          \
            }                                                                                                    \
        } else {                                                                                                 \
            x = limit(x, width);                                                                                 \
            y = HAS_Y(kind) ? limit(y, height) : 0;                                                              \
            z = DIMS(kind) == 3 ? limit(z, depth) : z;                                                           \
        }                                                                                                        \
        z = kind & ARRAY ? limit(z, depth) : z;                                                                  \
        return pixel##T(code, address_of(d, kind, code, x, y, z));                                               \
    }
AT_PLACE(float4, f)
AT_PLACE(uint4, i)

/** The place in one dimension from where a linear filter reads, minus 0.5, and at most half a pixel outside the
 *  image. */
HERE float filter_place(uint sampler, float x, uint size)
{
    if (sampler & TERN_SAMPLER_NORMALIZED) {
        x = ADDRESSING(sampler) == TERN_SAMPLER_REPEAT   ? repeat(x)
            : ADDRESSING(sampler) == TERN_SAMPLER_MIRROR ? mirror(x)
                                                         : x;
        x = __builtin_fmaf(x, (float)size, -0.5f);
    } else {
        x -= 0.5f;
    }
    return limitf(x, -1, (float)size);
}

/** A linear filter in two dimensions. If all four pixels are in the image, they are read here. */
HERE float4 bilinear(descriptor d, uint sampler, uint kind, float x, float y, float z)
{
    const uint code = FIELD(d, code), width = FIELD(d, width), height = FIELD(d, height);
    const float u = filter_place(sampler, x, width), v = filter_place(sampler, y, height);
    const int i = (int)__builtin_floorf(u), j = (int)__builtin_floorf(v);
    if (code == 0 && (uint)i < width - 1 && (uint)j < height - 1) {
        const uint at = address_of(d, kind, 0, i, j, kind & ARRAY ? layer_of(d, z) : 0);
        const uint next = at + FIELD(d, row_pitch);
        const float a = u - (float)i, b = (v - (float)j) * (1 / 255.0f), c = 1 / 255.0f - b;
        const float ab = a * b, ac = a * c;
        float4 sum = bytes_of(word_at(at, 0)) * (c - ac);
        sum = __builtin_elementwise_fma(bytes_of(word_at(at, 1)), (float4)ac, sum);
        sum = __builtin_elementwise_fma(bytes_of(word_at(next, 0)), (float4)(b - ab), sum);
        return __builtin_elementwise_fma(bytes_of(word_at(next, 1)), (float4)ab, sum);
    }
    return __tern_image_linear(d, sampler, kind, x, y, z);
}

HERE float4 sample_f(descriptor d, uint sampler, uint kind, float x, float y, float z)
{
    if (!__builtin_constant_p(sampler)) {
        return __tern_image_samplef(d, sampler, kind, x, y, z);
    }
    if (!(sampler & TERN_SAMPLER_LINEAR)) {
        return nearest_f(d, sampler, kind, x, y, z);
    }
    return DIMS(kind) == 2 ? bilinear(d, sampler, kind, x, y, z) : __tern_image_linear(d, sampler, kind, x, y, z);
}

HERE uint4 sample_i(descriptor d, uint sampler, uint kind, float x, float y, float z)
{
    return __builtin_constant_p(sampler) ? nearest_i(d, sampler, kind, x, y, z)
                                         : __tern_image_samplei(d, sampler, kind, x, y, z);
}

uint bits_of(sampler_t s) __asm__("__tern_sampler");

#define ONE(c) c, 0, 0
#define ONE_LAYER(c) (c).x, 0, (c).y
#define TWO(c) (c).x, (c).y, 0
#define THREE(c) (c).x, (c).y, (c).z

/** Reads of an image of the type `image`: integer coordinates of the type I, float coordinates of the type F. */
#define DESCRIPTOR(image) descriptor of(image) __asm__("__tern_image") OVERLOAD;
#define PLAIN(image, kind, I, C, NAME, V, T, RESULT)                                             \
    INLINE V NAME(image p, I c) { return RESULT(at_##T(of(p), TERN_SAMPLER_NONE, kind, C(c))); }
#define SAMPLED(image, kind, I, F, C, NAME, V, T, RESULT)                                        \
    INLINE V NAME(image p, sampler_t s, I c) { return RESULT(at_##T(of(p), bits_of(s), kind, C(c))); } \
    INLINE V NAME(image p, sampler_t s, F c) { return RESULT(sample_##T(of(p), bits_of(s), kind, C(c))); }
#define SAME(v) v
#define FIRST(v) (v).x
#define HALF(v) __builtin_convertvector(v, half4)
#define SIGNED(v) as_int4(v)
#define COLORS(READ, ...)                           \
    READ(__VA_ARGS__, read_imagef, float4, f, SAME) \
    READ(__VA_ARGS__, read_imageh, half4, f, HALF)  \
    READ(__VA_ARGS__, read_imagei, int4, i, SIGNED) \
    READ(__VA_ARGS__, read_imageui, uint4, i, SAME)
#define DEPTH(READ, ...) READ(__VA_ARGS__, read_imagef, float, f, FIRST)

#define IMAGE(TYPE, WHAT, kind, I, F, C)             \
    DESCRIPTOR(read_only TYPE)                       \
    DESCRIPTOR(read_write TYPE)                      \
    WHAT(PLAIN, read_only TYPE, kind, I, C)          \
    WHAT(PLAIN, read_write TYPE, kind, I, C)         \
    WHAT(SAMPLED, read_only TYPE, kind, I, F, C)

IMAGE(image1d_t, COLORS, 1, int, float, ONE)
IMAGE(image1d_array_t, COLORS, 1 | ARRAY, int2, float2, ONE_LAYER)
IMAGE(image2d_t, COLORS, 2, int2, float2, TWO)
IMAGE(image2d_array_t, COLORS, 2 | ARRAY, int4, float4, THREE)
IMAGE(image3d_t, COLORS, 3, int4, float4, THREE)
IMAGE(image2d_depth_t, DEPTH, 2, int2, float2, TWO)
IMAGE(image2d_array_depth_t, DEPTH, 2 | ARRAY, int4, float4, THREE)

DESCRIPTOR(read_only image1d_buffer_t)
DESCRIPTOR(read_write image1d_buffer_t)
COLORS(PLAIN, read_only image1d_buffer_t, 1, int, ONE)
COLORS(PLAIN, read_write image1d_buffer_t, 1, int, ONE)
