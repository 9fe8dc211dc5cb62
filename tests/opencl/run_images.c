/* SPDX-License-Identifier: Apache-2.0 */
/**
 * read_imagef, read_imagei and read_imageui of images of all formats and types, with all samplers, compared with the
 * reference. Coordinates are pixels, their borders, random ones within and outside of the image, huge ones and NaN.
 */
#include "image_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 160, SAMPLERS = 16, FIRST_UNNORMALIZED = 10 };

/** The samplers in the program, s0 to s15: REPEAT and MIRRORED_REPEAT are for normalized coordinates only. */
static struct image_sampler samplers[SAMPLERS];
static cl_program programs[IMAGE_KINDS];

static void make_samplers(void)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
                                               CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP};
    for (unsigned i = 0; i < SAMPLERS; i++) {
        const unsigned k = i < FIRST_UNNORMALIZED ? i : i - FIRST_UNNORMALIZED + 4;
        samplers[i] = (struct image_sampler){modes[k / 2], k & 1 ? CL_FILTER_LINEAR : CL_FILTER_NEAREST,
                                             i < FIRST_UNNORMALIZED};
    }
}

/** A program with reads of one type of image. f, g and h read at float coordinates by the constant sampler of this
 *  number; at integer coordinates by it, or without a sampler; and by a sampler that is an argument. */
static cl_program program_of(enum image_kind kind)
{
    static const char *const places[] = {[1] = ".x", [2] = ".xy", [3] = ""};
    static const char *const modes[] = {"REPEAT", "MIRRORED_REPEAT", "NONE", "CLAMP_TO_EDGE", "CLAMP"};
    static const struct {
        const char *letter, *read, *convert;
    } colors[] = {{"f", "read_imagef", ""}, {"i", "read_imagei", "as_float4"}, {"u", "read_imageui", "as_float4"}};
    const struct image_kind_info *info = &image_kinds[kind];
    const unsigned coordinates = info->dims + info->array;
    static char text[1 << 15];
    char *at = text;
    if (programs[kind] != NULL) {
        return programs[kind];
    }
    for (unsigned s = 0; s < SAMPLERS; s++) {
        unsigned mode = 0;
        while (samplers[s].address != (cl_addressing_mode[]){CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT,
                                                            CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE,
                                                            CL_ADDRESS_CLAMP}[mode]) {
            mode++;
        }
        at += sprintf(at, "constant sampler_t s%u = CLK_NORMALIZED_COORDS_%s | CLK_ADDRESS_%s | CLK_FILTER_%s;\n", s,
                      samplers[s].normalized ? "TRUE" : "FALSE", modes[mode],
                      samplers[s].filter == CL_FILTER_LINEAR ? "LINEAR" : "NEAREST");
    }
    for (unsigned c = 0; c < (info->depth ? 1 : LENGTH(colors)); c++) {
        const char *wrap = info->depth ? "(float4)" : colors[c].convert;
        for (int form = 0; form < 3; form++) {
            at += sprintf(at, "kernel void %c%s(read_only %s image, global const %s *at, global float4 *out, %s s) {\n"
                          "uint n = get_global_id(0); ", "fgh"[form], colors[c].letter, info->type,
                          form == 1 ? "int4" : "float4", form == 2 ? "sampler_t" : "int");
            if (form == 2) {
                at += sprintf(at, "out[n] = %s(%s(image, s, at[n]%s)); }\n", wrap, colors[c].read, places[coordinates]);
                continue;
            }
            at += sprintf(at, "switch (s) {\n");
            for (unsigned s = form == 1 ? FIRST_UNNORMALIZED : 0; s < SAMPLERS; s++) {
                if (form == 1 && samplers[s].filter == CL_FILTER_LINEAR) {
                    continue;
                }
                at += sprintf(at, "case %u: out[n] = %s(%s(image, s%u, at[n]%s)); break;\n", s, wrap, colors[c].read, s,
                              places[coordinates]);
            }
            at += form == 1 ? sprintf(at, "default: out[n] = %s(%s(image, at[n]%s)); break;\n", wrap, colors[c].read,
                                      places[coordinates]) : 0;
            at += sprintf(at, "} }\n");
        }
    }
    return programs[kind] = clt_build(text, "-cl-std=CL3.0");
}

