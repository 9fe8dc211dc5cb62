/* SPDX-License-Identifier: Apache-2.0 */
/** The platform object and its information. */
#include "runtime/core/platform.h"

#define EXTENSIONS "cl_khr_icd " RT_QUEUE_EXTENSIONS

static struct _cl_platform_id the_platform = {
    .base = {.dispatch = &rt_icd_dispatch, .magic = RT_PLATFORM, .refs = 1, .holds = 1},
};

cl_platform_id rt_platform_get(void)
{
    return &the_platform;
}

bool rt_platform_is(cl_platform_id platform)
{
    return platform == NULL || platform == &the_platform;
}

cl_int rt_platform_query(cl_platform_info name, const struct rt_answer *a)
{
    switch (name) {
    case CL_PLATFORM_PROFILE:
        return rt_answer_string(a, "FULL_PROFILE");
    case CL_PLATFORM_VERSION:
        return rt_answer_string(a, "OpenCL 3.0 Tern " RT_VERSION_STRING);
    case CL_PLATFORM_NUMERIC_VERSION:
        return rt_answer_uint(a, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME:
        return rt_answer_string(a, "Tern");
    case CL_PLATFORM_VENDOR:
        return rt_answer_string(a, "Tern project");
    case CL_PLATFORM_EXTENSIONS:
        return rt_answer_string(a, EXTENSIONS);
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
        return rt_answer_names(a, EXTENSIONS, 1);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        return rt_answer_ulong(a, 0); /* not supported: device and host have separate clocks */
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return rt_answer_string(a, "TERN");
    default:
        return CL_INVALID_VALUE;
    }
}
