/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel calls. */
#include "runtime/core/kernel.h"

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *errcode_ret)
{
    cl_kernel k = NULL;
    cl_int error = CL_SUCCESS;
    if (!rt_object_is(program, RT_PROGRAM)) {
        error = CL_INVALID_PROGRAM;
    } else if (name == NULL) {
        error = CL_INVALID_VALUE;
    } else {
        error = rt_kernel_create(program, name, &k);
    }
    rt_error_set(errcode_ret, error);
    return k;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint cap, cl_kernel *kernels,
                                                         cl_uint *count)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    return rt_kernel_create_all(program, cap, kernels, count);
}

CL_API_ENTRY cl_kernel CL_API_CALL clCloneKernel(cl_kernel from, cl_int *errcode_ret)
{
    cl_kernel k = NULL;
    rt_error_set(errcode_ret, rt_object_is(from, RT_KERNEL) ? rt_kernel_clone(from, &k) : CL_INVALID_KERNEL);
    return k;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainKernel(cl_kernel kernel)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    rt_object_retain(kernel);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel)
{
    return rt_object_end(kernel, RT_KERNEL) ? CL_SUCCESS : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    return rt_object_is(kernel, RT_KERNEL) ? rt_kernel_set_arg(kernel, index, size, value) : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t cap, void *dst,
                                                size_t *size)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    return rt_kernel_query(kernel, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t cap,
                                                   void *dst, size_t *size)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    return rt_kernel_query_arg(kernel, index, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                         cl_kernel_work_group_info name, size_t cap, void *dst,
                                                         size_t *size)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    if (device != NULL && !rt_device_is(device)) {
        return CL_INVALID_DEVICE;
    }
    return rt_kernel_query_group(kernel, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                                        cl_kernel_sub_group_info name, size_t input_size,
                                                        const void *input, size_t cap, void *dst, size_t *size)
{
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    if (device != NULL && !rt_device_is(device)) {
        return CL_INVALID_DEVICE;
    }
    return rt_kernel_query_sub_group(kernel, name, input_size, input, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device,
                                                           cl_kernel_sub_group_info name, size_t input_size,
                                                           const void *input, size_t cap, void *dst, size_t *size)
{
    return clGetKernelSubGroupInfo(kernel, device, name, input_size, input, cap, dst, size);
}
