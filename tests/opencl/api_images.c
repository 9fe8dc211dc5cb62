/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and queries of images: every kind, every format, and each refusal with its error and text. */
#include "refused.h"

#include <stdbool.h>

#define TYPES 6
#define ALL_FORMATS 128

static const cl_mem_object_type types[TYPES] = {
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
};
static const cl_image_format rgba8 = {CL_RGBA, CL_UNORM_INT8};

static cl_image_desc small_desc(cl_mem_object_type type, cl_mem buffer)
{
    return (cl_image_desc){.image_type = type, .image_width = 4, .image_height = 3, .image_depth = 2,
                           .image_array_size = 2, .buffer = type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? buffer : NULL};
}

static bool listed(const cl_image_format *list, cl_uint n, cl_channel_order order, cl_channel_type type)
{
    for (cl_uint i = 0; i < n; i++) {
        if (list[i].image_channel_order == order && list[i].image_channel_data_type == type) {
            return true;
        }
    }
    return false;
}

/** The lists that the full profile asks for (OpenCL 3.0, 5.3.2.1). */
static void test_mandatory_formats(void **state)
{
    (void)state;
    static const cl_channel_type rgba[] = {CL_UNORM_INT8,    CL_UNORM_INT16,   CL_SIGNED_INT8,    CL_SIGNED_INT16,
                                           CL_SIGNED_INT32,  CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32,
                                           CL_HALF_FLOAT,    CL_FLOAT};
    static const cl_channel_type both[] = {CL_UNORM_INT8,    CL_SIGNED_INT8,    CL_SIGNED_INT16,   CL_SIGNED_INT32,
                                           CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT,
                                           CL_FLOAT};
    static const cl_mem_flags flags[] = {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE};
    cl_image_format list[ALL_FORMATS];
    cl_uint n;
    for (size_t t = 0; t < TYPES; t++) {
        const bool flat = types[t] == CL_MEM_OBJECT_IMAGE2D || types[t] == CL_MEM_OBJECT_IMAGE2D_ARRAY;
        for (size_t f = 0; f < LENGTH(flags); f++) {
            OK(clGetSupportedImageFormats(context, flags[f], types[t], ALL_FORMATS, list, &n));
            for (size_t i = 0; i < LENGTH(rgba); i++) {
                assert_true(listed(list, n, CL_RGBA, rgba[i]));
            }
            assert_true(listed(list, n, CL_BGRA, CL_UNORM_INT8));
            assert_int_equal(listed(list, n, CL_DEPTH, CL_FLOAT), flat);
            assert_int_equal(listed(list, n, CL_DEPTH, CL_UNORM_INT16), flat);
            /* Kernels read sRGB and do not write it. */
            assert_int_equal(listed(list, n, CL_sRGBA, CL_UNORM_INT8), flags[f] == CL_MEM_READ_ONLY);
        }
        OK(clGetSupportedImageFormats(context, CL_MEM_KERNEL_READ_AND_WRITE, types[t], ALL_FORMATS, list, &n));
        for (size_t i = 0; i < LENGTH(both); i++) {
            assert_true(listed(list, n, CL_R, both[i]) && listed(list, n, CL_RGBA, both[i]));
        }
        assert_false(listed(list, n, CL_sRGBA, CL_UNORM_INT8));
    }
}

