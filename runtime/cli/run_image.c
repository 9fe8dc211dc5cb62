/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images and samplers as ARGs of tern run (tern-run(1)):
 *
 *   image:SIZES:ORDER:TYPE[:CONTENTS]    SIZES as 64x48; contents are zeros, random[:SEED] or @FILE
 *   sampler:WORD[,WORD...]               normalized; linear or nearest; edge, clamp, repeat, mirror or none
 *
 * Names of orders and types are those of OpenCL without CL_, in letters of any case. An image is made before its
 * contents, because OpenCL knows the size of a pixel then.
 */
#include "run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct word {
    const char *text;
    cl_uint value;
};

static const struct word orders[] = {
    {"R", CL_R}, {"A", CL_A}, {"RG", CL_RG}, {"RA", CL_RA}, {"RGB", CL_RGB}, {"RGBA", CL_RGBA}, {"BGRA", CL_BGRA},
    {"ARGB", CL_ARGB}, {"ABGR", CL_ABGR}, {"INTENSITY", CL_INTENSITY}, {"LUMINANCE", CL_LUMINANCE}, {"Rx", CL_Rx},
    {"RGx", CL_RGx}, {"RGBx", CL_RGBx}, {"DEPTH", CL_DEPTH}, {"sRGBA", CL_sRGBA}, {"sBGRA", CL_sBGRA}, {NULL, 0}};

static const struct word types[] = {
    {"SNORM_INT8", CL_SNORM_INT8}, {"SNORM_INT16", CL_SNORM_INT16}, {"UNORM_INT8", CL_UNORM_INT8},
    {"UNORM_INT16", CL_UNORM_INT16}, {"UNORM_SHORT_565", CL_UNORM_SHORT_565},
    {"UNORM_SHORT_555", CL_UNORM_SHORT_555}, {"UNORM_INT_101010", CL_UNORM_INT_101010},
    {"SIGNED_INT8", CL_SIGNED_INT8}, {"SIGNED_INT16", CL_SIGNED_INT16}, {"SIGNED_INT32", CL_SIGNED_INT32},
    {"UNSIGNED_INT8", CL_UNSIGNED_INT8}, {"UNSIGNED_INT16", CL_UNSIGNED_INT16},
    {"UNSIGNED_INT32", CL_UNSIGNED_INT32}, {"HALF_FLOAT", CL_HALF_FLOAT}, {"FLOAT", CL_FLOAT}, {NULL, 0}};

static const struct word addresses[] = {{"none", CL_ADDRESS_NONE}, {"edge", CL_ADDRESS_CLAMP_TO_EDGE},
                                        {"clamp", CL_ADDRESS_CLAMP}, {"repeat", CL_ADDRESS_REPEAT},
                                        {"mirror", CL_ADDRESS_MIRRORED_REPEAT}, {NULL, 0}};

static const struct word filters[] = {{"nearest", CL_FILTER_NEAREST}, {"linear", CL_FILTER_LINEAR}, {NULL, 0}};

static const struct {
    const char *type;
    cl_mem_object_type object;
    unsigned sizes; /* numbers in SIZES */
} images[] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D, 1}, {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY, 2},
    {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1}, {"image2d_t", CL_MEM_OBJECT_IMAGE2D, 2},
    {"image2d_depth_t", CL_MEM_OBJECT_IMAGE2D, 2}, {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3},
    {"image2d_array_depth_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3}, {"image3d_t", CL_MEM_OBJECT_IMAGE3D, 3},
};

void run_image_find(struct run_arg *a)
{
    /* a struct of the program may have the name of an image in another program, but it has no access qualifier */
    for (size_t i = 0; a->access != CL_KERNEL_ARG_ACCESS_NONE && i < sizeof images / sizeof *images; i++) {
        if (strcmp(a->type_name, images[i].type) == 0) {
            a->image = images[i].object;
            a->image_sizes = images[i].sizes;
        }
    }
    a->sampler = strcmp(a->type_name, "sampler_t") == 0;
}

/** Finds the word that the text begins with, up to a character of `ends`. False: there is none. */
static bool find(const struct word *words, const char **text, const char *ends, cl_uint *value)
{
    const size_t n = strcspn(*text, ends);
    for (; words->text; words++) {
        if (strlen(words->text) == n && strncasecmp(words->text, *text, n) == 0) {
            *value = words->value;
            *text += n;
            return true;
        }
    }
    return false;
}

