/* SPDX-License-Identifier: Apache-2.0 */
/**
 * write_imagef, write_imagei and write_imageui to images of all formats and types, compared with the reference: the
 * rounding and the limits of values, and no effect of writes outside of an image. Each pixel is written by a work-item
 * of its own, so that writes of neighbours must not disturb each other.
 */
#include "image_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** A kernel that writes value n to the pixel with the coordinates n. */
static cl_kernel writer(enum image_kind kind, enum image_numbers numbers, bool read_write)
{
    static const char *const places[] = {[1] = ".x", [2] = ".xy", [3] = ""};
    static const char *const names[] = {"f", "i", "ui"}, *const types[] = {"float4", "int4", "uint4"};
    const struct image_kind_info *info = &image_kinds[kind];
    char text[512];
    snprintf(text, sizeof text, "kernel void f(%s %s image, global const int4 *at, global const %s *v) {\n"
             "uint n = get_global_id(0); write_image%s(image, at[n]%s, v[n]%s); }",
             read_write ? "read_write" : "write_only", info->type, types[numbers], names[numbers],
             places[info->dims + info->array], info->depth ? ".x" : "");
    return image_kernel(text, "f");
}

/** A value for a channel: of any size, near a number that the channel can have, or half-way between two. */
static float channel_value(uint32_t *state)
{
    static const float scales[] = {255, 127, 65535, 32767, 31, 63, 1023, 1, 0x1p24f, 2048};
    static const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 0, 1, -1, 1e30f, -1e30f, 65504, 65519.996f, 65520,
                                    0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f, 0x1p-14f, 0x1.ff8p-15f, 0x1p-149f};
    const float scale = scales[clt_random(state) % LENGTH(scales)];
    switch (clt_random(state) % 4) {
    case 0: return special[clt_random(state) % LENGTH(special)];
    case 1: return 3 * clt_random_float(state) - 1.5f;
    case 2: return (float)((int)(clt_random(state) % 70000) - 2000) / scale;
    default: return ((float)((int)(clt_random(state) % 600) - 300) + 0.5f) / scale;
    }
}

static uint32_t whole_value(uint32_t *state)
{
    const uint32_t v = clt_random(state) ^ clt_random(state) << 11;
    return clt_random(state) % 2 ? v : (uint32_t)((int32_t)v >> (8 + clt_random(state) % 18));
}

