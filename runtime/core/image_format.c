/* SPDX-License-Identifier: Apache-2.0 */
/** Formats of images (image_format.h). */
#include "runtime/core/image_format.h"

#include <stdio.h>

#include "runtime/device/image.h"

struct name {
    cl_uint value;
    const char *text;
};

static const struct name orders[] = {
    {CL_R, "CL_R"}, {CL_A, "CL_A"}, {CL_RG, "CL_RG"}, {CL_RA, "CL_RA"}, {CL_RGB, "CL_RGB"}, {CL_RGBA, "CL_RGBA"},
    {CL_BGRA, "CL_BGRA"}, {CL_ARGB, "CL_ARGB"}, {CL_INTENSITY, "CL_INTENSITY"}, {CL_LUMINANCE, "CL_LUMINANCE"},
    {CL_Rx, "CL_Rx"}, {CL_RGx, "CL_RGx"}, {CL_RGBx, "CL_RGBx"}, {CL_DEPTH, "CL_DEPTH"}, {CL_sRGB, "CL_sRGB"},
    {CL_sRGBx, "CL_sRGBx"}, {CL_sRGBA, "CL_sRGBA"}, {CL_sBGRA, "CL_sBGRA"}, {CL_ABGR, "CL_ABGR"},
};
static const struct name types[] = {
    {CL_SNORM_INT8, "CL_SNORM_INT8"}, {CL_SNORM_INT16, "CL_SNORM_INT16"}, {CL_UNORM_INT8, "CL_UNORM_INT8"},
    {CL_UNORM_INT16, "CL_UNORM_INT16"}, {CL_UNORM_SHORT_565, "CL_UNORM_SHORT_565"},
    {CL_UNORM_SHORT_555, "CL_UNORM_SHORT_555"}, {CL_UNORM_INT_101010, "CL_UNORM_INT_101010"},
    {CL_SIGNED_INT8, "CL_SIGNED_INT8"}, {CL_SIGNED_INT16, "CL_SIGNED_INT16"}, {CL_SIGNED_INT32, "CL_SIGNED_INT32"},
    {CL_UNSIGNED_INT8, "CL_UNSIGNED_INT8"}, {CL_UNSIGNED_INT16, "CL_UNSIGNED_INT16"},
    {CL_UNSIGNED_INT32, "CL_UNSIGNED_INT32"}, {CL_HALF_FLOAT, "CL_HALF_FLOAT"}, {CL_FLOAT, "CL_FLOAT"},
    {CL_UNORM_INT_101010_2, "CL_UNORM_INT_101010_2"},
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

bool rt_image_format_valid(const cl_image_format *f)
{
    const cl_channel_order order = f->image_channel_order;
    const cl_channel_type type = f->image_channel_data_type;
    /* these are in the specification, and not in the device */
    return tern_image_code(order, type) != TERN_IMAGE_ABSENT ||
        ((order == CL_sRGB || order == CL_sRGBx) && type == CL_UNORM_INT8) ||
        (order == CL_RGBA && type == CL_UNORM_INT_101010_2);
}

bool rt_image_format_has(const cl_image_format *f, cl_mem_object_type type, cl_mem_flags flags)
{
    const unsigned code = tern_image_code(f->image_channel_order, f->image_channel_data_type);
    const cl_mem_flags writes = CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE | CL_MEM_KERNEL_READ_AND_WRITE;
    if (code == TERN_IMAGE_ABSENT) {
        return false;
    }
    if (f->image_channel_order == CL_DEPTH && type != CL_MEM_OBJECT_IMAGE2D && type != CL_MEM_OBJECT_IMAGE2D_ARRAY) {
        return false; /* OpenCL C has types of no other depth images */
    }
    return TERN_IMAGE_STORE(code) != TERN_STORE_SRGB8 || ((flags & writes) == 0 && (flags & CL_MEM_READ_ONLY) != 0);
}

size_t rt_image_format_list(cl_mem_object_type type, cl_mem_flags flags, cl_image_format out[RT_FORMATS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < LENGTH(orders); i++) {
        for (size_t j = 0; j < LENGTH(types); j++) {
            const cl_image_format f = {orders[i].value, types[j].value};
            if (n < RT_FORMATS_MAX && rt_image_format_has(&f, type, flags)) {
                out[n++] = f;
            }
        }
    }
    return n;
}

/** The name of a value; NULL: it has none. */
static const char *find(const struct name *names, size_t n, cl_uint value)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i].value == value) {
            return names[i].text;
        }
    }
    return NULL;
}

const char *rt_image_format_name(const cl_image_format *f, char text[RT_FORMAT_NAME_BYTES])
{
    char numbers[2][16];
    const char *order = find(orders, LENGTH(orders), f->image_channel_order);
    const char *type = find(types, LENGTH(types), f->image_channel_data_type);
    snprintf(numbers[0], sizeof numbers[0], "0x%x", f->image_channel_order);
    snprintf(numbers[1], sizeof numbers[1], "0x%x", f->image_channel_data_type);
    snprintf(text, RT_FORMAT_NAME_BYTES, "%s of %s", order != NULL ? order : numbers[0],
             type != NULL ? type : numbers[1]);
    return text;
}

bool rt_image_type_is(cl_mem_object_type type)
{
    return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}
