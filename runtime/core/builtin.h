/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Built-in kernels: the device's user executors, as described in docs/spec/executors. A program of built-in kernels has
 * a binary without code, whose kernels are made from the descriptions. One packet user_call runs such a kernel. An
 * executor has no work-groups, so every work-item is a group of its own.
 */
#ifndef RT_BUILTIN_H
#define RT_BUILTIN_H

#include "runtime/core/dispatch.h"

/** CL_DEVICE_BUILT_IN_KERNELS: names separated by semicolons; and ..._WITH_VERSION. */
cl_int rt_builtin_names(cl_device_id device, const struct rt_answer *a);
cl_int rt_builtin_versions(cl_device_id device, const struct rt_answer *a);

/** Makes a program of the named kernels, in any order; a name that occurs twice counts once. CL_INVALID_VALUE: a
 *  name is unknown or empty; CL_OUT_OF_HOST_MEMORY. */
cl_int rt_builtin_program(cl_context ctx, const char *names, cl_program *out);

bool rt_builtin_is(cl_kernel k);
/** Checks the range, and fills range->local. CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_OFFSET: the executor
 *  does not take the range; CL_INVALID_WORK_ITEM_SIZE, CL_INVALID_WORK_GROUP_SIZE: `local` (may be NULL) is not one
 *  work-item. */
cl_int rt_builtin_shape(cl_kernel k, const size_t *local, struct rt_range *range);
/** CL_KERNEL_GLOBAL_WORK_SIZE. */
void rt_builtin_most(cl_kernel k, size_t most[3]);
/** As rt_dispatch_create, for a built-in kernel and a range that was checked. */
cl_int rt_builtin_create(cl_command_queue queue, cl_command_type type, cl_kernel k, const struct rt_range *range,
                         cl_uint n_waits, const cl_event *waits, struct rt_command **out);

#endif