/** Writes all pixels of an image, each by a work-item of its own, and more places outside of it. */
static void write_pixels(enum image_kind kind, const cl_image_format *f, const unsigned size[3], bool read_write,
                         uint32_t *state)
{
    enum { OUTSIDE = 64, MOST = 4096 };
    static cl_int at[MOST][4];
    static float values[MOST][4];
    static uint32_t whole[MOST][4];
    static uint8_t got[16 * MOST];
    const struct image_kind_info *info = &image_kinds[kind];
    const enum image_numbers numbers = image_numbers(f->image_channel_data_type);
    struct image i = image_make(kind, *f, size[0], size[1], size[2],
                                read_write ? CL_MEM_READ_WRITE : CL_MEM_WRITE_ONLY);
    const unsigned pixels = size[0] * size[1] * size[2], coordinates = info->dims + info->array;
    const size_t bytes = image_pixel_size(f);
    assert_true(pixels + OUTSIDE <= MOST);
    image_fill(&i, state, true);
    image_write(&i);
    for (unsigned n = 0; n < pixels + OUTSIDE; n++) {
        const unsigned place[3] = {n % size[0], n / size[0] % size[1], n / size[0] / size[1]};
        for (unsigned c = 0; c < 4; c++) {
            const unsigned to = info->array && c == info->dims ? 2 : c;
            at[n][c] = c < coordinates && n < pixels ? (cl_int)place[to] : (cl_int)clt_random(state);
            values[n][c] = channel_value(state);
            whole[n][c] = whole_value(state);
        }
        if (n >= pixels) { /* one coordinate is just or far outside, the others are within */
            const unsigned out = clt_random(state) % coordinates;
            for (unsigned c = 0; c < coordinates; c++) {
                const unsigned to = info->array && c == info->dims ? 2 : c;
                const cl_int outside[] = {-1, (cl_int)size[to], INT32_MIN, INT32_MAX, (cl_int)size[to] + 1, -65536};
                at[n][c] = c == out ? outside[clt_random(state) % LENGTH(outside)]
                                    : (cl_int)(clt_random(state) % size[to]);
            }
        } else {
            image_store(f, values[n], whole[n], i.data + n * bytes);
        }
    }
    cl_kernel k = writer(kind, numbers, read_write);
    cl_mem places = clt_buffer(sizeof at, at);
    cl_mem v = numbers == NUMBERS_FLOAT ? clt_buffer(sizeof values, values) : clt_buffer(sizeof whole, whole);
    image_arg(k, 0, &i);
    OK(clSetKernelArg(k, 1, sizeof places, &places));
    OK(clSetKernelArg(k, 2, sizeof v, &v));
    clt_run(k, pixels + OUTSIDE, 0);
    image_fetch(&i, got);
    for (unsigned n = 0; n < pixels; n++) {
        for (size_t b = 0; b < bytes; b++) {
            /* the bits of a NaN are free */
            const bool real = f->image_channel_data_type == CL_FLOAT || f->image_channel_data_type == CL_HALF_FLOAT;
            double pixel[4], read[4];
            struct image device = i;
            device.data = got;
            if (i.data[n * bytes + b] == got[n * bytes + b]) {
                continue;
            }
            image_pixel(&i, (int)(n % size[0]), (int)(n / size[0] % size[1]), (int)(n / size[0] / size[1]), pixel);
            image_pixel(&device, (int)(n % size[0]), (int)(n / size[0] % size[1]), (int)(n / size[0] / size[1]), read);
            bool same = real;
            for (unsigned c = 0; c < 4; c++) {
                same = same && (isnan(pixel[c]) ? isnan(read[c]) : pixel[c] == read[c]);
            }
            if (!same) {
                fail_msg("%s, order %#x, type %#x, pixel %u, values (%a, %a, %a, %a), (%d, %d, %d, %d): byte %zu is "
                         "%#x instead of %#x", info->type, f->image_channel_order, f->image_channel_data_type, n,
                         (double)values[n][0], (double)values[n][1], (double)values[n][2], (double)values[n][3],
                         (int)whole[n][0], (int)whole[n][1], (int)whole[n][2], (int)whole[n][3], b,
                         got[n * bytes + b], i.data[n * bytes + b]);
            }
        }
    }
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(places));
    OK(clReleaseMemObject(v));
    image_free(&i);
}

static void test_writes(void **state)
{
    (void)state;
    static const unsigned size[3] = {31, 33, 1};
    uint32_t seed = 1;
    for (const cl_image_format *f = image_formats; f->image_channel_order; f++) {
        if (f->image_channel_order != CL_sRGBA && f->image_channel_order != CL_sBGRA) { /* these are only read */
            write_pixels(f->image_channel_order == CL_DEPTH ? IMAGE_2D_DEPTH : IMAGE_2D, f, size,
                         (f - image_formats) % 2, &seed);
        }
    }
}

static void test_types(void **state)
{
    (void)state;
    static const cl_image_format colors[] = {{CL_RGBA, CL_UNORM_INT8}, {CL_R, CL_UNORM_INT8}, {CL_RG, CL_SIGNED_INT8}};
    static const cl_image_format depth = {CL_DEPTH, CL_FLOAT};
    uint32_t seed = 2;
    for (enum image_kind kind = 0; kind < IMAGE_KINDS; kind++) {
        const struct image_kind_info *info = &image_kinds[kind];
        const unsigned size[3] = {19, info->dims >= 2 ? 11 : 1, info->dims == 3 || info->array ? 7 : 1};
        for (size_t f = 0; f < (info->depth ? 1 : LENGTH(colors)); f++) {
            for (int read_write = 0; read_write < 2; read_write++) {
                write_pixels(kind, info->depth ? &depth : &colors[f], size, read_write, &seed);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