/** An image can be made in exactly the formats that the list has, and the list has none twice. */
static void test_list_of_formats(void **state)
{
    (void)state;
    static const cl_mem_flags flags[] = {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, 0};
    cl_image_format list[ALL_FORMATS];
    cl_mem buffer = clCreateBuffer(context, 0, 1024, NULL, &clt_error);
    MADE(buffer);
    for (size_t t = 0; t < TYPES; t++) {
        for (size_t f = 0; f < LENGTH(flags); f++) {
            const cl_image_desc desc = small_desc(types[t], buffer);
            cl_uint n, made = 0;
            OK(clGetSupportedImageFormats(context, flags[f], types[t], ALL_FORMATS, list, &n));
            assert_in_range(n, 60, ALL_FORMATS - 1);
            for (cl_channel_order order = CL_R - 1; order <= CL_ABGR + 1; order++) {
                for (cl_channel_type type = CL_SNORM_INT8 - 1; type <= CL_UNORM_INT_101010_2 + 1; type++) {
                    const cl_image_format format = {order, type};
                    cl_mem m = clCreateImage(context, flags[f], &format, &desc, NULL, &clt_error);
                    assert_int_equal(m != NULL, listed(list, n, order, type));
                    assert_true(m != NULL || clt_error == CL_IMAGE_FORMAT_NOT_SUPPORTED ||
                                clt_error == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
                    made += m != NULL;
                    if (m != NULL) {
                        OK(clReleaseMemObject(m));
                    }
                }
            }
            assert_int_equal(made, n);
        }
    }
    cl_uint n = 0;
    OK(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n));
    memset(list, 0, sizeof list);
    OK(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 3, list, NULL));
    assert_true(list[2].image_channel_order != 0 && list[3].image_channel_order == 0 && n > 3);
    FAILS(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, list, NULL), CL_INVALID_VALUE);
    FAILS(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_BUFFER, 3, list, NULL), CL_INVALID_VALUE);
    FAILS(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_PIPE, 3, list, NULL), CL_INVALID_VALUE);
    FAILS(clGetSupportedImageFormats(context, (cl_mem_flags)1 << 40, CL_MEM_OBJECT_IMAGE2D, 3, list, NULL),
          CL_INVALID_VALUE);
    FAILS(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, 3, list,
                                     NULL), CL_INVALID_VALUE);
    FAILS(clGetSupportedImageFormats(NULL, 0, CL_MEM_OBJECT_IMAGE2D, 3, list, NULL), CL_INVALID_CONTEXT);
    OK(clReleaseMemObject(buffer));
}

static size_t query_size(cl_mem m, cl_image_info name)
{
    size_t value = (size_t)-1, size = 0;
    OK(clGetImageInfo(m, name, sizeof value, &value, &size));
    assert_int_equal(size, sizeof value);
    return value;
}

