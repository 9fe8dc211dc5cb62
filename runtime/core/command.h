/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A command of a queue: the events that it waits for, its own event, and its work. *Device* commands give packets to
 * submit (`build`), so several can be in flight. *Host* commands do their work in the queue's worker (`run`) when it is
 * their turn. Each kind of command embeds this struct as its first member, and has an operations table.
 *
 * Life: rt_command_create, rt_command_use for each buffer, then rt_command_enqueue, which gives the command to the
 * queue if it succeeds. rt_command_free frees a command that was not enqueued.
 */
#ifndef RT_COMMAND_H
#define RT_COMMAND_H

#include "runtime/core/backlog.h"
#include "runtime/core/event.h"
#include "runtime/core/memory.h"

#define RT_PACKET_WORDS 64u /**< Largest number of words that a command builds: four packet lines. */
#define RT_USES 7u
#define RT_AGAIN 1 /**< Result of `build`: no room now; build is called again when an earlier command has ended. */

/** The packets of a device command. */
struct rt_packets {
    uint32_t words[RT_PACKET_WORDS];
    size_t size;      /**< Bytes of `words`. */
    const void *data; /**< Data that go with the packets (struct tern_submission), owned by the command; NULL: none. */
    size_t data_size;
    /** Device memory of the queue and the program that the packets use; NULL: unused entry. */
    const struct tern_allocation *uses[RT_USES];
};

struct rt_command_ops {
    /** Does host work. The result becomes the event's status. NULL for a device command. */
    cl_int (*run)(struct rt_command *c);
    /** Fills *out, which is zeroed, for a device command. CL_SUCCESS, RT_AGAIN, or an error. Requires
     *  queue->memory_lock. */
    cl_int (*build)(struct rt_command *c, struct rt_packets *out);
    /** Called when the device has finished what was built, or will never begin it. May be NULL. */
    void (*release)(struct rt_command *c);
    /** Adds to the driver's sentence about a fault what the driver cannot know, and may correct the sentence. May be
     *  NULL. Called in the worker. */
    void (*explain)(const struct rt_command *c, struct tern_fault *fault, char text[RT_FAULT_MORE]);
    /** Frees what this kind of command owns. May be NULL. */
    void (*clear)(struct rt_command *c);
};

/** A command. Constant once enqueued, except for fields that name a lock. */
struct rt_command {
    struct rt_place place;   /**< Place in the queue's backlog. Guarded by the context's lock. */
    struct rt_command *next; /**< Next command on the device. Guarded by the context's lock. */
    const struct rt_command_ops *ops;
    cl_command_queue queue; /**< The queue, which the event keeps alive. */
    cl_event event;         /**< Held. */
    const char *label;      /**< Name for messages about faults, which lives as long as the command. May be NULL. */
    cl_uint n_waits;
    cl_event *waits;          /**< Held. */
    struct rt_waiter *links;  /**< One for each element of `waits`. */
    unsigned n_mems;
    cl_mem *mems;             /**< Held. */
    unsigned pending;         /**< Number of events that have not ended. Guarded by the context's lock. */
    bool after_all; /**< Begins when all earlier commands have ended: host commands of in-order queues, and markers. */
    bool fence;               /**< No later command begins before this one has ended: barriers. */
    /** A device command whose build waits for nothing, and which needs no work after success: any thread may start
     *  and finish it. */
    bool quick;
    bool ended;               /**< The device has reported, and `done` is valid. Guarded by the context's lock. */
    /** The device's report. Guarded by the context's lock until `ended`, then constant. */
    struct tern_completion done;
};

/** Checks a wait list. CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT. */
cl_int rt_command_check_waits(cl_context ctx, cl_uint n, const cl_event *list);

/** Makes a command in `bytes` bytes, the size of the embedding struct. Errors of rt_command_check_waits;
 *  CL_OUT_OF_HOST_MEMORY. */
cl_int rt_command_create(size_t bytes, const struct rt_command_ops *ops, cl_command_queue queue, cl_command_type type,
                         cl_uint n_waits, const cl_event *waits, void *out);
/** Makes the command hold mem, and makes sure that mem has device memory. Errors of rt_mem_resident. */
cl_int rt_command_use(struct rt_command *c, cl_mem mem);
/** Frees a command, and drops everything that it holds. */
void rt_command_free(struct rt_command *c);
/** Puts the command into its queue. blocking: waits for its end, and returns its error. *event (may be NULL): a new
 *  reference. */
cl_int rt_command_enqueue(struct rt_command *c, bool blocking, cl_event *event);

#endif
