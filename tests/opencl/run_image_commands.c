/* SPDX-License-Identifier: Apache-2.0 */
/** Commands with images: what is refused, colours of fills, order by events, and mappings that overlap. */
#include "clt.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WIDTH = 6, HEIGHT = 5, DEPTH = 4 };

static const cl_image_format rgba8 = {CL_RGBA, CL_UNORM_INT8};
static const size_t zero[3] = {0, 0, 0};

static cl_mem image(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags, void *host)
{
    cl_image_desc desc = {.image_type = type, .image_width = WIDTH};
    if (type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D) {
        desc.image_height = HEIGHT;
    }
    desc.image_depth = type == CL_MEM_OBJECT_IMAGE3D ? DEPTH : 0;
    desc.image_array_size = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? DEPTH : 0;
    cl_mem m = clCreateImage(clt_context, flags, format, &desc, host, &clt_error);
    MADE(m);
    return m;
}

/** Every dimension of every type has its limit, and a dimension that a type does not have has the origin 0. */
static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        cl_mem_object_type type;
        size_t size[3];
    } types[] = {
        {CL_MEM_OBJECT_IMAGE1D, {WIDTH, 1, 1}},
        {CL_MEM_OBJECT_IMAGE1D_ARRAY, {WIDTH, DEPTH, 1}},
        {CL_MEM_OBJECT_IMAGE2D, {WIDTH, HEIGHT, 1}},
        {CL_MEM_OBJECT_IMAGE2D_ARRAY, {WIDTH, HEIGHT, DEPTH}},
        {CL_MEM_OBJECT_IMAGE3D, {WIDTH, HEIGHT, DEPTH}},
    };
    static char host[4096];
    cl_mem b = clt_buffer(4096, NULL);
    for (size_t t = 0; t < LENGTH(types); t++) {
        cl_mem m = image(&rgba8, types[t].type, 0, NULL), other = image(&rgba8, types[t].type, 0, NULL);
        const size_t *size = types[t].size;
        for (int k = 0; k < 3; k++) {
            const struct {
                size_t origin, region;
                cl_int want;
            } cases[] = {{0, size[k], CL_SUCCESS}, {0, size[k] + 1, CL_INVALID_VALUE}, {size[k], 1, CL_INVALID_VALUE},
                         {size[k] - 1, 1, CL_SUCCESS}, {0, 0, CL_INVALID_VALUE}, {(size_t)-1, 2, CL_INVALID_VALUE},
                         {1, (size_t)-1, CL_INVALID_VALUE}, {1, size[k], CL_INVALID_VALUE}};
            for (size_t c = 0; c < LENGTH(cases); c++) {
                size_t at[3] = {0, 0, 0}, region[3] = {1, 1, 1}, row, slice;
                at[k] = cases[c].origin;
                region[k] = cases[c].region;
                const cl_int want = cases[c].want;
                FAILS(clEnqueueReadImage(clt_queue, m, CL_TRUE, at, region, 0, 0, host, 0, NULL, NULL), want);
                FAILS(clEnqueueWriteImage(clt_queue, m, CL_TRUE, at, region, 0, 0, host, 0, NULL, NULL), want);
                FAILS(clEnqueueFillImage(clt_queue, m, host, at, region, 0, NULL, NULL), want);
                FAILS(clEnqueueCopyImage(clt_queue, m, other, at, at, region, 0, NULL, NULL), want);
                FAILS(clEnqueueCopyImageToBuffer(clt_queue, m, b, at, region, 0, 0, NULL, NULL), want);
                FAILS(clEnqueueCopyBufferToImage(clt_queue, b, m, 0, at, region, 0, NULL, NULL), want);
                void *p = clEnqueueMapImage(clt_queue, m, CL_TRUE, CL_MAP_READ, at, region, &row, &slice, 0, NULL,
                                            NULL, &clt_error);
                FAILS(clt_error, want);
                if (p != NULL) {
                    OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
                }
            }
        }
        OK(clReleaseMemObject(m));
        OK(clReleaseMemObject(other));
    }
    OK(clReleaseMemObject(b));
}