static float coordinate(unsigned size, bool normalized, uint32_t *state)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e9f, -3e9f, 65536.5f, 0x1p-30f, -0x1p-30f,
                                    -0.0f, 1.0f, -1.0f, 2.0f, 0x1.fffffep-1f, -0x1.fffffep-1f};
    const float scale = normalized ? 1.0f / (float)size : 1.0f;
    switch (clt_random(state) % 8) {
    case 0: return special[clt_random(state) % LENGTH(special)];
    case 1: return (float)((int)(clt_random(state) % (size + 5)) - 2) * scale;
    case 2: return ((float)((int)(clt_random(state) % (size + 5)) - 2) + 0.5f) * scale;
    case 3: return nextafterf((float)((int)(clt_random(state) % (size + 3)) - 1) * scale, -9);
    case 4: return (8 * clt_random_float(state) - 4) * (normalized ? 1 : (float)size);
    default: return clt_random_float(state) * (normalized ? 1 : (float)size);
    }
}

static void say(const struct image *i, const struct image_sampler *s, const char *kernel, const float at[4])
{
    print_message("%s, %s of %ux%ux%u, order %#x, type %#x, sampler %#x %#x %s, at (%a, %a, %a)\n", kernel,
                  image_kinds[i->kind].type, i->size[0], i->size[1], i->size[2], i->format.image_channel_order,
                  i->format.image_channel_data_type, s->address, s->filter, s->normalized ? "normalized" : "plain",
                  (double)at[0], (double)at[1], (double)at[2]);
}

/** True: what the device read is the expected number of this format. */
static bool is(const struct image *i, const float *got, double expected, double slack)
{
    int32_t whole;
    memcpy(&whole, got, sizeof whole);
    switch (image_numbers(i->format.image_channel_data_type)) {
    case NUMBERS_INT: return (double)whole == expected;
    case NUMBERS_UINT: return (double)(uint32_t)whole == expected;
    default: return slack > 0 ? fabs((double)*got - expected) <= slack
                              : image_same(i->format.image_channel_data_type, *got, expected);
    }
}

/** True: the device read some pixel of the image, or the border. Where OpenCL leaves a result open, no other memory may
 *  be read. */
static bool is_some(const struct image *i, const float got[4])
{
    const unsigned channels = image_kinds[i->kind].depth ? 1 : 4;
    double p[4];
    bool zero = true;
    for (unsigned c = 0; c < channels; c++) {
        zero = zero && (c == 3 || got[c] == 0);
    }
    const unsigned row = i->size[0], slice = row * i->size[1];
    for (unsigned n = 0; n < slice * i->size[2] && !zero; n++) {
        bool same = true;
        image_pixel(i, (int)(n % row), (int)(n % slice / row), (int)(n / slice), p);
        for (unsigned c = 0; c < channels; c++) {
            same = same && is(i, &got[c], p[c], 0);
        }
        zero = same;
    }
    return zero;
}

static void check(const struct image *i, const struct image_sampler *s, const char *kernel, const float at[4],
                  bool known, const double expected[4], double slack, const float got[4])
{
    const unsigned channels = image_kinds[i->kind].depth ? 1 : 4;
    if (!known) {
        const bool filtered = s->filter == CL_FILTER_LINEAR &&
                              image_numbers(i->format.image_channel_data_type) == NUMBERS_FLOAT;
        if (!filtered && !is_some(i, got)) {
            say(i, s, kernel, at);
            fail_msg("(%a, %a, %a, %a) is no pixel of the image", (double)got[0], (double)got[1], (double)got[2],
                     (double)got[3]);
        }
        return;
    }
    for (unsigned c = 0; c < channels; c++) {
        if (!is(i, &got[c], expected[c], slack)) {
            say(i, s, kernel, at);
            fail_msg("channel %u is %a instead of %a, with a slack of %a", c, (double)got[c], expected[c], slack);
        }
    }
}

