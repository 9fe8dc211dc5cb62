/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and queries of images. Each refusal says which value is wrong and what is possible. */
#include "runtime/core/image.h"
#include "runtime/api/check.h"
#include "runtime/core/image_format.h"
#include "runtime/core/svm.h"

/** Reports a refusal, and gives its error. */
#define REFUSE(context, error, ...) (rt_context_refuse((context), RT_REFUSED_IMAGE, __VA_ARGS__), (error))

/** The arguments of a call that makes an image, with the description that applies. */
struct request {
    cl_context context;
    cl_mem_flags flags;
    const cl_image_format *format;
    cl_image_desc desc;
    void *host_ptr;
};

static cl_int check_flags(const struct request *r)
{
    const cl_mem_flags f = r->flags;
    if (!rt_check_mem_flags(f)) {
        return REFUSE(r->context, CL_INVALID_VALUE, "an image cannot have the flags 0x%llx, of which some are unknown "
                      "or exclude each other", (unsigned long long)f);
    }
    return CL_SUCCESS;
}

static cl_int check_format(const struct request *r)
{
    char name[RT_FORMAT_NAME_BYTES];
    if (r->format == NULL) {
        return REFUSE(r->context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "an image needs a format, and image_format is "
                      "NULL");
    }
    if (!rt_image_format_valid(r->format)) {
        return REFUSE(r->context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "an image cannot have the format %s, which "
                      "OpenCL does not combine", rt_image_format_name(r->format, name));
    }
    return CL_SUCCESS;
}

/** Checks that the device has the format for images of this type and access. */
static cl_int check_support(const struct request *r, cl_mem_flags access)
{
    char name[RT_FORMAT_NAME_BYTES];
    const cl_mem_object_type type = r->desc.image_type;
    if (rt_image_format_has(r->format, type, access)) {
        return CL_SUCCESS;
    }
    const bool reads = rt_image_format_has(r->format, type, CL_MEM_READ_ONLY);
    return REFUSE(r->context, CL_IMAGE_FORMAT_NOT_SUPPORTED, "the device has no %s in the format %s%s: "
                  "clGetSupportedImageFormats lists what there is", rt_image_type_name(type),
                  rt_image_format_name(r->format, name),
                  reads ? " that kernels write, only with CL_MEM_READ_ONLY" : "");
}

/** Checks one dimension. CL_INVALID_IMAGE_SIZE. */
static cl_int check_side(const struct request *r, const char *what, size_t value, size_t most)
{
    if (value >= 1 && value <= most) {
        return CL_SUCCESS;
    }
    return REFUSE(r->context, CL_INVALID_IMAGE_SIZE, "a %s cannot have the %s %zu, only 1 to %zu",
                  rt_image_type_name(r->desc.image_type), what, value, most);
}

static cl_int check_size(const struct request *r)
{
    const cl_image_desc *d = &r->desc;
    const cl_mem_object_type type = d->image_type;
    const bool solid = type == CL_MEM_OBJECT_IMAGE3D, flat = type == CL_MEM_OBJECT_IMAGE2D;
    const bool layers = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const size_t most = solid ? RT_IMAGE_3D_MAX
        : type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? RT_IMAGE_BUFFER_MAX
                                               : RT_IMAGE_2D_MAX;
    cl_int error = check_side(r, "width", d->image_width, most);
    if (error == CL_SUCCESS && (solid || flat || type == CL_MEM_OBJECT_IMAGE2D_ARRAY)) {
        error = check_side(r, "height", d->image_height, most);
    }
    if (error == CL_SUCCESS && solid) {
        error = check_side(r, "depth", d->image_depth, most);
    }
    if (error == CL_SUCCESS && layers) {
        error = check_side(r, "number of layers", d->image_array_size, RT_IMAGE_LAYERS_MAX);
    }
    return error;
}