static void test_queries(void **state)
{
    (void)state;
    static char host[4096];
    static const struct {
        cl_image_desc desc;
        bool host;
        size_t row, slice, height, depth, layers, bytes;
    } cases[] = {
        {{CL_MEM_OBJECT_IMAGE1D, 5, 9, 9, 9, 0, 0, 0, 0, {NULL}}, false, 20, 0, 0, 0, 0, 20},
        {{CL_MEM_OBJECT_IMAGE1D, 5, 9, 9, 9, 24, 0, 0, 0, {NULL}}, true, 24, 0, 0, 0, 0, 24},
        {{CL_MEM_OBJECT_IMAGE1D_BUFFER, 5, 9, 9, 9, 0, 0, 0, 0, {NULL}}, false, 20, 0, 0, 0, 0, 20},
        {{CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, 9, 9, 3, 0, 0, 0, 0, {NULL}}, false, 20, 20, 0, 0, 3, 60},
        {{CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, 9, 9, 3, 24, 72, 0, 0, {NULL}}, true, 24, 72, 0, 0, 3, 216},
        {{CL_MEM_OBJECT_IMAGE2D, 5, 7, 9, 9, 0, 0, 0, 0, {NULL}}, false, 20, 0, 7, 0, 0, 140},
        {{CL_MEM_OBJECT_IMAGE2D, 5, 7, 9, 9, 28, 0, 0, 0, {NULL}}, true, 28, 0, 7, 0, 0, 196},
        {{CL_MEM_OBJECT_IMAGE2D_ARRAY, 5, 7, 9, 3, 0, 0, 0, 0, {NULL}}, true, 20, 140, 7, 0, 3, 420},
        {{CL_MEM_OBJECT_IMAGE2D_ARRAY, 5, 7, 9, 3, 24, 192, 0, 0, {NULL}}, true, 24, 192, 7, 0, 3, 576},
        {{CL_MEM_OBJECT_IMAGE3D, 5, 7, 2, 9, 0, 0, 0, 0, {NULL}}, false, 20, 140, 7, 2, 0, 280},
        {{CL_MEM_OBJECT_IMAGE3D, 5, 7, 2, 9, 24, 0, 0, 0, {NULL}}, true, 24, 168, 7, 2, 0, 336},
    };
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_ONLY, 256, NULL, &clt_error);
    MADE(buffer);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        cl_image_desc desc = cases[i].desc;
        const bool row = desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
        const cl_mem_flags pointer = cases[i].host ? CL_MEM_USE_HOST_PTR : 0;
        desc.buffer = row ? buffer : NULL;
        cl_mem m = clCreateImage(context, row ? 0 : CL_MEM_WRITE_ONLY | pointer, &rgba8, &desc,
                                 cases[i].host ? host : NULL, &clt_error);
        MADE(m);
        assert_int_equal(query_size(m, CL_IMAGE_ELEMENT_SIZE), 4);
        assert_int_equal(query_size(m, CL_IMAGE_WIDTH), 5);
        assert_int_equal(query_size(m, CL_IMAGE_ROW_PITCH), cases[i].row);
        assert_int_equal(query_size(m, CL_IMAGE_SLICE_PITCH), cases[i].slice);
        assert_int_equal(query_size(m, CL_IMAGE_HEIGHT), cases[i].height);
        assert_int_equal(query_size(m, CL_IMAGE_DEPTH), cases[i].depth);
        assert_int_equal(query_size(m, CL_IMAGE_ARRAY_SIZE), cases[i].layers);
        cl_image_format format = {0};
        cl_mem of = NULL;
        cl_uint levels = 9, samples = 9, maps = 9, refs = 9;
        cl_mem_object_type type = 0;
        cl_mem_flags flags = 0;
        cl_context owner = NULL;
        size_t size = 0, offset = 9;
        void *pointer_of = &size;
        OK(clGetImageInfo(m, CL_IMAGE_FORMAT, sizeof format, &format, NULL));
        OK(clGetImageInfo(m, CL_IMAGE_BUFFER, sizeof of, &of, NULL));
        OK(clGetImageInfo(m, CL_IMAGE_NUM_MIP_LEVELS, sizeof levels, &levels, NULL));
        OK(clGetImageInfo(m, CL_IMAGE_NUM_SAMPLES, sizeof samples, &samples, NULL));
        assert_memory_equal(&format, &rgba8, sizeof format);
        assert_ptr_equal(of, row ? buffer : NULL);
        assert_true(levels == 0 && samples == 0);
        OK(clGetMemObjectInfo(m, CL_MEM_TYPE, sizeof type, &type, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof pointer_of, &pointer_of, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_CONTEXT, sizeof owner, &owner, NULL));
        OK(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL));
        assert_int_equal(type, desc.image_type);
        assert_int_equal(flags, row ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY | pointer);
        assert_int_equal(size, cases[i].bytes);
        assert_true(offset == 0 && maps == 0 && refs == 1 && owner == context);
        assert_ptr_equal(pointer_of, cases[i].host ? host : NULL);
        assert_ptr_equal(of, row ? buffer : NULL);
        FAILS(clGetImageInfo(m, CL_IMAGE_WIDTH, 4, &size, NULL), CL_INVALID_VALUE);
        FAILS(clGetImageInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL), CL_INVALID_VALUE);
        OK(clReleaseMemObject(m));
    }
    size_t size;
    FAILS(clGetImageInfo(buffer, CL_IMAGE_WIDTH, sizeof size, &size, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clGetImageInfo(NULL, CL_IMAGE_WIDTH, sizeof size, &size, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(buffer));
}

static void test_properties(void **state)
{
    (void)state;
    const cl_image_desc desc = small_desc(CL_MEM_OBJECT_IMAGE2D, NULL);
    const cl_mem_properties none[] = {0}, some[] = {77, 1, 0};
    size_t size = 9;
    cl_mem m = clCreateImageWithProperties(context, none, 0, &rgba8, &desc, NULL, &clt_error);
    MADE(m);
    OK(clGetMemObjectInfo(m, CL_MEM_PROPERTIES, 0, NULL, &size));
    assert_int_equal(size, sizeof none);
    OK(clReleaseMemObject(m));
    m = clCreateImageWithProperties(context, NULL, 0, &rgba8, &desc, NULL, NULL);
    assert_non_null(m);
    OK(clGetMemObjectInfo(m, CL_MEM_PROPERTIES, 0, NULL, &size));
    assert_int_equal(size, 0);
    OK(clReleaseMemObject(m));
    refused(clCreateImageWithProperties(context, some, 0, &rgba8, &desc, NULL, &clt_error), CL_INVALID_PROPERTY,
            "an image has no properties, and the list begins with 0x4d");
}

/** Refusals of a 2-D image of 4 x 3 pixels, of which one thing is wrong. */
static void test_refusals(void **state)
{
    (void)state;
    static char host[1024];
    const cl_image_desc good = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 3};
    static const struct {
        cl_mem_flags flags;
        const char *text;
    } flags[] = {
        {CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, "cannot have the flags 0x6"},
        {CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, "cannot have the flags 0x300"},
        {(cl_mem_flags)1 << 30, "cannot have the flags 0x40000000"},
        {CL_MEM_KERNEL_READ_AND_WRITE, "cannot have the flags 0x1000"},
    };
    for (size_t i = 0; i < LENGTH(flags); i++) {
        refused(clCreateImage(context, flags[i].flags, &rgba8, &good, NULL, &clt_error), CL_INVALID_VALUE,
                flags[i].text);
    }
    refused(clCreateImage(context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, &rgba8, &good, host, &clt_error),
            CL_INVALID_VALUE, "exclude each other");
    refused(clCreateImage(NULL, 0, &rgba8, &good, NULL, &clt_error), CL_INVALID_CONTEXT, NULL);
    static const struct {
        cl_image_format format;
        cl_int error;
        const char *text;
    } formats[] = {
        {{CL_RGB, CL_UNORM_INT8}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "format CL_RGB of CL_UNORM_INT8, which OpenCL"},
        {{CL_RGBA, CL_UNORM_SHORT_565}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "CL_RGBA of CL_UNORM_SHORT_565"},
        {{CL_INTENSITY, CL_SIGNED_INT8}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "CL_INTENSITY of CL_SIGNED_INT8"},
        {{CL_BGRA, CL_UNORM_INT16}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "CL_BGRA of CL_UNORM_INT16"},
        {{CL_DEPTH, CL_UNORM_INT8}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "CL_DEPTH of CL_UNORM_INT8"},
        {{0x77, 0x78}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "0x77 of 0x78"},
        {{CL_RGBA, CL_UNORM_INT_101010_2}, CL_IMAGE_FORMAT_NOT_SUPPORTED,
         "no 2-D image in the format CL_RGBA of CL_UNORM_INT_101010_2: clGetSupportedImageFormats lists"},
        {{CL_sRGB, CL_UNORM_INT8}, CL_IMAGE_FORMAT_NOT_SUPPORTED, "CL_sRGB of CL_UNORM_INT8"},
        {{CL_sRGBA, CL_UNORM_INT8}, CL_IMAGE_FORMAT_NOT_SUPPORTED, "that kernels write, only with CL_MEM_READ_ONLY"},
    };
    for (size_t i = 0; i < LENGTH(formats); i++) {
        refused(clCreateImage(context, 0, &formats[i].format, &good, NULL, &clt_error), formats[i].error,
                formats[i].text);
    }
    refused(clCreateImage(context, 0, NULL, &good, NULL, &clt_error), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "image_format is NULL");
    refused(clCreateImage(context, 0, &rgba8, NULL, NULL, &clt_error), CL_INVALID_IMAGE_DESCRIPTOR,
            "image_desc is NULL");
    static const struct {
        cl_image_desc desc;
        cl_int error;
        const char *text;
        bool host;
    } descs[] = {
        {{.image_type = CL_MEM_OBJECT_BUFFER, .image_width = 1}, CL_INVALID_IMAGE_DESCRIPTOR, "0x10f0 is not the type",
         false},
        {{.image_type = CL_MEM_OBJECT_PIPE, .image_width = 1}, CL_INVALID_IMAGE_DESCRIPTOR, "0x10f7 is not the type",
         false},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D}, CL_INVALID_IMAGE_SIZE,
         "a 1-D image cannot have the width 0, only 1 to 16384", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 16385}, CL_INVALID_IMAGE_SIZE, "the width 16385", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1}, CL_INVALID_IMAGE_SIZE, "the height 0", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1, .image_height = 16385}, CL_INVALID_IMAGE_SIZE,
         "the height 16385, only 1 to 16384", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 2049, .image_height = 1, .image_depth = 1},
         CL_INVALID_IMAGE_SIZE, "a 3-D image cannot have the width 2049, only 1 to 2048", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 1, .image_height = 2049, .image_depth = 1},
         CL_INVALID_IMAGE_SIZE, "the height 2049", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 1, .image_height = 1, .image_depth = 2049},
         CL_INVALID_IMAGE_SIZE, "the depth 2049", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 1, .image_height = 1}, CL_INVALID_IMAGE_SIZE,
         "the depth 0", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 1}, CL_INVALID_IMAGE_SIZE,
         "a 1-D array cannot have the number of layers 0, only 1 to 2048", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 1, .image_height = 1, .image_array_size = 2049},
         CL_INVALID_IMAGE_SIZE, "a 2-D array cannot have the number of layers 2049", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1, .image_height = 1, .num_mip_levels = 1},
         CL_INVALID_IMAGE_DESCRIPTOR, "cannot have 1 mipmap levels", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1, .image_height = 1, .num_samples = 4},
         CL_INVALID_IMAGE_DESCRIPTOR, "4 samples", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 1, .image_row_pitch = 16},
         CL_INVALID_IMAGE_DESCRIPTOR, "the row pitch 16 and the slice pitch 0: they must be 0", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 1, .image_depth = 2,
          .image_slice_pitch = 16}, CL_INVALID_IMAGE_DESCRIPTOR, "they must be 0", false},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 1, .image_row_pitch = 12},
         CL_INVALID_IMAGE_DESCRIPTOR, "the row pitch 12: 4 pixels of 4 bytes need 16", true},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 1, .image_row_pitch = 18},
         CL_INVALID_IMAGE_DESCRIPTOR, "the row pitch 18", true},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 2,
          .image_row_pitch = 16, .image_slice_pitch = 32}, CL_INVALID_IMAGE_DESCRIPTOR,
         "the slice pitch 32: 3 rows with the pitch 16", true},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 2,
          .image_slice_pitch = 56}, CL_INVALID_IMAGE_DESCRIPTOR, "a larger multiple of 16", true},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 4, .image_array_size = 2,
          .image_row_pitch = 20, .image_slice_pitch = 30}, CL_INVALID_IMAGE_DESCRIPTOR, "the slice pitch 30", true},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4}, CL_INVALID_IMAGE_DESCRIPTOR,
         "needs a buffer in mem_object", false},
    };
    for (size_t i = 0; i < LENGTH(descs); i++) {
        const bool given = descs[i].host;
        refused(clCreateImage(context, given ? CL_MEM_COPY_HOST_PTR : 0, &rgba8, &descs[i].desc, given ? host : NULL,
                              &clt_error), descs[i].error, descs[i].text);
    }
    refused(clCreateImage(context, CL_MEM_USE_HOST_PTR, &rgba8, &good, NULL, &clt_error), CL_INVALID_HOST_PTR,
            "host_ptr is NULL");
    refused(clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rgba8, &good, NULL, &clt_error), CL_INVALID_HOST_PTR,
            "host_ptr is NULL");
    refused(clCreateImage(context, CL_MEM_ALLOC_HOST_PTR, &rgba8, &good, host, &clt_error), CL_INVALID_HOST_PTR,
            "host_ptr is not NULL");
    const cl_image_desc large = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 2048, .image_height = 2048,
                                 .image_depth = 2048};
    refused(clCreateImage(context, 0, &rgba8, &large, NULL, &clt_error), CL_MEM_OBJECT_ALLOCATION_FAILURE,
            "an image of 2048 x 2048 x 2048 pixels takes 34359738368 bytes, and CL_DEVICE_MAX_MEM_ALLOC_SIZE is");
    const cl_image_desc huge = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 16384,
                                .image_row_pitch = (size_t)1 << 60};
    refused(clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rgba8, &huge, host, &clt_error), CL_INVALID_IMAGE_SIZE,
            "larger than memory");
}

