/* SPDX-License-Identifier: Apache-2.0 */
/** Copies between buffers, and fills. */
#include "runtime/core/mover.h"
#include "runtime/api/check.h"
#include "runtime/core/transfer.h"

static cl_int check_two(cl_command_queue queue, cl_mem src, cl_mem dst)
{
    const cl_int error = rt_check_buffer(queue, src);
    return error == CL_SUCCESS ? rt_check_buffer(queue, dst) : error;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset,
                                                    size_t dst_offset, size_t size, cl_uint n_waits,
                                                    const cl_event *waits, cl_event *event)
{
    const size_t region[3] = {size, 1, 1};
    const struct rt_side from = {src_offset, size, size};
    const struct rt_side to = {dst_offset, size, size};
    struct rt_command *c = NULL;
    cl_int error = check_two(queue, src, dst);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (rt_check_range(src, src_offset, size) != CL_SUCCESS || rt_check_range(dst, dst_offset, size) != CL_SUCCESS) {
        return CL_INVALID_VALUE;
    }
    if (size == 0) {
        error = rt_marker_create(queue, CL_COMMAND_COPY_BUFFER, false, false, n_waits, waits, &c);
    } else if (rt_check_overlap(src, dst, region, &from, &to)) {
        error = CL_MEM_COPY_OVERLAP;
    } else {
        error = rt_copy_create(queue, CL_COMMAND_COPY_BUFFER, src, dst, region, &from, &to, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src, cl_mem dst,
                                                        const size_t *src_origin, const size_t *dst_origin,
                                                        const size_t *region, size_t src_row, size_t src_slice,
                                                        size_t dst_row, size_t dst_slice, cl_uint n_waits,
                                                        const cl_event *waits, cl_event *event)
{
    struct rt_side from;
    struct rt_side to;
    struct rt_command *c = NULL;
    cl_int error = check_two(queue, src, dst);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (src_origin == NULL || dst_origin == NULL || region == NULL || region[0] == 0 || region[1] == 0 ||
        region[2] == 0 || !rt_side_make(src_origin, region, src_row, src_slice, &from) ||
        !rt_side_make(dst_origin, region, dst_row, dst_slice, &to) || rt_side_end(&from, region) > src->size ||
        rt_side_end(&to, region) > dst->size || (src == dst && (from.row != to.row || from.slice != to.slice))) {
        return CL_INVALID_VALUE;
    }
    if (rt_check_overlap(src, dst, region, &from, &to)) {
        return CL_MEM_COPY_OVERLAP;
    }
    error = rt_copy_create(queue, CL_COMMAND_COPY_BUFFER_RECT, src, dst, region, &from, &to, n_waits, waits, &c);
    return rt_command_submit(error, c, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern,
                                                    size_t pattern_size, size_t offset, size_t size, cl_uint n_waits,
                                                    const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    cl_int error = rt_check_buffer(queue, mem);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (pattern == NULL || pattern_size == 0 || pattern_size > 128 || (pattern_size & (pattern_size - 1)) != 0 ||
        offset % pattern_size != 0 || size % pattern_size != 0 || rt_check_range(mem, offset, size) != CL_SUCCESS) {
        return CL_INVALID_VALUE;
    }
    if (size == 0) {
        error = rt_marker_create(queue, CL_COMMAND_FILL_BUFFER, false, false, n_waits, waits, &c);
    } else {
        const size_t region[3] = {size, 1, 1};
        const struct rt_side at = {offset, size, size};
        error = rt_fill_create(queue, CL_COMMAND_FILL_BUFFER, mem, pattern, pattern_size, region, &at, n_waits, waits,
                               &c);
    }
    return rt_command_submit(error, c, false, event);
}
