/* SPDX-License-Identifier: Apache-2.0 */
/** Argument checks that several calls share (check.h). */
#include "runtime/api/check.h"
#include "runtime/core/callback.h"

cl_int rt_check_buffer(cl_command_queue queue, cl_mem mem)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (!rt_object_is(mem, RT_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return mem->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int rt_check_range(cl_mem mem, size_t offset, size_t size)
{
    return offset <= mem->size && size <= mem->size - offset ? CL_SUCCESS : CL_INVALID_VALUE;
}

bool rt_check_map_flags(cl_map_flags flags)
{
    const cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    return (flags & ~known) == 0 &&
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0);
}

cl_int rt_check_devices(cl_uint n, const cl_device_id *list)
{
    if ((n == 0) != (list == NULL)) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < n; i++) {
        if (!rt_device_is(list[i])) {
            return CL_INVALID_DEVICE;
        }
    }
    return CL_SUCCESS;
}

/** Name of the call that enqueues a command of a type that can block. */
static const char *name_of(cl_command_type type)
{
    switch (type) {
    case CL_COMMAND_READ_BUFFER:
        return "a blocking clEnqueueReadBuffer";
    case CL_COMMAND_WRITE_BUFFER:
        return "a blocking clEnqueueWriteBuffer";
    case CL_COMMAND_READ_BUFFER_RECT:
        return "a blocking clEnqueueReadBufferRect";
    case CL_COMMAND_WRITE_BUFFER_RECT:
        return "a blocking clEnqueueWriteBufferRect";
    case CL_COMMAND_SVM_MEMCPY:
        return "a blocking clEnqueueSVMMemcpy";
    case CL_COMMAND_SVM_MAP:
        return "a blocking clEnqueueSVMMap";
    default:
        return "a blocking clEnqueueMapBuffer";
    }
}

cl_int rt_command_submit(cl_int error, struct rt_command *c, bool blocking, cl_event *event)
{
    if (error == CL_SUCCESS && blocking && rt_callback_refuses(c->queue->context, name_of(c->event->type))) {
        rt_command_free(c);
        error = CL_INVALID_OPERATION;
    }
    return error == CL_SUCCESS ? rt_command_enqueue(c, blocking, event) : error;
}
