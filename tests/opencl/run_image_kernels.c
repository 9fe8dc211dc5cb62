/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels with images: buffers, queries, halves, images that are read and written, images and samplers that are
 * arguments of functions, large ranges, and the instructions that reads take.
 */
#include "image_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    cl_kernel k = image_kernel(text, "f");
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
            cl_kernel k = image_kernel(text, "f");
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

/** Halves are what floats are converted to. */
static void test_half(void **state)
{
    (void)state;
    static const char text[] =
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "constant sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;\n"
        "kernel void f(read_only image2d_t i, write_only image2d_t a, write_only image2d_t b, global float4 *o,\n"
        "              global half4 *h) {\n"
        "    int2 at = (int2)(get_global_id(0), get_global_id(1)); uint n = at.y * get_global_size(0) + at.x;\n"
        "    float2 place = convert_float2(at) * 1.1f;\n"
        "    o[2 * n] = read_imagef(i, at); o[2 * n + 1] = read_imagef(i, s, place);\n"
        "    h[2 * n] = read_imageh(i, at); h[2 * n + 1] = read_imageh(i, s, place);\n"
        "    write_imagef(a, at, convert_float4(h[2 * n])); write_imageh(b, at, h[2 * n]);\n"
        "}";
    enum { W = 16, H = 8 };
    static const cl_image_format formats[] = {{CL_RGBA, CL_UNORM_INT8}, {CL_R, CL_FLOAT}, {CL_BGRA, CL_UNORM_INT8},
                                              {CL_RG, CL_SNORM_INT16}, {CL_A, CL_HALF_FLOAT}};
    static float reals[W * H * 2 * 4];
    static uint16_t halves[W * H * 2 * 4];
    static uint8_t written[2][W * H * 16];
    const size_t global[] = {W, H};
    cl_kernel k = image_kernel(text, "f");
    cl_mem o = clt_buffer(sizeof reals, NULL), h = clt_buffer(sizeof halves, NULL);
    uint32_t seed = 8;
    for (size_t f = 0; f < LENGTH(formats); f++) {
        struct image i[3];
        for (cl_uint n = 0; n < 3; n++) {
            i[n] = image_make(IMAGE_2D, formats[f], W, H, 1, CL_MEM_READ_WRITE);
            image_fill(&i[n], &seed, false);
            image_write(&i[n]);
            image_arg(k, n, &i[n]);
        }
        OK(clSetKernelArg(k, 3, sizeof o, &o));
        OK(clSetKernelArg(k, 4, sizeof h, &h));
        OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
        clt_read(o, reals, sizeof reals);
        clt_read(h, halves, sizeof halves);
        for (size_t n = 0; n < LENGTH(reals); n++) {
            assert_int_equal(halves[n], image_half(reals[n]));
        }
        image_fetch(&i[1], written[0]);
        image_fetch(&i[2], written[1]);
        assert_memory_equal(written[0], written[1], i[1].bytes);
        assert_memory_not_equal(written[0], i[1].data, i[1].bytes);
        for (cl_uint n = 0; n < 3; n++) {
            image_free(&i[n]);
        }
    }
    OK(clReleaseMemObject(o));
    OK(clReleaseMemObject(h));
    OK(clReleaseKernel(k));
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
    cl_kernel k = image_kernel(text, "f");
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
    cl_kernel k = image_kernel(text, "f");
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

enum { LARGE_W = 256, LARGE_H = 64 };

/** Runs a kernel over a large range, with groups of any size, or of rows of 32 and as many of them as the device has,
 *  up to 32. */
static void run_large(const char *body, const char *options, bool in_rows, const struct image i[3],
                      float out[LARGE_W * LARGE_H * 4], float pixels[LARGE_W * LARGE_H * 4])
{
    const size_t global[] = {LARGE_W, LARGE_H};
    char text[2048];
    snprintf(text, sizeof text, "constant sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;\n"
             "kernel void f(read_only image2d_t a, read_only image2d_t b, write_only image2d_t o, "
             "global float4 *out) {\nint x = get_global_id(0), y = get_global_id(1), w = get_global_size(0); %s }",
             body);
    cl_program p = clt_build(text, options);
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    cl_mem results = clt_buffer(LARGE_W * LARGE_H * 16, NULL);
    for (cl_uint n = 0; n < 3; n++) {
        image_arg(k, n, &i[n]);
    }
    OK(clSetKernelArg(k, 3, sizeof results, &results));
    size_t most = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    const size_t group[] = {32, most >= 1024 ? 32 : most / 32};
    assert_true(!in_rows || group[1] % 2 == 0);
    image_write(&i[2]);
    const float none = 0;
    OK(clEnqueueFillBuffer(clt_queue, results, &none, sizeof none, 0, LARGE_W * LARGE_H * 16, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, in_rows ? group : NULL, 0, NULL, NULL));
    image_fetch(&i[2], pixels);
    clt_read(results, out, LARGE_W * LARGE_H * 16);
    OK(clReleaseMemObject(results));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

/** Kernels that have second entries for large ranges give the same results without. Groups of 1,024 work-items, of
 *  which each hardware work-item runs several, exchange pixels. */
static void test_large(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "out[y * w + x] = read_imagef(a, (int2)(x, y));",
        "if (x < get_image_width(a) - 3) out[y * w + x] = x + y;",
        "float4 v = 0; for (int n = 0; n < 9; n++) v += read_imagef(a, (int2)(x, n)) * y; out[y * w + x] = v;",
        ("float4 v = 0; for (int n = 0; n < 9; n++) v += read_imagef(a, (int2)(n, y)) * read_imagef(b, (int2)(x, n)); "
         "write_imagef(o, (int2)(x, y), v); out[y * w + x] = v.wzyx;"),
        "write_imagef(o, (int2)(x, y), read_imagef(b, s, (float2)(y, x) * 0.3f));",
        "write_imagef(o, (int2)(w - 1 - x, y), (float4)(x, y, 2, 3));",
    };
    static const char exchange[] = "local float4 t[1024]; int l = get_local_id(1) * 32 + get_local_id(0); "
                                   "t[l] = read_imagef(a, (int2)(x, y)); barrier(CLK_LOCAL_MEM_FENCE); "
                                   "out[y * w + x] = t[l ^ 1]; write_imagef(o, (int2)(x, y), t[l ^ 33]);";
    static float out[2][LARGE_W * LARGE_H * 4], pixels[2][LARGE_W * LARGE_H * 4];
    uint32_t seed = 7;
    struct image i[3];
    for (unsigned n = 0; n < 3; n++) {
        i[n] = image_make(IMAGE_2D, (cl_image_format){CL_RGBA, n ? CL_FLOAT : CL_UNORM_INT8}, LARGE_W, LARGE_H, 1,
                          n < 2 ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY);
        image_fill(&i[n], &seed, false);
        image_write(&i[n]);
    }
    for (size_t b = 0; b < LENGTH(bodies); b++) {
        run_large(bodies[b], "-cl-std=CL3.0", false, i, out[0], pixels[0]);
        run_large(bodies[b], "-cl-std=CL3.0 -tern-no-coarsen", false, i, out[1], pixels[1]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
    }
    run_large(exchange, "-cl-std=CL3.0", true, i, out[0], pixels[0]);
    for (int n = 0; n < LARGE_W * LARGE_H; n++) {
        double right[4], across[4];
        image_pixel(&i[0], n % LARGE_W ^ 1, n / LARGE_W, 0, right);
        image_pixel(&i[0], n % LARGE_W ^ 1, n / LARGE_W ^ 1, 0, across);
        for (int c = 0; c < 4; c++) {
            assert_true(image_same(CL_UNORM_INT8, out[0][4 * n + c], right[c]));
            assert_true(image_same(CL_UNORM_INT8, pixels[0][4 * n + c], across[c]));
        }
    }
    for (unsigned n = 0; n < 3; n++) {
        image_free(&i[n]);
    }
}

/** Coordinates that the compiler knows: beyond all integers, or NaN. */
static void test_constant_places(void **state)
{
    (void)state;
    static const char text[] =
        "constant sampler_t edge = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n"
        "constant sampler_t bounded = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
        "kernel void f(read_only image2d_t i, global float4 *out) {\n"
        "    out[0] = read_imagef(i, edge, (float2)(1e30f, INFINITY));\n"
        "    out[1] = read_imagef(i, edge, (float2)(-1e30f, -INFINITY));\n"
        "    out[2] = read_imagef(i, bounded, (float2)(1e30f, 1.5f));\n"
        "    out[3] = read_imagef(i, bounded, (float2)(1.5f, -INFINITY));\n"
        "    out[4] = read_imagef(i, edge, (float2)(NAN, NAN));\n"
        "    out[5] = read_imagef(i, bounded, (float2)(NAN, 1.5f));\n"
        "}";
    enum { W = 5, H = 4 };
    cl_kernel k = image_kernel(text, "f");
    float got[6][4];
    uint32_t seed = 9;
    struct image i = image_make(IMAGE_2D, (cl_image_format){CL_RGBA, CL_UNORM_INT8}, W, H, 1, CL_MEM_READ_ONLY);
    cl_mem out = clt_buffer(sizeof got, NULL);
    image_fill(&i, &seed, false);
    image_write(&i);
    image_arg(k, 0, &i);
    OK(clSetKernelArg(k, 1, sizeof out, &out));
    clt_run(k, 1, 1);
    clt_read(out, got, sizeof got);
    double last[4], first[4];
    image_pixel(&i, W - 1, H - 1, 0, last);
    image_pixel(&i, 0, 0, 0, first);
    for (int c = 0; c < 4; c++) {
        assert_true(fabs((double)got[0][c] - last[c]) < 1e-6);
        assert_true(fabs((double)got[1][c] - first[c]) < 1e-6);
        assert_true(got[2][c] == 0 && got[3][c] == 0);
        assert_true(got[4][c] >= 0 && got[4][c] <= 1 && got[5][c] >= 0 && got[5][c] <= 1);
    }
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
    image_free(&i);
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
        cl_kernel k = image_kernel(text, "f");
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
        cmocka_unit_test(test_buffers),   cmocka_unit_test(test_queries), cmocka_unit_test(test_half),
        cmocka_unit_test(test_read_write), cmocka_unit_test(test_functions), cmocka_unit_test(test_large),
        cmocka_unit_test(test_constant_places), cmocka_unit_test(test_costs),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
