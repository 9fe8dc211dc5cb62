/* SPDX-License-Identifier: Apache-2.0 */
/** Shared virtual memory: allocation, and what kernels are told of it. */
#include "runtime/core/kernel.h"
#include "runtime/core/svm.h"

#define MOST_ALIGNED 4096u /* bytes of a page, more than the largest type (128) */

/** True: the arguments are valid by section 5.6.1. */
static bool may_alloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    const cl_svm_mem_flags known = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    return rt_object_is(context, RT_CONTEXT) && context->device->svm && (flags & ~known) == 0 &&
        (flags & (flags - 1)) == 0 && size != 0 && size <= context->device->max_alloc && alignment <= MOST_ALIGNED &&
        (alignment & (alignment - 1)) == 0;
}

CL_API_ENTRY void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    return may_alloc(context, flags, size, alignment) ? rt_svm_alloc(context, flags, size) : NULL;
}

/** The application may have released the context, which lives as long as its SVM allocations. In the child of a fork
 *  the call does nothing. */
CL_API_ENTRY void CL_API_CALL clSVMFree(cl_context context, void *pointer)
{
    if (!rt_device_inherited() && rt_object_is(context, RT_CONTEXT)) {
        rt_svm_free(context, pointer);
    }
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    return kernel->program->context->device->svm ? rt_kernel_set_svm(kernel, index, value) : CL_INVALID_OPERATION;
}

static cl_int set_pointers(cl_kernel kernel, size_t size, const void *value)
{
    if (!kernel->program->context->device->svm) {
        return CL_INVALID_OPERATION;
    }
    if (size % sizeof(void *) != 0 || (value == NULL) != (size == 0)) {
        return CL_INVALID_VALUE;
    }
    return rt_kernel_set_svm_pointers(kernel, size / sizeof(void *), value);
}

/** Checks CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, which can only be CL_FALSE. */
static cl_int set_system(size_t size, const void *value)
{
    if (size != sizeof(cl_bool) || value == NULL) {
        return CL_INVALID_VALUE;
    }
    return *(const cl_bool *)value == CL_FALSE ? CL_SUCCESS : CL_INVALID_OPERATION;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size,
                                                    const void *value)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    switch (name) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
        return set_pointers(kernel, size, value);
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        return set_system(size, value);
    default:
        return CL_INVALID_VALUE;
    }
}
