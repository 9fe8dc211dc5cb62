/* SPDX-License-Identifier: Apache-2.0 */
/** What a queue's thread does: starts commands that are ready, finishes those that the
 * device has reported (queue.h). */
#include "runtime/core/queue.h"

#include <string.h>

#include "runtime/core/closing.h"

/** The device's thread: notes the report on the oldest unreported command. Reports come in submission order (C5). */
void rt_queue_completed(void *user, const struct tern_completion *completion)
{
    cl_command_queue q = user;
    pthread_mutex_lock(&q->context->lock);
    struct rt_command *c = q->flight;
    while (c != NULL && c->ended) {
        c = c->next;
    }
    if (c != NULL) {
        c->done = *completion;
        c->ended = true;
    }
    pthread_mutex_unlock(&q->context->lock);
    pthread_cond_signal(&q->work); /* the queue is there until this has returned */
}

/** Times never go backwards, whatever the clock of each was. */
static void order_times(cl_event e)
{
    for (int i = 1; i < RT_TIMES; i++) {
        if (e->times[i] < e->times[i - 1]) {
            e->times[i] = e->times[i - 1];
        }
    }
}

/** The command is over: frees what it held, tells everybody, calls the application. Not under the lock. */
static void finish(struct rt_command *c, cl_int status)
{
    cl_command_queue q = c->queue;
    cl_event e = c->event;
    rt_object_hold(e); /* and so the queue */
    order_times(e);
    rt_command_free(c);
    pthread_mutex_lock(&q->context->lock);
    q->unfinished--;
    struct rt_callback *due = rt_event_update_locked(e, status);
    /* The program may now release all there is, but this thread still has the event, and so the queue. */
    const bool last = due == NULL;
    if (last) {
        rt_closing_begin();
    }
    pthread_mutex_unlock(&q->context->lock);
    pthread_cond_broadcast(&q->context->changed);
    rt_event_call(e, due, status);
    rt_object_drop(e);
    if (last) {
        rt_closing_end();
    }
}

/** The driver's sentence, and what the command knows besides. */
static void tell_fault(const struct rt_command *c)
{
    struct tern_fault fault = {.size = sizeof fault, .message = "the device reports a fault, without a record"};
    char more[RT_FAULT_MORE] = "";
    tern_process_status(c->queue->context->process, &fault);
    if (c->ops->explain != NULL) {
        c->ops->explain(c, &fault, more);
    }
    rt_context_fail(c->queue->context, &fault, more);
}

static void finish_flight(cl_command_queue q, struct rt_command *c)
{
    cl_event e = c->event;
    const struct tern_completion done = c->done;
    if (done.begin != 0 || done.end != 0) {
        cl_device_id d = q->context->device;
        e->times[RT_SUBMITTED] = rt_device_ns(d, done.submitted);
        e->times[RT_STARTED] = rt_device_ns(d, done.begin);
        e->times[RT_ENDED] = rt_device_ns(d, done.end);
    }
    if (c->ops->retire != NULL) {
        c->ops->retire(c);
    }
    if (done.result == TERN_FAULTED) {
        tell_fault(c);
    } else if (done.result == TERN_ABORTED) {
        rt_context_abort(q->context);
    }
    finish(c, done.result == TERN_COMPLETED ? CL_COMPLETE : CL_OUT_OF_RESOURCES);
}