/** Checks the pitches of memory that the application gives. `error`: the error for a wrong row pitch. */
static cl_int check_pitches(const struct request *r, size_t pixel, cl_int error)
{
    const cl_image_desc *d = &r->desc;
    const size_t least = d->image_width * pixel, row = d->image_row_pitch != 0 ? d->image_row_pitch : least;
    if (row < least || row % pixel != 0) {
        return REFUSE(r->context, error, "an image cannot have the row pitch %zu: %zu pixels of %zu bytes need %zu, or "
                      "a larger multiple of %zu", row, d->image_width, pixel, least, pixel);
    }
    const cl_mem_object_type type = d->image_type;
    if (d->image_slice_pitch == 0 || type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE2D) {
        return CL_SUCCESS;
    }
    const size_t rows = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : d->image_height;
    size_t slice;
    if (__builtin_mul_overflow(row, rows, &slice) || d->image_slice_pitch < slice || d->image_slice_pitch % row != 0) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "an image cannot have the slice pitch %zu: %zu rows "
                      "with the pitch %zu need their product, or a larger multiple of %zu", d->image_slice_pitch, rows,
                      row, row);
    }
    return CL_SUCCESS;
}

/** True: the channel order `view` of an image may be made of pixels with the order `of`. */
static bool orders_agree(cl_channel_order view, cl_channel_order of)
{
    static const cl_channel_order pairs[][2] = {{CL_sBGRA, CL_BGRA}, {CL_BGRA, CL_sBGRA}, {CL_sRGBA, CL_RGBA},
                                                {CL_RGBA, CL_sRGBA}, {CL_sRGB, CL_RGB},   {CL_RGB, CL_sRGB},
                                                {CL_sRGBx, CL_RGBx}, {CL_RGBx, CL_sRGBx}, {CL_DEPTH, CL_R}};
    bool agree = view == of;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        agree = agree || (pairs[i][0] == view && pairs[i][1] == of);
    }
    return agree;
}

/** Checks a view of a 2-D image, which gets the pitch of that image. */
static cl_int check_image_view(struct request *r, const struct rt_image *of)
{
    cl_image_desc *d = &r->desc;
    char names[2][RT_FORMAT_NAME_BYTES];
    if (d->image_width != of->desc.image_width || d->image_height != of->desc.image_height ||
        (d->image_row_pitch != 0 && d->image_row_pitch != of->desc.image_row_pitch) || d->image_slice_pitch != 0) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "an image of %zu x %zu pixels cannot be a view of an "
                      "image of %zu x %zu with the row pitch %zu: they must agree", d->image_width, d->image_height,
                      of->desc.image_width, of->desc.image_height, of->desc.image_row_pitch);
    }
    if (r->format->image_channel_data_type != of->format.image_channel_data_type ||
        !orders_agree(r->format->image_channel_order, of->format.image_channel_order)) {
        return REFUSE(r->context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "an image in the format %s cannot be a view of "
                      "one in the format %s", rt_image_format_name(r->format, names[0]),
                      rt_image_format_name(&of->format, names[1]));
    }
    d->image_row_pitch = of->desc.image_row_pitch;
    return CL_SUCCESS;
}

/** Checks an image that is made of a buffer. */
static cl_int check_buffer_view(const struct request *r, cl_mem buffer, size_t pixel)
{
    const cl_image_desc *d = &r->desc;
    if (d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER && (d->image_row_pitch != 0 || d->image_slice_pitch != 0) &&
        d->image_row_pitch != d->image_width * pixel) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "a 1-D image of a buffer has no pitches");
    }
    const cl_int error = check_pitches(r, pixel, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (buffer->at % pixel != 0 || (buffer->flags & CL_MEM_USE_HOST_PTR && (uintptr_t)buffer->host_ptr % pixel != 0)) {
        return REFUSE(r->context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "an image with pixels of %zu bytes cannot be "
                      "made of a buffer that does not begin at a multiple of them", pixel);
    }
    return CL_SUCCESS;
}

