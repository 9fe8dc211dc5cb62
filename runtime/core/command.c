/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and end of commands (command.h). */
#include "runtime/core/command.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/queue.h"

cl_int rt_command_check_waits(cl_context ctx, cl_uint n, const cl_event *list)
{
    if ((n == 0) != (list == NULL)) {
        return CL_INVALID_EVENT_WAIT_LIST;
    }
    for (cl_uint i = 0; i < n; i++) {
        if (!rt_object_is(list[i], RT_EVENT)) {
            return CL_INVALID_EVENT_WAIT_LIST;
        }
        if (list[i]->context != ctx) {
            return CL_INVALID_CONTEXT;
        }
    }
    return CL_SUCCESS;
}

cl_int rt_command_create(size_t bytes, const struct rt_command_ops *ops, cl_command_queue queue, cl_command_type type,
                         cl_uint n_waits, const cl_event *waits, void *out)
{
    cl_int error = rt_command_check_waits(queue->context, n_waits, waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (rt_context_lost(queue->context)) {
        return CL_OUT_OF_RESOURCES;
    }
    struct rt_command *c = calloc(1, bytes);
    if (c == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    c->ops = ops;
    c->queue = queue;
    c->event = rt_event_create(queue->context, queue, type);
    if (c->event == NULL) {
        goto fail;
    }
    if (n_waits != 0) {
        c->waits = malloc(n_waits * sizeof(*c->waits));
        c->links = calloc(n_waits, sizeof(*c->links));
        if (c->waits == NULL || c->links == NULL) {
            goto fail;
        }
        for (cl_uint i = 0; i < n_waits; i++) {
            rt_object_hold(waits[i]);
            c->waits[i] = waits[i];
            c->links[i].command = c;
        }
        c->n_waits = n_waits;
    }
    memcpy(out, &c, sizeof(c));
    return CL_SUCCESS;
fail:
    rt_command_free(c);
    return CL_OUT_OF_HOST_MEMORY;
}

cl_int rt_command_use(struct rt_command *c, cl_mem mem)
{
    const cl_int error = rt_mem_resident(mem);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_mem *mems = realloc(c->mems, (c->n_mems + 1) * sizeof(cl_mem));
    if (mems == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(mem);
    mems[c->n_mems++] = mem;
    c->mems = mems;
    return CL_SUCCESS;
}

void rt_command_free(struct rt_command *c)
{
    if (c->ops->clear != NULL) {
        c->ops->clear(c);
    }
    for (cl_uint i = 0; i < c->n_waits; i++) {
        rt_object_drop(c->waits[i]);
    }
    for (unsigned i = 0; i < c->n_mems; i++) {
        rt_object_drop(c->mems[i]);
    }
    free(c->waits);
    free(c->links);
    free(c->mems);
    rt_object_drop(c->event);
    free(c);
}

cl_int rt_command_enqueue(struct rt_command *c, bool blocking, cl_event *event)
{
    cl_event e = c->event;
    if (event != NULL) {
        rt_object_retain(e);
    }
    rt_object_hold(e);
    rt_queue_append(c);
    cl_int error = CL_SUCCESS;
    if (blocking) {
        rt_event_wait(1, &e);
        const cl_int status = rt_event_status(e);
        error = status < 0 ? status : CL_SUCCESS;
    }
    if (event != NULL) {
        *event = e;
    }
    rt_object_drop(e);
    return error;
}
