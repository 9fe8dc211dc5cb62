/* SPDX-License-Identifier: Apache-2.0 */
/** Event calls. */
#include "runtime/core/callback.h"
#include "runtime/core/command.h"

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
    cl_event e = NULL;
    cl_int error = CL_INVALID_CONTEXT;
    if (rt_object_is(context, RT_CONTEXT)) {
        e = rt_event_create(context, NULL, CL_COMMAND_USER);
        error = e == NULL ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    }
    rt_error_set(errcode_ret, error);
    return e;
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status)
{
    if (!rt_object_is(event, RT_EVENT) || event->type != CL_COMMAND_USER) {
        return CL_INVALID_EVENT;
    }
    if (status > CL_COMPLETE) {
        return CL_INVALID_VALUE;
    }
    pthread_mutex_lock(&event->context->lock);
    const bool again = event->decided;
    event->decided = true;
    pthread_mutex_unlock(&event->context->lock);
    if (again) {
        return CL_INVALID_OPERATION;
    }
    rt_object_hold(event); /* a callback may release the event */
    rt_event_update(event, status);
    rt_object_drop(event);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint n, const cl_event *events)
{
    if (n == 0 || events == NULL) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < n; i++) {
        if (!rt_object_is(events[i], RT_EVENT)) {
            return CL_INVALID_EVENT;
        }
        if (events[i]->context != events[0]->context) {
            return CL_INVALID_CONTEXT;
        }
    }
    return rt_callback_refuses(events[0]->context, "clWaitForEvents") ? CL_INVALID_OPERATION : rt_event_wait(n, events);
}

CL_API_ENTRY cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int level,
                                                   void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *data)
{
    if (!rt_object_is(event, RT_EVENT)) {
        return CL_INVALID_EVENT;
    }
    if (fn == NULL || (level != CL_SUBMITTED && level != CL_RUNNING && level != CL_COMPLETE)) {
        return CL_INVALID_VALUE;
    }
    return rt_event_add_callback(event, level, fn, data);
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t cap, void *dst, size_t *size)
{
    if (!rt_object_is(event, RT_EVENT)) {
        return CL_INVALID_EVENT;
    }
    return rt_event_query(event, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t cap, void *dst,
                                                        size_t *size)
{
    if (!rt_object_is(event, RT_EVENT)) {
        return CL_INVALID_EVENT;
    }
    return rt_event_profile(event, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event)
{
    if (!rt_object_is(event, RT_EVENT)) {
        return CL_INVALID_EVENT;
    }
    rt_object_retain(event);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    return rt_object_end(event, RT_EVENT) ? CL_SUCCESS : CL_INVALID_EVENT;
}
