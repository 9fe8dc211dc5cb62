/* SPDX-License-Identifier: Apache-2.0 */
/** Commands that run a kernel. */
#ifndef RT_DISPATCH_H
#define RT_DISPATCH_H

#include "runtime/core/command.h"
#include "runtime/core/kernel.h"

/** An NDRange whose shape was validated. Unused dimensions have size 1 and offset 0. */
struct rt_range {
    unsigned dims;
    uint32_t global[3];
    uint32_t local[3];
    uint32_t offset[3];
};

/** Makes a command, with the present values of the kernel's arguments. CL_OUT_OF_RESOURCES,
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY. */
cl_int rt_dispatch_create(cl_command_queue queue, cl_command_type type, cl_kernel kernel, const struct rt_range *range,
                          cl_uint n_waits, const cl_event *waits, struct rt_command **out);

#endif
