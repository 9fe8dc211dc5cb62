/* SPDX-License-Identifier: Apache-2.0 */
/** Images (image.h). */
#include "runtime/core/image.h"

#include <stdlib.h>
#include <string.h>

/** Fills the dimensions that the type has. The others become 1 in `size`, and 0 in `desc`. */
static void take_size(struct rt_image *image, const cl_image_desc *desc)
{
    const cl_mem_object_type type = desc->image_type;
    size_t *size = image->size;
    image->desc = (cl_image_desc){.image_type = type, .image_width = desc->image_width,
                                  .mem_object = desc->mem_object};
    size[0] = desc->image_width;
    size[1] = 1;
    size[2] = 1;
    if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) {
        size[1] = image->desc.image_array_size = desc->image_array_size;
    } else if (type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D) {
        size[1] = image->desc.image_height = desc->image_height;
    }
    if (type == CL_MEM_OBJECT_IMAGE2D_ARRAY) {
        size[2] = image->desc.image_array_size = desc->image_array_size;
    } else if (type == CL_MEM_OBJECT_IMAGE3D) {
        size[2] = image->desc.image_depth = desc->image_depth;
    }
}

bool rt_image_shape(const cl_image_format *format, const cl_image_desc *desc, struct rt_image *out, size_t *bytes)
{
    struct rt_image image = {.type = desc->image_type, .format = *format};
    size_t row = desc->image_row_pitch;
    size_t slice = desc->image_slice_pitch;
    image.code = tern_image_code(format->image_channel_order, format->image_channel_data_type);
    image.pixel = tern_image_pixel_size(image.code);
    take_size(&image, desc);
    if (row == 0 && __builtin_mul_overflow(image.size[0], image.pixel, &row)) {
        return false;
    }
    switch (image.type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        slice = slice == 0 ? row : slice;
        image.row = slice;
        break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    case CL_MEM_OBJECT_IMAGE3D:
        if (slice == 0 && __builtin_mul_overflow(row, image.size[1], &slice)) {
            return false;
        }
        image.row = row;
        image.slice = slice;
        break;
    default:
        slice = 0;
        image.row = row;
        break;
    }
    image.desc.image_row_pitch = row;
    image.desc.image_slice_pitch = slice;
    if ((image.slice == 0 && __builtin_mul_overflow(image.row, image.size[1], &image.slice)) ||
        __builtin_mul_overflow(image.slice, image.size[2], bytes)) {
        return false;
    }
    *out = image;
    return true;
}

cl_int rt_image_create(cl_context ctx, const cl_mem_properties *properties, cl_mem_flags flags,
                       const struct rt_image *shape, size_t bytes, void *host_ptr, cl_mem *out)
{
    cl_mem m;
    struct rt_image *image = malloc(sizeof *image);
    if (image == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    *image = *shape;
    const cl_int error = shape->desc.mem_object == NULL
        ? rt_mem_create(ctx, properties, flags, bytes, host_ptr, &m)
        : rt_mem_create_sub(shape->desc.mem_object, properties, flags, 0, bytes, &m);
    if (error != CL_SUCCESS) {
        free(image);
        return error;
    }
    m->image = image;
    *out = m;
    return CL_SUCCESS;
}

cl_int rt_image_query(cl_mem m, cl_image_info name, const struct rt_answer *a)
{
    const struct rt_image *image = m->image;
    switch (name) {
    case CL_IMAGE_FORMAT:
        return rt_answer_bytes(a, &image->format, sizeof image->format);
    case CL_IMAGE_ELEMENT_SIZE:
        return rt_answer_size(a, image->pixel);
    case CL_IMAGE_ROW_PITCH:
        return rt_answer_size(a, image->desc.image_row_pitch);
    case CL_IMAGE_SLICE_PITCH:
        return rt_answer_size(a, image->desc.image_slice_pitch);
    case CL_IMAGE_WIDTH:
        return rt_answer_size(a, image->desc.image_width);
    case CL_IMAGE_HEIGHT:
        return rt_answer_size(a, image->desc.image_height);
    case CL_IMAGE_DEPTH:
        return rt_answer_size(a, image->desc.image_depth);
    case CL_IMAGE_ARRAY_SIZE:
        return rt_answer_size(a, image->desc.image_array_size);
    case CL_IMAGE_BUFFER:
        return rt_answer_pointer(a, m->parent != NULL && m->parent->image == NULL ? m->parent : NULL);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
        return rt_answer_uint(a, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

bool rt_image_box(const struct rt_image *image, const size_t origin[3], const size_t region[3], struct rt_side *at,
                  size_t bytes[3])
{
    for (int i = 0; i < 3; i++) {
        if (region[i] == 0 || origin[i] >= image->size[i] || region[i] > image->size[i] - origin[i]) {
            return false;
        }
    }
    *at = (struct rt_side){.start = origin[2] * image->slice + origin[1] * image->row + origin[0] * image->pixel,
                           .row = image->row, .slice = image->slice};
    bytes[0] = region[0] * image->pixel;
    bytes[1] = region[1];
    bytes[2] = region[2];
    return true;
}

void rt_image_describe(cl_mem mem, struct tern_image *out)
{
    const struct rt_image *image = mem->image;
    const cl_image_desc *d = &image->desc;
    *out = (struct tern_image){
        .base = rt_mem_address(mem),
        .row_pitch = (unsigned)d->image_row_pitch,
        .slice_pitch = (unsigned)d->image_slice_pitch,
        .width = (unsigned)d->image_width,
        .height = d->image_height == 0 ? 1 : (unsigned)d->image_height,
        .depth = d->image_depth == 0 ? 1 : (unsigned)d->image_depth,
        .layers = (unsigned)d->image_array_size,
        .code = image->code,
        .order = image->format.image_channel_order,
        .type = image->format.image_channel_data_type,
        .pixel_size = (unsigned)image->pixel,
    };
}

const char *rt_image_type_name(cl_mem_object_type type)
{
    switch (type) {
    case CL_MEM_OBJECT_BUFFER:
        return "buffer";
    case CL_MEM_OBJECT_IMAGE1D:
        return "1-D image";
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
        return "1-D image of a buffer";
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        return "1-D array";
    case CL_MEM_OBJECT_IMAGE2D:
        return "2-D image";
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return "2-D array";
    default:
        return "3-D image";
    }
}
