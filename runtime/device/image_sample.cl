/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads with samplers that are arguments of kernels, and linear filters that are not inlined (OpenCL 3.0, 8.2).
 */
#include "image_core.h"

NEAREST(float4, f)
NEAREST(uint4, i)

/** The two pixels of a dimension, each within the image or, with CLK_ADDRESS_CLAMP, outside of it; and the weight of
 *  the second. */
struct pair {
    int first, second;
    float weight;
};

static struct pair pair_of(uint sampler, float x, uint size)
{
    const uint normalized = sampler & TERN_SAMPLER_NORMALIZED, mode = ADDRESSING(sampler);
    const bool repeats = normalized && mode == TERN_SAMPLER_REPEAT;
    if (repeats) {
        x = repeat(x);
    } else if (normalized && mode == TERN_SAMPLER_MIRROR) {
        x = mirror(x);
    }
    x = normalized ? x * (float)size : x;
    x = limitf(x - 0.5f, -2, (float)size + 1);
    struct pair p;
    p.first = (int)__builtin_floorf(x);
    p.second = p.first + 1;
    p.weight = x - (float)p.first;
    if (repeats) {
        p.first = p.first < 0 ? (int)size - 1 : p.first; /* x >= -0.5, or it is a NaN */
        p.second = p.second >= (int)size ? 0 : p.second;
    } else if (mode != TERN_SAMPLER_CLAMP) {
        p.first = limit(p.first, size);
        p.second = limit(p.second, size);
    }
    return p;
}

float4 __tern_image_linear(descriptor d, uint sampler, uint kind, float x, float y, float z)
{
    const uint code = FIELD(d, code), dims = DIMS(kind);
    const uint width = FIELD(d, width), height = FIELD(d, height), depth = FIELD(d, depth);
    const struct pair one = {0, 0, 0};
    const struct pair px = pair_of(sampler, x, width);
    const struct pair py = dims >= 2 ? pair_of(sampler, y, height) : one;
    const struct pair pz = dims == 3 ? pair_of(sampler, z, depth) : one;
    const int layer = kind & ARRAY ? layer_of(d, z) : 0;
    float4 sum = (float4)(0);
#pragma unroll 1
    for (uint t = 0; t < 1u << dims; t++) {
        const int i = t & 1 ? px.second : px.first, j = t & 2 ? py.second : py.first;
        const int k = t & 4 ? pz.second : pz.first;
        const float weight = (t & 1 ? px.weight : 1 - px.weight) * (t & 2 ? py.weight : 1 - py.weight) *
                             (t & 4 ? pz.weight : 1 - pz.weight);
        const bool there = inside(i, width) && inside(j, height) && inside(k, depth);
        const float4 pixel = there ? pixelf(code, address_of(d, 2 | ARRAY, code, i, j, k + layer)) : borderf(code);
        sum = __builtin_elementwise_fma(pixel, (float4)weight, sum);
    }
    return sum;
}

float4 __tern_image_samplef(descriptor d, uint sampler, uint kind, float x, float y, float z)
{
    return sampler & TERN_SAMPLER_LINEAR ? __tern_image_linear(d, sampler, kind, x, y, z)
                                         : nearest_f(d, sampler, kind, x, y, z);
}

/** Filters of integers are undefined, so all are nearest. */
uint4 __tern_image_samplei(descriptor d, uint sampler, uint kind, float x, float y, float z)
{
    return nearest_i(d, sampler, kind, x, y, z);
}
