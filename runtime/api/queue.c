/* SPDX-License-Identifier: Apache-2.0 */
/** Command-queue calls. */
#include "runtime/core/callback.h"
#include "runtime/core/queue.h"

#include <CL/cl_ext.h>

#define KNOWN (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
#define ON_DEVICE (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)

static cl_command_queue create(cl_context context, cl_device_id device, const struct rt_queue_want *want, cl_int error,
                               cl_int *errcode_ret)
{
    cl_command_queue q = NULL;
    if (!rt_object_is(context, RT_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (!rt_device_is(device)) {
        error = CL_INVALID_DEVICE;
    } else if (error == CL_SUCCESS && (want->properties & ~(cl_command_queue_properties)(KNOWN | ON_DEVICE)) != 0) {
        error = CL_INVALID_VALUE;
    } else if (error == CL_SUCCESS && (want->properties & ON_DEVICE) != 0) {
        error = CL_INVALID_QUEUE_PROPERTIES; /* on-device queues are not supported */
    }
    if (error == CL_SUCCESS) {
        error = rt_queue_create(context, want, &q);
    }
    rt_error_set(errcode_ret, error);
    return q;
}

static const struct rt_queue_want defaults = {.priority = CL_QUEUE_PRIORITY_MED_KHR,
                                              .throttle = CL_QUEUE_THROTTLE_MED_KHR};

/** Checks a priority or throttle hint, which has exactly one of three bits set. */
static cl_int take_hint(cl_queue_properties value, cl_uint *out)
{
    if (value != 1 && value != 2 && value != 4) {
        return CL_INVALID_VALUE;
    }
    *out = (cl_uint)value;
    return CL_SUCCESS;
}

static cl_int take(struct rt_queue_want *want, cl_queue_properties name, cl_queue_properties value)
{
    switch (name) {
    case CL_QUEUE_PROPERTIES:
        want->properties = value;
        return CL_SUCCESS;
    case CL_QUEUE_PRIORITY_KHR:
        return take_hint(value, &want->priority);
    case CL_QUEUE_THROTTLE_KHR:
        return take_hint(value, &want->throttle);
    case CL_QUEUE_SIZE:
        return CL_INVALID_QUEUE_PROPERTIES;
    default:
        return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                             const cl_queue_properties *list,
                                                                             cl_int *errcode_ret)
{
    struct rt_queue_want want = defaults;
    cl_int error = CL_SUCCESS;
    want.list = list;
    for (const cl_queue_properties *p = list; p != NULL && p[0] != 0; p += 2) {
        const cl_int wrong = take(&want, p[0], p[1]);
        error = error == CL_SUCCESS ? wrong : error;
    }
    return create(context, device, &want, error, errcode_ret);
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                               cl_command_queue_properties properties,
                                                               cl_int *errcode_ret)
{
    struct rt_queue_want want = defaults;
    want.properties = properties;
    return create(context, device, &want, CL_SUCCESS, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    rt_object_retain(queue);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
    return rt_object_end(queue, RT_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t cap,
                                                      void *dst, size_t *size)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return rt_queue_query(queue, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue queue)
{
    /* commands are submitted without a flush */
    return rt_object_is(queue, RT_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue queue)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return rt_callback_refuses(queue->context, "clFinish") ? CL_INVALID_OPERATION : rt_queue_finish(queue);
}
