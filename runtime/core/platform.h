/* SPDX-License-Identifier: Apache-2.0 */
/** The one platform. */
#ifndef RT_PLATFORM_H
#define RT_PLATFORM_H

#include "runtime/core/info.h"

/** What queues can be asked to be: of the platform, since all its devices have it, and of the device. */
#define RT_QUEUE_EXTENSIONS "cl_khr_priority_hints cl_khr_throttle_hints"

#define RT_VERSION_STRING "0.1.0"

struct _cl_platform_id {
    struct rt_object base;
};

cl_platform_id rt_platform_get(void);
/** NULL stands for the only platform, where the specification leaves that to the implementation. */
bool rt_platform_is(cl_platform_id platform);
cl_int rt_platform_query(cl_platform_info name, const struct rt_answer *a);

#endif
