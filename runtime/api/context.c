/* SPDX-License-Identifier: Apache-2.0 */
/** Context calls. */
#include "runtime/core/context.h"
#include "runtime/core/platform.h"

static cl_int check_properties(const cl_context_properties *p)
{
    bool platform = false;
    bool sync = false;
    for (; p != NULL && p[0] != 0; p += 2) {
        if (p[0] == CL_CONTEXT_PLATFORM && !platform) {
            platform = true;
            if (p[1] == 0 || !rt_platform_is((cl_platform_id)p[1])) {
                return CL_INVALID_PLATFORM;
            }
        } else if (p[0] == CL_CONTEXT_INTEROP_USER_SYNC && !sync && (p[1] == CL_TRUE || p[1] == CL_FALSE)) {
            sync = true;
        } else {
            return CL_INVALID_PROPERTY;
        }
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties, cl_uint num_devices,
                                                    const cl_device_id *devices,
                                                    void(CL_CALLBACK *notify)(const char *, const void *,
                                                                              size_t, void *),
                                                    void *data, cl_int *errcode_ret)
{
    cl_context ctx = NULL;
    cl_int error = check_properties(properties);
    if (error == CL_SUCCESS && (devices == NULL || num_devices == 0 || (notify == NULL && data != NULL))) {
        error = CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; error == CL_SUCCESS && i < num_devices; i++) {
        error = rt_device_is(devices[i]) ? CL_SUCCESS : CL_INVALID_DEVICE;
    }
    if (error == CL_SUCCESS) {
        error = rt_context_create(devices[0], properties, notify, data, &ctx);
    }
    rt_error_set(errcode_ret, error);
    return ctx;
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties *properties,
                                                            cl_device_type type, void(CL_CALLBACK *notify)(const char *,
                                                            const void *, size_t,
                                                                                      void *),
                                                            void *data, cl_int *errcode_ret)
{
    cl_int error = check_properties(properties);
    cl_device_id device = NULL;
    if (error == CL_SUCCESS) {
        error = clGetDeviceIDs(rt_platform_get(), type, 1, &device, NULL);
    }
    if (error != CL_SUCCESS) {
        rt_error_set(errcode_ret, error);
        return NULL;
    }
    return clCreateContext(properties, 1, &device, notify, data, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainContext(cl_context context)
{
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    rt_object_retain(context);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context)
{
    return rt_object_end(context, RT_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

CL_API_ENTRY cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, size_t cap, void *dst,
                                                 size_t *size)
{
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    return rt_context_query(context, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context,
                                                               void(CL_CALLBACK *notify)(cl_context, void *),
                                                               void *data)
{
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    return notify == NULL ? CL_INVALID_VALUE : rt_context_add_hook(context, notify, data);
}
