/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels with images: writes of all formats and types, with rounding, and none outside of the image; images that are
 * read and written; queries; images and samplers that are arguments of functions; and the instructions that reads take.
 */
#include "image_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cl_kernel kernel_of(const char *text, const char *name)
{
    cl_program p = clt_build(text, "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    OK(clReleaseProgram(p));
    return k;
}

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
    return kernel_of(text, "f");
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

/** Buffers have no samplers. Places outside of them read some pixel. */
static void test_buffers(void **state)
{
    (void)state;
    static const char text[] =
        "kernel void f(read_only image1d_buffer_t i, read_write image1d_buffer_t j, global const int *at,\n"
        "              global float4 *a, global int4 *b) {\n"
        "    uint n = get_global_id(0); a[n] = read_imagef(i, at[n]); b[n] = read_imagei(j, at[n]); }";
    enum { N = 256, PIXELS = 100 };
    uint32_t seed = 3;
    struct image i = image_make(IMAGE_1D_BUFFER, (cl_image_format){CL_RGBA, CL_SNORM_INT8}, PIXELS, 1, 1,
                                CL_MEM_READ_ONLY);
    struct image j = image_make(IMAGE_1D_BUFFER, (cl_image_format){CL_RG, CL_SIGNED_INT16}, PIXELS, 1, 1,
                                CL_MEM_READ_WRITE);
    image_fill(&i, &seed, true);
    image_fill(&j, &seed, true);
    image_write(&i);
    image_write(&j);
    cl_int at[N], wholes[N][4];
    float reals[N][4];
    for (unsigned n = 0; n < N; n++) {
        at[n] = n < 200 ? (cl_int)(clt_random(&seed) % PIXELS) : (cl_int)(clt_random(&seed) * 65537u);
    }
    cl_kernel k = kernel_of(text, "f");
    cl_mem places = clt_buffer(sizeof at, at), a = clt_buffer(sizeof reals, NULL), b = clt_buffer(sizeof wholes, NULL);
    image_arg(k, 0, &i);
    image_arg(k, 1, &j);
    OK(clSetKernelArg(k, 2, sizeof places, &places));
    OK(clSetKernelArg(k, 3, sizeof a, &a));
    OK(clSetKernelArg(k, 4, sizeof b, &b));
    clt_run(k, N, 0);
    clt_read(a, reals, sizeof reals);
    clt_read(b, wholes, sizeof wholes);
    for (unsigned n = 0; n < 200; n++) {
        double p[4], q[4];
        image_pixel(&i, at[n], 0, 0, p);
        image_pixel(&j, at[n], 0, 0, q);
        for (unsigned c = 0; c < 4; c++) {
            assert_true(image_same(CL_SNORM_INT8, reals[n][c], p[c]));
            assert_true((double)wholes[n][c] == q[c]);
        }
    }
    OK(clReleaseMemObject(places));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseKernel(k));
    image_free(&i);
    image_free(&j);
}

static void test_queries(void **state)
{
    (void)state;
    for (enum image_kind kind = 0; kind < IMAGE_KINDS; kind++) {
        const struct image_kind_info *info = &image_kinds[kind];
        for (int access = 0; access < 3; access++) {
            static const char *const accesses[] = {"read_only", "write_only", "read_write"};
            char text[1024];
            snprintf(text, sizeof text, "kernel void f(%s %s i, global uint *o) { o[0] = get_image_width(i); "
                     "o[1] = %s; o[2] = %s; o[3] = %s; o[4] = get_image_channel_order(i); "
                     "o[5] = get_image_channel_data_type(i); o[6] = %s; }", accesses[access], info->type,
                     info->dims >= 2 ? "get_image_height(i)" : "1",
                     info->dims == 3 ? "get_image_depth(i)" : "1", info->array ? "get_image_array_size(i)" : "0",
                     info->dims == 3   ? "all(get_image_dim(i) == (int4)(o[0], o[1], o[2], 0))"
                     : info->dims == 2 ? "all(get_image_dim(i) == (int2)(o[0], o[1]))"
                                       : "1");
            cl_image_format f = {info->depth ? CL_DEPTH : CL_RG, info->depth ? CL_FLOAT : CL_SIGNED_INT16};
            struct image i = image_make(kind, f, 23, info->dims >= 2 ? 11 : 1, info->dims == 3 || info->array ? 7 : 1,
                                        CL_MEM_READ_WRITE);
            cl_kernel k = kernel_of(text, "f");
            cl_mem out = clt_buffer(28, NULL);
            cl_uint got[7];
            image_arg(k, 0, &i);
            OK(clSetKernelArg(k, 1, sizeof out, &out));
            clt_run(k, 1, 1);
            clt_read(out, got, sizeof got);
            assert_int_equal(got[0], 23);
            assert_int_equal(got[1], info->dims >= 2 ? 11 : 1);
            assert_int_equal(got[2], info->dims == 3 ? 7 : 1);
            assert_int_equal(got[3], info->array ? 7 : 0);
            assert_int_equal(got[4], f.image_channel_order);
            assert_int_equal(got[5], f.image_channel_data_type);
            assert_int_equal(got[6], 1);
            OK(clReleaseMemObject(out));
            OK(clReleaseKernel(k));
            image_free(&i);
        }
    }
}

