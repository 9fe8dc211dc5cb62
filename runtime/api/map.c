/* SPDX-License-Identifier: Apache-2.0 */
/** Mapping and unmapping. */
#include "runtime/api/check.h"
#include "runtime/core/transfer.h"

static cl_int check_map(cl_command_queue queue, cl_mem mem, cl_map_flags flags, size_t offset, size_t size)
{
    const cl_int error = rt_check_buffer(queue, mem);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (size == 0 || rt_check_range(mem, offset, size) != CL_SUCCESS || !rt_check_map_flags(flags)) {
        return CL_INVALID_VALUE;
    }
    return rt_check_host_access(mem, (flags & CL_MAP_READ) != 0, (flags & RT_MAP_WRITES) != 0);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                  cl_map_flags flags, size_t offset, size_t size, cl_uint n_waits,
                                                  const cl_event *waits, cl_event *event, cl_int *errcode_ret)
{
    const size_t region[3] = {size, 1, 1};
    const struct rt_side at = {offset, size, size};
    struct rt_map *map = NULL;
    struct rt_command *c = NULL;
    void *pointer = NULL;
    cl_int error = check_map(queue, mem, flags, offset, size);
    if (error == CL_SUCCESS) {
        error = rt_map_create(mem, flags, region, &at, &map);
    }
    if (error == CL_SUCCESS) {
        pointer = map->pointer;
        error = rt_map_command_create(queue, mem, map, false, n_waits, waits, &c);
        error = rt_command_submit(error, c, blocking, event);
        if (error != CL_SUCCESS) {
            rt_map_cancel(mem, map);
            pointer = NULL;
        }
        rt_map_drop(map);
    }
    rt_error_set(errcode_ret, error);
    return pointer;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *pointer,
                                                        cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    cl_int error = rt_check_mem(queue, mem);
    if (error != CL_SUCCESS) {
        return error;
    }
    struct rt_map *map = rt_map_take(mem, pointer);
    if (map == NULL) {
        return CL_INVALID_VALUE;
    }
    error = rt_map_command_create(queue, mem, map, true, n_waits, waits, &c);
    if (error != CL_SUCCESS) {
        rt_map_return(mem, map);
    } else {
        rt_map_share(mem, map);
    }
    return rt_command_submit(error, c, false, event);
}
