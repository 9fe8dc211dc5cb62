/* SPDX-License-Identifier: Apache-2.0 */
/** Reads and writes of buffers from and to host memory. */
#include "runtime/core/transfer.h"
#include "runtime/api/check.h"

static cl_int linear(cl_command_queue queue, cl_mem mem, bool to_host, bool blocking, size_t offset, size_t size,
                     void *host, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const size_t region[3] = {size, 1, 1};
    const struct rt_side buffer = {.start = offset};
    const struct rt_side host_side = {0};
    const cl_command_type type = to_host ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER;
    struct rt_command *c = NULL;
    cl_int error = rt_check_buffer(queue, mem);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = rt_check_host(host, size) ? rt_check_range(mem, offset, size) : CL_INVALID_VALUE;
    if (error == CL_SUCCESS) {
        error = rt_check_host_access(mem, to_host, !to_host);
    }
    if (error == CL_SUCCESS) {
        error = rt_transfer_create(queue, type, mem, to_host, region, &buffer, &host_side, host, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, blocking, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset,
                                                    size_t size, void *ptr, cl_uint n_waits, const cl_event *waits,
                                                    cl_event *event)
{
    return linear(queue, mem, true, blocking, offset, size, ptr, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                     size_t offset, size_t size, const void *ptr, cl_uint n_waits,
                                                     const cl_event *waits, cl_event *event)
{
    return linear(queue, mem, false, blocking, offset, size, (void *)(uintptr_t)ptr, n_waits, waits, event);
}

/** A box of the buffer, and its place in host memory. */
struct rect {
    const size_t *buffer_origin;
    const size_t *host_origin;
    const size_t *region;
    size_t buffer_row, buffer_slice, host_row, host_slice;
};

static cl_int rectangular(cl_command_queue queue, cl_mem mem, bool to_host, bool blocking, const struct rect *r,
                          void *host, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const cl_command_type type = to_host ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT;
    struct rt_side buffer;
    struct rt_side host_side;
    struct rt_command *c = NULL;
    cl_int error = rt_check_buffer(queue, mem);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (r->buffer_origin == NULL || r->host_origin == NULL || r->region == NULL || r->region[0] == 0 ||
        r->region[1] == 0 || r->region[2] == 0 ||
        !rt_side_make(r->buffer_origin, r->region, r->buffer_row, r->buffer_slice, &buffer) ||
        !rt_side_make(r->host_origin, r->region, r->host_row, r->host_slice, &host_side) ||
        rt_side_end(&buffer, r->region) > mem->size || !rt_check_host(host, rt_side_end(&host_side, r->region))) {
        return CL_INVALID_VALUE;
    }
    error = rt_check_host_access(mem, to_host, !to_host);
    if (error == CL_SUCCESS) {
        error = rt_transfer_create(queue, type, mem, to_host, r->region, &buffer, &host_side, host, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, blocking, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                        const size_t *buffer_origin, const size_t *host_origin,
                                                        const size_t *region, size_t buffer_row, size_t buffer_slice,
                                                        size_t host_row, size_t host_slice, void *ptr, cl_uint n_waits,
                                                        const cl_event *waits, cl_event *event)
{
    const struct rect r = {buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice};
    return rectangular(queue, mem, true, blocking, &r, ptr, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                         const size_t *buffer_origin, const size_t *host_origin,
                                                         const size_t *region, size_t buffer_row, size_t buffer_slice,
                                                         size_t host_row, size_t host_slice, const void *ptr,
                                                         cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const struct rect r = {buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice};
    return rectangular(queue, mem, false, blocking, &r, (void *)(uintptr_t)ptr, n_waits, waits, event);
}
