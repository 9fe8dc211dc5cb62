/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events: a status that only goes down (queued, submitted, running, complete or an error), the times of its command,
 * the application's callbacks, and the commands of other queues that wait for it. Guarded by the context's lock;
 * functions named _locked want it held, all others want it free.
 */
#ifndef RT_EVENT_H
#define RT_EVENT_H

#include "runtime/core/context.h"

struct rt_command;

struct rt_callback {
    void(CL_CALLBACK *fn)(cl_event, cl_int, void *);
    void *data;
    cl_int level; /**< CL_SUBMITTED, CL_RUNNING or CL_COMPLETE. */
    struct rt_callback *next;
};

/** Part of the command that waits. */
struct rt_waiter {
    struct rt_command *command;
    struct rt_waiter *next;
};

enum rt_time { RT_QUEUED, RT_SUBMITTED, RT_STARTED, RT_ENDED, RT_TIMES };

struct _cl_event {
    struct rt_object base;
    cl_context context;     /**< Held. */
    cl_command_queue queue; /**< Held; NULL for a user event. */
    cl_command_type type;
    cl_int status;
    bool decided;               /**< A user event whose status was set. */
    cl_ulong times[RT_TIMES];   /**< ns; valid once complete. */
    struct rt_callback *callbacks;
    struct rt_waiter *waiters;
};

/** NULL: no memory. A user event (queue NULL) begins CL_SUBMITTED, a command's CL_QUEUED. */
cl_event rt_event_create(cl_context ctx, cl_command_queue queue, cl_command_type type);

/** Lowers the status and releases commands that wait; gives the callbacks that are due, for rt_event_call. When the
 *  event is over, the caller broadcasts the context's `changed` after it has released the lock, which the
 *  threads that wake take. */
struct rt_callback *rt_event_update_locked(cl_event event, cl_int status);
/** Calls and frees callbacks; the caller holds the event. */
void rt_event_call(cl_event event, struct rt_callback *due, cl_int status);
/** Both. */
void rt_event_update(cl_event event, cl_int status);

cl_int rt_event_status(cl_event event);
cl_int rt_event_add_callback(cl_event event, cl_int level, void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *data);
/** Makes w->command wait for the event: counted in its `pending`. Nothing happens if the event has ended. */
void rt_event_add_waiter_locked(cl_event event, struct rt_waiter *w);
/** Blocks until all have ended. CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one failed. */
cl_int rt_event_wait(cl_uint n, const cl_event *events);
cl_int rt_event_query(cl_event event, cl_event_info name, const struct rt_answer *a);
cl_int rt_event_profile(cl_event event, cl_profiling_info name, const struct rt_answer *a);

#endif
