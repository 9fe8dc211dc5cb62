/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random reads, writes, copies, fills and mappings of boxes of images, compared with a model on the host. The images of
 * one round have one format, and are of every type: in memory of the device, with copied or used memory of the
 * application and its pitches, in a buffer or a part of one, and views of other images. A failure prints its seed.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { IMAGES = 10, STEPS = 160, SPACE = 1 << 16, SIDE = 9, PIXEL = 16 };

/** An image and its model: the bytes of its memory with the pitches of the image. */
struct image {
    cl_mem m;
    cl_mem_object_type type;
    size_t size[3];        /**< Pixels, with the layers of an array in y or z. */
    size_t row, slice;     /**< Bytes of the image's memory from y to y + 1, and from z to z + 1. */
    size_t row_of_type;    /**< CL_IMAGE_ROW_PITCH, which is not `row` in a 1-D array. */
    unsigned char *model;  /**< First byte of the image's memory in the model. */
    cl_mem buffer;         /**< The buffer that it is made of, or NULL. */
    unsigned char *host;   /**< The application's memory, of CL_MEM_USE_HOST_PTR, or NULL. */
    bool view;             /**< The image shares the memory and the model of the image before it. */
};

static struct image images[IMAGES];
static cl_image_format format;
static size_t pixel; /**< Bytes of a pixel. */
static uint32_t seed, first_seed;
static unsigned char models[IMAGES][SPACE], hosts[IMAGES][SPACE]; /* Each image's, from its buffer's first byte. */
static unsigned char linear_model[SPACE]; /* The model of `linear`, from and to which images are copied. */
static cl_mem linear;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fail_msg("line %d, seed %u: " #condition, __LINE__, first_seed); \
        } \
    } while (0)

static size_t random_below(size_t n)
{
    return clt_random(&seed) % n;
}

static void random_bytes(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (unsigned char)clt_random(&seed);
    }
}

/** Random sizes and pitches of a type. `pitched`: the application gives memory or a buffer. */
static cl_image_desc random_shape(struct image *i, cl_mem_object_type type, bool pitched)
{
    cl_image_desc d = {.image_type = type, .image_width = 1 + random_below(SIDE)};
    const bool array1 = type == CL_MEM_OBJECT_IMAGE1D_ARRAY, array2 = type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool solid = type == CL_MEM_OBJECT_IMAGE3D, flat = type == CL_MEM_OBJECT_IMAGE2D;
    const bool row = pitched && type != CL_MEM_OBJECT_IMAGE1D_BUFFER && random_below(3) != 0;
    *i = (struct image){.type = type, .size = {d.image_width, 1, 1}};
    i->row = i->row_of_type = (d.image_width + (row ? random_below(4) : 0)) * pixel;
    d.image_row_pitch = row ? i->row : 0;
    if (flat || array2 || solid) {
        i->size[1] = d.image_height = 1 + random_below(SIDE);
    }
    if (array1) {
        i->size[1] = d.image_array_size = 1 + random_below(SIDE);
        if (row && random_below(2) == 0) {
            i->row = d.image_slice_pitch = i->row_of_type * (1 + random_below(3));
        }
    }
    i->slice = i->row * i->size[1];
    if (array2 || solid) {
        i->size[2] = 1 + random_below(4);
        *(array2 ? &d.image_array_size : &d.image_depth) = i->size[2];
        if (row && random_below(2) == 0) {
            i->slice = d.image_slice_pitch = i->row * (i->size[1] + random_below(3));
        }
    }
    return d;
}

