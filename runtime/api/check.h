/* SPDX-License-Identifier: Apache-2.0 */
/** Argument checks that several calls share. */
#ifndef RT_CHECK_H
#define RT_CHECK_H

#include "runtime/core/image.h"
#include "runtime/core/queue.h"

#define RT_DEVICE_ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)
#define RT_HOST_ACCESS (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define RT_HOST_POINTER (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)

/** Check that queue and memory object are live and of one context, and that the object is a buffer or an image.
 *  CL_INVALID_COMMAND_QUEUE, CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT. */
cl_int rt_check_mem(cl_command_queue queue, cl_mem mem);
cl_int rt_check_buffer(cl_command_queue queue, cl_mem mem);
cl_int rt_check_image(cl_command_queue queue, cl_mem mem);
/** Checks that the flags of a memory object allow the host to read or write it. CL_INVALID_OPERATION. */
cl_int rt_check_host_access(cl_mem mem, bool reads, bool writes);
/** True: the pointer is not NULL, and the range does not wrap around the address space. */
bool rt_check_host(const void *host, size_t bytes);
/** True: host_ptr does not point into shared virtual memory, or into `size` bytes of it. */
bool rt_check_svm_room(cl_context context, size_t size, const void *host_ptr);
/** True: no kind of access and of host memory in these flags contradicts another, and none is unknown. */
bool rt_check_mem_flags(cl_mem_flags flags);
/** True: a part or view of an object with the flags `parent` cannot have `flags`: it would allow more, or name host
 *  memory. */
bool rt_check_part_flags(cl_mem_flags parent, cl_mem_flags flags);
/** True: two boxes of memory objects share a byte. Boxes with different pitches are compared by their extents. */
bool rt_check_overlap(cl_mem src, cl_mem dst, const size_t region[3], const struct rt_side *from,
                      const struct rt_side *to);
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
