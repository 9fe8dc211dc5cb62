/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and queries of programs. */
#include "runtime/api/check.h"
#include "runtime/core/builtin.h"

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                              const size_t *lengths, cl_int *errcode_ret)
{
    cl_program p = NULL;
    cl_int error = CL_SUCCESS;
    if (!rt_object_is(context, RT_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (count == 0 || strings == NULL) {
        error = CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; error == CL_SUCCESS && i < count; i++) {
        error = strings[i] == NULL ? CL_INVALID_VALUE : CL_SUCCESS;
    }
    if (error == CL_SUCCESS) {
        error = rt_program_create_source(context, count, strings, lengths, &p);
    }
    rt_error_set(errcode_ret, error);
    return p;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint n,
                                                              const cl_device_id *devices, const size_t *lengths,
                                                              const unsigned char **binaries, cl_int *status,
                                                              cl_int *errcode_ret)
{
    cl_program p = NULL;
    cl_int error = CL_SUCCESS;
    if (!rt_object_is(context, RT_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (n == 0 || devices == NULL || lengths == NULL || binaries == NULL) {
        error = CL_INVALID_VALUE;
    } else {
        error = rt_check_devices(n, devices);
    }
    for (cl_uint i = 0; error == CL_SUCCESS && i < n; i++) {
        const bool given = lengths[i] != 0 && binaries[i] != NULL;
        error = given ? CL_SUCCESS : CL_INVALID_VALUE;
        if (status != NULL) {
            status[i] = error;
        }
    }
    if (error == CL_SUCCESS) {
        error = rt_program_create_binary(context, binaries[0], lengths[0], &p);
        if (status != NULL) {
            status[0] = error;
        }
    }
    rt_error_set(errcode_ret, error);
    return p;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il, size_t length,
                                                          cl_int *errcode_ret)
{
    cl_program p = NULL;
    cl_int error;
    if (!rt_object_is(context, RT_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (il == NULL || length == 0) {
        error = CL_INVALID_VALUE;
    } else {
        error = rt_program_create_il(context, il, length, &p);
    }
    rt_error_set(errcode_ret, error);
    return p;
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size,
                                                                   const void *value)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    if (!tc_il_present()) {
        return CL_INVALID_OPERATION;
    }
    return value == NULL ? CL_INVALID_VALUE : rt_program_set_constant(program, id, size, value);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint n,
                                                                      const cl_device_id *devices, const char *names,
                                                                      cl_int *errcode_ret)
{
    cl_program p = NULL;
    cl_int error = CL_SUCCESS;
    if (!rt_object_is(context, RT_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (n == 0 || devices == NULL || names == NULL) {
        error = CL_INVALID_VALUE;
    } else {
        error = rt_check_devices(n, devices);
    }
    if (error == CL_SUCCESS) {
        error = rt_builtin_program(context, names, &p);
    }
    rt_error_set(errcode_ret, error);
    return p;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainProgram(cl_program program)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    rt_object_retain(program);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
    return rt_object_end(program, RT_PROGRAM) ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, size_t cap, void *dst,
                                                 size_t *size)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    return rt_program_query(program, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                      cl_program_build_info name, size_t cap, void *dst, size_t *size)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    if (!rt_device_is(device)) {
        return CL_INVALID_DEVICE;
    }
    return rt_program_query_build(program, name, &(struct rt_answer){cap, dst, size});
}
