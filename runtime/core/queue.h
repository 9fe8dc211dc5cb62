/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A queue is a context of the driver (one engine, one SW queue) and a worker thread, which starts commands when their
 * turn comes and finishes them when the device has reported: device commands are submitted back to back, at most
 * RT_FLIGHT_MAX at once, host commands wait for what precedes them. A thread a queue, and not the device's callback:
 * finishing calls the application, and starting may allocate, neither of which the device's thread may do.
 *
 * To wake a thread costs more than a small command. So the worker is left out where that makes no difference: the
 * thread that appends a quick command (command.h) with nothing before it that has not started submits it, and a thread
 * that waits for the queue finishes a quick command that completed and that no callback waits for. It is then woken by
 * the device's thread; of a client of ternd by ternd itself, since it waits in the driver (rt_queue_wait_locked). The
 * application's functions are called by the worker only.
 *
 * In order: commands start in the order of appending. Out of order: any command whose events have ended may start, in
 * that order among those, except across a barrier; so a command that waits for the application never holds up others.
 */
#ifndef RT_QUEUE_H
#define RT_QUEUE_H

#include "runtime/core/backlog.h"
#include "runtime/core/closing.h"
#include "runtime/core/command.h"

#define RT_FLIGHT_MAX 16u

/** What a queue is asked to be. */
struct rt_queue_want {
    cl_command_queue_properties properties;
    const cl_queue_properties *list; /**< As the application gave it; copied. May be NULL. */
    cl_uint priority, throttle;      /**< CL_QUEUE_PRIORITY_..._KHR, CL_QUEUE_THROTTLE_..._KHR. */
};

struct _cl_command_queue {
    struct rt_object base;
    cl_context context; /**< Held. */
    cl_command_queue_properties properties;
    cl_queue_properties *list; /**< As given to clCreateCommandQueueWithProperties. */
    size_t n_list;
    unsigned ahead; /**< Commands that it may have on the device. */
    struct tern_context *hw;
    pthread_cond_t work; /**< With the context's lock: the worker has something to look at. */

    /* Context's lock. */
    struct rt_backlog backlog;                   /**< Not started. */
    struct rt_command *flight, *flight_last;     /**< On the device, oldest first. */
    unsigned in_flight;
    uint64_t submitted; /**< How many there have been: the driver's fence id of the youngest in flight. */
    unsigned unfinished; /**< Appended and not finished. */
    bool full;           /**< A command found no room: one must end before the next try. */
    bool closing;
    struct rt_closing close; /**< From when the last reference is gone. */
    bool working;        /**< A thread starts or finishes a command without the lock; it looks again afterwards. */
    unsigned waiting;    /**< Threads that wait for the queue, and may finish commands. */
    unsigned finishing;  /**< Threads that free commands which have ended. */

    pthread_mutex_t memory_lock;    /**< Taken before the context's lock: the allocations below. */
    struct tern_allocation *stack;  /**< Private memory of all hardware threads. */
    uint64_t stack_bytes;
    bool takes_data;                /**< hw is ready for arguments in DMA buffers. */
    struct tern_allocation *print;  /**< printf records of one kernel. */
    bool names;                     /**< All of the process is too much for the device: commands say what they use. */
    bool print_busy;                /**< Worker only. */

    cl_command_queue next, previous; /**< flight.c's lock: of the program's queues. */
};

/** CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES. */
cl_int rt_queue_create(cl_context ctx, const struct rt_queue_want *want, cl_command_queue *out);
cl_int rt_queue_query(cl_command_queue queue, cl_command_queue_info name, const struct rt_answer *a);
/** Takes the command; its wait list begins to count now. */
void rt_queue_append(struct rt_command *c);
/** The last event that a command waited for has ended: its queue's worker looks at it. */
void rt_queue_ready_locked(struct rt_command *c);
/** A thread begins to wait for commands of the queue, and ends. */
void rt_queue_wait_begin_locked(cl_command_queue queue);
/** Waits until something has changed; without the lock meanwhile. Then finishes what it may, and wakes the worker for
 *  the rest. event: nothing is wanted before this command has ended; NULL: before all of the queue have. */
void rt_queue_wait_locked(cl_command_queue queue, cl_event event);
void rt_queue_wait_end_locked(cl_command_queue queue);
/** Blocks until everything appended has finished. CL_OUT_OF_RESOURCES if the context is lost. */
cl_int rt_queue_finish(cl_command_queue queue);
/** Sees that kernels that need this much find it: stack for all threads, a place for arguments, printf buffer.
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE: no device memory (tern_last_error); CL_OUT_OF_RESOURCES. */
cl_int rt_queue_reserve(cl_command_queue queue, uint64_t stack_bytes, bool prints);

/** The command was just appended: submits it here if the worker is not needed for that. With the context's lock, which
 *  is released meanwhile. false: it is the worker's. (worker.c) */
bool rt_queue_start_locked(struct rt_command *c);
/** The worker's thread (worker.c). */
void *rt_queue_work(void *queue);
/** Ends what rt_queue_create made; called by the worker at its end. */
void rt_queue_close(cl_command_queue queue);
/** The driver reports a command of the queue (any thread). */
void rt_queue_completed(void *queue, const struct tern_completion *completion);

#endif
