/* SPDX-License-Identifier: Apache-2.0 */
/** Markers, barriers and migration: commands that only order other commands. */
#include "runtime/api/check.h"
#include "runtime/core/transfer.h"

static cl_int enqueue(cl_command_queue queue, cl_command_type type, bool all, bool fence, cl_uint n_waits,
                      const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    const cl_int error = rt_marker_create(queue, type, all, fence, n_waits, waits, &c);
    return rt_command_submit(error, c, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n_waits,
                                                            const cl_event *waits, cl_event *event)
{
    return enqueue(queue, CL_COMMAND_MARKER, n_waits == 0, false, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n_waits,
                                                             const cl_event *waits, cl_event *event)
{
    return enqueue(queue, CL_COMMAND_BARRIER, n_waits == 0, true, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return event == NULL ? CL_INVALID_VALUE : enqueue(queue, CL_COMMAND_MARKER, true, false, 0, NULL, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue)
{
    return enqueue(queue, CL_COMMAND_BARRIER, true, true, 0, NULL, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint n_waits, const cl_event *waits)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (n_waits == 0 || waits == NULL) {
        return CL_INVALID_VALUE;
    }
    const cl_int error = enqueue(queue, CL_COMMAND_BARRIER, false, true, n_waits, waits, NULL);
    return error == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : error;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint n_mems, const cl_mem *mems,
                                                           cl_mem_migration_flags flags, cl_uint n_waits,
                                                           const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (n_mems == 0 || mems == NULL ||
        (flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)) !=
        0) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < n_mems; i++) {
        const cl_int error = rt_check_mem(queue, mems[i]);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    cl_int error = rt_marker_create(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, false, false, n_waits, waits, &c);
    for (cl_uint i = 0; error == CL_SUCCESS && i < n_mems; i++) {
        error = rt_command_use(c, mems[i]); /* with one device, migration only needs device memory */
        if (error != CL_SUCCESS) {
            rt_command_free(c);
        }
    }
    return rt_command_submit(error, c, false, event);
}
