/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Starts commands that are ready, and finishes those that the device has reported: in the queue's worker, or in another
 * thread if that suffices (queue.h).
 */
#include "runtime/core/flight.h"
#include "runtime/core/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** True: any thread may finish the oldest command in flight: the device has reported it, and no callback has to be
 *  called. Requires the context's lock. */
static bool is_quiet(const struct _cl_command_queue *q)
{
    tern_assert_held(&q->context->lock);
    const struct rt_command *c = q->flight;
    if (c == NULL || !c->ended || !c->quick || c->done.result != TERN_COMPLETED || c->event->callbacks != NULL) {
        return false;
    }
    for (unsigned i = 0; i < c->n_mems; i++) {
        const struct _cl_mem *m = c->mems[i];
        if (m->hooks != NULL || (m->parent != NULL && m->parent->hooks != NULL)) {
            return false;
        }
    }
    /* the next command counts as running when this one has ended */
    return c->next == NULL || c->next->event->callbacks == NULL;
}

/** Called by the device thread. Notes the report of the oldest command without one, because reports come in
 *  submission order (C5). Wakes a thread that waits for the queue, if that thread can finish the command, else the
 *  worker. Takes the context's lock. A thread that is at work looks at the queue again by itself. */
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
    const bool wake = !q->working;
    const bool quiet = q->waiting != 0 && q->backlog.first == NULL && is_quiet(q);
    pthread_mutex_unlock(&q->context->lock);
    if (wake) { /* the queue exists until this call has returned */
        quiet ? pthread_cond_broadcast(&q->context->changed) : pthread_cond_signal(&q->work);
    }
}

/** Makes the times of an event non-decreasing, because they come from different clocks. */
static void order_times(cl_event e)
{
    for (int i = 1; i < RT_TIMES; i++) {
        if (e->times[i] < e->times[i - 1]) {
            e->times[i] = e->times[i - 1];
        }
    }
}

/** Finishes a command: frees what it held, wakes waiting threads, calls callbacks. Takes the context's lock. */
static void finish(struct rt_command *c, cl_int status)
{
    cl_command_queue q = c->queue;
    cl_event e = c->event;
    struct rt_closing closing;
    rt_object_hold(e); /* the event keeps the queue alive */
    order_times(e);
    rt_command_free(c);
    rt_flight_end();
    pthread_mutex_lock(&q->context->lock);
    q->unfinished--;
    struct rt_callback *due = rt_event_update_locked(e, status);
    /* The program may release everything from here on; this thread still holds the event, which keeps the queue. */
    const bool last = due == NULL;
    if (last) {
        rt_closing_begin_here(&closing);
    }
    pthread_mutex_unlock(&q->context->lock);
    pthread_cond_broadcast(&q->context->changed);
    rt_event_call(e, due, status);
    rt_object_drop(e);
    if (last) {
        rt_closing_end(&closing);
    }
}

/** Reports the fault: the driver's sentence, and what the command adds. Takes the context's lock. */
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

/** Stores the times that the device has reported. */
static void take_times(const struct rt_command *c)
{
    cl_event e = c->event;
    const struct tern_completion *done = &c->done;
    if (done->begin != 0 || done->end != 0) {
        cl_device_id d = c->queue->context->device;
        e->times[RT_SUBMITTED] = rt_device_ns(d, done->submitted);
        e->times[RT_STARTED] = rt_device_ns(d, done->begin);
        e->times[RT_ENDED] = rt_device_ns(d, done->end);
    }
}

static void finish_flight(cl_command_queue q, struct rt_command *c)
{
    const struct tern_completion done = c->done;
    take_times(c);
    if (c->ops->release != NULL) {
        c->ops->release(c);
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

/** Puts the command back until a command in flight has made room. Takes the context's lock. */
static void put_back(cl_command_queue q, struct rt_command *c)
{
    pthread_mutex_lock(&q->context->lock);
    rt_backlog_put_back(&q->backlog, c);
    q->full = q->in_flight != 0;
    pthread_mutex_unlock(&q->context->lock);
}

/** Adds the command to those in flight before it is submitted, because the report may come before tern_submit
 *  returns. True: it is the only one. Takes the context's lock. */
static bool inflight_push(cl_command_queue q, struct rt_command *c)
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
    q->submitted++;
    pthread_mutex_unlock(&q->context->lock);
    return alone;
}

/** Removes the youngest command in flight, whose submission failed. Takes the context's lock. */
static void inflight_undo(cl_command_queue q, struct rt_command *c)
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
    q->submitted--;
    pthread_mutex_unlock(&q->context->lock);
}

/** Names the memory that the command uses to the driver, for a device that has no room for all memory of the process
 *  (A6). Requires queue->memory_lock. */
