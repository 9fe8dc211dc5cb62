/* SPDX-License-Identifier: Apache-2.0 */
/** Events (event.h). */
#include "runtime/core/event.h"

#include <stdlib.h>

#include "runtime/core/callback.h"
#include "runtime/core/queue.h"

static void event_destroy(void *object)
{
    cl_event e = object;
    for (struct rt_callback *c = e->callbacks, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    rt_object_drop(e->queue);
    rt_object_drop(e->context);
    free(e);
}

cl_event rt_event_create(cl_context ctx, cl_command_queue queue, cl_command_type type)
{
    cl_event e = rt_object_create(sizeof *e, RT_EVENT, event_destroy);
    if (e == NULL) {
        return NULL;
    }
    e->context = ctx;
    rt_object_hold(ctx);
    e->queue = queue;
    if (queue != NULL) {
        rt_object_hold(queue);
        atomic_store(&e->base.refs, 0); /* the hold is the command's, and the application has no reference yet */
    }
    e->type = type;
    e->status = queue == NULL ? CL_SUBMITTED : CL_QUEUED;
    return e;
}

/** Moves the callbacks that `status` makes due to a list, in the order of their levels. Requires the context's lock. */
static struct rt_callback *take_due(cl_event e, cl_int status)
{
    tern_assert_held(&e->context->lock);
    struct rt_callback *due = NULL;
    struct rt_callback **tail = &due;
    for (cl_int level = CL_SUBMITTED; level >= status && level >= CL_COMPLETE; level--) {
        for (struct rt_callback **at = &e->callbacks; *at != NULL;) {
            struct rt_callback *c = *at;
            if (c->level == level) {
                *at = c->next;
                c->next = NULL;
                *tail = c;
                tail = &c->next;
            } else {
                at = &c->next;
            }
        }
    }
    return due;
}

struct rt_callback *rt_event_update_locked(cl_event e, cl_int status)
{
    tern_assert_held(&e->context->lock);
    if (status >= e->status) {
        return NULL;
    }
    e->status = status;
    if (status <= CL_COMPLETE) {
        for (struct rt_waiter *w = e->waiters, *next; w != NULL; w = next) {
            next = w->next;
            if (--w->command->pending == 0) {
                rt_queue_ready_locked(w->command);
            }
        }
        e->waiters = NULL;
    }
    return take_due(e, status);
}

void rt_event_call(cl_event e, struct rt_callback *due, cl_int status)
{
    const char *before = rt_callback_begin("clSetEventCallback");
    for (struct rt_callback *c = due, *next; c != NULL; c = next) {
        next = c->next;
        c->fn(e, status < 0 ? status : c->level, c->data);
        free(c);
    }
    rt_callback_end(before);
}

void rt_event_update(cl_event e, cl_int status)
{
    pthread_mutex_lock(&e->context->lock);
    struct rt_callback *due = rt_event_update_locked(e, status);
    pthread_mutex_unlock(&e->context->lock);
    if (status <= CL_COMPLETE) {
        pthread_cond_broadcast(&e->context->changed);
    }
    rt_event_call(e, due, status);
}

cl_int rt_event_status(cl_event e)
{
    pthread_mutex_lock(&e->context->lock);
    const cl_int status = e->status;
    pthread_mutex_unlock(&e->context->lock);
    return status;
}

cl_int rt_event_add_callback(cl_event e, cl_int level, void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *data)
{
    struct rt_callback *c = malloc(sizeof *c);
    if (c == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    *c = (struct rt_callback){.fn = fn, .data = data, .level = level};
    pthread_mutex_lock(&e->context->lock);
    const cl_int status = e->status;
    const bool now = status <= level;
    if (!now) {
        c->next = e->callbacks;
        e->callbacks = c;
    }
    pthread_mutex_unlock(&e->context->lock);
    if (now) {
        rt_event_call(e, c, status);
    }
    return CL_SUCCESS;
}

void rt_event_add_waiter_locked(cl_event e, struct rt_waiter *w)
{
    tern_assert_held(&e->context->lock);
    if (e->status > CL_COMPLETE) {
        w->next = e->waiters;
        e->waiters = w;
        w->command->pending++;
    }
}

cl_int rt_event_wait(cl_uint n, const cl_event *events)
{
    cl_context ctx = events[0]->context;
    cl_int result = CL_SUCCESS;
    pthread_mutex_lock(&ctx->lock);
    for (cl_uint i = 0; i < n; i++) {
        cl_command_queue q = events[i]->queue;
        if (q != NULL) {
            rt_queue_wait_begin_locked(q);
        }
        while (events[i]->status > CL_COMPLETE) {
            if (q != NULL) {
                rt_queue_wait_locked(q, events[i]);
            } else {
                pthread_cond_wait(&ctx->changed, &ctx->lock);
            }
        }
        if (q != NULL) {
            rt_queue_wait_end_locked(q);
        }
        if (events[i]->status < 0) {
            result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        }
    }
    pthread_mutex_unlock(&ctx->lock);
    return result;
}

cl_int rt_event_query(cl_event e, cl_event_info name, const struct rt_answer *a)
{
    switch (name) {
    case CL_EVENT_COMMAND_QUEUE:
        return rt_answer_pointer(a, e->queue);
    case CL_EVENT_CONTEXT:
        return rt_answer_pointer(a, e->context);
    case CL_EVENT_COMMAND_TYPE:
        return rt_answer_uint(a, e->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return rt_answer_uint(a, (cl_uint)rt_event_status(e));
    case CL_EVENT_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(e));
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int rt_event_profile(cl_event e, cl_profiling_info name, const struct rt_answer *a)
{
    if (e->queue == NULL || (e->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
        rt_event_status(e) != CL_COMPLETE) {
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    switch (name) {
    case CL_PROFILING_COMMAND_QUEUED:
        return rt_answer_ulong(a, e->times[RT_QUEUED]);
    case CL_PROFILING_COMMAND_SUBMIT:
        return rt_answer_ulong(a, e->times[RT_SUBMITTED]);
    case CL_PROFILING_COMMAND_START:
        return rt_answer_ulong(a, e->times[RT_STARTED]);
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE: /* there are no child commands without on-device queues */
        return rt_answer_ulong(a, e->times[RT_ENDED]);
    default:
        return CL_INVALID_VALUE;
    }
}