/** Checks what the image is made of: host memory, a buffer or an image. */
static cl_int check_source(struct request *r, size_t pixel)
{
    cl_image_desc *d = &r->desc;
    const cl_mem of = d->mem_object;
    const bool wants_host = (r->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    const bool row = d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER, flat = d->image_type == CL_MEM_OBJECT_IMAGE2D;
    if (of == NULL && row) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "a 1-D image of a buffer needs a buffer in mem_object");
    }
    if (of == NULL) {
        if (wants_host != (r->host_ptr != NULL)) {
            return REFUSE(r->context, CL_INVALID_HOST_PTR, "host_ptr is %sNULL, and the flags have %s of "
                          "CL_MEM_USE_HOST_PTR and CL_MEM_COPY_HOST_PTR", r->host_ptr != NULL ? "not " : "",
                          wants_host ? "one" : "none");
        }
        if (r->host_ptr == NULL && (d->image_row_pitch != 0 || d->image_slice_pitch != 0)) {
            return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "an image without memory of the application cannot "
                          "have the row pitch %zu and the slice pitch %zu: they must be 0", d->image_row_pitch,
                          d->image_slice_pitch);
        }
        return check_pitches(r, pixel, CL_INVALID_IMAGE_DESCRIPTOR);
    }
    if (!rt_object_is(of, RT_MEM) || of->context != r->context || !(row || flat) ||
        (of->image != NULL && (row || of->image->type != CL_MEM_OBJECT_IMAGE2D))) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "a %s cannot be made of this mem_object: a 1-D image of "
                      "a buffer needs a buffer, a 2-D image can have a buffer or a 2-D image, and others have NULL",
                      rt_image_type_name(d->image_type));
    }
    if (rt_check_part_flags(of->flags, r->flags)) {
        return REFUSE(r->context, CL_INVALID_VALUE, "an image that is made of a memory object with the flags 0x%llx "
                      "cannot have the flags 0x%llx, which allow more or name host memory",
                      (unsigned long long)of->flags, (unsigned long long)r->flags);
    }
    if (r->host_ptr != NULL) {
        return REFUSE(r->context, CL_INVALID_HOST_PTR, "an image that is made of a memory object has no host_ptr");
    }
    return of->image != NULL ? check_image_view(r, of->image) : check_buffer_view(r, of, pixel);
}

/** Checks that the memory for the image exists, or can exist. */
static cl_int check_room(const struct request *r, const struct rt_image *shape, size_t bytes)
{
    const cl_mem of = r->desc.mem_object;
    const size_t most = r->context->device->max_alloc;
    if (of != NULL && bytes > of->size) {
        return REFUSE(r->context, CL_INVALID_IMAGE_SIZE, "an image of %zu x %zu pixels takes %zu bytes, and the buffer "
                      "that it is made of has %zu", shape->size[0], shape->size[1], bytes, of->size);
    }
    if (bytes > most) {
        return REFUSE(r->context, CL_MEM_OBJECT_ALLOCATION_FAILURE, "an image of %zu x %zu x %zu pixels takes %zu "
                      "bytes, and CL_DEVICE_MAX_MEM_ALLOC_SIZE is %zu", shape->size[0], shape->size[1], shape->size[2],
                      bytes, most);
    }
    if (r->host_ptr != NULL && !rt_check_svm_room(r->context, bytes, r->host_ptr)) {
        return REFUSE(r->context, CL_INVALID_IMAGE_SIZE, "an image of %zu bytes reaches beyond the shared virtual "
                      "memory at host_ptr", bytes);
    }
    if ((r->flags & CL_MEM_USE_HOST_PTR) != 0 && rt_svm_is(r->context, r->host_ptr) &&
        (uintptr_t)r->host_ptr % shape->pixel != 0) {
        return REFUSE(r->context, CL_INVALID_HOST_PTR, "an image in shared virtual memory must begin at a multiple of "
                      "the %zu bytes of a pixel", shape->pixel);
    }
    return CL_SUCCESS;
}

static cl_int check_desc(const struct request *r, const cl_image_desc *desc)
{
    if (desc == NULL) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "an image needs a description, and image_desc is NULL");
    }
    if (!rt_image_type_is(desc->image_type)) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "0x%x is not the type of an image", desc->image_type);
    }
    if (desc->num_mip_levels != 0 || desc->num_samples != 0) {
        return REFUSE(r->context, CL_INVALID_IMAGE_DESCRIPTOR, "an image cannot have %u mipmap levels and %u samples: "
                      "both must be 0", desc->num_mip_levels, desc->num_samples);
    }
    return CL_SUCCESS;
}

