/* SPDX-License-Identifier: Apache-2.0 */
/** Reads and writes of images from and to host memory, and their mapping. */
#include "runtime/api/check.h"
#include "runtime/core/transfer.h"

/** Makes the box of host memory. Pitches of 0 get their defaults. `bytes`: the region in bytes. CL_INVALID_VALUE. */
static cl_int take_host_side(const struct rt_image *image, const size_t bytes[3], size_t row, size_t slice,
                             struct rt_side *out)
{
    const bool rows_are_layers = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool solid = image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY || image->type == CL_MEM_OBJECT_IMAGE3D;
    size_t least;
    row = row == 0 ? bytes[0] : row;
    if (row < bytes[0] || __builtin_mul_overflow(row, rows_are_layers ? 1 : bytes[1], &least) ||
        (slice != 0 && (slice < least || !(rows_are_layers || solid)))) {
        return CL_INVALID_VALUE;
    }
    slice = slice == 0 ? least : slice;
    *out = (struct rt_side){.row = rows_are_layers ? slice : row, .slice = slice};
    return CL_SUCCESS;
}

static cl_int transfer(cl_command_queue queue, cl_mem image, bool to_host, bool blocking, const size_t *origin,
                       const size_t *region, size_t row, size_t slice, void *host, cl_uint n_waits,
                       const cl_event *waits, cl_event *event)
{
    const cl_command_type type = to_host ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE;
    struct rt_side at, host_side;
    size_t bytes[3];
    struct rt_command *c = NULL;
    cl_int error = rt_check_image(queue, image);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (origin == NULL || region == NULL || !rt_image_box(image->image, origin, region, &at, bytes) ||
        take_host_side(image->image, bytes, row, slice, &host_side) != CL_SUCCESS ||
        !rt_check_host(host, rt_side_end(&host_side, bytes))) {
        return CL_INVALID_VALUE;
    }
    error = rt_check_host_access(image, to_host, !to_host);
    if (error == CL_SUCCESS) {
        error = rt_transfer_create(queue, type, image, to_host, bytes, &at, &host_side, host, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, blocking, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                   const size_t *origin, const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr, cl_uint n_waits,
                                                   const cl_event *waits, cl_event *event)
{
    return transfer(queue, image, true, blocking, origin, region, row_pitch, slice_pitch, ptr, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                    const size_t *origin, const size_t *region, size_t row_pitch,
                                                    size_t slice_pitch, const void *ptr, cl_uint n_waits,
                                                    const cl_event *waits, cl_event *event)
{
    return transfer(queue, image, false, blocking, origin, region, row_pitch, slice_pitch, (void *)(uintptr_t)ptr,
                    n_waits, waits, event);
}

/** Checks a map call, and computes the box in bytes. */
static cl_int check_map(cl_command_queue queue, cl_mem image, cl_map_flags flags, const size_t *origin,
                        const size_t *region, const size_t *row, const size_t *slice, struct rt_side *at,
                        size_t bytes[3])
{
    const cl_int error = rt_check_image(queue, image);
    if (error != CL_SUCCESS) {
        return error;
    }
    const bool sliced = image->image->desc.image_slice_pitch != 0;
    if (origin == NULL || region == NULL || row == NULL || (sliced && slice == NULL) || !rt_check_map_flags(flags) ||
        !rt_image_box(image->image, origin, region, at, bytes)) {
        return CL_INVALID_VALUE;
    }
    return rt_check_host_access(image, (flags & CL_MAP_READ) != 0, (flags & RT_MAP_WRITES) != 0);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                 cl_map_flags flags, const size_t *origin, const size_t *region,
                                                 size_t *row_pitch, size_t *slice_pitch, cl_uint n_waits,
                                                 const cl_event *waits, cl_event *event, cl_int *errcode_ret)
{
    struct rt_side at, host = {0};
    size_t bytes[3];
    struct rt_map *map = NULL;
    struct rt_command *c = NULL;
    void *pointer = NULL;
    cl_int error = check_map(queue, image, flags, origin, region, row_pitch, slice_pitch, &at, bytes);
    if (error == CL_SUCCESS) {
        error = rt_map_create(image, flags, bytes, &at, &map);
    }
    if (error == CL_SUCCESS) {
        pointer = map->pointer;
        host = map->host;
        error = rt_map_command_create(queue, image, map, false, n_waits, waits, &c);
        error = rt_command_submit(error, c, blocking, event);
        if (error != CL_SUCCESS) {
            rt_map_cancel(image, map);
            pointer = NULL;
        }
        rt_map_drop(map);
    }
    if (error == CL_SUCCESS) {
        const struct rt_image *i = image->image;
        const bool rows_are_layers = i->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        *row_pitch = rows_are_layers && image->host_ptr != NULL ? i->desc.image_row_pitch : host.row;
        if (slice_pitch != NULL) {
            *slice_pitch = rows_are_layers ? host.row : i->desc.image_slice_pitch != 0 ? host.slice : 0;
        }
    }
    rt_error_set(errcode_ret, error);
    return pointer;
}
