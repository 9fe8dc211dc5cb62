/* SPDX-License-Identifier: Apache-2.0 */
/** clEnqueueNDRangeKernel: checks of the shape of an NDRange. */
#include "runtime/api/check.h"
#include "runtime/core/builtin.h"
#include "runtime/core/dispatch.h"
#include "runtime/core/group.h"
#include "runtime/core/special.h"
#include "runtime/core/transfer.h"

/** Checks global size and offset. *empty: no work-item is to be run. */
static cl_int take_global(cl_uint dims, const size_t *offset, const size_t *global, struct rt_range *r, bool *empty)
{
    *empty = global == NULL;
    for (cl_uint i = 0; i < 3; i++) {
        const size_t g = i < dims && global != NULL ? global[i] : 1;
        const size_t o = i < dims && offset != NULL ? offset[i] : 0;
        if (g > UINT32_MAX) {
            return CL_INVALID_GLOBAL_WORK_SIZE;
        }
        if (o > UINT32_MAX || o + g > (size_t)UINT32_MAX + 1) {
            return CL_INVALID_GLOBAL_OFFSET;
        }
        *empty = *empty || g == 0;
        r->global[i] = (uint32_t)g;
        r->offset[i] = (uint32_t)o;
    }
    return CL_SUCCESS;
}

/** Checks the local size against the limits of the device, the kernel and the program. */
static cl_int take_local(cl_kernel k, const size_t *local, struct rt_range *r)
{
    const unsigned most = k->program->context->device->group_max, max = rt_special_group_max(k);
    const uint32_t *required = k->code->required_size;
    size_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        const size_t l = i < r->dims ? local[i] : 1;
        if (l > most) {
            return CL_INVALID_WORK_ITEM_SIZE;
        }
        items *= l;
        if (items == 0 || items > max || (required[0] != 0 && l != required[i])) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        if (k->code->uniform && r->global[i] % l != 0) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        r->local[i] = (uint32_t)l;
    }
    return CL_SUCCESS;
}

static cl_int take_shape(cl_kernel k, const size_t *local, struct rt_range *r)
{
    const cl_device_id d = k->program->context->device;
    const uint32_t *required = k->code->required_size;
    const size_t from_source[3] = {required[0], required[1], required[2]};
    if (local == NULL && required[0] != 0) {
        local = from_source;
    }
    if (local != NULL) {
        return take_local(k, local, r);
    }
    rt_group_choose(d->info.lanes, d->engine_items, r->dims, k->code->uniform && k->code->groups, r->global,
                    r->local);
    return CL_SUCCESS;
}

static cl_int check(cl_command_queue queue, cl_kernel kernel)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (!rt_object_is(kernel, RT_KERNEL)) {
        return CL_INVALID_KERNEL;
    }
    if (kernel->program->context != queue->context) {
        return CL_INVALID_CONTEXT;
    }
    return rt_kernel_complete(kernel) ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
}

static cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_kernel kernel, cl_uint dims,
                      const size_t *offset, const size_t *global, const size_t *local, cl_uint n_waits,
                      const cl_event *waits, cl_event *event)
{
    struct rt_range range = {.dims = dims};
    struct rt_command *c = NULL;
    bool empty;
    cl_int error = check(queue, kernel);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (dims < 1 || dims > 3) {
        return CL_INVALID_WORK_DIMENSION;
    }
    error = take_global(dims, offset, global, &range, &empty);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (empty) {
        error = rt_marker_create(queue, type, false, false, n_waits, waits, &c);
        return rt_command_submit(error, c, false, event);
    }
    if (rt_builtin_is(kernel)) {
        error = rt_builtin_shape(kernel, local, &range);
        if (error == CL_SUCCESS) {
            error = rt_builtin_create(queue, type, kernel, &range, n_waits, waits, &c);
        }
        return rt_command_submit(error, c, false, event);
    }
    error = take_shape(kernel, local, &range);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = rt_kernel_fits(kernel, range.local[0] * range.local[1] * range.local[2]);
    if (error == CL_SUCCESS) {
        error = rt_dispatch_create(queue, type, kernel, &range, n_waits, waits, &c);
    }
    return rt_command_submit(error, c, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                                       const size_t *offset, const size_t *global, const size_t *local,
                                                       cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    return enqueue(queue, CL_COMMAND_NDRANGE_KERNEL, kernel, dims, offset, global, local, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n_waits,
                                              const cl_event *waits, cl_event *event)
{
    const size_t one = 1;
    return enqueue(queue, CL_COMMAND_TASK, kernel, 1, NULL, &one, &one, n_waits, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *fn)(void *), void *args,
                                                      size_t size, cl_uint n_mems, const cl_mem *mems, const void **at,
                                                      cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    (void)fn; /* CL_DEVICE_EXECUTION_CAPABILITIES has no CL_EXEC_NATIVE_KERNEL */
    (void)args;
    (void)size;
    (void)n_mems;
    (void)mems;
    (void)at;
    (void)n_waits;
    (void)waits;
    (void)event;
    return rt_object_is(queue, RT_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}
