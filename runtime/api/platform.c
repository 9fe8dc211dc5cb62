/* SPDX-License-Identifier: Apache-2.0 */
/** Platform calls, and the three symbols that the ICD loader looks up. */
#include <string.h>

#include "runtime/core/platform.h"
#include "runtime/include/CL/cl_tern.h"

cl_int CL_API_CALL clGetDeviceCountersTERN(cl_device_id device, cl_uint engine, cl_tern_counters *counters);

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t cap, void *dst,
                                                  size_t *size)
{
    if (!rt_platform_is(platform)) {
        return CL_INVALID_PLATFORM;
    }
    return rt_platform_query(name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    if ((platforms == NULL && num_platforms == NULL) || (platforms != NULL && num_entries == 0)) {
        return CL_INVALID_VALUE;
    }
    if (platforms != NULL) {
        platforms[0] = rt_platform_get();
    }
    if (num_platforms != NULL) {
        *num_platforms = 1;
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms,
                                                       cl_uint *num_platforms)
{
    return clGetPlatformIDs(num_entries, platforms, num_platforms);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"clIcdGetPlatformIDsKHR", (void *)clIcdGetPlatformIDsKHR},
        {"clGetPlatformInfo", (void *)clGetPlatformInfo},
        {"clGetDeviceCountersTERN", (void *)clGetDeviceCountersTERN},
        {"clGetKernelSubGroupInfoKHR", (void *)clGetKernelSubGroupInfoKHR}, /* cl_khr_subgroups */
        {"clCreateProgramWithILKHR", (void *)clCreateProgramWithIL}, /* cl_khr_il_program */
    };
    for (size_t i = 0; name != NULL && i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(name, functions[i].name) == 0) {
            return functions[i].function;
        }
    }
    return NULL;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    return platform != NULL && rt_platform_is(platform) ? clGetExtensionFunctionAddress(name) : NULL;
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform)
{
    return platform != NULL && rt_platform_is(platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadCompiler(void)
{
    return CL_SUCCESS;
}