/** Makes an image. properties (may be NULL): a list that the application gave. */
static cl_int create(struct request *r, const cl_mem_properties *properties, const cl_image_desc *desc, cl_mem *out)
{
    struct rt_image shape;
    size_t bytes;
    if (!rt_object_is(r->context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    if (properties != NULL && properties[0] != 0) {
        return REFUSE(r->context, CL_INVALID_PROPERTY, "an image has no properties, and the list begins with 0x%llx",
                      (unsigned long long)properties[0]);
    }
    cl_int error = check_flags(r);
    error = error == CL_SUCCESS ? check_format(r) : error;
    error = error == CL_SUCCESS ? check_desc(r, desc) : error;
    if (error != CL_SUCCESS) {
        return error;
    }
    r->desc = *desc;
    error = check_size(r);
    const unsigned code = tern_image_code(r->format->image_channel_order, r->format->image_channel_data_type);
    if (error == CL_SUCCESS && code == TERN_IMAGE_ABSENT) {
        error = check_support(r, r->flags);
    }
    error = error == CL_SUCCESS ? check_source(r, tern_image_pixel_size(code)) : error;
    if (error != CL_SUCCESS) {
        return error;
    }
    const bool inherits = r->desc.mem_object != NULL && (r->flags & RT_DEVICE_ACCESS) == 0;
    error = check_support(r, inherits ? r->desc.mem_object->flags : r->flags);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!rt_image_shape(r->format, &r->desc, &shape, &bytes)) {
        return REFUSE(r->context, CL_INVALID_IMAGE_SIZE, "an image with the row pitch %zu and the slice pitch %zu is "
                      "larger than memory", r->desc.image_row_pitch, r->desc.image_slice_pitch);
    }
    error = check_room(r, &shape, bytes);
    return error != CL_SUCCESS
        ? error
        : rt_image_create(r->context, properties, r->flags, &shape, bytes, r->host_ptr, out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                                            cl_mem_flags flags, const cl_image_format *format,
                                                            const cl_image_desc *desc, void *host_ptr,
                                                            cl_int *errcode_ret)
{
    struct request r = {.context = context, .flags = flags, .format = format, .host_ptr = host_ptr};
    cl_mem m = NULL;
    rt_error_set(errcode_ret, create(&r, properties, desc, &m));
    return m;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                              const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret)
{
    return clCreateImageWithProperties(context, NULL, flags, format, desc, host_ptr, errcode_ret);
}

/** The error of OpenCL 1.1, in which pitches are part of the size, and there is no description. */
static cl_int error_of_1_1(cl_int error)
{
    return error == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : error;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                                size_t width, size_t height, size_t row_pitch, void *host_ptr,
                                                cl_int *errcode_ret)
{
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height,
                                .image_row_pitch = row_pitch};
    struct request r = {.context = context, .flags = flags, .format = format, .host_ptr = host_ptr};
    cl_mem m = NULL;
    rt_error_set(errcode_ret, error_of_1_1(create(&r, NULL, &desc, &m)));
    return m;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                                size_t width, size_t height, size_t depth, size_t row_pitch,
                                                size_t slice_pitch, void *host_ptr, cl_int *errcode_ret)
{
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = width, .image_height = height,
                                .image_depth = depth, .image_row_pitch = row_pitch, .image_slice_pitch = slice_pitch};
    struct request r = {.context = context, .flags = flags, .format = format, .host_ptr = host_ptr};
    cl_mem m = NULL;
    cl_int error = CL_SUCCESS;
    if (depth == 1 && rt_object_is(context, RT_CONTEXT)) {
        error = REFUSE(context, CL_INVALID_IMAGE_SIZE, "clCreateImage3D makes no image with the depth 1, which "
                       "clCreateImage does");
    }
    error = error == CL_SUCCESS ? error_of_1_1(create(&r, NULL, &desc, &m)) : error;
    rt_error_set(errcode_ret, error);
    return m;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                           cl_mem_object_type type, cl_uint num_entries,
                                                           cl_image_format *formats, cl_uint *num_formats)
{
    cl_image_format all[RT_FORMATS_MAX];
    const cl_mem_flags both = CL_MEM_KERNEL_READ_AND_WRITE;
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    if (!rt_check_mem_flags(flags & ~both) || !rt_image_type_is(type) || (formats != NULL && num_entries == 0)) {
        return CL_INVALID_VALUE;
    }
    const size_t n = rt_image_format_list(type, flags, all);
    for (size_t i = 0; formats != NULL && i < n && i < num_entries; i++) {
        formats[i] = all[i];
    }
    if (num_formats != NULL) {
        *num_formats = (cl_uint)n;
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, size_t cap, void *dst, size_t *size)
{
    if (!rt_object_is(image, RT_MEM) || image->image == NULL) {
        return CL_INVALID_MEM_OBJECT;
    }
    return rt_image_query(image, name, &(struct rt_answer){cap, dst, size});
}