static void test_version_1_1(void **state)
{
    (void)state;
    static char host[1024];
    cl_mem m = clCreateImage2D(context, CL_MEM_COPY_HOST_PTR, &rgba8, 4, 3, 20, host, &clt_error);
    MADE(m);
    assert_int_equal(query_size(m, CL_IMAGE_ROW_PITCH), 20);
    OK(clReleaseMemObject(m));
    m = clCreateImage3D(context, CL_MEM_COPY_HOST_PTR, &rgba8, 4, 3, 2, 20, 80, host, &clt_error);
    MADE(m);
    assert_int_equal(query_size(m, CL_IMAGE_SLICE_PITCH), 80);
    OK(clReleaseMemObject(m));
    refused(clCreateImage3D(context, 0, &rgba8, 4, 3, 1, 0, 0, NULL, &clt_error), CL_INVALID_IMAGE_SIZE,
            "no image with the depth 1");
    refused(clCreateImage3D(NULL, 0, &rgba8, 4, 3, 1, 0, 0, NULL, &clt_error), CL_INVALID_CONTEXT, NULL);
    refused(clCreateImage2D(context, 0, &rgba8, 4, 0, 0, NULL, &clt_error), CL_INVALID_IMAGE_SIZE, "the height 0");
    refused(clCreateImage2D(context, CL_MEM_COPY_HOST_PTR, &rgba8, 4, 3, 15, host, &clt_error), CL_INVALID_IMAGE_SIZE,
            "the row pitch 15");
}

