/* SPDX-License-Identifier: Apache-2.0 */
/** Checks that several calls share. */
#ifndef RT_CHECK_H
#define RT_CHECK_H

#include "runtime/core/queue.h"

/** A live queue, a live buffer, of one context. */
cl_int rt_check_buffer(cl_command_queue queue, cl_mem mem);
/** Does (offset, size) lie in the buffer? CL_INVALID_VALUE. */
cl_int rt_check_range(cl_mem mem, size_t offset, size_t size);
/** Are these flags of a map call? */
bool rt_check_map_flags(cl_map_flags flags);
/** A device list that may be absent. CL_INVALID_VALUE, CL_INVALID_DEVICE. */
cl_int rt_check_devices(cl_uint n, const cl_device_id *list);
/** Ends an enqueue: enqueues what was made, unless that failed, or it is to block in a
 * callback (CL_INVALID_OPERATION). */
cl_int rt_check_enqueue(cl_int error, struct rt_command *c, bool blocking, cl_event *event);

#endif