/** Work-items read what they, and others of their group, have written before a fence. */
static void test_read_write(void **state)
{
    (void)state;
    static const char text[] =
        "kernel void f(read_write image2d_t i) {\n"
        "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
        "    for (int n = 0; n < 3; n++) {\n"
        "        uint4 v = read_imageui(i, at); write_imageui(i, at, v + (uint4)(1, 2, 3, 4));\n"
        "        atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);\n"
        "    }\n"
        "    work_group_barrier(CLK_IMAGE_MEM_FENCE);\n"
        "    uint4 v = read_imageui(i, at ^ (int2)(1, 0));\n"
        "    work_group_barrier(CLK_IMAGE_MEM_FENCE);\n"
        "    write_imageui(i, at, v);\n"
        "}";
    static const cl_image_format formats[] = {{CL_RGBA, CL_UNSIGNED_INT8}, {CL_RGBA, CL_UNSIGNED_INT16},
                                              {CL_RGBA, CL_UNSIGNED_INT32}, {CL_R, CL_UNSIGNED_INT8}};
    const size_t global[] = {32, 8}, local[] = {8, 2};
    cl_kernel k = kernel_of(text, "f");
    uint32_t seed = 4;
    for (size_t f = 0; f < LENGTH(formats); f++) {
        struct image i = image_make(IMAGE_2D, formats[f], 32, 8, 1, CL_MEM_READ_WRITE), got = i;
        got.data = malloc(i.bytes);
        image_fill(&i, &seed, true);
        image_write(&i);
        image_arg(k, 0, &i);
        OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, local, 0, NULL, NULL));
        OK(clFinish(clt_queue));
        image_fetch(&i, got.data);
        for (int n = 0; n < 256; n++) {
            const double most = ldexp(1, 8 << (formats[f].image_channel_data_type - CL_UNSIGNED_INT8)) - 1;
            double before[4], after[4];
            image_pixel(&i, n % 32 ^ 1, n / 32, 0, before);
            image_pixel(&got, n % 32, n / 32, 0, after);
            for (int c = 0; c < (formats[f].image_channel_order == CL_R ? 1 : 4); c++) {
                double expected = before[c];
                for (int step = 0; step < 3; step++) {
                    expected += c + 1; /* a sum beyond 32 bits begins again at 0 */
                    expected = expected > most ? (most > 1e9 ? expected - most - 1 : most) : expected;
                }
                assert_true(after[c] == expected);
            }
        }
        free(got.data);
        image_free(&i);
    }
    OK(clReleaseKernel(k));
}