/** Reads the image by all samplers and compares. wild: its pixels may be NaN or infinite, so filters are left out. */
static void read_all(const struct image *i, bool wild, uint32_t *state)
{
    static const char letters[] = "fiu";
    const enum image_numbers numbers = image_numbers(i->format.image_channel_data_type);
    cl_program p = program_of(i->kind);
    for (unsigned form = 0; form < 3; form++) {
        const char name[] = {"fgh"[form], letters[numbers], '\0'};
        cl_kernel k = clCreateKernel(p, name, &clt_error);
        MADE(k);
        for (unsigned s = form == 1 ? FIRST_UNNORMALIZED : 0; s <= SAMPLERS; s++) {
            const bool plain = s == SAMPLERS; /* without a sampler */
            const struct image_sampler none = {CL_ADDRESS_NONE, CL_FILTER_NEAREST, false};
            const struct image_sampler *sampler = plain ? &none : &samplers[s];
            if ((plain && form != 1) || ((form == 1 || wild || numbers != NUMBERS_FLOAT) &&
                                         sampler->filter == CL_FILTER_LINEAR)) {
                continue;
            }
            float at[N][4], out[N][4];
            int whole[N][4];
            const struct image_kind_info *info = &image_kinds[i->kind];
            for (unsigned n = 0; n < N; n++) {
                for (unsigned d = 0; d < 4; d++) {
                    const bool layer = info->array && d == info->dims;
                    const unsigned to = layer ? 2 : d;
                    const unsigned size = d < 3 ? i->size[to] : 1;
                    at[n][d] = coordinate(size, sampler->normalized && !layer, state);
                    whole[n][d] = clt_random(state) % 16 ? (int)(clt_random(state) % (size + 4)) - 2
                                                         : (int)(clt_random(state) * 65537u);
                    at[n][d] = form == 1 ? (float)whole[n][d] : at[n][d];
                }
            }
            cl_mem places = form == 1 ? clt_buffer(sizeof whole, whole) : clt_buffer(sizeof at, at);
            cl_mem results = clt_buffer(sizeof out, NULL);
            const cl_int number = (cl_int)s;
            image_arg(k, 0, i);
            OK(clSetKernelArg(k, 1, sizeof places, &places));
            OK(clSetKernelArg(k, 2, sizeof results, &results));
            if (form == 2) {
                sampler_arg(k, 3, sampler);
            } else {
                OK(clSetKernelArg(k, 3, sizeof number, &number));
            }
            clt_run(k, N, 0);
            clt_read(results, out, sizeof out);
            for (unsigned n = 0; n < N; n++) {
                double expected[4], slack = 0;
                const bool known = form == 1 ? image_read_at(i, sampler, whole[n], expected)
                                             : image_read(i, sampler, at[n], expected, &slack);
                check(i, sampler, name, at[n], known, expected, slack, out[n]);
            }
            OK(clReleaseMemObject(places));
            OK(clReleaseMemObject(results));
        }
        OK(clReleaseKernel(k));
    }
}

/** One image of so many is tested: all, but few on the RTL, which is simulated cycle by cycle. */
static unsigned some;

/** One image of two dimensions for each format. */
static void test_formats(void **state)
{
    (void)state;
    uint32_t seed = 1;
    unsigned n = 0;
    for (const cl_image_format *f = image_formats; f->image_channel_order; f++) {
        if (n++ % some != 0) {
            continue;
        }
        const enum image_kind kind = f->image_channel_order == CL_DEPTH ? IMAGE_2D_DEPTH : IMAGE_2D;
        const bool real = f->image_channel_data_type == CL_FLOAT || f->image_channel_data_type == CL_HALF_FLOAT;
        for (int wild = 0; wild <= real; wild++) {
            struct image i = image_make(kind, *f, 7, 5, 1, CL_MEM_READ_ONLY);
            image_fill(&i, &seed, wild);
            image_write(&i);
            read_all(&i, wild, &seed);
            image_free(&i);
        }
    }
}

/** Images of each type, with one pixel, one row or column, odd sizes, and many pixels. */
static void test_types(void **state)
{
    (void)state;
    static const cl_image_format colors[] = {{CL_RGBA, CL_UNORM_INT8}, {CL_R, CL_FLOAT}, {CL_A, CL_HALF_FLOAT},
                                             {CL_RGBA, CL_SIGNED_INT16}, {CL_RG, CL_UNSIGNED_INT8}};
    static const cl_image_format depths[] = {{CL_DEPTH, CL_FLOAT}, {CL_DEPTH, CL_UNORM_INT16}};
    static const unsigned sizes[][3] = {{1, 1, 1}, {1, 9, 2}, {8, 1, 5}, {5, 3, 4}, {33, 17, 9}, {300, 2, 1}};
    uint32_t seed = 2;
    unsigned n = 0;
    for (enum image_kind kind = IMAGE_1D; kind <= IMAGE_2D_ARRAY_DEPTH; kind++) {
        const struct image_kind_info *info = &image_kinds[kind];
        for (size_t f = 0; f < (info->depth ? LENGTH(depths) : LENGTH(colors)); f++) {
            for (size_t s = 0; s < LENGTH(sizes); s++) {
                if (n++ % some != 0) {
                    continue;
                }
                struct image i = image_make(kind, info->depth ? depths[f] : colors[f], sizes[s][0],
                                            info->dims >= 2 ? sizes[s][1] : 1,
                                            info->dims == 3 || info->array ? sizes[s][2] : 1, CL_MEM_READ_ONLY);
                image_fill(&i, &seed, false);
                image_write(&i);
                read_all(&i, false, &seed);
                image_free(&i);
            }
        }
    }
}

static int open_all(void **state)
{
    some = clt_on_rtl() ? 23 : 1;
    make_samplers();
    return clt_open(state);
}

static int close_all(void **state)
{
    for (unsigned k = 0; k < IMAGE_KINDS; k++) {
        if (programs[k] != NULL) {
            OK(clReleaseProgram(programs[k]));
        }
    }
    return clt_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
