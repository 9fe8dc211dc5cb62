/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A command of a queue: what it waits for, the event it drives, and how it is done. Two sorts: *device* commands give
 * packets to submit (`build`), so several can be on their way at once; *host* commands do their work in the queue's
 * worker (`run`) when their turn has come. A kind of command embeds this struct first and brings an operations table.
 *
 * Life: rt_command_create, rt_command_use for its buffers, then rt_command_enqueue, which hands it to the queue in any
 * case of success; rt_command_free otherwise.
 */
#ifndef RT_COMMAND_H
#define RT_COMMAND_H

#include "runtime/core/backlog.h"
#include "runtime/core/event.h"
#include "runtime/core/memory.h"

#define RT_PACKET_WORDS 64u /**< The most that a command builds: four lines. */
#define RT_USES 5u
#define RT_AGAIN 1          /**< build: no room just now; ask again when an earlier command has ended. */

/** What a device command submits. */
struct rt_packets {
    uint32_t words[RT_PACKET_WORDS];
    size_t size;      /**< Bytes of them. */
    const void *data; /**< The command's, which go with them (tern_submit_data); NULL: none. */
    size_t data_size;
    const struct tern_allocation *uses[RT_USES]; /**< Device memory of the queue and the program; NULL: none. */
};

struct rt_command_ops {
    /** Host work; its result is the event's. NULL for a device command. */
    cl_int (*run)(struct rt_command *c);
    /** Fills *out, which is all zero, for a device command; CL_SUCCESS, RT_AGAIN, or an error. In the worker. */
    cl_int (*build)(struct rt_command *c, struct rt_packets *out);
    /** After the device is done with what was built, or will never begin it. May be NULL. In the worker. */
    void (*release)(struct rt_command *c);
    /** Says of the command's fault what the driver cannot know, to be read behind its sentence, which it may put right.
     * May be NULL. In the worker. */
    void (*explain)(const struct rt_command *c, struct tern_fault *fault, char text[RT_FAULT_MORE]);
    /** Frees what the kind of command owns. May be NULL. */
    void (*clear)(struct rt_command *c);
};

struct rt_command {
    struct rt_place place;   /**< Context's lock: in its queue's backlog. */
    struct rt_command *next; /**< On the device. */
    const struct rt_command_ops *ops;
    cl_command_queue queue; /**< Kept alive by the event. */
    cl_event event;         /**< Held. */
    const char *label;      /**< For faults; lives as long as the command. May be NULL. */
    cl_uint n_waits;
    cl_event *waits;          /**< Held. */
    struct rt_waiter *links;  /**< One for each of waits. */
    unsigned n_mems;
    cl_mem *mems;             /**< Held. */
    unsigned pending;         /**< Context's lock: events still waited for. */
    bool after_all;           /**< Begins when all before it have ended (host commands of in-order queues; markers). */
    bool fence;               /**< Nothing behind it begins before it has ended (barriers). */
    bool quick;               /**< A device command whose build waits for nothing, with nothing to do when it has
                                   completed: any thread may start and finish it. */
    bool ended;               /**< Context's lock: the device has reported; `done` is valid. */
    struct tern_completion done;
};

/** CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT or CL_SUCCESS. */
cl_int rt_command_check_waits(cl_context ctx, cl_uint n, const cl_event *list);

/** A command of `bytes` (the embedding struct), whose wait list is checked. CL_OUT_OF_HOST_MEMORY, and its errors. */
cl_int rt_command_create(size_t bytes, const struct rt_command_ops *ops, cl_command_queue queue, cl_command_type type,
                         cl_uint n_waits, const cl_event *waits, void *out);
/** The command works on mem: holds it and sees that it has device memory. Errors as rt_mem_resident. */
cl_int rt_command_use(struct rt_command *c, cl_mem mem);
void rt_command_free(struct rt_command *c);
/** Puts it into its queue; with blocking, waits and gives the command's error. *event (may
 * be NULL): a new reference. */
cl_int rt_command_enqueue(struct rt_command *c, bool blocking, cl_event *event);

#endif
