/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and queries of buffers and sub-buffers. */
#include "runtime/api/check.h"

static cl_int check(cl_context context, cl_mem_flags flags, size_t size, const void *host_ptr)
{
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    if (!rt_check_mem_flags(flags)) {
        return CL_INVALID_VALUE;
    }
    if (size == 0 || size > context->device->max_alloc) {
        return CL_INVALID_BUFFER_SIZE;
    }
    const bool wants = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    if (wants != (host_ptr != NULL)) {
        return CL_INVALID_HOST_PTR;
    }
    return wants && !rt_check_svm_room(context, size, host_ptr) ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                                             cl_mem_flags flags, size_t size, void *host_ptr,
                                                             cl_int *errcode_ret)
{
    cl_mem m = NULL;
    cl_int error = check(context, flags, size, host_ptr);
    if (error == CL_SUCCESS && properties != NULL && properties[0] != 0) {
        error = CL_INVALID_PROPERTY; /* this device defines no property */
    }
    if (error == CL_SUCCESS) {
        error = rt_mem_create(context, properties, flags, size, host_ptr, &m);
    }
    rt_error_set(errcode_ret, error);
    return m;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                                               cl_int *errcode_ret)
{
    return clCreateBufferWithProperties(context, NULL, flags, size, host_ptr, errcode_ret);
}

static cl_int check_sub(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const cl_buffer_region *region)
{
    if (!rt_object_is(parent, RT_MEM) || parent->parent != NULL || parent->image != NULL) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (rt_check_part_flags(parent->flags, flags) || type != CL_BUFFER_CREATE_TYPE_REGION || region == NULL) {
        return CL_INVALID_VALUE;
    }
    if (region->size == 0) {
        return CL_INVALID_BUFFER_SIZE;
    }
    if (region->origin > parent->size || region->size > parent->size - region->origin) {
        return CL_INVALID_VALUE;
    }
    return region->origin % RT_ALIGN == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                                                  const void *info, cl_int *errcode_ret)
{
    cl_mem m = NULL;
    const cl_buffer_region *region = info;
    cl_int error = check_sub(buffer, flags, type, region);
    if (error == CL_SUCCESS) {
        error = rt_mem_create_sub(buffer, NULL, flags, region->origin, region->size, &m);
    }
    rt_error_set(errcode_ret, error);
    return m;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainMemObject(cl_mem mem)
{
    if (!rt_object_is(mem, RT_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    rt_object_retain(mem);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem mem)
{
    return rt_object_end(mem, RT_MEM) ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem mem, cl_mem_info name, size_t cap, void *dst, size_t *size)
{
    if (!rt_object_is(mem, RT_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return rt_mem_query(mem, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem mem, void(CL_CALLBACK *notify)(cl_mem, void *),
                                                                 void *data)
{
    if (!rt_object_is(mem, RT_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return notify == NULL ? CL_INVALID_VALUE : rt_mem_add_hook(mem, notify, data);
}
