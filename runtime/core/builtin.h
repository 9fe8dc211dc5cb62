/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Built-in kernels: the device's user executors, as docs/spec/executors describes them. A program of them has a
 * binary without code, whose kernels are made of the descriptions; a kernel of it runs as one packet user_call. An
 * executor knows no work-groups: every work-item is one.
 */
#ifndef RT_BUILTIN_H
#define RT_BUILTIN_H

#include "runtime/core/dispatch.h"

/** CL_DEVICE_BUILT_IN_KERNELS: names with semicolons between them; ..._WITH_VERSION. */
cl_int rt_builtin_names(cl_device_id device, const struct rt_answer *a);
cl_int rt_builtin_versions(cl_device_id device, const struct rt_answer *a);

/** names: as rt_builtin_names gives them, in any order; one that is there twice counts once. CL_INVALID_VALUE: one is
 *  not known, or empty; CL_OUT_OF_HOST_MEMORY. */
cl_int rt_builtin_program(cl_context ctx, const char *names, cl_program *out);

bool rt_builtin_is(cl_kernel k);
/** Fills range->local. CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_OFFSET: the executor does not take it;
 *  CL_INVALID_WORK_ITEM_SIZE, CL_INVALID_WORK_GROUP_SIZE: local (may be NULL) has more than one work-item, or none. */
cl_int rt_builtin_shape(cl_kernel k, const size_t *local, struct rt_range *range);
/** CL_KERNEL_GLOBAL_WORK_SIZE. */
void rt_builtin_most(cl_kernel k, size_t most[3]);
/** As rt_dispatch_create; k is a built-in kernel, and range has been checked. */
cl_int rt_builtin_create(cl_command_queue queue, cl_command_type type, cl_kernel k, const struct rt_range *range,
                         cl_uint n_waits, const cl_event *waits, struct rt_command **out);

#endif
