/* SPDX-License-Identifier: Apache-2.0 */
/** clBuildProgram, clCompileProgram, clLinkProgram. */
#include "runtime/api/check.h"
#include "runtime/core/build.h"

/** Checks of all three calls. CL_INVALID_VALUE, CL_INVALID_DEVICE. */
static cl_int check(cl_uint n, const cl_device_id *devices, rt_build_notify notify, const void *data)
{
    return notify == NULL && data != NULL ? CL_INVALID_VALUE : rt_check_devices(n, devices);
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                                               const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                               void *data)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    const cl_int error = check(n, devices, notify, data);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (program->linked) {
        return CL_INVALID_OPERATION;
    }
    const struct rt_build_request request = {.step = RT_BUILD, .options = options, .notify = notify, .data = data};
    return rt_build(program, &request);
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                                                 const char *options, cl_uint n_headers, const cl_program *headers,
                                                 const char **names, void(CL_CALLBACK *notify)(cl_program, void *),
                                                 void *data)
{
    if (!rt_object_is(program, RT_PROGRAM)) {
        return CL_INVALID_PROGRAM;
    }
    const cl_int error = check(n, devices, notify, data);
    if (error != CL_SUCCESS) {
        return error;
    }
    if ((n_headers == 0) != (headers == NULL) || (n_headers == 0) != (names == NULL)) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < n_headers; i++) {
        if (!rt_object_is(headers[i], RT_PROGRAM)) {
            return CL_INVALID_PROGRAM;
        }
        if (names[i] == NULL || headers[i]->source == NULL) {
            return CL_INVALID_VALUE;
        }
    }
    if (!rt_program_compiles(program)) {
        return CL_INVALID_OPERATION;
    }
    const struct rt_build_request request = {
        .step = RT_COMPILE,
        .options = options,
        .n_inputs = n_headers,
        .inputs = headers,
        .names = names,
        .notify = notify,
        .data = data,
    };
    return rt_build(program, &request);
}

static cl_int check_inputs(cl_context context, cl_uint n, const cl_program *inputs)
{
    if (n == 0 || inputs == NULL) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < n; i++) {
        if (!rt_object_is(inputs[i], RT_PROGRAM)) {
            return CL_INVALID_PROGRAM;
        }
        if (inputs[i]->context != context) {
            return CL_INVALID_CONTEXT;
        }
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint n, const cl_device_id *devices,
                                                  const char *options, cl_uint n_inputs, const cl_program *inputs,
                                                  void(CL_CALLBACK *notify)(cl_program, void *), void *data,
                                                  cl_int *errcode_ret)
{
    cl_program p = NULL;
    cl_int error = rt_object_is(context, RT_CONTEXT) ? check(n, devices, notify, data) : CL_INVALID_CONTEXT;
    if (error == CL_SUCCESS) {
        error = check_inputs(context, n_inputs, inputs);
    }
    if (error == CL_SUCCESS) {
        error = rt_program_create_linked(context, &p);
    }
    if (error == CL_SUCCESS) {
        const struct rt_build_request request = {
            .step = RT_LINK,
            .options = options,
            .n_inputs = n_inputs,
            .inputs = inputs,
            .notify = notify,
            .data = data,
        };
        error = rt_build(p, &request);
        if (error != CL_SUCCESS && error != CL_LINK_PROGRAM_FAILURE) { /* a program that failed to link has a log */
            rt_object_release(p);
            p = NULL;
        }
    }
    rt_error_set(errcode_ret, error);
    return p;
}