/** Makes image n. The number chooses type and memory. */
static void make(unsigned n)
{
    static const cl_mem_object_type types[IMAGES] = {
        CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
        CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D,        CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
        CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    };
    struct image *i = &images[n];
    const bool in_buffer = n == 1 || n == 4, view = n == 5;
    const cl_mem_flags flags = in_buffer || view || n == 0 ? 0 : random_below(2) == 0 ? CL_MEM_USE_HOST_PTR
                                                                                     : CL_MEM_COPY_HOST_PTR;
    cl_image_desc d;
    if (view) {
        *i = images[4];
        i->view = true;
        d = (cl_image_desc){.image_type = i->type, .image_width = i->size[0], .image_height = i->size[1],
                            .mem_object = images[4].m};
        i->m = clCreateImage(clt_context, 0, &format, &d, NULL, &clt_error);
        MADE(i->m);
        return;
    }
    d = random_shape(i, types[n], in_buffer || flags != 0);
    i->model = models[n];
    random_bytes(models[n], SPACE);
    memcpy(hosts[n], models[n], SPACE);
    if (in_buffer) {
        cl_buffer_region region = {128 * random_below(3), SPACE / 2};
        cl_mem whole = clCreateBuffer(clt_context, CL_MEM_COPY_HOST_PTR, SPACE, hosts[n], &clt_error);
        MADE(whole);
        i->buffer = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &clt_error);
        MADE(i->buffer);
        OK(clReleaseMemObject(whole));
        i->model += region.origin;
        d.buffer = i->buffer;
    }
    i->m = clCreateImage(clt_context, flags, &format, &d, flags != 0 ? hosts[n] : NULL, &clt_error);
    MADE(i->m);
    if (flags == CL_MEM_COPY_HOST_PTR) {
        random_bytes(hosts[n], SPACE); /* The call has copied it. */
    }
    i->host = flags == CL_MEM_USE_HOST_PTR ? hosts[n] : NULL;
    if (flags == 0 && !in_buffer) {
        const size_t zero[3] = {0};
        OK(clEnqueueWriteImage(clt_queue, i->m, CL_TRUE, zero, i->size, 0, 0, models[n], 0, NULL, NULL));
    }
}

/** A box of the image that fits `most` as well, unless that is NULL. */
static void random_box(const struct image *i, const size_t *most, size_t origin[3], size_t region[3])
{
    for (int k = 0; k < 3; k++) {
        const size_t limit = most != NULL && most[k] < i->size[k] ? most[k] : i->size[k];
        region[k] = random_below(3) == 0 ? limit : 1 + random_below(limit);
        origin[k] = random_below(i->size[k] - region[k] + 1);
    }
}

static unsigned char *place(const struct image *i, const size_t origin[3], size_t y, size_t z)
{
    return i->model + (origin[2] + z) * i->slice + (origin[1] + y) * i->row + origin[0] * pixel;
}

/** Random pitches of host memory for a region. *row and *slice are what the call gets; the steps are what apply. */
static void random_pitches(const struct image *i, const size_t region[3], size_t *row, size_t *slice, size_t *step_y,
                           size_t *step_z)
{
    const bool array1 = i->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool solid = i->type == CL_MEM_OBJECT_IMAGE2D_ARRAY || i->type == CL_MEM_OBJECT_IMAGE3D;
    const size_t least = region[0] * pixel;
    *row = random_below(2) == 0 ? 0 : least + random_below(20);
    *step_y = *row == 0 ? least : *row;
    *slice = 0;
    if (array1 && random_below(2) == 0) {
        *step_y = *slice = *step_y + random_below(50);
    }
    *step_z = *step_y * region[1];
    if (solid && random_below(2) == 0) {
        *step_z = *slice = *step_z + random_below(50);
    }
}

static void read_or_write(struct image *i, bool write)
{
    static unsigned char host[SPACE], before[SPACE];
    size_t origin[3], region[3], row, slice, step_y, step_z;
    random_box(i, NULL, origin, region);
    random_pitches(i, region, &row, &slice, &step_y, &step_z);
    random_bytes(host, sizeof host);
    memcpy(before, host, sizeof before);
    if (write) {
        OK(clEnqueueWriteImage(clt_queue, i->m, CL_TRUE, origin, region, row, slice, host, 0, NULL, NULL));
    } else {
        OK(clEnqueueReadImage(clt_queue, i->m, CL_TRUE, origin, region, row, slice, host, 0, NULL, NULL));
    }
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            unsigned char *at = host + z * step_z + y * step_y, *old = before + z * step_z + y * step_y;
            if (write) {
                memcpy(place(i, origin, y, z), at, region[0] * pixel);
            } else {
                CHECK(memcmp(place(i, origin, y, z), at, region[0] * pixel) == 0);
                memcpy(old, at, region[0] * pixel);
            }
        }
    }
    CHECK(memcmp(host, before, sizeof host) == 0); /* Only the box was written. */
}