static int name_memory(const struct rt_command *c, const struct rt_packets *p)
{
    tern_assert_held(&c->queue->memory_lock);
    uint32_t *addresses = malloc((c->n_mems + RT_USES) * sizeof *addresses);
    uint32_t n = 0;
    if (addresses == NULL) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < c->n_mems; i++) {
        addresses[n++] = rt_mem_address(c->mems[i]);
    }
    for (unsigned i = 0; i < RT_USES; i++) {
        if (p->uses[i] != NULL) {
            addresses[n++] = tern_allocation_address(p->uses[i]);
        }
    }
    const int r = tern_context_set_residency(c->queue->hw, addresses, n);
    free(addresses);
    return r;
}

/** Submits the packets, and names memory once that is needed. Requires queue->memory_lock. */
static int submit_packets(struct rt_command *c, const struct rt_packets *p)
{
    tern_assert_held(&c->queue->memory_lock);
    cl_command_queue q = c->queue;
    int r = q->names ? name_memory(c, p) : 0;
    const struct tern_submission s = {.size = sizeof s, .packets = p->words, .packet_bytes = p->size, .data = p->data,
                                      .data_bytes = p->data_size, .label = c->label};
    if (r == 0) {
        r = tern_submit(q->hw, &s, NULL);
    }
    if (r == -ENOSPC && !q->names) {
        q->names = true;
        r = submit_packets(c, p);
    }
    return r;
}

/** Submits what was built. Requires queue->memory_lock. alone: no other command is in flight. False: the submission
 *  failed. */
static bool submit(struct rt_command *c, const struct rt_packets *p, bool *alone)
{
    tern_assert_held(&c->queue->memory_lock);
    cl_command_queue q = c->queue;
    c->event->times[RT_SUBMITTED] = rt_device_seen(q->context->device);
    *alone = inflight_push(q, c);
    if (submit_packets(c, p) == 0) {
        return true;
    }
    inflight_undo(q, c);
    if (c->ops->release != NULL) {
        c->ops->release(c);
    }
    return false;
}

