/* SPDX-License-Identifier: Apache-2.0 */
/** Argument checks that several calls share. */
#ifndef RT_CHECK_H
#define RT_CHECK_H

#include "runtime/core/queue.h"

/** Checks that queue and buffer are live and of one context. CL_INVALID_COMMAND_QUEUE, CL_INVALID_MEM_OBJECT,
 *  CL_INVALID_CONTEXT. */
cl_int rt_check_buffer(cl_command_queue queue, cl_mem mem);
/** Checks that [offset, offset + size) lies in the buffer. CL_INVALID_VALUE. */
cl_int rt_check_range(cl_mem mem, size_t offset, size_t size);
/** True: the flags are valid for a map call. */
bool rt_check_map_flags(cl_map_flags flags);
/** Checks a device list, which may be absent. CL_INVALID_VALUE, CL_INVALID_DEVICE. */
cl_int rt_check_devices(cl_uint n, const cl_device_id *list);
/** Enqueues the command, unless `error` is set or the call would block in a callback (CL_INVALID_OPERATION). Takes
 *  c. */
cl_int rt_command_submit(cl_int error, struct rt_command *c, bool blocking, cl_event *event);

#endif
