/* SPDX-License-Identifier: Apache-2.0 */
/** Argument checks that several calls share (check.h). */
#include "runtime/api/check.h"
#include "runtime/core/callback.h"
#include "runtime/core/svm.h"

cl_int rt_check_mem(cl_command_queue queue, cl_mem mem)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (!rt_object_is(mem, RT_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return mem->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int rt_check_buffer(cl_command_queue queue, cl_mem mem)
{
    const cl_int error = rt_check_mem(queue, mem);
    return error == CL_SUCCESS && mem->image != NULL ? CL_INVALID_MEM_OBJECT : error;
}

cl_int rt_check_image(cl_command_queue queue, cl_mem mem)
{
    const cl_int error = rt_check_mem(queue, mem);
    return error == CL_SUCCESS && mem->image == NULL ? CL_INVALID_MEM_OBJECT : error;
}

/** True: at most one bit is set. */
static bool alone(cl_mem_flags f)
{
    return (f & (f - 1)) == 0;
}

bool rt_check_mem_flags(cl_mem_flags flags)
{
    return (flags & ~(cl_mem_flags)(RT_DEVICE_ACCESS | RT_HOST_ACCESS | RT_HOST_POINTER)) == 0 &&
        alone(flags & RT_DEVICE_ACCESS) && alone(flags & RT_HOST_ACCESS) &&
        ((flags & CL_MEM_USE_HOST_PTR) == 0 || (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0);
}

bool rt_check_part_flags(cl_mem_flags parent, cl_mem_flags flags)
{
    const bool wider = ((parent & CL_MEM_WRITE_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
        ((parent & CL_MEM_READ_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
        ((parent & CL_MEM_HOST_WRITE_ONLY) != 0 && (flags & CL_MEM_HOST_READ_ONLY) != 0) ||
        ((parent & CL_MEM_HOST_READ_ONLY) != 0 && (flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
        ((parent & CL_MEM_HOST_NO_ACCESS) != 0 && (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0);
    return wider || (flags & RT_HOST_POINTER) != 0 || !rt_check_mem_flags(flags);
}

bool rt_check_host(const void *host, size_t bytes)
{
    uintptr_t end;
    return host != NULL && !__builtin_add_overflow((uintptr_t)host, bytes, &end);
}

bool rt_check_svm_room(cl_context context, size_t size, const void *host_ptr)
{
    cl_mem svm = rt_svm_find(context, host_ptr);
    const bool fits = svm == NULL || size <= svm->size - (size_t)((const char *)host_ptr - (const char *)svm->host_ptr);
    rt_object_drop(svm);
    return fits;
}

cl_int rt_check_host_access(cl_mem mem, bool reads, bool writes)
{
    const cl_mem_flags forbidden = CL_MEM_HOST_NO_ACCESS | (reads ? CL_MEM_HOST_WRITE_ONLY : 0) |
                                   (writes ? CL_MEM_HOST_READ_ONLY : 0);
    return (mem->flags & forbidden) == 0 ? CL_SUCCESS : CL_INVALID_OPERATION;
}

cl_int rt_check_range(cl_mem mem, size_t offset, size_t size)
{
    return offset <= mem->size && size <= mem->size - offset ? CL_SUCCESS : CL_INVALID_VALUE;
}

/** The side as a box of the root buffer, so that sub-buffers of one parent can be compared. */
static struct rt_side in_root(cl_mem mem, const struct rt_side *s)
{
    return (struct rt_side){.start = mem->at + s->start, .row = s->row, .slice = s->slice};
}

bool rt_check_overlap(cl_mem src, cl_mem dst, const size_t region[3], const struct rt_side *from,
                      const struct rt_side *to)
{
    if (src->root != dst->root) {
        return false;
    }
    const struct rt_side a = in_root(src, from);
    const struct rt_side b = in_root(dst, to);
    if (a.row == b.row && a.slice == b.slice) {
        return rt_boxes_overlap(&a, &b, region);
    }
    return a.start < rt_side_end(&b, region) && b.start < rt_side_end(&a, region);
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
    case CL_COMMAND_READ_IMAGE:
        return "a blocking clEnqueueReadImage";
    case CL_COMMAND_WRITE_IMAGE:
        return "a blocking clEnqueueWriteImage";
    case CL_COMMAND_MAP_IMAGE:
        return "a blocking clEnqueueMapImage";
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
