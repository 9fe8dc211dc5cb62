/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A queue has a context of the driver (one engine, one SW queue) and a worker thread. The worker starts commands in
 * their order, and finishes them when the device has reported. Device commands are submitted back to back, at most
 * RT_FLIGHT_MAX at once. Host commands run when earlier commands have ended. Alternative dropped: starting and
 * finishing in the device's callback, because finishing calls the application and starting may allocate, which the
 * device thread must not do.
 *
 * Without the worker. Waking a thread costs more than a small command. Therefore a thread that appends a quick command
 * (command.h) submits it itself, if every earlier command has started. A thread that waits for the queue finishes quick
 * commands that have completed and have no callbacks. The device thread wakes it; in a client of ternd it waits in the
 * driver, where ternd wakes it (rt_queue_wait_locked). Functions of the application are called by the worker only.
 *
 * Order. In an in-order queue commands start in the order of appending. In an out-of-order queue commands whose events
 * have ended start in that order, but not across a barrier; so a command that waits for the application does not delay
 * others.
 */
#ifndef RT_QUEUE_H
#define RT_QUEUE_H

#include "runtime/core/backlog.h"
#include "runtime/core/closing.h"
#include "runtime/core/command.h"

#define RT_FLIGHT_MAX 16u

/** Properties of a new queue. */
struct rt_queue_want {
    cl_command_queue_properties properties;
    const cl_queue_properties *list; /**< List that the application gave, which is copied. May be NULL. */
    cl_uint priority, throttle;      /**< CL_QUEUE_PRIORITY_..._KHR and CL_QUEUE_THROTTLE_..._KHR. */
};

struct _cl_command_queue {
    struct rt_object base;
    cl_context context; /**< Held. Constant, as are the fields up to `hw`. */
    cl_command_queue_properties properties;
    cl_queue_properties *list; /**< List given to clCreateCommandQueueWithProperties. */
    size_t n_list;
    unsigned ahead; /**< Largest number of commands in flight. */
    struct tern_context *hw;
    pthread_cond_t work; /**< Signalled when the worker has something to look at. */

    struct rt_backlog backlog; /**< Commands that have not started. Guarded by the context's lock. */
    /** Commands in flight, oldest first, and their number. Guarded by the context's lock. */
    struct rt_command *flight, *flight_last;
    unsigned in_flight;
    /** Number of submissions so far, which is the driver's fence id of the youngest command in flight. Guarded by the
     *  context's lock. */
    uint64_t submitted;
    /** Number of commands that were appended and are not finished. Guarded by the context's lock. */
    unsigned unfinished;
    /** A command found no room, so the next one is tried when one has ended. Guarded by the context's lock. */
    bool full;
    bool closing; /**< The worker ends the queue. Guarded by the context's lock. */
    struct rt_closing close; /**< In use from the drop of the last reference on. Guarded by the lock of closing.c. */
    /** A thread starts or finishes a command without the lock, and looks at the queue again afterwards. Guarded by the
     *  context's lock. */
    bool working;
    /** Number of threads that wait for the queue, and may finish commands. Guarded by the context's lock. */
    unsigned waiting;
    unsigned finishing; /**< Number of threads that free commands which have ended. Guarded by the context's lock. */

    pthread_mutex_t memory_lock;   /**< Taken before the context's lock. */
    struct tern_allocation *stack; /**< Private memory of all hardware threads. Guarded by `memory_lock`. */
    uint64_t stack_bytes;          /**< Size of `stack`, in bytes. Guarded by `memory_lock`. */
    bool takes_data;               /**< `hw` accepts arguments in DMA buffers. Guarded by `memory_lock`. */
    struct tern_allocation *print; /**< printf records of one kernel. Guarded by `memory_lock`. */
    /** The process has more memory than the device, so commands name what they use. Guarded by `memory_lock`. */
    bool names;
    bool print_busy; /**< A command uses `print`. Used by the worker only. */

    cl_command_queue next, previous; /**< Links of the program's queues. Guarded by the lock of flight.c. */
};

/** Makes a queue. CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES. */
cl_int rt_queue_create(cl_context ctx, const struct rt_queue_want *want, cl_command_queue *out);
cl_int rt_queue_query(cl_command_queue queue, cl_command_queue_info name, const struct rt_answer *a);
/** Appends the command, which the queue takes. From here on it waits for the events of its wait list. */
void rt_queue_append(struct rt_command *c);
/** Called when the last event for which the command waited has ended: wakes the queue's worker. */
void rt_queue_ready_locked(struct rt_command *c);
/** Count a thread that waits for commands of the queue, and that no longer waits. */
void rt_queue_wait_begin_locked(cl_command_queue queue);
/** Waits until something has changed, without the lock meanwhile. After the wait it finishes the commands that it
 *  may finish, and wakes the worker for others. event: the caller waits for the end of this command; NULL: for the
 *  end of all. */
void rt_queue_wait_locked(cl_command_queue queue, cl_event event);
void rt_queue_wait_end_locked(cl_command_queue queue);
/** Blocks until all appended commands have finished. CL_OUT_OF_RESOURCES: the context is lost. */
cl_int rt_queue_finish(cl_command_queue queue);
/** Makes sure that the queue has stack for all threads, room for arguments, and (prints) a printf buffer.
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE: no device memory (tern_last_error); CL_OUT_OF_RESOURCES. */
cl_int rt_queue_reserve(cl_command_queue queue, uint64_t stack_bytes, bool prints);

/** Submits the command that was just appended, if no worker is needed. Requires the context's lock, which is
 *  released meanwhile. False: the worker has to start it. In worker.c. */
bool rt_queue_start_locked(struct rt_command *c);
/** The body of the worker's thread (worker.c). */
void *rt_queue_work(void *queue);
/** Frees what rt_queue_create made. Called by the worker at its end. */
void rt_queue_close(cl_command_queue queue);
/** The driver's report of a command. Called by any thread. */
void rt_queue_completed(void *queue, const struct tern_completion *completion);

#endif
