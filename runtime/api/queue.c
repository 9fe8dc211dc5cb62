/* SPDX-License-Identifier: Apache-2.0 */
/** Command-queue calls. */
#include "runtime/core/queue.h"

#define KNOWN (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
#define ON_DEVICE (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)

static cl_command_queue create(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                               const cl_queue_properties *list, cl_int error, cl_int *errcode_ret)
{
    cl_command_queue q = NULL;
    if (!rt_object_is(context, RT_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (!rt_device_is(device)) {
        error = CL_INVALID_DEVICE;
    } else if (error == CL_SUCCESS && (properties & ~(cl_command_queue_properties)(KNOWN | ON_DEVICE)) != 0) {
        error = CL_INVALID_VALUE;
    } else if (error == CL_SUCCESS && (properties & ON_DEVICE) != 0) {
        error = CL_INVALID_QUEUE_PROPERTIES; /* no queues on the device */
    }
    if (error == CL_SUCCESS) {
        error = rt_queue_create(context, properties, list, &q);
    }
    rt_error_set(errcode_ret, error);
    return q;
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                             const cl_queue_properties *list,
                                                                             cl_int *errcode_ret)
{
    cl_command_queue_properties properties = 0;
    cl_int error = CL_SUCCESS;
    for (const cl_queue_properties *p = list; p != NULL && p[0] != 0; p += 2) {
        if (p[0] == CL_QUEUE_PROPERTIES) {
            properties = p[1];
        } else if (p[0] == CL_QUEUE_SIZE) {
            error = CL_INVALID_QUEUE_PROPERTIES;
        } else {
            error = CL_INVALID_VALUE;
        }
    }
    return create(context, device, properties, list, error, errcode_ret);
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                               cl_command_queue_properties properties, cl_int *errcode_ret)
{
    return create(context, device, properties, NULL, CL_SUCCESS, errcode_ret);
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
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    rt_object_release(queue);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t cap, void *dst,
                                                      size_t *size)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return rt_queue_query(queue, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue queue)
{
    return rt_object_is(queue, RT_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; /* the worker never waits for a flush */
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue queue)
{
    return rt_object_is(queue, RT_QUEUE) ? rt_queue_finish(queue) : CL_INVALID_COMMAND_QUEUE;
}