/** True: the boxes share a byte of one model. */
static bool overlap(const struct image *a, const size_t at[3], const struct image *b, const size_t bt[3],
                    const size_t region[3])
{
    bool meet = a->model == b->model;
    for (int k = 0; k < 3; k++) {
        meet = meet && at[k] < bt[k] + region[k] && bt[k] < at[k] + region[k];
    }
    return meet;
}

static void copy(struct image *a, struct image *b)
{
    size_t from[3], to[3], region[3];
    random_box(a, b->size, from, region);
    for (int k = 0; k < 3; k++) {
        to[k] = random_below(b->size[k] - region[k] + 1);
    }
    const cl_int want = overlap(a, from, b, to, region) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
    FAILS(clEnqueueCopyImage(clt_queue, a->m, b->m, from, to, region, 0, NULL, NULL), want);
    for (size_t z = 0; z < region[2] && want == CL_SUCCESS; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            memcpy(place(b, to, y, z), place(a, from, y, z), region[0] * pixel);
        }
    }
}

static void copy_with_buffer(struct image *i, bool to_buffer)
{
    size_t origin[3], region[3];
    random_box(i, NULL, origin, region);
    const size_t row = region[0] * pixel, bytes = row * region[1] * region[2], offset = random_below(SPACE - bytes + 1);
    if (to_buffer) {
        OK(clEnqueueCopyImageToBuffer(clt_queue, i->m, linear, origin, region, offset, 0, NULL, NULL));
    } else {
        OK(clEnqueueCopyBufferToImage(clt_queue, linear, i->m, offset, origin, region, 0, NULL, NULL));
    }
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            unsigned char *at = linear_model + offset + (z * region[1] + y) * row;
            unsigned char *in = place(i, origin, y, z);
            memcpy(to_buffer ? at : in, to_buffer ? in : at, row);
        }
    }
}

/** Fills with a colour whose bytes are known: components 0 and 1, or small integers. */
static void fill(struct image *i)
{
    const cl_channel_type type = format.image_channel_data_type;
    const bool whole = type >= CL_SIGNED_INT8 && type <= CL_UNSIGNED_INT32;
    const size_t channels = pixel / (type == CL_UNORM_INT8 || type == CL_SIGNED_INT8             ? 1
                                     : type == CL_UNORM_INT16 || type == CL_UNSIGNED_INT16      ? 2
                                                                                                : 4);
    union {
        cl_float f[4];
        cl_uint u[4];
    } color;
    unsigned char bytes[PIXEL] = {0};
    size_t origin[3], region[3];
    for (size_t c = 0; c < 4; c++) {
        const uint32_t v = whole ? (uint32_t)random_below(100) : (uint32_t)random_below(2);
        if (whole) {
            color.u[c] = v;
        } else {
            color.f[c] = (cl_float)v;
        }
        if (c < channels) {
            const uint32_t stored = whole ? v : type == CL_FLOAT ? color.u[c] : v * 0xffffffffu;
            memcpy(bytes + c * (pixel / channels), &stored, pixel / channels);
        }
    }
    random_box(i, NULL, origin, region);
    OK(clEnqueueFillImage(clt_queue, i->m, &color, origin, region, 0, NULL, NULL));
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            for (size_t x = 0; x < region[0]; x++) {
                memcpy(place(i, origin, y, z) + x * pixel, bytes, pixel);
            }
        }
    }
}

static void map(struct image *i)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    const cl_map_flags f = flags[random_below(LENGTH(flags))];
    const bool array1 = i->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool solid = i->type == CL_MEM_OBJECT_IMAGE2D_ARRAY || i->type == CL_MEM_OBJECT_IMAGE3D;
    size_t origin[3], region[3], row = 99, slice = 99;
    random_box(i, NULL, origin, region);
    unsigned char *p = clEnqueueMapImage(clt_queue, i->m, CL_TRUE, f, origin, region, &row, &slice, 0, NULL, NULL,
                                         &clt_error);
    MADE(p);
    CHECK(row >= region[0] * pixel && (array1 || solid ? slice >= row : slice == 0));
    if (i->host != NULL) {
        CHECK(p == i->host + (place(i, origin, 0, 0) - i->model) && row == i->row_of_type);
        CHECK(slice == (array1 ? i->row : solid ? i->slice : 0));
    }
    const size_t step = array1 ? slice : row;
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            unsigned char *at = p + z * slice + y * step;
            CHECK((f & CL_MAP_WRITE_INVALIDATE_REGION) != 0 ||
                  memcmp(at, place(i, origin, y, z), region[0] * pixel) == 0);
            if ((f & CL_MAP_READ) == 0 || (f & CL_MAP_WRITE) != 0) {
                random_bytes(at, region[0] * pixel);
                memcpy(place(i, origin, y, z), at, region[0] * pixel);
            }
        }
    }
    OK(clEnqueueUnmapMemObject(clt_queue, i->m, p, 0, NULL, NULL));
}

