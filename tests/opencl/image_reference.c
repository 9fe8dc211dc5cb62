/* SPDX-License-Identifier: Apache-2.0 */
#include "image_reference.h"

#include <math.h>
#include <string.h>

const struct image_kind_info image_kinds[IMAGE_KINDS] = {
    [IMAGE_1D] = {"image1d_t", CL_MEM_OBJECT_IMAGE1D, 1, false, false},
    [IMAGE_1D_ARRAY] = {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, true, false},
    [IMAGE_2D] = {"image2d_t", CL_MEM_OBJECT_IMAGE2D, 2, false, false},
    [IMAGE_2D_ARRAY] = {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true, false},
    [IMAGE_3D] = {"image3d_t", CL_MEM_OBJECT_IMAGE3D, 3, false, false},
    [IMAGE_2D_DEPTH] = {"image2d_depth_t", CL_MEM_OBJECT_IMAGE2D, 2, false, true},
    [IMAGE_2D_ARRAY_DEPTH] = {"image2d_array_depth_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true, true},
    [IMAGE_1D_BUFFER] = {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1, false, false},
};

#define ALL(order)                                                                                                  \
    {order, CL_SNORM_INT8}, {order, CL_SNORM_INT16}, {order, CL_UNORM_INT8}, {order, CL_UNORM_INT16},               \
        {order, CL_SIGNED_INT8}, {order, CL_SIGNED_INT16}, {order, CL_SIGNED_INT32}, {order, CL_UNSIGNED_INT8},     \
        {order, CL_UNSIGNED_INT16}, {order, CL_UNSIGNED_INT32}, {order, CL_HALF_FLOAT}, {order, CL_FLOAT}
#define PACKED(order) {order, CL_UNORM_SHORT_565}, {order, CL_UNORM_SHORT_555}, {order, CL_UNORM_INT_101010}
#define GRAY(order)                                                                                                 \
    {order, CL_SNORM_INT8}, {order, CL_SNORM_INT16}, {order, CL_UNORM_INT8}, {order, CL_UNORM_INT16},               \
        {order, CL_HALF_FLOAT}, {order, CL_FLOAT}
#define BYTES(order) \
    {order, CL_SNORM_INT8}, {order, CL_UNORM_INT8}, {order, CL_SIGNED_INT8}, {order, CL_UNSIGNED_INT8}
const cl_image_format image_formats[] = {
    ALL(CL_RGBA), ALL(CL_R), ALL(CL_Rx), ALL(CL_A), ALL(CL_RG), ALL(CL_RGx), ALL(CL_RA), PACKED(CL_RGB),
    PACKED(CL_RGBx), GRAY(CL_INTENSITY), GRAY(CL_LUMINANCE), BYTES(CL_BGRA), BYTES(CL_ARGB), BYTES(CL_ABGR),
    {CL_sRGBA, CL_UNORM_INT8}, {CL_sBGRA, CL_UNORM_INT8}, {CL_DEPTH, CL_UNORM_INT16}, {CL_DEPTH, CL_FLOAT}, {0, 0}};

enum image_numbers image_numbers(cl_channel_type type)
{
    switch (type) {
    case CL_SIGNED_INT8: case CL_SIGNED_INT16: case CL_SIGNED_INT32: return NUMBERS_INT;
    case CL_UNSIGNED_INT8: case CL_UNSIGNED_INT16: case CL_UNSIGNED_INT32: return NUMBERS_UINT;
    default: return NUMBERS_FLOAT;
    }
}

/** Letters of the channels in memory. "x" is one that is neither read nor written. */
static const char *letters(cl_channel_order order)
{
    switch (order) {
    case CL_A: return "a";
    case CL_R: case CL_Rx: case CL_DEPTH: return "r";
    case CL_INTENSITY: return "i";
    case CL_LUMINANCE: return "l";
    case CL_RG: case CL_RGx: return "rg";
    case CL_RA: return "ra";
    case CL_RGB: case CL_RGBx: return "rgb";
    case CL_BGRA: case CL_sBGRA: return "bgra";
    case CL_ARGB: return "argb";
    case CL_ABGR: return "abgr";
    default: return "rgba";
    }
}

/** Bits of a channel; 0: the channels share a word. */
static unsigned bits_of(cl_channel_type type)
{
    switch (type) {
    case CL_UNORM_SHORT_565: case CL_UNORM_SHORT_555: case CL_UNORM_INT_101010: return 0;
    case CL_SNORM_INT8: case CL_UNORM_INT8: case CL_SIGNED_INT8: case CL_UNSIGNED_INT8: return 8;
    case CL_SIGNED_INT32: case CL_UNSIGNED_INT32: case CL_FLOAT: return 32;
    default: return 16;
    }
}

size_t image_pixel_size(const cl_image_format *f)
{
    const unsigned bits = bits_of(f->image_channel_data_type);
    return bits ? strlen(letters(f->image_channel_order)) * bits / 8
                : f->image_channel_data_type == CL_UNORM_INT_101010 ? 4 : 2;
}

static double from_half(unsigned h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return h & 0x8000 ? -size : size;
}

unsigned image_half(float f)
{
    const unsigned sign = signbit(f) ? 0x8000 : 0;
    const double x = fabs((double)f);
    if (isnan(f)) {
        return sign | 0x7e00;
    }
    if (x >= 65520) {
        return sign | 0x7c00;
    }
    int exponent;
    frexp(x, &exponent); /* x < 2^exponent */
    const int unit = x == 0 || exponent < -13 ? -24 : exponent - 11;
    const double n = nearbyint(ldexp(x, -unit));
    return sign | (unsigned)(unit == -24 ? n : n + 1024.0 * (unit + 24));
}

static double linear_of(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/** Value of channel number n of a pixel. */
static double channel(const cl_image_format *f, const uint8_t *p, unsigned n, char letter)
{
    uint32_t w = 0;
    const cl_channel_type type = f->image_channel_data_type;
    const unsigned bits = bits_of(type);
    if (!bits) {
        static const unsigned wide[3][3] = {{5, 6, 5}, {5, 5, 5}, {10, 10, 10}};
        const unsigned *b = wide[type - CL_UNORM_SHORT_565];
        memcpy(&w, p, image_pixel_size(f));
        const unsigned shift = n == 0 ? b[1] + b[2] : n == 1 ? b[2] : 0, most = (1u << b[n]) - 1;
        return (double)(w >> shift & most) / most;
    }
    memcpy(&w, p + n * bits / 8, bits / 8);
    const int32_t whole = bits == 32 ? (int32_t)w : (int32_t)(w << (32 - bits)) >> (32 - bits);
    float real;
    switch (type) {
    case CL_SNORM_INT8: return fmax(whole / 127.0, -1);
    case CL_SNORM_INT16: return fmax(whole / 32767.0, -1);
    case CL_UNORM_INT8:
        return (f->image_channel_order == CL_sRGBA || f->image_channel_order == CL_sBGRA) && letter != 'a'
                   ? linear_of(w / 255.0) : w / 255.0;
    case CL_UNORM_INT16: return w / 65535.0;
    case CL_HALF_FLOAT: return from_half(w);
    case CL_FLOAT: memcpy(&real, &w, sizeof real); return real;
    case CL_SIGNED_INT8: case CL_SIGNED_INT16: case CL_SIGNED_INT32: return whole;
    default: return w;
    }
}

static void put(double out[4], char letter, double v)
{
    static const char names[] = "rgba";
    for (unsigned c = 0; c < 4; c++) {
        if (names[c] == letter || letter == 'i' || (letter == 'l' && c < 3)) {
            out[c] = v;
        }
    }
}

void image_pixel(const struct image *i, int x, int y, int z, double out[4])
{
    const uint8_t *p = i->data + (((size_t)z * i->size[1] + (size_t)y) * i->size[0] + (size_t)x) *
                       image_pixel_size(&i->format);
    const char *l = letters(i->format.image_channel_order);
    out[0] = out[1] = out[2] = 0;
    out[3] = 1;
    for (unsigned n = 0; l[n]; n++) {
        put(out, l[n], channel(&i->format, p, n, l[n]));
    }
}

static void border(const struct image *i, double out[4])
{
    const cl_channel_order o = i->format.image_channel_order;
    out[0] = out[1] = out[2] = 0;
    out[3] = o == CL_R || o == CL_RG || o == CL_RGB || o == CL_LUMINANCE;
}

/** A pixel that may be outside of the image. */
static void pixel_or_border(const struct image *i, const double at[3], double out[4])
{
    for (unsigned d = 0; d < 3; d++) {
        if (!(at[d] >= 0 && at[d] < i->size[d])) {
            border(i, out);
            return;
        }
    }
    image_pixel(i, (int)at[0], (int)at[1], (int)at[2], out);
}

static double bounded(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/** Coordinate x in pixels, and for CL_ADDRESS_REPEAT and CL_ADDRESS_MIRRORED_REPEAT within the image. exact: the
 *  product with the size is not rounded. */
static double in_pixels(const struct image_sampler *s, float x, unsigned size, bool exact)
{
    if (!s->normalized) {
        return x;
    }
    const float t = s->address == CL_ADDRESS_REPEAT            ? x - floorf(x)
                    : s->address == CL_ADDRESS_MIRRORED_REPEAT ? fabsf(x - 2.0f * rintf(0.5f * x))
                                                               : x;
    return exact ? (double)t * size : (double)(t * (float)size);
}

/** The place of the nearest pixel, which may be outside. */
static double nearest(const struct image_sampler *s, float x, unsigned size)
{
    const double i = floor(in_pixels(s, x, size, false));
    switch (s->address) {
    case CL_ADDRESS_REPEAT: return i > size - 1 ? i - size : i;
    case CL_ADDRESS_MIRRORED_REPEAT: return fmin(i, size - 1);
    case CL_ADDRESS_CLAMP_TO_EDGE: return bounded(i, 0, size - 1);
    case CL_ADDRESS_CLAMP: return bounded(i, -1, size);
    default: return i;
    }
}

/** The places of two pixels, which may be outside, and the weight of the second. */
static double two(const struct image_sampler *s, float x, unsigned size, double at[2])
{
    const double u = in_pixels(s, x, size, true) - 0.5;
    at[0] = floor(u);
    at[1] = at[0] + 1;
    const double weight = isinf(u) ? 0 : u - at[0];
    for (unsigned k = 0; k < 2; k++) {
        switch (s->address) {
        case CL_ADDRESS_REPEAT: at[k] = at[k] < 0 ? size + at[k] : at[k] > size - 1 ? at[k] - size : at[k]; break;
        case CL_ADDRESS_MIRRORED_REPEAT: case CL_ADDRESS_CLAMP_TO_EDGE: at[k] = bounded(at[k], 0, size - 1); break;
        case CL_ADDRESS_CLAMP: at[k] = bounded(at[k], -1, size); break;
        default: break;
        }
    }
    return weight;
}

bool image_read(const struct image *i, const struct image_sampler *s, const float at[3], double out[4], double *slack)
{
    const struct image_kind_info *kind = &image_kinds[i->kind];
    const bool repeats = s->address == CL_ADDRESS_REPEAT || s->address == CL_ADDRESS_MIRRORED_REPEAT;
    const bool linear = s->filter == CL_FILTER_LINEAR;
    double places[3][2] = {{0}}, weight[3] = {0}, most = 0;
    const unsigned layer = kind->array ? kind->dims : 3; /* the coordinate that is the layer */
    *slack = 0;
    for (unsigned d = 0; d < kind->dims + kind->array; d++) {
        const unsigned to = d == layer ? 2 : d;
        if (isnan(at[d]) || (d != layer && repeats && isinf(at[d]))) {
            return false;
        }
        if (d == layer) {
            places[2][0] = places[2][1] = bounded(rint(at[d]), 0, i->size[2] - 1);
            continue;
        }
        if (linear) {
            weight[to] = two(s, at[d], i->size[to], places[to]);
        } else {
            places[to][0] = places[to][1] = nearest(s, at[d], i->size[to]);
        }
        for (unsigned k = 0; k < 2 && s->address == CL_ADDRESS_NONE; k++) {
            if (!(places[to][k] >= 0 && places[to][k] < i->size[to])) {
                return false;
            }
        }
        *slack += linear ? 4 + i->size[to] : 0;
    }
    memset(out, 0, 4 * sizeof *out);
    for (unsigned t = 0; t < 8; t++) {
        const double w = (t & 1 ? weight[0] : 1 - weight[0]) * (t & 2 ? weight[1] : 1 - weight[1]) *
                         (t & 4 ? weight[2] : 1 - weight[2]);
        const double place[3] = {places[0][t & 1], places[1][t >> 1 & 1], places[2][t >> 2 & 1]};
        double pixel[4];
        pixel_or_border(i, place, pixel);
        for (unsigned c = 0; c < 4 && (w != 0 || !linear); c++) {
            out[c] = linear ? out[c] + w * pixel[c] : pixel[c];
            most = fmax(most, fabs(pixel[c]));
        }
    }
    *slack *= most * 0x1p-22;
    return true;
}

bool image_read_at(const struct image *i, const struct image_sampler *s, const int at[3], double out[4])
{
    const struct image_kind_info *kind = &image_kinds[i->kind];
    double place[3] = {0};
    for (unsigned d = 0; d < kind->dims + kind->array; d++) {
        const unsigned to = d == kind->dims ? 2 : d;
        const bool edge = s->address == CL_ADDRESS_CLAMP_TO_EDGE || d == kind->dims;
        place[to] = edge ? bounded(at[d], 0, i->size[to] - 1) : at[d];
        if (s->address == CL_ADDRESS_NONE && !(place[to] >= 0 && place[to] < i->size[to])) {
            return false;
        }
    }
    pixel_or_border(i, place, out);
    return true;
}

/** x times scale, rounded to nearest even in float as the specification prefers, and limited. */
static int32_t rounded(float x, float scale, double least, double most)
{
    return isnan(x) ? 0 : (int32_t)bounded(nearbyint((double)(x * scale)), least, most);
}

static uint32_t saturated(uint32_t v, bool is_signed, unsigned bits)
{
    if (bits == 32) {
        return v;
    }
    const double x = is_signed ? (double)(int32_t)v : (double)v, most = ldexp(1, (int)bits - (is_signed ? 1 : 0));
    return (uint32_t)(int64_t)bounded(x, is_signed ? -most : 0, most - 1);
}

void image_store(const cl_image_format *f, const float v[4], const uint32_t whole[4], uint8_t *out)
{
    const char *l = letters(f->image_channel_order);
    const cl_channel_type type = f->image_channel_data_type;
    const unsigned bits = bits_of(type);
    uint32_t word = 0;
    for (unsigned n = 0; l[n]; n++) {
        const unsigned c = l[n] == 'g' ? 1 : l[n] == 'b' ? 2 : l[n] == 'a' ? 3 : 0;
        uint32_t w = 0;
        switch (type) {
        case CL_UNORM_SHORT_565: word = word << (n == 1 ? 6 : 5) | (uint32_t)rounded(v[c], n == 1 ? 63 : 31, 0,
                                                                                    n == 1 ? 63 : 31); continue;
        case CL_UNORM_SHORT_555: word = word << 5 | (uint32_t)rounded(v[c], 31, 0, 31); continue;
        case CL_UNORM_INT_101010: word = word << 10 | (uint32_t)rounded(v[c], 1023, 0, 1023); continue;
        case CL_SNORM_INT8: w = (uint32_t)rounded(v[c], 127, -128, 127); break;
        case CL_SNORM_INT16: w = (uint32_t)rounded(v[c], 32767, -32768, 32767); break;
        case CL_UNORM_INT8: w = (uint32_t)rounded(v[c], 255, 0, 255); break;
        case CL_UNORM_INT16: w = (uint32_t)rounded(v[c], 65535, 0, 65535); break;
        case CL_HALF_FLOAT: w = image_half(v[c]); break;
        case CL_FLOAT: memcpy(&w, &v[c], sizeof w); break;
        default: w = saturated(whole[c], image_numbers(type) == NUMBERS_INT, bits); break;
        }
        memcpy(out + n * bits / 8, &w, bits / 8);
    }
    if (!bits) {
        memcpy(out, &word, image_pixel_size(f));
    }
}

bool image_same(cl_channel_type type, float got, double expected)
{
    if (type == CL_FLOAT || type == CL_HALF_FLOAT) {
        return isnan(expected) ? isnan(got) : (double)got == expected && !signbit(got) == !signbit(expected);
    }
    /* 1.5 ulp, but the ends of the range are exact (section 8.3.1.1) */
    int exponent;
    frexp(expected, &exponent);
    return expected == 0 || fabs(expected) == 1 ? (double)got == expected
                                                : fabs((double)got - expected) <= 1.5 * ldexp(1, exponent - 24);
}

void image_fill(struct image *i, uint32_t *state, bool any_bits)
{
    const cl_channel_type type = i->format.image_channel_data_type;
    for (size_t n = 0; n < i->bytes; n++) {
        i->data[n] = (uint8_t)(clt_random(state) >> 7);
    }
    for (size_t n = 0; bits_of(type) == 16 && n < i->bytes; n += 2 * (1 + clt_random(state) % 8)) {
        /* the ends of ranges, zeros and infinities of halves */
        static const uint16_t corners[] = {0x8000, 0x8001, 0x7fff, 0xffff, 0, 0x7c00, 0xfc00, 0x0001, 0x03ff, 0x0400};
        memcpy(i->data + n, &corners[clt_random(state) % (sizeof corners / sizeof *corners)], 2);
    }
    for (size_t n = 0; type == CL_FLOAT && !any_bits && n < i->bytes; n += 4) {
        const float x = 4 * clt_random_float(state) - 2;
        memcpy(i->data + n, &x, sizeof x);
    }
    for (size_t n = 0; type == CL_HALF_FLOAT && !any_bits && n < i->bytes; n += 2) {
        const uint16_t h = (uint16_t)image_half(4 * clt_random_float(state) - 2);
        memcpy(i->data + n, &h, sizeof h);
    }
}