static void start_device(struct rt_command *c)
{
    cl_command_queue q = c->queue;
    struct rt_packets p = {0};
    pthread_mutex_lock(&q->memory_lock); /* keeps the stack until the driver has the packet */
    cl_int error = c->ops->build(c, &p);
    if (error == RT_AGAIN) {
        pthread_mutex_unlock(&q->memory_lock);
        put_back(q, c);
        return;
    }
    if (error == CL_SUCCESS) {
        bool alone;
        if (submit(c, &p, &alone)) {
            cl_event e = c->event;
            pthread_mutex_unlock(&q->memory_lock);
            /* the command is not finished before this thread says so, so the event exists */
            rt_event_update(e, CL_SUBMITTED);
            if (alone) {
                rt_event_update(e, CL_RUNNING);
            }
            return;
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

/** Removes the oldest command in flight, if the device has reported it; the next one counts as running then. *due:
 *  its callbacks. Requires the context's lock. */
static struct rt_command *take_ended(cl_command_queue q, struct rt_callback **due)
{
    tern_assert_held(&q->context->lock);
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

/** Removes and returns the next command that may start, or NULL. Requires the context's lock. */
static struct rt_command *take_ready(cl_command_queue q)
{
    tern_assert_held(&q->context->lock);
    return q->full || q->in_flight >= q->ahead ? NULL : rt_backlog_take(&q->backlog, q->flight);
}

/* ------------------------------------------------------- where the worker is left out */

/** True: the worker may have something to do. Requires the context's lock. */
static bool worker_wanted(const struct _cl_command_queue *q)
{
    tern_assert_held(&q->context->lock);
    return q->closing || (q->flight != NULL && q->flight->ended) ||
        (q->backlog.first != NULL && !q->full && q->in_flight < q->ahead);
}

/**
 * Finishes quiet commands. The event of a command ends before the command is freed, in the critical section that has
 * found no callbacks, so there are none to call. No other thread can notice this order, because a call that lacks
 * memory waits for `finishing` (flight.h) and for the closing (closing.h). Requires the context's lock, which is
 * released meanwhile.
 */
static void finish_quiet(cl_command_queue q)
{
    tern_assert_held(&q->context->lock);
    while (!q->working && is_quiet(q)) {
        struct rt_callback *none;
        struct rt_closing closing;
        struct rt_command *c = take_ended(q, &none);
        take_times(c);
        order_times(c->event);
        q->unfinished--;
        rt_event_update_locked(c->event, CL_COMPLETE);
        rt_device_thread_begin();
        rt_closing_begin_here(&closing);
        q->finishing++;
        pthread_mutex_unlock(&q->context->lock);
        pthread_cond_broadcast(&q->context->changed);
        rt_command_free(c);
        rt_flight_end();
        rt_closing_end(&closing);
        rt_device_thread_end();
        pthread_mutex_lock(&q->context->lock);
        q->finishing--;
    }
    if (!q->working && worker_wanted(q)) {
        pthread_cond_signal(&q->work);
    }
}

void rt_queue_wait_begin_locked(cl_command_queue q)
{
    tern_assert_held(&q->context->lock);
    q->waiting++;
    finish_quiet(q);
}

/** True: the command of the event is in flight. Requires the context's lock. */
static bool in_flight(const struct _cl_command_queue *q, cl_event e)
{
    tern_assert_held(&q->context->lock);
    const struct rt_command *c = q->flight;
    while (c != NULL && c->event != e) {
        c = c->next;
    }
    return c != NULL;
}

/** In a client of ternd a waiting thread takes the completion itself in tern_wait, so no other thread is woken. With
 *  a device in this process tern_wait would return later than the callback, so the thread waits for `changed`. */
TERN_LOCK_HANDED void rt_queue_wait_locked(cl_command_queue q, cl_event e)
{
    tern_assert_held(&q->context->lock);
    const struct rt_command *c = q->flight;
    const bool served = q->context->device->info.service[0] != '\0';
    if (served && c != NULL && !c->ended && !q->working && (e == NULL || in_flight(q, e))) {
        const uint64_t oldest = q->submitted - q->in_flight + 1;
        pthread_mutex_unlock(&q->context->lock);
        tern_wait(q->hw, oldest, -1);
        pthread_mutex_lock(&q->context->lock);
    } else {
        pthread_cond_wait(&q->context->changed, &q->context->lock);
    }
    finish_quiet(q);
}

void rt_queue_wait_end_locked(cl_command_queue q)
{
    tern_assert_held(&q->context->lock);
    q->waiting--;
}

/** True: any thread may start the command that was just appended, and all earlier commands have started. Requires
 *  the context's lock. */
static bool is_simple(const struct rt_command *c)
{
    tern_assert_held(&c->queue->context->lock);
    const struct _cl_command_queue *q = c->queue;
    if (!c->quick || c->after_all || c->fence || q->working || q->context->lost || q->backlog.first != c ||
        q->backlog.last != c) {
        return false;
    }
    for (cl_uint i = 0; i < c->n_waits; i++) {
        if (c->waits[i]->status < 0) {
            return false;
        }
    }
    return true;
}

TERN_LOCK_HANDED bool rt_queue_start_locked(struct rt_command *c)
{
    cl_command_queue q = c->queue;
    tern_assert_held(&q->context->lock);
    struct rt_packets p = {0};
    bool alone;
    if (!is_simple(c) || take_ready(q) == NULL) {
        return false;
    }
    q->working = true;
    pthread_mutex_unlock(&q->context->lock);
    pthread_mutex_lock(&q->memory_lock);
    const bool submitted = c->ops->build(c, &p) == CL_SUCCESS && submit(c, &p, &alone);
    pthread_mutex_unlock(&q->memory_lock);
    pthread_mutex_lock(&q->context->lock);
    q->working = false;
    if (submitted) { /* the application does not have the event yet, so there are no callbacks */
        rt_event_update_locked(c->event, alone ? CL_RUNNING : CL_SUBMITTED);
        finish_quiet(q);
    } else { /* the worker tries again, and reports a failure */
        rt_backlog_put_back(&q->backlog, c);
    }
    return submitted;
}

/* ------------------------------------------------------------------------- the worker */

/** Enclose work without the context's lock, which work_begin requires and releases, and work_end takes. */
static TERN_LOCK_HANDED void work_begin(cl_command_queue q)
{
    tern_assert_held(&q->context->lock);
    q->working = true;
    rt_device_thread_begin();
    pthread_mutex_unlock(&q->context->lock);
}

static TERN_LOCK_HANDED void work_end(cl_command_queue q)
{
    rt_device_thread_end();
    pthread_mutex_lock(&q->context->lock);
    q->working = false;
}

void *rt_queue_work(void *user)
{
    cl_command_queue q = user;
    pthread_mutex_lock(&q->context->lock);
    for (;;) {
        struct rt_callback *due = NULL;
        struct rt_command *c;
        if (q->working) { /* another thread starts a command that it has appended */
            pthread_cond_wait(&q->work, &q->context->lock);
        } else if ((c = take_ended(q, &due)) != NULL) {
            cl_event next = due != NULL ? q->flight->event : NULL;
            /* once the command is over the program may exit, and must wait for the rest of this work */
            work_begin(q);
            finish_flight(q, c);
            if (next != NULL) {
                rt_event_call(next, due, CL_RUNNING);
            }
            work_end(q);
        } else if ((c = take_ready(q)) != NULL) {
            work_begin(q);
            start(c);
            work_end(q);
        } else if (q->closing) {
            break;
        } else {
            pthread_cond_wait(&q->work, &q->context->lock);
        }
    }
    pthread_mutex_unlock(&q->context->lock);
    struct rt_closing here;
    rt_flight_remove(q);
    rt_closing_move(&q->close, &here);
    rt_queue_close(q);
    rt_closing_end(&here);
    rt_device_thread_end();
    return NULL;
}