static cl_ulong now(const struct rt_command *c)
{
    const bool wanted = (c->queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    return wanted ? rt_device_now(c->queue->context->device) : 0;
}

static void start_host(struct rt_command *c)
{
    cl_event e = c->event;
    e->times[RT_SUBMITTED] = rt_device_seen(c->queue->context->device);
    rt_event_update(e, CL_SUBMITTED);
    rt_event_update(e, CL_RUNNING);
    e->times[RT_STARTED] = now(c);
    const cl_int error = c->ops->run(c);
    e->times[RT_ENDED] = now(c);
    finish(c, error == CL_SUCCESS ? CL_COMPLETE : error);
}

/** Back to where it was, until a command in flight has made room. */
static void put_back(cl_command_queue q, struct rt_command *c)
{
    pthread_mutex_lock(&q->context->lock);
    rt_backlog_put_back(&q->backlog, c);
    q->full = q->in_flight != 0;
    pthread_mutex_unlock(&q->context->lock);
}

/** Into the flight before it is submitted, since the report may come before tern_submit returns. */
static bool fly(cl_command_queue q, struct rt_command *c)
{
    pthread_mutex_lock(&q->context->lock);
    const bool alone = q->flight == NULL;
    c->next = NULL;
    if (alone) {
        q->flight = c;
    } else {
        q->flight_last->next = c;
    }
    q->flight_last = c;
    q->in_flight++;
    pthread_mutex_unlock(&q->context->lock);
    return alone;
}

/** Takes back the youngest in flight, which was not submitted after all. */
static void land(cl_command_queue q, struct rt_command *c)
{
    pthread_mutex_lock(&q->context->lock);
    struct rt_command *before = NULL;
    for (struct rt_command *at = q->flight; at != c; at = at->next) {
        before = at;
    }
    if (before == NULL) {
        q->flight = NULL;
    } else {
        before->next = NULL;
    }
    q->flight_last = before;
    q->in_flight--;
    pthread_mutex_unlock(&q->context->lock);
}

static void start_device(struct rt_command *c)
{
    cl_command_queue q = c->queue;
    struct rt_packets p = {0};
    pthread_mutex_lock(&q->memory_lock); /* the stack stays what it is until the driver has the packet */
    cl_int error = c->ops->build(c, &p);
    if (error == RT_AGAIN) {
        pthread_mutex_unlock(&q->memory_lock);
        put_back(q, c);
        return;
    }
    if (error == CL_SUCCESS) {
        c->event->times[RT_SUBMITTED] = rt_device_seen(q->context->device);
        const bool alone = fly(q, c);
        if (tern_submit_data(q->hw, p.words, p.size, p.data, p.data_size, c->label, NULL) == 0) {
            cl_event e = c->event;
            pthread_mutex_unlock(&q->memory_lock);
            rt_event_update(e, CL_SUBMITTED); /* only this thread finishes the command: the event is still there */
            if (alone) {
                rt_event_update(e, CL_RUNNING);
            }
            return;
        }
        land(q, c);
        if (c->ops->retire != NULL) {
            c->ops->retire(c);
        }
        error = CL_OUT_OF_RESOURCES;
    }
    pthread_mutex_unlock(&q->memory_lock);
    if (tern_process_status(q->context->process, NULL) != 0) {
        rt_context_abort(q->context);
    }
    finish(c, error);
}

static void start(struct rt_command *c)
{
    for (cl_uint i = 0; i < c->n_waits; i++) {
        if (rt_event_status(c->waits[i]) < 0) {
            finish(c, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            return;
        }
    }
    if (rt_context_lost(c->queue->context)) {
        finish(c, CL_OUT_OF_RESOURCES);
    } else if (c->ops->run != NULL) {
        start_host(c);
    } else {
        start_device(c);
    }
}

/** The oldest in flight, if the device has reported it; the next one is running then, as far as anyone can tell. */
static struct rt_command *take_ended(cl_command_queue q, struct rt_callback **due)
{
    struct rt_command *c = q->flight;
    if (c == NULL || !c->ended) {
        return NULL;
    }
    q->flight = c->next;
    if (q->flight == NULL) {
        q->flight_last = NULL;
    }
    q->in_flight--;
    q->full = false;
    *due = q->flight == NULL ? NULL : rt_event_update_locked(q->flight->event, CL_RUNNING);
    return c;
}

/** The next command that may start. */
static struct rt_command *take_ready(cl_command_queue q)
{
    return q->full || q->in_flight >= q->ahead ? NULL : rt_backlog_take(&q->backlog, q->flight);
}

void *rt_queue_work(void *user)
{
    cl_command_queue q = user;
    pthread_mutex_t *lock = &q->context->lock;
    pthread_mutex_lock(lock);
    for (;;) {
        struct rt_callback *due = NULL;
        struct rt_command *c = take_ended(q, &due);
        if (c != NULL) {
            cl_event next = due != NULL ? q->flight->event : NULL;
            /* once the command is over, the program may release all and end: then this is waited for */
            rt_device_thread_begin();
            pthread_mutex_unlock(lock);
            finish_flight(q, c);
            if (next != NULL) {
                rt_event_call(next, due, CL_RUNNING);
            }
            rt_device_thread_end();
            pthread_mutex_lock(lock);
        } else if ((c = take_ready(q)) != NULL) {
            rt_device_thread_begin();
            pthread_mutex_unlock(lock);
            start(c);
            rt_device_thread_end();
            pthread_mutex_lock(lock);
        } else if (q->closing) {
            break;
        } else {
            pthread_cond_wait(&q->work, lock);
        }
    }
    pthread_mutex_unlock(lock);
    rt_closing_here();
    rt_queue_close(q);
    rt_closing_end();
    rt_device_thread_end();
    return NULL;
}