static int wrong(const struct run_arg *a, const char *text, const char *expected)
{
    fprintf(stderr, "tern run: argument %u '%s' is %s; got '%s', expected %s\n", a->number, a->name, a->type_name, text,
            expected);
    return EXIT_USAGE;
}

static int wrong_image(const struct run_arg *a, const char *text)
{
    static const char *const forms[] = {"", "W", "WxH", "WxHxD"}, *const sizes[] = {"", "64", "64x48", "64x48x3"};
    char expected[256];
    snprintf(expected, sizeof expected, "image:%s:ORDER:TYPE[:CONTENTS] with whole numbers, as "
             "image:%s:RGBA:UNORM_INT8:random", forms[a->image_sizes], sizes[a->image_sizes]);
    return wrong(a, text, expected);
}

int run_image_read(struct run_arg *a, const char *text)
{
    static const char prefix[] = "image:";
    const char *p = text + sizeof prefix - 1;
    cl_uint order = 0, type = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) {
        return wrong_image(a, text);
    }
    for (unsigned i = 0; i < a->image_sizes; i++) {
        const size_t n = strcspn(p, "x:");
        if (!value_count(p, n, &a->extent[i]) || p[n] != (i + 1 < a->image_sizes ? 'x' : ':')) {
            return wrong_image(a, text);
        }
        p += n + 1;
    }
    for (unsigned i = a->image_sizes; i < 3; i++) {
        a->extent[i] = 1;
    }
    if (!find(orders, &p, ":", &order)) {
        return wrong(a, p, "one of the orders R, A, RG, RA, RGB, RGBA, BGRA, ARGB, ABGR, INTENSITY, LUMINANCE, Rx, "
                     "RGx, RGBx, DEPTH, sRGBA and sBGRA");
    }
    p += *p == ':';
    if (!find(types, &p, ":", &type)) {
        return wrong(a, p, "one of the types SNORM_INT8, SNORM_INT16, UNORM_INT8, UNORM_INT16, UNORM_SHORT_565, "
                     "UNORM_SHORT_555, UNORM_INT_101010, SIGNED_INT8, SIGNED_INT16, SIGNED_INT32, UNSIGNED_INT8, "
                     "UNSIGNED_INT16, UNSIGNED_INT32, HALF_FLOAT and FLOAT");
    }
    a->format = (cl_image_format){order, type};
    a->contents = *p == ':' ? p + 1 : p;
    if (*a->contents && *a->contents != '@' && strcmp(a->contents, "zeros") != 0 &&
        strncmp(a->contents, "random", 6) != 0) {
        return wrong(a, a->contents, "zeros, random[:SEED] or @FILE");
    }
    return EXIT_OK;
}

int run_sampler_read(struct run_arg *a, const char *text)
{
    static const char prefix[] = "sampler:";
    static const char expected[] = "sampler:WORDS with words between commas: normalized, linear or nearest, and edge, "
                                   "clamp, repeat, mirror or none";
    const char *p = text + sizeof prefix - 1;
    a->address = CL_ADDRESS_CLAMP_TO_EDGE;
    a->filter = CL_FILTER_NEAREST;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) {
        return wrong(a, text, expected);
    }
    for (bool more = true; more; p += more) {
        static const struct word normalized[] = {{"normalized", CL_TRUE}, {NULL, 0}};
        if (!find(normalized, &p, ",", &a->normalized) && !find(filters, &p, ",", &a->filter) &&
            !find(addresses, &p, ",", &a->address)) {
            return wrong(a, text, expected);
        }
        more = *p == ',';
    }
    return EXIT_OK;
}

/** Random bits; floating-point channels are uniform in [0, 1). */
static void fill_random(struct run_arg *a, uint64_t seed)
{
    const struct type t = type_of(a->format.image_channel_data_type == CL_FLOAT        ? "float"
                                  : a->format.image_channel_data_type == CL_HALF_FLOAT ? "half"
                                                                                       : "uchar");
    uint64_t state = seed << 16 ^ a->number;
    for (size_t i = 0; i < a->size; i += t.bytes) {
        value_random(t, run_random(&state), (char *)a->data + i);
    }
}

