/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events: a status that only decreases (queued, submitted, running, complete or an error), the times of the command,
 * the application's callbacks, and the commands that wait for the event. Functions named _locked require the context's
 * lock; all others take it.
 */
#ifndef RT_EVENT_H
#define RT_EVENT_H

#include "runtime/core/context.h"

struct rt_command;

struct rt_callback {
    void(CL_CALLBACK *fn)(cl_event, cl_int, void *);
    void *data;
    cl_int level; /**< Status at which the callback is due: CL_SUBMITTED, CL_RUNNING or CL_COMPLETE. */
    struct rt_callback *next;
};

/** Part of a command that waits for an event. */
struct rt_waiter {
    struct rt_command *command;
    struct rt_waiter *next;
};

enum rt_time { RT_QUEUED, RT_SUBMITTED, RT_STARTED, RT_ENDED, RT_TIMES };

struct _cl_event {
    struct rt_object base;
    cl_context context;     /**< Held. Constant. */
    cl_command_queue queue; /**< Held; NULL: a user event. Constant. */
    cl_command_type type;   /**< Constant. */
    cl_int status;          /**< The execution status, which only decreases. Guarded by the context's lock. */
    bool decided;           /**< The status of the user event was set. Guarded by the context's lock. */
    /** Times in ns. Written by the thread that starts or finishes the command, and read once the event is complete. */
    cl_ulong times[RT_TIMES];
    struct rt_callback *callbacks; /**< The application's callbacks. Guarded by the context's lock. */
    struct rt_waiter *waiters;     /**< Commands that wait for the event. Guarded by the context's lock. */
};

/** Makes an event. A user event (queue NULL) begins as CL_SUBMITTED, others as CL_QUEUED. NULL: no memory. */
cl_event rt_event_create(cl_context ctx, cl_command_queue queue, cl_command_type type);

/** Lowers the status, and makes waiting commands ready. Returns the callbacks that are due, for rt_event_call. When
 *  the event has ended, the caller broadcasts context->changed after it has released the lock, which the woken
 *  threads take. */
struct rt_callback *rt_event_update_locked(cl_event event, cl_int status);
/** Calls and frees callbacks. The caller holds the event, and no lock. */
void rt_event_call(cl_event event, struct rt_callback *due, cl_int status);
/** rt_event_update_locked, broadcast and rt_event_call. The caller holds the event. */
void rt_event_update(cl_event event, cl_int status);

cl_int rt_event_status(cl_event event);
cl_int rt_event_add_callback(cl_event event, cl_int level, void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *data);
/** Makes w->command wait for the event, and counts that in its `pending`. Does nothing if the event has ended. */
void rt_event_add_waiter_locked(cl_event event, struct rt_waiter *w);
/** Blocks until all events have ended. CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one has failed. */
cl_int rt_event_wait(cl_uint n, const cl_event *events);
cl_int rt_event_query(cl_event event, cl_event_info name, const struct rt_answer *a);
cl_int rt_event_profile(cl_event event, cl_profiling_info name, const struct rt_answer *a);

#endif
