/* SPDX-License-Identifier: Apache-2.0 */
/** The only platform. */
#ifndef RT_PLATFORM_H
#define RT_PLATFORM_H

#include <tern/tern_version.h>

#include "runtime/core/info.h"

/** Extensions for queues, which are both of the platform and of all its devices. */
#define RT_QUEUE_EXTENSIONS "cl_khr_priority_hints cl_khr_throttle_hints"

#define RT_DIGITS(number) #number
#define RT_VERSION_OF(major, minor, patch) RT_DIGITS(major) "." RT_DIGITS(minor) "." RT_DIGITS(patch)
/** The version of Tern, "MAJOR.MINOR.PATCH". */
#define RT_VERSION_STRING RT_VERSION_OF(TERN_VERSION_MAJOR, TERN_VERSION_MINOR, TERN_VERSION_PATCH)

struct _cl_platform_id {
    struct rt_object base;
};

cl_platform_id rt_platform_get(void);
/** True: the handle is that of the platform, or NULL, for which the specification lets the implementation choose. */
bool rt_platform_is(cl_platform_id platform);
cl_int rt_platform_query(cl_platform_info name, const struct rt_answer *a);

#endif