/** Makes the contents, `size` bytes. */
static int make_contents(struct run_arg *a, size_t size)
{
    size_t seed = 1;
    if (*a->contents == '@') {
        const int status = file_read("run", a->contents + 1, size, "what the image holds", &a->data, &a->size);
        if (status == EXIT_OK && a->size != size) {
            fprintf(stderr, "tern run: argument %u '%s': '%s' has %zu bytes, and the image holds %zu\n", a->number,
                    a->name, a->contents + 1, a->size, size);
            return EXIT_USAGE;
        }
        return status;
    }
    const char *number = strncmp(a->contents, "random:", 7) == 0 ? a->contents + 7 : "1";
    const bool random = strncmp(a->contents, "random", 6) == 0;
    if (random && ((a->contents[6] && a->contents[6] != ':') || !value_count(number, strlen(number), &seed))) {
        return wrong(a, a->contents, "random or random:SEED, with a whole number");
    }
    a->size = size;
    a->data = calloc(1, size);
    if (!a->data) {
        fprintf(stderr, "tern run: the host has no %zu bytes for argument %u '%s'\n", size, a->number, a->name);
        return EXIT_FAILED;
    }
    if (random) {
        fill_random(a, seed);
    }
    return EXIT_OK;
}

/** Bytes of a pixel; 0, after the runtime's message: there is no such format. */
static size_t pixel_size(struct session *s, const struct run_arg *a)
{
    size_t size = 0;
    const cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1, .image_height = 1};
    cl_int err;
    cl_mem probe = clCreateImage(s->context, CL_MEM_READ_ONLY, &a->format, &d, NULL, &err);
    if (!session_failed(s, err, a->name)) {
        err = clGetImageInfo(probe, CL_IMAGE_ELEMENT_SIZE, sizeof size, &size, NULL);
        clReleaseMemObject(probe);
    }
    return err == CL_SUCCESS ? size : 0;
}

int run_image_make(struct session *s, struct run_arg *a)
{
    const bool array = a->image == CL_MEM_OBJECT_IMAGE1D_ARRAY || a->image == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const size_t pixel = pixel_size(s, a), *e = a->extent;
    cl_image_desc d = {.image_type = a->image, .image_width = e[0]};
    cl_int err = CL_SUCCESS;
    size_t size = pixel;
    for (unsigned i = 0; i < 3; i++) {
        size = e[i] && size <= SIZE_MAX / e[i] ? size * e[i] : 0;
    }
    if (pixel == 0) {
        return EXIT_FAILED;
    }
    d.image_height = a->image_sizes - array >= 2 ? e[1] : 0;
    d.image_depth = a->image == CL_MEM_OBJECT_IMAGE3D ? e[2] : 0;
    d.image_array_size = array ? e[a->image_sizes - 1] : 0;
    if (a->image == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        d.mem_object = clCreateBuffer(s->context, CL_MEM_READ_WRITE, size, NULL, &err);
    }
    if (err == CL_SUCCESS) {
        a->buffer = clCreateImage(s->context, CL_MEM_READ_WRITE, &a->format, &d, NULL, &err);
    }
    if (d.mem_object) {
        clReleaseMemObject(d.mem_object); /* the image keeps it */
    }
    if (session_failed(s, err, a->name)) {
        return EXIT_FAILED;
    }
    const int status = make_contents(a, size);
    if (status != EXIT_OK) {
        return status;
    }
    static const size_t origin[3] = {0};
    err = clEnqueueWriteImage(s->queue, a->buffer, CL_TRUE, origin, e, 0, 0, a->data, 0, NULL, NULL);
    return session_failed(s, err, a->name) ? EXIT_FAILED : EXIT_OK;
}

int run_image_read_back(struct session *s, struct run_arg *a)
{
    static const size_t origin[3] = {0};
    const cl_int err = clEnqueueReadImage(s->queue, a->buffer, CL_TRUE, origin, a->extent, 0, 0, a->data, 0, NULL,
                                          NULL);
    return session_failed(s, err, a->name) ? EXIT_FAILED : EXIT_OK;
}
