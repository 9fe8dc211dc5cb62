/* SPDX-License-Identifier: Apache-2.0 */
/** Creation, appending, waiting and the end of queues (queue.h). */
#include "runtime/core/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl_ext.h>

#include "runtime/core/flight.h"
#include "runtime/core/thread.h"
#include "runtime/include/CL/cl_tern.h"

/** cl_khr_priority_hints: weight of the queue among those of its context, which are contexts of one process of the
 *  driver. */
static uint32_t weight(cl_uint priority)
{
    switch (priority) {
    case CL_QUEUE_PRIORITY_HIGH_KHR:
        return TERN_WEIGHT_HIGH;
    case CL_QUEUE_PRIORITY_LOW_KHR:
        return TERN_WEIGHT_LOW;
    default:
        return TERN_WEIGHT_NORMAL;
    }
}

/** cl_khr_throttle_hints: number of commands in flight. With a low throttle a command is submitted when the one
 *  before has ended, so that the engine idles in between, or runs other work. A running command is not affected. */
static unsigned ahead(cl_uint throttle)
{
    return throttle == CL_QUEUE_THROTTLE_LOW_KHR ? 1 : RT_FLIGHT_MAX;
}

/** Called when the queue is not used any more, so its lists are empty. The worker notices, and ends the queue. */
static void queue_destroy(void *object)
{
    cl_command_queue q = object;
    cl_context ctx = q->context;
    rt_device_thread_begin();
    rt_closing_begin(&q->close);
    rt_object_hold(ctx); /* the worker may drop the queue's hold before the unlock below has returned */
    pthread_mutex_lock(&ctx->lock);
    q->closing = true;
    pthread_cond_signal(&q->work);
    pthread_mutex_unlock(&ctx->lock);
    rt_object_drop(ctx);
}

void rt_queue_close(cl_command_queue q)
{
    cl_context ctx = q->context;
    if (q->hw != NULL) {
        tern_context_destroy(q->hw);
    }
    struct tern_allocation *const owned[] = {q->stack, q->print};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        if (owned[i] != NULL) {
            tern_allocation_destroy(owned[i]);
        }
    }
    pthread_cond_destroy(&q->work);
    pthread_mutex_destroy(&q->memory_lock);
    free(q->list);
    free(q);
    rt_object_drop(ctx);
}