/** A view of a memory object: its source, format, flags and description. */
static cl_mem view(cl_mem of, cl_channel_order order, cl_mem_flags flags, cl_mem_object_type type, size_t width,
                   size_t height, size_t row)
{
    const cl_image_format format = {order, CL_UNORM_INT8};
    const cl_image_desc desc = {.image_type = type, .image_width = width, .image_height = height,
                                .image_row_pitch = row, .mem_object = of};
    return clCreateImage(context, flags, &format, &desc, NULL, &clt_error);
}

static void test_views(void **state)
{
    (void)state;
    enum { ROW = CL_MEM_OBJECT_IMAGE1D_BUFFER, FLAT = CL_MEM_OBJECT_IMAGE2D };
    static char host[1024];
    cl_mem_flags flags;
    cl_mem of;
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY, sizeof host,
                              host, &clt_error);
    MADE(b);
    const cl_buffer_region region = {128, 512};
    cl_mem sub = clCreateSubBuffer(b, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &clt_error);
    MADE(sub);
    cl_mem m = view(sub, CL_RGBA, 0, FLAT, 4, 25, 20);
    MADE(m);
    OK(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL)); /* Flags that are not given are inherited. */
    assert_int_equal(flags, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY);
    OK(clGetImageInfo(m, CL_IMAGE_BUFFER, sizeof of, &of, NULL));
    assert_ptr_equal(of, sub);
    void *pointer = NULL;
    OK(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof pointer, &pointer, NULL));
    assert_ptr_equal(pointer, host + 128);
    cl_mem other = view(m, CL_sRGBA, 0, FLAT, 4, 25, 20); /* Kernels only read the buffer, as they do sRGB. */
    MADE(other);
    OK(clGetImageInfo(other, CL_IMAGE_BUFFER, sizeof of, &of, NULL));
    assert_null(of);
    OK(clGetMemObjectInfo(other, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL));
    assert_ptr_equal(of, m);
    assert_int_equal(query_size(other, CL_IMAGE_ROW_PITCH), 20);
    OK(clReleaseMemObject(other));
    OK(clReleaseMemObject(m));

    refused(view(b, CL_RGBA, CL_MEM_READ_WRITE, FLAT, 4, 4, 0), CL_INVALID_VALUE, "allow more or name host memory");
    refused(view(b, CL_RGBA, CL_MEM_WRITE_ONLY, FLAT, 4, 4, 0), CL_INVALID_VALUE, "allow more");
    refused(view(b, CL_RGBA, CL_MEM_HOST_WRITE_ONLY, ROW, 4, 0, 0), CL_INVALID_VALUE, "allow more");
    refused(view(b, CL_RGBA, CL_MEM_COPY_HOST_PTR, ROW, 4, 0, 0), CL_INVALID_VALUE, "name host memory");
    refused(view(b, CL_RGBA, CL_MEM_ALLOC_HOST_PTR, ROW, 4, 0, 0), CL_INVALID_VALUE, "name host memory");
    refused(view(b, CL_RGBA, 0, ROW, 257, 0, 0), CL_INVALID_IMAGE_SIZE,
            "an image of 257 x 1 pixels takes 1028 bytes, and the buffer that it is made of has 1024");
    refused(view(b, CL_RGBA, 0, ROW, 4, 0, 20), CL_INVALID_IMAGE_DESCRIPTOR, "a 1-D image of a buffer has no pitches");
    refused(view(b, CL_RGBA, 0, FLAT, 4, 52, 20), CL_INVALID_IMAGE_SIZE, "takes 1040 bytes");
    refused(view(b, CL_RGBA, 0, FLAT, 4, 4, 18), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "the row pitch 18");
    refused(view(b, CL_RGBA, 0, FLAT, 4, 4, 12), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "the row pitch 12");
    refused(view(b, CL_RGBA, 0, CL_MEM_OBJECT_IMAGE1D, 4, 0, 0), CL_INVALID_IMAGE_DESCRIPTOR,
            "a 1-D image cannot be made of this mem_object");
    refused(view((cl_mem)host, CL_RGBA, 0, FLAT, 4, 4, 0), CL_INVALID_IMAGE_DESCRIPTOR, "cannot be made of");
    OK(clReleaseMemObject(sub));
    OK(clReleaseMemObject(b));

    cl_mem i = view(NULL, CL_RGBA, 0, FLAT, 4, 3, 0);
    MADE(i);
    refused(view(i, CL_sRGBA, 0, FLAT, 4, 3, 0), CL_IMAGE_FORMAT_NOT_SUPPORTED, "only with CL_MEM_READ_ONLY");
    refused(view(i, CL_BGRA, 0, FLAT, 4, 3, 0), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "the format CL_BGRA of CL_UNORM_INT8 cannot be a view of one in the format CL_RGBA of CL_UNORM_INT8");
    refused(view(i, CL_RGBA, 0, FLAT, 3, 3, 0), CL_INVALID_IMAGE_DESCRIPTOR, "they must agree");
    refused(view(i, CL_RGBA, 0, FLAT, 4, 2, 0), CL_INVALID_IMAGE_DESCRIPTOR, "they must agree");
    refused(view(i, CL_RGBA, 0, FLAT, 4, 3, 32), CL_INVALID_IMAGE_DESCRIPTOR, "they must agree");
    refused(view(i, CL_RGBA, 0, ROW, 4, 0, 0), CL_INVALID_IMAGE_DESCRIPTOR, "cannot be made of this mem_object");
    m = view(i, CL_sRGBA, CL_MEM_READ_ONLY, FLAT, 4, 3, 16);
    MADE(m);
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(i));

    /* Red channels can be seen as depths, and not the other way round. */
    const cl_image_format red = {CL_R, CL_FLOAT}, depth = {CL_DEPTH, CL_FLOAT};
    cl_image_desc desc = {.image_type = FLAT, .image_width = 4, .image_height = 3};
    cl_mem r = clCreateImage(context, 0, &red, &desc, NULL, &clt_error);
    MADE(r);
    desc.mem_object = r;
    cl_mem d = clCreateImage(context, 0, &depth, &desc, NULL, &clt_error);
    MADE(d);
    desc.mem_object = d;
    refused(clCreateImage(context, 0, &red, &desc, NULL, &clt_error), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "CL_R of CL_FLOAT cannot be a view of one in the format CL_DEPTH of CL_FLOAT");
    OK(clReleaseMemObject(d));
    OK(clReleaseMemObject(r));
}

