/* SPDX-License-Identifier: Apache-2.0 */
/** Copies of images, from and to buffers too, and fills. */
#include "runtime/api/check.h"
#include "runtime/core/image_color.h"
#include "runtime/core/mover.h"

/** The box of an image in bytes. CL_INVALID_VALUE. */
static cl_int take_box(cl_mem image, const size_t *origin, const size_t *region, struct rt_side *at, size_t bytes[3])
{
    const bool is = origin != NULL && region != NULL && rt_image_box(image->image, origin, region, at, bytes);
    return is ? CL_SUCCESS : CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem src, cl_mem dst,
                                                   const size_t *src_origin, const size_t *dst_origin,
                                                   const size_t *region, cl_uint n_waits, const cl_event *waits,
                                                   cl_event *event)
{
    struct rt_side from, to;
    size_t bytes[3];
    struct rt_command *c = NULL;
    cl_int error = rt_check_image(queue, src);
    error = error == CL_SUCCESS ? rt_check_image(queue, dst) : error;
    if (error != CL_SUCCESS) {
        return error;
    }
    const cl_image_format *f = &src->image->format, *g = &dst->image->format;
    if (f->image_channel_order != g->image_channel_order || f->image_channel_data_type != g->image_channel_data_type) {
        return CL_IMAGE_FORMAT_MISMATCH;
    }
    error = take_box(src, src_origin, region, &from, bytes);
    error = error == CL_SUCCESS ? take_box(dst, dst_origin, region, &to, bytes) : error;
    if (error == CL_SUCCESS && rt_check_overlap(src, dst, bytes, &from, &to)) {
        error = CL_MEM_COPY_OVERLAP;
    }
    if (error == CL_SUCCESS) {
        error = rt_copy_create(queue, CL_COMMAND_COPY_IMAGE, src, dst, bytes, &from, &to, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, false, event);
}

/** Copies between an image and a range of a buffer, in which the rows follow each other without gaps. */
static cl_int copy_with_buffer(cl_command_queue queue, bool to_buffer, cl_mem image, const size_t *origin,
                               const size_t *region, cl_mem buffer, size_t offset, cl_uint n_waits,
                               const cl_event *waits, cl_event *event)
{
    const cl_command_type type = to_buffer ? CL_COMMAND_COPY_IMAGE_TO_BUFFER : CL_COMMAND_COPY_BUFFER_TO_IMAGE;
    struct rt_side at;
    size_t bytes[3];
    struct rt_command *c = NULL;
    cl_int error = rt_check_image(queue, image);
    error = error == CL_SUCCESS ? rt_check_buffer(queue, buffer) : error;
    if (error == CL_SUCCESS && image->image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER && image->parent == buffer) {
        error = CL_INVALID_MEM_OBJECT;
    }
    error = error == CL_SUCCESS ? take_box(image, origin, region, &at, bytes) : error;
    if (error != CL_SUCCESS) {
        return error;
    }
    const struct rt_side linear = {offset, bytes[0], bytes[0] * bytes[1]};
    if (rt_check_range(buffer, offset, linear.slice * bytes[2]) != CL_SUCCESS) {
        return CL_INVALID_VALUE;
    }
    if (rt_check_overlap(image, buffer, bytes, &at, &linear)) {
        error = CL_MEM_COPY_OVERLAP;
    } else if (to_buffer) {
        error = rt_copy_create(queue, type, image, buffer, bytes, &at, &linear, n_waits, waits, &c);
    } else {
        error = rt_copy_create(queue, type, buffer, image, bytes, &linear, &at, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
                                                           const size_t *src_origin, const size_t *region,
                                                           size_t dst_offset, cl_uint n_waits, const cl_event *waits,
                                                           cl_event *event)
{
    return copy_with_buffer(queue, true, src, src_origin, region, dst, dst_offset, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem src, cl_mem dst,
                                                           size_t src_offset, const size_t *dst_origin,
                                                           const size_t *region, cl_uint n_waits,
                                                           const cl_event *waits, cl_event *event)
{
    return copy_with_buffer(queue, false, dst, dst_origin, region, src, src_offset, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color,
                                                   const size_t *origin, const size_t *region, cl_uint n_waits,
                                                   const cl_event *waits, cl_event *event)
{
    struct rt_side at;
    size_t bytes[3];
    uint8_t pixel[RT_PIXEL_MAX];
    struct rt_command *c = NULL;
    cl_int error = rt_check_image(queue, image);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (color == NULL || take_box(image, origin, region, &at, bytes) != CL_SUCCESS) {
        return CL_INVALID_VALUE;
    }
    rt_image_color_pack(image->image->code, color, pixel);
    error = rt_fill_create(queue, CL_COMMAND_FILL_IMAGE, image, pixel, image->image->pixel, bytes, &at, n_waits, waits,
                           &c);
    return rt_command_submit(error, c, false, event);
}