static void test_refused_transfers(void **state)
{
    (void)state;
    static char host[4096];
    const size_t region[3] = {2, 2, 1}, box[3] = {2, 2, 2};
    cl_mem flat = image(&rgba8, CL_MEM_OBJECT_IMAGE2D, 0, NULL), solid = image(&rgba8, CL_MEM_OBJECT_IMAGE3D, 0, NULL);
    cl_mem layers = image(&rgba8, CL_MEM_OBJECT_IMAGE1D_ARRAY, 0, NULL);
    const struct {
        cl_mem m;
        const size_t *origin, *region;
        size_t row, slice;
        void *host;
    } cases[] = {
        {flat, NULL, region, 0, 0, host}, {flat, zero, NULL, 0, 0, host},  {flat, zero, region, 0, 0, NULL},
        {flat, zero, region, 7, 0, host}, {flat, zero, region, 0, 16, host}, {solid, zero, box, 8, 15, host},
        {solid, zero, box, 12, 16, host}, {layers, zero, region, 8, 7, host}, {flat, zero, region, 0, 0, (void *)-4},
        {solid, zero, box, (size_t)-8, 0, host},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        FAILS(clEnqueueReadImage(clt_queue, cases[i].m, CL_TRUE, cases[i].origin, cases[i].region, cases[i].row,
                                 cases[i].slice, cases[i].host, 0, NULL, NULL), CL_INVALID_VALUE);
        FAILS(clEnqueueWriteImage(clt_queue, cases[i].m, CL_TRUE, cases[i].origin, cases[i].region, cases[i].row,
                                  cases[i].slice, cases[i].host, 0, NULL, NULL), CL_INVALID_VALUE);
    }
    OK(clEnqueueReadImage(clt_queue, solid, CL_TRUE, zero, box, 9, 18, host, 0, NULL, NULL));
    OK(clEnqueueReadImage(clt_queue, layers, CL_TRUE, zero, region, 9, 9, host, 0, NULL, NULL));

    const cl_event no_event[] = {NULL};
    size_t row, slice;
    FAILS(clEnqueueFillImage(clt_queue, flat, NULL, zero, region, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillImage(clt_queue, flat, host, NULL, region, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillImage(clt_queue, flat, host, zero, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillImage(clt_queue, flat, host, zero, region, 1, no_event, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueReadImage(clt_queue, flat, CL_TRUE, zero, region, 0, 0, host, 1, NULL, NULL),
          CL_INVALID_EVENT_WAIT_LIST);
    const struct {
        cl_mem m;
        cl_map_flags flags;
        const size_t *origin, *region;
        size_t *row, *slice;
    } maps[] = {
        {flat, CL_MAP_READ, NULL, region, &row, &slice},  {flat, CL_MAP_READ, zero, NULL, &row, &slice},
        {flat, CL_MAP_READ, zero, region, NULL, &slice},  {solid, CL_MAP_READ, zero, region, &row, NULL},
        {layers, CL_MAP_READ, zero, region, &row, NULL},  {flat, 64, zero, region, &row, &slice},
        {flat, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, zero, region, &row, &slice},
    };
    for (size_t i = 0; i < LENGTH(maps); i++) {
        assert_null(clEnqueueMapImage(clt_queue, maps[i].m, CL_TRUE, maps[i].flags, maps[i].origin, maps[i].region,
                                      maps[i].row, maps[i].slice, 0, NULL, NULL, &clt_error));
        FAILS(clt_error, CL_INVALID_VALUE);
    }
    void *p = clEnqueueMapImage(clt_queue, flat, CL_TRUE, CL_MAP_READ, zero, region, &row, NULL, 0, NULL, NULL, NULL);
    assert_non_null(p);
    FAILS(clEnqueueUnmapMemObject(clt_queue, solid, p, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clEnqueueUnmapMemObject(clt_queue, flat, p, 0, NULL, NULL));
    FAILS(clEnqueueUnmapMemObject(clt_queue, flat, p, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseMemObject(flat));
    OK(clReleaseMemObject(solid));
    OK(clReleaseMemObject(layers));
}

static void test_refused_copies(void **state)
{
    (void)state;
    const cl_image_format red = {CL_R, CL_UNORM_INT8}, bgra = {CL_BGRA, CL_UNORM_INT8};
    const size_t region[3] = {2, 2, 1}, row[3] = {2, 1, 1};
    cl_mem a = image(&rgba8, CL_MEM_OBJECT_IMAGE2D, 0, NULL), r = image(&red, CL_MEM_OBJECT_IMAGE2D, 0, NULL);
    cl_mem g = image(&bgra, CL_MEM_OBJECT_IMAGE2D, 0, NULL), b = clt_buffer(64, NULL);
    FAILS(clEnqueueCopyImage(clt_queue, a, r, zero, zero, region, 0, NULL, NULL), CL_IMAGE_FORMAT_MISMATCH);
    FAILS(clEnqueueCopyImage(clt_queue, a, g, zero, zero, region, 0, NULL, NULL), CL_IMAGE_FORMAT_MISMATCH);
    FAILS(clEnqueueCopyImage(clt_queue, a, a, NULL, zero, region, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyImage(clt_queue, a, a, zero, NULL, region, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyImage(clt_queue, a, a, zero, zero, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyImage(clt_queue, a, a, zero, zero, region, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    FAILS(clEnqueueCopyImage(clt_queue, a, a, zero, row, region, 0, NULL, NULL), CL_INVALID_VALUE);
    /* 2 x 2 pixels are 16 bytes, and the buffer has 64. */
    OK(clEnqueueCopyImageToBuffer(clt_queue, a, b, zero, region, 48, 0, NULL, NULL));
    FAILS(clEnqueueCopyImageToBuffer(clt_queue, a, b, zero, region, 49, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyImageToBuffer(clt_queue, a, b, zero, region, (size_t)-8, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyBufferToImage(clt_queue, b, a, 49, zero, region, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyBufferToImage(clt_queue, b, a, 0, NULL, region, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyBufferToImage(clt_queue, b, a, 0, zero, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    const cl_image_desc line = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 8, .buffer = b};
    cl_mem of = clCreateImage(clt_context, 0, &rgba8, &line, NULL, &clt_error);
    MADE(of);
    FAILS(clEnqueueCopyImageToBuffer(clt_queue, of, b, zero, row, 32, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyBufferToImage(clt_queue, b, of, 32, zero, row, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    const cl_image_desc plane = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 2, .buffer = b};
    cl_mem in = clCreateImage(clt_context, 0, &rgba8, &plane, NULL, &clt_error);
    MADE(in);
    OK(clEnqueueCopyImageToBuffer(clt_queue, in, b, zero, row, 32, 0, NULL, NULL));
    FAILS(clEnqueueCopyImageToBuffer(clt_queue, in, b, zero, row, 4, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clFinish(clt_queue));
    OK(clReleaseMemObject(of));
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(r));
    OK(clReleaseMemObject(g));
    OK(clReleaseMemObject(b));
}

static void test_host_access(void **state)
{
    (void)state;
    static const struct {
        cl_mem_flags flags;
        bool reads, writes;
    } cases[] = {{0, true, true}, {CL_MEM_HOST_READ_ONLY, true, false}, {CL_MEM_HOST_WRITE_ONLY, false, true},
                 {CL_MEM_HOST_NO_ACCESS, false, false}};
    char host[4] = {0};
    const size_t one[3] = {1, 1, 1};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        cl_mem m = image(&rgba8, CL_MEM_OBJECT_IMAGE2D, cases[i].flags, NULL);
        const cl_int reads = cases[i].reads ? CL_SUCCESS : CL_INVALID_OPERATION;
        const cl_int writes = cases[i].writes ? CL_SUCCESS : CL_INVALID_OPERATION;
        const struct {
            cl_map_flags flags;
            cl_int want;
        } maps[] = {{CL_MAP_READ, reads}, {CL_MAP_WRITE, writes}, {CL_MAP_WRITE_INVALIDATE_REGION, writes}};
        FAILS(clEnqueueReadImage(clt_queue, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL), reads);
        FAILS(clEnqueueWriteImage(clt_queue, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL), writes);
        OK(clEnqueueFillImage(clt_queue, m, (cl_float[4]){0}, zero, one, 0, NULL, NULL)); /* The device may do both. */
        for (size_t k = 0; k < LENGTH(maps); k++) {
            size_t row;
            void *p = clEnqueueMapImage(clt_queue, m, CL_TRUE, maps[k].flags, zero, one, &row, NULL, 0, NULL, NULL,
                                        &clt_error);
            FAILS(clt_error, maps[k].want);
            if (p != NULL) {
                OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
            }
        }
        OK(clReleaseMemObject(m));
    }
}

#define NAN_BITS 0x7fc00000u

/** Fills with a colour, whose components are given as bits, and expects these bytes. */
static void test_colors(void **state)
{
    (void)state;
    static const union {
        cl_float f[4];
        cl_int i[4];
        cl_uint u[4];
    } floats = {.f = {0.5f, -1.0f, 2.0f, 0.25f}}, odd = {.f = {0.498039216f, 0.00196f, 1.0f, 0.75f}},
      tiny = {.f = {65520.0f, 5.9604645e-08f, -65519.0f, 1.0009765f}},
      ints = {.i = {-200, 200, -40000, 40000}}, uints = {.u = {255, 256, 65535, 4000000000u}},
      special = {.u = {NAN_BITS, 0x7f800000u, 0xff800000u, 0x80000000u}},
      gamma = {.f = {0.0f, 0.002f, 0.5f, 0.5f}}, ties = {.f = {0x1p-25f, 0x1.8p-24f, 0x1.002p0f, 0x1.006p0f}};
    static const struct {
        cl_image_format format;
        const void *color;
        size_t bytes;
        unsigned char want[16];
    } cases[] = {
        {{CL_RGBA, CL_UNORM_INT8}, &floats, 4, {128, 0, 255, 64}},
        {{CL_RGBA, CL_UNORM_INT8}, &odd, 4, {127, 0, 255, 191}},
        {{CL_RGBA, CL_UNORM_INT8}, &special, 4, {0, 255, 0, 0}},
        {{CL_BGRA, CL_UNORM_INT8}, &floats, 4, {255, 0, 128, 64}},
        {{CL_ARGB, CL_UNORM_INT8}, &floats, 4, {64, 128, 0, 255}},
        {{CL_ABGR, CL_UNORM_INT8}, &floats, 4, {64, 255, 0, 128}},
        {{CL_RGBA, CL_SNORM_INT8}, &floats, 4, {64, 0x81, 127, 32}},
        {{CL_RGBA, CL_SNORM_INT8}, &special, 4, {0, 127, 0x80, 0}},
        {{CL_R, CL_UNORM_INT16}, &floats, 2, {0x00, 0x80}},
        {{CL_RG, CL_SNORM_INT16}, &floats, 4, {0x00, 0x40, 0x01, 0x80}},
        {{CL_A, CL_UNORM_INT8}, &floats, 1, {64}},
        {{CL_RA, CL_UNORM_INT8}, &floats, 2, {128, 64}},
        {{CL_INTENSITY, CL_FLOAT}, &floats, 4, {0, 0, 0, 0x3f}},
        {{CL_LUMINANCE, CL_UNORM_INT8}, &floats, 1, {128}},
        {{CL_DEPTH, CL_FLOAT}, &floats, 4, {0, 0, 0, 0x3f}},
        {{CL_DEPTH, CL_UNORM_INT16}, &floats, 2, {0x00, 0x80}},
        {{CL_RGBA, CL_FLOAT}, &special, 16, {0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff, 0, 0, 0, 0x80}},
        {{CL_RGBA, CL_HALF_FLOAT}, &tiny, 8, {0x00, 0x7c, 0x01, 0x00, 0xff, 0xfb, 0x01, 0x3c}},
        {{CL_RG, CL_HALF_FLOAT}, &special, 4, {0x00, 0x7e, 0x00, 0x7c}},
        {{CL_RGBA, CL_HALF_FLOAT}, &ties, 8, {0x00, 0x00, 0x02, 0x00, 0x00, 0x3c, 0x02, 0x3c}},
        {{CL_RGBA, CL_SIGNED_INT8}, &ints, 4, {0x80, 0x7f, 0x80, 0x7f}},
        {{CL_RGBA, CL_SIGNED_INT16}, &ints, 8, {0x38, 0xff, 200, 0, 0x00, 0x80, 0xff, 0x7f}},
        {{CL_RG, CL_SIGNED_INT32}, &ints, 8, {0x38, 0xff, 0xff, 0xff, 200, 0, 0, 0}},
        {{CL_RGBA, CL_UNSIGNED_INT8}, &uints, 4, {255, 255, 255, 255}},
        {{CL_RGBA, CL_UNSIGNED_INT16}, &uints, 8, {255, 0, 0, 1, 255, 255, 255, 255}},
        {{CL_R, CL_UNSIGNED_INT32}, &uints, 4, {255, 0, 0, 0}},
        {{CL_RGB, CL_UNORM_SHORT_565}, &floats, 2, {0x1f, 0x80}},
        {{CL_RGB, CL_UNORM_SHORT_555}, &floats, 2, {0x1f, 0x40}},
        {{CL_RGBx, CL_UNORM_INT_101010}, &floats, 4, {0xff, 0x03, 0x00, 0x20}},
        {{CL_sRGBA, CL_UNORM_INT8}, &gamma, 4, {0, 7, 188, 128}},
        {{CL_sBGRA, CL_UNORM_INT8}, &gamma, 4, {188, 7, 0, 128}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const cl_channel_order order = cases[i].format.image_channel_order;
        const bool srgb = order == CL_sRGBA || order == CL_sBGRA;
        unsigned char got[WIDTH * 16];
        const size_t row[3] = {WIDTH, 1, 1}, at[3] = {1, 2, 0}, region[3] = {3, 1, 1}, begin[3] = {0, 2, 0};
        cl_mem m = image(&cases[i].format, CL_MEM_OBJECT_IMAGE2D, srgb ? CL_MEM_READ_ONLY : 0, NULL);
        memset(got, 0x5a, sizeof got);
        OK(clEnqueueWriteImage(clt_queue, m, CL_TRUE, begin, row, 0, 0, got, 0, NULL, NULL));
        OK(clEnqueueFillImage(clt_queue, m, cases[i].color, at, region, 0, NULL, NULL));
        OK(clEnqueueReadImage(clt_queue, m, CL_TRUE, begin, row, 0, 0, got, 0, NULL, NULL));
        for (size_t x = 0; x < WIDTH; x++) {
            for (size_t k = 0; k < cases[i].bytes; k++) {
                const unsigned want = x >= 1 && x < 4 ? cases[i].want[k] : 0x5a;
                if (got[x * cases[i].bytes + k] != want) {
                    fail_msg("case %zu, pixel %zu, byte %zu: %u instead of %u", i, x, k,
                             got[x * cases[i].bytes + k], want);
                }
            }
        }
        OK(clReleaseMemObject(m));
    }
}

/** Commands with images wait for events, and their own have their types and times. */
static void test_events(void **state)
{
    (void)state;
    enum { BYTES = WIDTH * HEIGHT * 4 };
    static unsigned char in[BYTES], out[BYTES];
    const size_t region[3] = {WIDTH, HEIGHT, 1};
    const cl_uint color[4] = {1, 2, 3, 4};
    const cl_image_format uints = {CL_RGBA, CL_UNSIGNED_INT8};
    static const cl_command_type types[7] = {CL_COMMAND_WRITE_IMAGE, CL_COMMAND_FILL_IMAGE, CL_COMMAND_COPY_IMAGE,
                                             CL_COMMAND_COPY_IMAGE_TO_BUFFER, CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                                             CL_COMMAND_READ_IMAGE, CL_COMMAND_MAP_IMAGE};
    cl_event e[8];
    size_t row;
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                              &clt_error);
    MADE(q);
    cl_mem a = image(&uints, CL_MEM_OBJECT_IMAGE2D, 0, NULL), b = image(&uints, CL_MEM_OBJECT_IMAGE2D, 0, NULL);
    cl_mem buffer = clt_buffer(BYTES, NULL), c = image(&uints, CL_MEM_OBJECT_IMAGE2D, 0, NULL);
    const size_t corner[3] = {WIDTH - 1, HEIGHT - 1, 0}, one[3] = {1, 1, 1};
    for (size_t i = 0; i < BYTES; i++) {
        in[i] = (unsigned char)(i + 7);
    }
    e[0] = clCreateUserEvent(clt_context, &clt_error);
    OK(clEnqueueWriteImage(q, a, CL_FALSE, zero, region, 0, 0, in, 1, &e[0], &e[1]));
    OK(clEnqueueFillImage(q, a, color, corner, one, 1, &e[1], &e[2]));
    OK(clEnqueueCopyImage(q, a, b, zero, zero, region, 1, &e[2], &e[3]));
    OK(clEnqueueCopyImageToBuffer(q, b, buffer, zero, region, 0, 1, &e[3], &e[4]));
    OK(clEnqueueCopyBufferToImage(q, buffer, c, 0, zero, region, 1, &e[4], &e[5]));
    OK(clEnqueueReadImage(q, c, CL_FALSE, zero, region, 0, 0, out, 1, &e[5], &e[6]));
    unsigned char *p = clEnqueueMapImage(q, c, CL_FALSE, CL_MAP_READ, zero, region, &row, NULL, 1, &e[6], &e[7],
                                         &clt_error);
    MADE(p);
    OK(clReleaseMemObject(a)); /* The commands hold the images. */
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(buffer));
    cl_int status = CL_COMPLETE;
    OK(clGetEventInfo(e[7], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_QUEUED);
    OK(clSetUserEventStatus(e[0], CL_COMPLETE));
    OK(clWaitForEvents(1, &e[7]));
    for (size_t i = 0; i < BYTES; i++) {
        const unsigned char want = i >= BYTES - 4 ? (unsigned char)(i - (BYTES - 4) + 1) : in[i];
        assert_int_equal(out[i], want);
        assert_int_equal(p[i / (WIDTH * 4) * row + i % (WIDTH * 4)], want);
    }
    OK(clEnqueueUnmapMemObject(q, c, p, 0, NULL, NULL));
    for (int i = 0; i < 8; i++) {
        cl_command_type type = 0;
        OK(clGetEventInfo(e[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        assert_int_equal(type, i == 0 ? CL_COMMAND_USER : types[i - 1]);
        OK(clReleaseEvent(e[i]));
    }
    OK(clReleaseMemObject(c));
    OK(clReleaseCommandQueue(q));
}

static void *map(cl_mem m, cl_map_flags flags, size_t x, size_t y, size_t width, size_t height)
{
    const size_t origin[3] = {x, y, 0}, region[3] = {width, height, 1};
    size_t row;
    return clEnqueueMapImage(clt_queue, m, CL_TRUE, flags, origin, region, &row, NULL, 0, NULL, NULL, &clt_error);
}

/** Mappings for writing do not overlap, to the byte: of an image, of a view of it, and of the buffer below. */
static void test_mappings_that_overlap(void **state)
{
    (void)state;
    cl_mem b = clt_buffer(1024, NULL);
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 8,
                          .image_row_pitch = 64, .buffer = b};
    cl_mem m = clCreateImage(clt_context, 0, &rgba8, &desc, NULL, &clt_error);
    MADE(m);
    desc.mem_object = m;
    cl_mem v = clCreateImage(clt_context, 0, &rgba8, &desc, NULL, &clt_error);
    MADE(v);
    cl_uint n = 9;
    void *left = map(m, CL_MAP_WRITE, 0, 0, 4, 8);
    MADE(left);
    void *right = map(m, CL_MAP_WRITE_INVALIDATE_REGION, 4, 0, 4, 8); /* Its rows lie between those of the first. */
    MADE(right);
    REFUSED(map(m, CL_MAP_WRITE, 3, 7, 1, 1), CL_INVALID_OPERATION);
    REFUSED(map(m, CL_MAP_WRITE, 0, 0, 8, 8), CL_INVALID_OPERATION);
    REFUSED(map(v, CL_MAP_WRITE, 4, 4, 1, 1), CL_INVALID_OPERATION);
    REFUSED(clEnqueueMapBuffer(clt_queue, b, CL_TRUE, CL_MAP_WRITE, 31, 1, 0, NULL, NULL, &clt_error),
            CL_INVALID_OPERATION);
    void *gap = clEnqueueMapBuffer(clt_queue, b, CL_TRUE, CL_MAP_WRITE, 32, 32, 0, NULL, NULL, &clt_error);
    MADE(gap);
    void *read = map(m, CL_MAP_READ, 0, 0, 8, 8);
    MADE(read);
    OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof n, &n, NULL));
    assert_int_equal(n, 3);
    OK(clEnqueueUnmapMemObject(clt_queue, m, left, 0, NULL, NULL));
    void *again = map(v, CL_MAP_WRITE, 0, 0, 4, 8);
    MADE(again);
    REFUSED(map(m, CL_MAP_WRITE, 3, 7, 1, 1), CL_INVALID_OPERATION);
    OK(clEnqueueUnmapMemObject(clt_queue, v, again, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, read, 0, NULL, NULL));
    OK(clReleaseMemObject(v));
    OK(clReleaseMemObject(m)); /* One mapping is left. */
    OK(clEnqueueUnmapMemObject(clt_queue, b, gap, 0, NULL, NULL));
    OK(clFinish(clt_queue)); /* No command holds the image any more, so its mapping has ended with it. */
    void *whole = clEnqueueMapBuffer(clt_queue, b, CL_TRUE, CL_MAP_WRITE, 0, 1024, 0, NULL, NULL, &clt_error);
    MADE(whole);
    OK(clEnqueueUnmapMemObject(clt_queue, b, whole, 0, NULL, NULL));
    OK(clReleaseMemObject(b));
    (void)right;
}

/** A refused mapping leaves none of its rows behind, and an image in a part of a buffer has its place in the whole. */
static void test_mappings_in_a_part(void **state)
{
    (void)state;
    const cl_buffer_region region = {128, 512};
    cl_mem b = clt_buffer(1024, NULL);
    cl_mem part = clCreateSubBuffer(b, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &clt_error);
    MADE(part);
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 8,
                                .image_row_pitch = 64, .buffer = part};
    cl_mem m = clCreateImage(clt_context, 0, &rgba8, &desc, NULL, &clt_error);
    MADE(m);
    void *last = map(m, CL_MAP_WRITE, 2, 7, 1, 1);
    MADE(last);
    REFUSED(map(m, CL_MAP_WRITE, 0, 0, 8, 8), CL_INVALID_OPERATION); /* Its last row meets the other mapping. */
    void *first = map(m, CL_MAP_WRITE, 0, 0, 8, 7);
    MADE(first);
    void *before = clEnqueueMapBuffer(clt_queue, b, CL_TRUE, CL_MAP_WRITE, 0, 128, 0, NULL, NULL, &clt_error);
    MADE(before);
    REFUSED(clEnqueueMapBuffer(clt_queue, b, CL_TRUE, CL_MAP_WRITE, 128, 1, 0, NULL, NULL, &clt_error),
            CL_INVALID_OPERATION);
    REFUSED(clEnqueueMapBuffer(clt_queue, b, CL_TRUE, CL_MAP_WRITE, 128 + 7 * 64 + 8, 1, 0, NULL, NULL, &clt_error),
            CL_INVALID_OPERATION);
    OK(clEnqueueUnmapMemObject(clt_queue, b, before, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, last, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, first, 0, NULL, NULL));
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(part));
    OK(clReleaseMemObject(b));
}

/** A mapping for reading does not undo what the application has written into its own memory through another one. */
static void test_application_memory(void **state)
{
    (void)state;
    static unsigned char host[HEIGHT][32];
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT,
                                .image_row_pitch = sizeof host[0]};
    memset(host, 1, sizeof host);
    cl_mem m = clCreateImage(clt_context, CL_MEM_USE_HOST_PTR, &rgba8, &desc, host, &clt_error);
    MADE(m);
    unsigned char *p = map(m, CL_MAP_WRITE, 2, 1, 2, 3);
    assert_ptr_equal(p, &host[1][8]);
    for (int y = 1; y < 4; y++) {
        memset(&host[y][8], 2, 8);
    }
    host[0][0] = 3; /* Not mapped for writing: the device has 1. */
    host[2][4] = 3;
    host[2][24] = 4; /* Behind the row. */
    void *r = map(m, CL_MAP_READ, 0, 0, WIDTH, HEIGHT);
    assert_ptr_equal(r, host);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < 24; x++) {
            assert_int_equal(host[y][x], y >= 1 && y < 4 && x >= 8 && x < 16 ? 2 : 1);
        }
    }
    assert_int_equal(host[2][24], 4);
    OK(clEnqueueUnmapMemObject(clt_queue, m, r, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
    unsigned char got[4];
    const size_t at[3] = {2, 3, 0}, one[3] = {1, 1, 1};
    OK(clEnqueueReadImage(clt_queue, m, CL_TRUE, at, one, 0, 0, got, 0, NULL, NULL));
    assert_int_equal(got[3], 2);
    OK(clReleaseMemObject(m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),      cmocka_unit_test(test_refused_transfers),
        cmocka_unit_test(test_refused_copies), cmocka_unit_test(test_host_access),
        cmocka_unit_test(test_colors),      cmocka_unit_test(test_events),
        cmocka_unit_test(test_mappings_that_overlap), cmocka_unit_test(test_mappings_in_a_part),
        cmocka_unit_test(test_application_memory),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