static char order[8];

static void CL_CALLBACK note(cl_mem m, void *data)
{
    (void)m;
    const size_t n = strlen(order);
    order[n] = *(const char *)data;
    order[n + 1] = '\0';
}

/** An image keeps the buffer alive, and its callbacks come first. */
static void test_destructors(void **state)
{
    (void)state;
    cl_mem b = clCreateBuffer(context, 0, 1024, NULL, &clt_error);
    cl_mem m = view(b, CL_RGBA, 0, CL_MEM_OBJECT_IMAGE2D, 4, 4, 0);
    cl_mem v = view(m, CL_RGBA, 0, CL_MEM_OBJECT_IMAGE2D, 4, 4, 0);
    OK(clSetMemObjectDestructorCallback(b, note, "b"));
    OK(clSetMemObjectDestructorCallback(m, note, "m"));
    OK(clSetMemObjectDestructorCallback(v, note, "v"));
    OK(clSetMemObjectDestructorCallback(v, note, "w"));
    OK(clReleaseMemObject(b));
    OK(clRetainMemObject(m));
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(m));
    assert_string_equal(order, "");
    OK(clReleaseMemObject(v));
    assert_string_equal(order, "wvmb");
}

static void test_calls_of_the_other_kind(void **state)
{
    (void)state;
    const size_t zero[3] = {0}, one[3] = {1, 1, 1};
    char host[64] = {0};
    size_t pitch;
    cl_mem b = clCreateBuffer(context, 0, 1024, NULL, &clt_error);
    cl_mem m = view(NULL, CL_RGBA, 0, CL_MEM_OBJECT_IMAGE2D, 4, 4, 0);
    const cl_buffer_region region = {0, 4};
    FAILS(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 4, host, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, 4, host, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyBuffer(queue, m, b, 0, 0, 4, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyBuffer(queue, b, m, 0, 0, 4, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueFillBuffer(queue, m, host, 4, 0, 4, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_null(clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &clt_error));
    FAILS(clt_error, CL_INVALID_MEM_OBJECT);
    REFUSED(clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &clt_error), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueReadImage(queue, b, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueWriteImage(queue, b, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueFillImage(queue, b, host, zero, one, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyImage(queue, b, m, zero, zero, one, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyImage(queue, m, b, zero, zero, one, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyImageToBuffer(queue, b, b, zero, one, 0, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueCopyBufferToImage(queue, m, m, 0, zero, one, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_null(clEnqueueMapImage(queue, b, CL_TRUE, CL_MAP_READ, zero, one, &pitch, &pitch, 0, NULL, NULL,
                                  &clt_error));
    FAILS(clt_error, CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueReadImage(clt_queue, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL), CL_INVALID_CONTEXT);
    FAILS(clEnqueueReadImage(NULL, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    const cl_mem both[] = {b, m};
    OK(clEnqueueMigrateMemObjects(queue, 2, both, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mandatory_formats), cmocka_unit_test(test_list_of_formats),
        cmocka_unit_test(test_queries),           cmocka_unit_test(test_properties),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_version_1_1),
        cmocka_unit_test(test_views),             cmocka_unit_test(test_destructors),
        cmocka_unit_test(test_calls_of_the_other_kind),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