/** Compares all of an image, and all of the buffer that it is made of: no byte beside the image was written. */
static void compare(const struct image *i)
{
    static unsigned char got[SPACE];
    const size_t zero[3] = {0}, row = i->size[0] * pixel;
    OK(clEnqueueReadImage(clt_queue, i->m, CL_TRUE, zero, i->size, 0, 0, got, 0, NULL, NULL));
    for (size_t z = 0; z < i->size[2]; z++) {
        for (size_t y = 0; y < i->size[1]; y++) {
            CHECK(memcmp(got + (z * i->size[1] + y) * row, place(i, zero, y, z), row) == 0);
        }
    }
    if (i->buffer != NULL) {
        OK(clEnqueueReadBuffer(clt_queue, i->buffer, CL_TRUE, 0, SPACE / 2, got, 0, NULL, NULL));
        CHECK(memcmp(got, i->model, SPACE / 2) == 0);
    }
}

static void test_format(const cl_image_format *f, size_t bytes, uint32_t number)
{
    first_seed = seed = number;
    format = *f;
    pixel = bytes;
    for (unsigned n = 0; n < IMAGES; n++) {
        make(n);
    }
    random_bytes(linear_model, SPACE);
    linear = clt_buffer(SPACE, linear_model);
    for (unsigned step = 0; step < STEPS; step++) {
        struct image *i = &images[random_below(IMAGES)];
        switch (random_below(8)) {
        case 0:
        case 1:
            read_or_write(i, random_below(2) == 0);
            break;
        case 2:
        case 3:
            copy(i, &images[random_below(IMAGES)]);
            break;
        case 4:
            copy(i, i);
            break;
        case 5:
            copy_with_buffer(i, random_below(2) == 0);
            break;
        case 6:
            fill(i);
            break;
        default:
            map(i);
            break;
        }
    }
    static unsigned char got[SPACE];
    clt_read(linear, got, SPACE);
    CHECK(memcmp(got, linear_model, SPACE) == 0);
    for (unsigned n = 0; n < IMAGES; n++) {
        compare(&images[n]);
    }
    for (unsigned n = 0; n < IMAGES; n++) {
        if (images[n].buffer != NULL && !images[n].view) {
            OK(clReleaseMemObject(images[n].buffer));
        }
        OK(clReleaseMemObject(images[n].m));
    }
    OK(clReleaseMemObject(linear));
}

static void test_all(void **state)
{
    (void)state;
    static const struct {
        cl_image_format format;
        size_t pixel;
    } formats[] = {
        {{CL_R, CL_UNORM_INT8}, 1},     {{CL_RG, CL_SIGNED_INT8}, 2},     {{CL_R, CL_UNSIGNED_INT16}, 2},
        {{CL_RGBA, CL_UNORM_INT8}, 4},  {{CL_RG, CL_UNORM_INT16}, 4},     {{CL_R, CL_FLOAT}, 4},
        {{CL_RG, CL_FLOAT}, 8},         {{CL_RGBA, CL_UNSIGNED_INT16}, 8}, {{CL_RGBA, CL_FLOAT}, 16},
        {{CL_RGBA, CL_UNSIGNED_INT32}, 16},
    };
    const char *given = getenv("TERN_TEST_SEED");
    const uint32_t start = given != NULL ? (uint32_t)strtoul(given, NULL, 0) : 1;
    print_message("seeds from %u (TERN_TEST_SEED)\n", start);
    for (uint32_t n = 0; n < 2 * LENGTH(formats); n++) {
        test_format(&formats[n % LENGTH(formats)].format, formats[n % LENGTH(formats)].pixel, start + n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