/** Images and samplers pass through functions that are not inlined, and through conditions. */
static void test_functions(void **state)
{
    (void)state;
    static const char text[] =
        "constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "__attribute__((noinline)) float4 get(read_only image2d_t i, sampler_t s, float2 at, int deep) {\n"
        "    float4 sum = read_imagef(i, s, at);\n"
        "    for (int n = 0; n < deep; n++) sum += read_imagef(i, s, at + (float2)(n, 1)) * (n + 1);\n"
        "    return sum;\n"
        "}\n"
        "__attribute__((noinline)) void put(write_only image2d_t o, int2 at, float4 v) { write_imagef(o, at, v); }\n"
        "kernel void f(read_only image2d_t a, sampler_t s, read_only image2d_t b, write_only image2d_t o) {\n"
        "    const sampler_t local_one = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
        "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
        "    float2 place = convert_float2(at) + 0.25f;\n"
        "    float4 v = (at.x & 1) ? get(a, s, place, at.y) : get(b, plain, place, at.x & 3);\n"
        "    if (at.y & 1) v -= get(b, local_one, place, 2);\n"
        "    put(o, at, v);\n"
        "}";
    enum { W = 24, H = 6 };
    static float got[H][W][4];
    const cl_image_format color = {CL_RGBA, CL_UNORM_INT8}, wide = {CL_RGBA, CL_FLOAT};
    const struct image_sampler given = {CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, false},
                               plain = {CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, false},
                               bounded = {CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, false};
    const size_t global[] = {W, H};
    uint32_t seed = 5;
    struct image a = image_make(IMAGE_2D, color, W, H, 1, CL_MEM_READ_ONLY),
                 b = image_make(IMAGE_2D, wide, W, H, 1, CL_MEM_READ_ONLY),
                 o = image_make(IMAGE_2D, wide, W, H, 1, CL_MEM_WRITE_ONLY);
    image_fill(&a, &seed, false);
    image_fill(&b, &seed, false);
    image_write(&a);
    image_write(&b);
    cl_kernel k = kernel_of(text, "f");
    image_arg(k, 0, &a);
    sampler_arg(k, 1, &given);
    image_arg(k, 2, &b);
    image_arg(k, 3, &o);
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    image_fetch(&o, got);
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            double sum[4] = {0}, p[4], slack;
            for (int part = 0; part <= (y & 1); part++) {
                const struct image *i = part || !(x & 1) ? &b : &a;
                const struct image_sampler *s = part ? &bounded : x & 1 ? &given : &plain;
                const int deep = part ? 2 : x & 1 ? y : x & 3;
                for (int n = -1; n < deep; n++) {
                    const float right = (float)(n > 0 ? n : 0), down = n >= 0 ? 1 : 0;
                    const float at[3] = {(float)x + 0.25f + right, (float)y + 0.25f + down};
                    assert_true(image_read(i, s, at, p, &slack));
                    for (int c = 0; c < 4; c++) {
                        sum[c] += (part ? -1 : 1) * (n < 0 ? 1 : n + 1) * p[c];
                    }
                }
            }
            for (int c = 0; c < 4; c++) {
                if (fabs((double)got[y][x][c] - sum[c]) > 1e-4) {
                    fail_msg("(%d, %d), channel %d: %a instead of %a", x, y, c, (double)got[y][x][c], sum[c]);
                }
            }
        }
    }
    OK(clReleaseKernel(k));
    image_free(&a);
    image_free(&b);
    image_free(&o);
}

/** Instructions of a read for a work-item, of an RGBA image of bytes with a constant sampler. */
static void test_costs(void **state)
{
    (void)state;
    static const struct {
        const char *what, *sampler, *read;
        unsigned most;
    } reads[] = {
        {"nothing", "CLK_FILTER_NEAREST", "(float4)(x, y, 0, 1)", 0},
        {"nearest, integers", "CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST", "read_imagef(i, s, (int2)(x, y))", 40},
        {"nearest, integers, edge", "CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST", "read_imagef(i, s, (int2)(x, y))",
         40},
        {"no sampler", "CLK_FILTER_NEAREST", "read_imagef(i, (int2)(x, y))", 40},
        {"nearest", "CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST", "read_imagef(i, s, (float2)(x, y))", 40},
        {"linear", "CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR", "read_imagef(i, s, (float2)(x, y))", 120},
        {"linear, normalized", "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR",
         "read_imagef(i, s, (float2)(x, y) * 0.015625f)", 120},
    };
    const size_t global[] = {32, 16}, offset[] = {4, 4};
    struct image i = image_make(IMAGE_2D, (cl_image_format){CL_RGBA, CL_UNORM_INT8}, 64, 64, 1, CL_MEM_READ_ONLY);
    cl_mem out = clt_buffer(64 * 64 * 16, NULL);
    cl_ulong nothing = 0;
    uint32_t seed = 6;
    image_fill(&i, &seed, false);
    image_write(&i);
    for (size_t r = 0; r < LENGTH(reads); r++) {
        char text[512];
        snprintf(text, sizeof text, "constant sampler_t s = %s;\nkernel void f(read_only image2d_t i, "
                 "global float4 *o) { uint x = get_global_id(0), y = get_global_id(1); o[y * 64 + x] = %s; }",
                 reads[r].sampler, reads[r].read);
        cl_kernel k = kernel_of(text, "f");
        image_arg(k, 0, &i);
        OK(clSetKernelArg(k, 1, sizeof out, &out));
        const cl_ulong before = clt_instructions();
        OK(clEnqueueNDRangeKernel(clt_queue, k, 2, offset, global, NULL, 0, NULL, NULL));
        OK(clFinish(clt_queue));
        const cl_ulong all = clt_instructions() - before;
        nothing = r == 0 ? all : nothing;
        print_message("%s: %.1f instructions\n", reads[r].what, (double)(all - nothing) / 512);
        assert_true(all - nothing <= 512 * (cl_ulong)reads[r].most);
        OK(clReleaseKernel(k));
    }
    OK(clReleaseMemObject(out));
    image_free(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes),    cmocka_unit_test(test_types),     cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_queries),   cmocka_unit_test(test_read_write), cmocka_unit_test(test_functions),
        cmocka_unit_test(test_costs),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
