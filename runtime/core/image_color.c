/* SPDX-License-Identifier: Apache-2.0 */
/** Colours of images as bytes (image_color.h). */
#include "runtime/core/image_color.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "runtime/device/image.h"

/** Rounds to the nearest integer, ties to even, whatever rounding mode the application has set. |v| < 2^51. */
static double nearest(double v)
{
    const double down = floor(v);
    const double rest = v - down;
    return rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0) ? down + 1 : down;
}

/** v * scale, a product of floats, as an integer from `least` to `scale`. */
static int32_t normalise(float v, int32_t least, int32_t scale)
{
    const float scaled = v * (float)scale;
    if (isnan(scaled)) {
        return 0;
    }
    return scaled <= (float)least ? least : scaled >= (float)scale ? scale : (int32_t)nearest(scaled);
}

/** Converts a linear component to sRGB (OpenCL C, 6.15.15.1). */
static float gamma_of(float v)
{
    const double c = v;
    if (isnan(c) || c < 0) {
        return 0;
    }
    return (float)(c < 0.0031308 ? 12.92 * c : c < 1 ? 1.055 * pow(c, 1.0 / 2.4) - 0.055 : 1);
}

/** A float as half, rounded to the nearest, ties to even. */
static uint16_t half_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t size = bits & 0x7fffffff;
    if (size > 0x7f800000) {
        return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x1ff)); /* a quiet NaN */
    }
    if (size >= 0x477ff000) { /* 65520 and more round to infinity */
        return sign | 0x7c00;
    }
    if (size < 0x38800000) { /* below 2^-14: a multiple of 2^-24 */
        float absolute;
        memcpy(&absolute, &size, sizeof absolute);
        return (uint16_t)(sign | (uint16_t)nearest(absolute * 0x1p24));
    }
    const uint32_t even = size >> 13 & 1;
    return (uint16_t)(sign | ((size + 0xfff + even - 0x38000000) >> 13));
}

/** The component of the colour that goes to a channel of memory. */
static unsigned component(unsigned places, unsigned channel)
{
    static const uint8_t from[8][4] = {
        [TERN_PLACES_RGBA] = {0, 1, 2, 3}, [TERN_PLACES_A] = {3}, [TERN_PLACES_RA] = {0, 3},
        [TERN_PLACES_INTENSITY] = {0}, [TERN_PLACES_LUMINANCE] = {0}, [TERN_PLACES_BGRA] = {2, 1, 0, 3},
        [TERN_PLACES_ARGB] = {3, 0, 1, 2}, [TERN_PLACES_ABGR] = {3, 2, 1, 0},
    };
    return from[places][channel];
}

static int32_t clamp_signed(int32_t v, int32_t most)
{
    return v > most ? most : v < -most - 1 ? -most - 1 : v;
}

/** The bits of one channel that is not packed with others. */
static uint32_t channel_bits(unsigned store, uint32_t bits, bool alpha)
{
    float f;
    int32_t i;
    memcpy(&f, &bits, sizeof f);
    memcpy(&i, &bits, sizeof i);
    switch (store) {
    case TERN_STORE_UNORM8:
        return (uint32_t)normalise(f, 0, 255);
    case TERN_STORE_SRGB8:
        return (uint32_t)normalise(alpha ? f : gamma_of(f), 0, 255);
    case TERN_STORE_SNORM8:
        return (uint32_t)normalise(f, -128, 127);
    case TERN_STORE_UNORM16:
        return (uint32_t)normalise(f, 0, 65535);
    case TERN_STORE_SNORM16:
        return (uint32_t)normalise(f, -32768, 32767);
    case TERN_STORE_HALF:
        return half_of(f);
    case TERN_STORE_INT8:
        return (uint32_t)clamp_signed(i, 127);
    case TERN_STORE_INT16:
        return (uint32_t)clamp_signed(i, 32767);
    case TERN_STORE_UINT8:
        return bits < 255 ? bits : 255;
    case TERN_STORE_UINT16:
        return bits < 65535 ? bits : 65535;
    default: /* float, and integers of 32 bits */
        return bits;
    }
}

/** A component of the colour. Only those that the format has are read, because a depth has one. */
static uint32_t read_component(const void *color, unsigned which)
{
    uint32_t bits;
    memcpy(&bits, (const char *)color + 4 * which, sizeof bits);
    return bits;
}

/** Packs red, green and blue into one word, red in the highest bits. */
static uint32_t pack(const void *color, unsigned red, unsigned green, unsigned blue)
{
    const unsigned width[3] = {red, green, blue};
    uint32_t word = 0;
    for (unsigned i = 0; i < 3; i++) {
        float f;
        memcpy(&f, (const char *)color + 4 * i, sizeof f);
        word = word << width[i] | (uint32_t)normalise(f, 0, (1 << width[i]) - 1);
    }
    return word;
}

void rt_image_color_pack(unsigned code, const void *color, uint8_t pixel[RT_PIXEL_MAX])
{
    const unsigned store = TERN_IMAGE_STORE(code), places = TERN_IMAGE_PLACES(code);
    const unsigned channels = TERN_IMAGE_CHANNELS(code) == 0 ? 4 : TERN_IMAGE_CHANNELS(code);
    const size_t size = tern_image_pixel_size(code), bytes = size / channels;
    uint32_t word;
    if (store == TERN_STORE_565 || store == TERN_STORE_555 || store == TERN_STORE_101010) {
        word = store == TERN_STORE_565   ? pack(color, 5, 6, 5)
               : store == TERN_STORE_555 ? pack(color, 5, 5, 5)
                                         : pack(color, 10, 10, 10);
        memcpy(pixel, &word, size); /* host and device are little-endian */
        return;
    }
    for (unsigned i = 0; i < channels; i++) {
        const unsigned c = component(places, i);
        word = channel_bits(store, read_component(color, c), c == 3);
        memcpy(pixel + i * bytes, &word, bytes);
    }
}