cl_int rt_queue_create(cl_context ctx, const struct rt_queue_want *want, cl_command_queue *out)
{
    cl_command_queue q = rt_object_create(sizeof *q, RT_QUEUE, queue_destroy);
    if (q == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(ctx);
    q->context = ctx;
    q->properties = want->properties;
    q->ahead = ahead(want->throttle);
    q->backlog.in_order = (want->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    pthread_cond_init(&q->work, NULL);
    pthread_mutex_init(&q->memory_lock, NULL);
    cl_int error = rt_properties_copy(want->list, &q->list, &q->n_list);
    if (error != CL_SUCCESS) {
        goto fail;
    }
    error = CL_OUT_OF_RESOURCES;
    const struct tern_context_desc desc = {
        .size = sizeof desc,
        .name = "opencl queue",
        .engine = -1,
        .weight = weight(want->priority),
        .completed = rt_queue_completed,
        .user = q,
        .flags = TERN_CONTEXT_ANY_THREAD,
    };
    struct rt_closings before = rt_closings_now();
    int r;
    do {
        r = tern_context_create(ctx->process, &desc, &q->hw);
    } while (r == -ENOSPC && rt_closings_wait(&before));
    if (r != 0) {
        fprintf(stderr, "tern: OpenCL: no queue: %s\n", tern_last_error());
        goto fail;
    }
    rt_flight_add(q);
    if (!rt_thread_start(rt_queue_work, q)) {
        rt_flight_remove(q);
        fprintf(stderr, "tern: OpenCL: no queue: its thread cannot be started\n");
        goto fail;
    }
    *out = q;
    return CL_SUCCESS;
fail:
    rt_object_abandon(q);
    rt_queue_close(q);
    return error;
}

static cl_int answer_statistics(cl_command_queue q, const struct rt_answer *a)
{
    struct tern_context_stats s = {.size = sizeof s};
    tern_context_query(q->hw, &s);
    cl_tern_queue_statistics out = {
        .submitted = s.submitted, .completed = s.completed, .aborted = s.aborted, .preempted = s.preempted,
        .moved = s.moved, .cycles = s.cycles, .waited = s.waited, .longest_wait = s.longest_wait,
    };
    _Static_assert(sizeof out.engine_cycles == sizeof s.engine_cycles, "as many engines in both interfaces");
    memcpy(out.engine_cycles, s.engine_cycles, sizeof out.engine_cycles);
    return rt_answer_bytes(a, &out, sizeof out);
}

cl_int rt_queue_query(cl_command_queue q, cl_command_queue_info name, const struct rt_answer *a)
{
    struct tern_context_stats stats = {.size = sizeof stats};
    switch (name) {
    case CL_QUEUE_CONTEXT:
        return rt_answer_pointer(a, q->context);
    case CL_QUEUE_DEVICE:
        return rt_answer_pointer(a, q->context->device);
    case CL_QUEUE_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(q));
    case CL_QUEUE_PROPERTIES:
        return rt_answer_ulong(a, q->properties);
    case CL_QUEUE_PROPERTIES_ARRAY:
        return rt_answer_bytes(a, q->list, q->n_list * sizeof *q->list);
    case CL_QUEUE_SIZE:
        return CL_INVALID_COMMAND_QUEUE; /* an on-device queue is needed */
    case CL_QUEUE_ENGINE_TERN:
        tern_context_query(q->hw, &stats);
        return rt_answer_uint(a, stats.engine);
    case CL_QUEUE_STATISTICS_TERN:
        return answer_statistics(q, a);
    case CL_QUEUE_DEVICE_DEFAULT:
        return rt_answer_pointer(a, NULL);
    default:
        return CL_INVALID_VALUE;
    }
}

void rt_queue_append(struct rt_command *c)
{
    cl_command_queue q = c->queue;
    cl_context ctx = q->context;
    const bool in_order = q->backlog.in_order;
    c->event->times[RT_QUEUED] = rt_device_seen(ctx->device);
    if (in_order && c->ops->run != NULL) {
        c->after_all = true;
    }
    pthread_mutex_lock(&ctx->lock);
    for (cl_uint i = 0; i < c->n_waits; i++) {
        if (!in_order || c->waits[i]->queue != q) { /* an in-order queue orders its own commands */
            rt_event_add_waiter_locked(c->waits[i], &c->links[i]);
        }
    }
    q->unfinished++;
    rt_flight_begin();
    const bool look = rt_backlog_append(&q->backlog, c) && !rt_queue_start_locked(c);
    pthread_mutex_unlock(&ctx->lock);
    if (look) { /* the queue exists, because the caller holds the event */
        pthread_cond_signal(&q->work);
    }
}

void rt_queue_ready_locked(struct rt_command *c)
{
    tern_assert_held(&c->queue->context->lock);
    if (rt_backlog_ready(&c->queue->backlog, c)) {
        pthread_cond_signal(&c->queue->work);
    }
}

cl_int rt_queue_finish(cl_command_queue q)
{
    cl_context ctx = q->context;
    rt_object_hold(q); /* another thread may release the queue meanwhile */
    pthread_mutex_lock(&ctx->lock);
    rt_queue_wait_begin_locked(q);
    while (q->unfinished != 0) {
        rt_queue_wait_locked(q, NULL);
    }
    const bool lost = ctx->lost;
    rt_queue_wait_end_locked(q);
    pthread_mutex_unlock(&ctx->lock);
    rt_object_drop(q);
    return lost ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

/** Makes the driver's context accept arguments in DMA buffers. Requires memory_lock. */
static cl_int take_data(cl_command_queue q)
{
    tern_assert_held(&q->memory_lock);
    struct rt_closings before = rt_closings_now();
    int r;
    do {
        r = tern_context_take_data(q->hw);
    } while (r == -ENOSPC && rt_closings_wait(&before));
    q->takes_data = r == 0;
    return r == 0 ? CL_SUCCESS
        : r == -ENOSPC || r == -ENOMEM ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_OUT_OF_RESOURCES;
}

/** Makes one attempt of rt_queue_reserve. */
static cl_int reserve(cl_command_queue q, uint64_t stack_bytes, bool prints)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&q->memory_lock);
    if (!q->takes_data) {
        error = take_data(q);
    }
    if (error == CL_SUCCESS && prints && q->print == NULL) {
        error = rt_context_allocate(q->context, RT_PRINTF_BYTES, &q->print);
    }
    if (error == CL_SUCCESS && stack_bytes > q->stack_bytes) {
        struct tern_allocation *bigger;
        error = rt_context_allocate(q->context, stack_bytes, &bigger);
        if (error == CL_SUCCESS) {
            if (q->stack != NULL) {
                tern_allocation_destroy(q->stack); /* freed when the work that was submitted with it has ended */
            }
            q->stack = bigger;
            q->stack_bytes = stack_bytes;
        }
    }
    pthread_mutex_unlock(&q->memory_lock);
    return error;
}

cl_int rt_queue_reserve(cl_command_queue q, uint64_t stack_bytes, bool prints)
{
    struct rt_flight_call call = {0};
    cl_int error;
    do {
        error = reserve(q, stack_bytes, prints);
    } while (error == CL_MEM_OBJECT_ALLOCATION_FAILURE && rt_flight_wait(&call));
    return error;
}
