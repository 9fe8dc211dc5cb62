/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The driver's objects in a client of ternd (docs/ternd.md), which implement tern.h by requests to ternd.
 *
 * Threads. A thread that makes a request sends it and waits for the reply, on a connection of its own (call.c).
 * Submissions go into the submission ring (submit.c). One thread at a time takes completions out of the completion
 * ring, calls callbacks and wakes waiting threads (completion_thread.c): a thread that waits for a completion, else the
 * library's thread, which also notices that ternd is gone.
 *
 * Lock order: dev->submit (producer side of the submission ring), then dev->lock. The locks of call.c and base/fork.c
 * come last. No request is made with dev->lock held.
 */
#ifndef TERN_CLIENT_CLIENT_H
#define TERN_CLIENT_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "base/fork.h"
#include "base/list.h"
#include "base/lock.h"
#include "wire/wire.h"

/** A connection for calls. Only the thread that has taken it uses it. */
struct tern_connection {
    struct tern_connection *next; /**< Node of dev->idle. Guarded by `dev->pool`. */
    int fd;                       /**< The socket. Constant. */
    uint32_t slot;                /**< Number of its slot in the shared memory. Constant. */
};

struct tern_device {
    const struct tern_api *api;
    /** Information that the device reports. Constant once the device is open, as are the fields up to `thread`. */
    struct tern_device_info info;
    char partition[64];            /**< TERN_PARTITION; empty: the partition that ternd chooses for the user. */
    uint8_t token[16];
    int session;                   /**< Socket of the session's first connection. */
    /** The shared memory and the rings in it. `submit` guards the producer side of the submission ring. */
    struct tern_wire_shared *shared;
    uint8_t *submissions;
    const struct tern_wire_completion *completions;
    uint32_t connections_max;      /**< Number of slots in the shared memory. */
    uint64_t queue_max;            /**< Largest value of `queued`, in bytes. */
    pthread_t thread;

    pthread_mutex_t pool;          /**< The lock of call.c. Taken after `submit`. */
    pthread_cond_t returned;       /**< Signalled when a connection is idle again, or cannot be made. */
    struct tern_connection *idle;  /**< Connections that no thread uses. Guarded by `pool`. */
    /** All connections. Guarded by the lock of tern_fork_lock; the close of the device reads them without it. */
    struct tern_connection *connection[TERN_WIRE_CONNECTIONS_MAX];
    uint32_t connections; /**< Number of connections, with those that are being made. Guarded by `pool`. */
    uint32_t waiting;     /**< Number of threads that wait for a connection. Guarded by `pool`. */
    uint32_t most;        /**< Largest number of connections that ternd allows. Guarded by `pool`. */

    pthread_mutex_t submit;
    pthread_mutex_t lock;
    /** Signalled when work has ended, another thread may take completions, or ternd is gone. */
    pthread_cond_t changed;
    struct tern_list processes;    /**< Processes of the device. Guarded by `lock`. */
    /** Completion queues of the device. Guarded by `lock`; changed with tern_fork_lock held as well. */
    struct tern_list queues;
    uint64_t numbers;              /**< Number of processes created so far. Guarded by `lock`. */
    /** Sum of tern_wire_cost of submissions that have not ended, in bytes. Guarded by `lock`. */
    uint64_t queued;
    bool taking;                   /**< The thread `taker` takes completions. Guarded by `lock`. */
    pthread_t taker;               /**< The thread that takes completions, while `taking`. Guarded by `lock`. */
    uint64_t head;                 /**< Position up to which completions were taken, in entries. Guarded by `lock`. */
    int nudge;                     /**< An eventfd that makes the library's thread take completions. Constant. */
    _Atomic uint64_t now;          /**< Latest device time that this program has seen, in cycles. Atomic. */
    /** Time at which ternd was last asked for the device time, on CLOCK_MONOTONIC in ns. Atomic. */
    _Atomic uint64_t asked;
    /** The connection to ternd has ended. Atomic; written with `submit` and `lock` held. */
    atomic_bool gone;
    struct tern_fork fork;         /**< Guarded by the lock of tern_fork_lock. */
};

/** A process. Fields are constant, except where a comment says otherwise. */
struct tern_process {
    const struct tern_api *api;
    struct tern_list node;      /**< Node of dev->processes. Guarded by `dev->lock`. */
    /** The objects of the process. Guarded by `dev->lock`. */
    struct tern_list contexts, allocations, fences;
    struct tern_device *dev;
    uint32_t handle;
    char name[64];
    uint64_t number;            /**< Number of the process among those of the device, from 1. */
    uint32_t children;          /**< Number of its objects. Guarded by `dev->lock`. */
    atomic_bool error;          /**< The process is in error. Atomic. */
    /** Some memory of the process is not on the device, as ternd last reported: a submission is a request then,
     *  which may be refused. Atomic. */
    atomic_bool absent;
    bool killed, ended; /**< tern_process_kill has begun; and has ended. Guarded by `dev->lock`. */
    atomic_bool has_fault; /**< `fault` is set, and does not change any more. Written under `dev->lock`. */
    struct tern_fault fault; /**< The first fault. Guarded by `dev->lock` until `has_fault`, then constant. */
};

/** A context. Fields are constant, except where a comment says otherwise. */
struct tern_context {
    const struct tern_api *api;
    struct tern_list node; /**< Node of proc->contexts. Guarded by `dev->lock`. */
    struct tern_process *proc;
    uint32_t handle;
    char name[64];
    tern_completion_fn completed;
    bool any_thread; /**< Set by TERN_CONTEXT_ANY_THREAD: any thread may call the callback. */
    void *user;
    struct tern_completion_queue *completions;
    /** Entries of the completion queue for submissions that have not ended, oldest first. Guarded by `dev->lock`. */
    struct tern_list reserved;
    atomic_bool takes_data; /**< tern_context_take_data has succeeded. Atomic. */
    /** Fence ids of the last submission, of the last one that has ended, and of the first one that did not complete
     *  (0: none). Guarded by `dev->lock`. */
    uint64_t submitted, ended, first_bad;
};

/** An allocation. Fields are constant, except where a comment says otherwise. */
struct tern_allocation {
    const struct tern_api *api;
    struct tern_list node; /**< Node of proc->allocations. Guarded by `dev->lock`. */
    struct tern_process *proc;
    uint32_t handle, address;
    uint64_t size;         /**< Size in bytes. */
};

/** A monitored fence. Fields are constant, except where a comment says otherwise. */
struct tern_fence {
    const struct tern_api *api;
    struct tern_list node; /**< Node of proc->fences. Guarded by `dev->lock`. */
    struct tern_process *proc;
    uint32_t handle, address;
};

/* connect.c */
/** Connects to ternd at dev->info.service, or where the session has moved to, and exchanges hello and welcome.
 *  *memory: descriptor of the shared memory, which the caller closes; NULL for CALLS. The socket, or -errno with a
 *  sentence; -ECONNREFUSED, -ENOENT: no ternd listens. */
int tern_client_connect(struct tern_device *dev, uint32_t kind, struct tern_wire_welcome *welcome, int *memory);
/** Sets the sentence that ternd is gone. Returns -EIO. */
int tern_client_gone(const struct tern_device *dev);
/** 0; -ENODEV: the caller is the child of a fork; -EIO: ternd is gone. With a sentence. */
int tern_client_check(const struct tern_device *dev);

/* call.c: a request and its reply */
struct tern_call {
    struct tern_device *dev;
    struct tern_connection *connection;
    void *slot; /**< Data of the request and the reply that exceed the messages. */
    struct tern_wire_request request;
    struct tern_wire_reply reply;
};
/** Takes a connection, and fills op and object of the request. Waits for another thread's call to end if all
 *  connections are in use. -EIO, -ENODEV, -ENOMEM. */
int tern_call_begin(struct tern_call *call, struct tern_device *dev, uint32_t op, uint32_t object);
/** Sends the request, and waits for the reply. The status of the reply, with its sentence if negative. May be
 *  repeated. */
int tern_call_do(struct tern_call *call);
/** Returns the connection. */
void tern_call_end(struct tern_call *call);
/** Makes a call with up to three values and a text; values, text and reply may be NULL. The status of the reply. */
int tern_call(struct tern_device *dev, uint32_t op, uint32_t object, const uint64_t values[3], const char *text,
              struct tern_wire_reply *reply);
/** True: all connections are in use, or threads wait for one. */
bool tern_call_crowded(struct tern_device *dev);
void tern_call_close_all(struct tern_device *dev);

/* submit.c */
/** Writes an entry without packets into the submission ring, so that it takes effect in the order of submissions.
 *  Waits for room in the ring. Takes dev->submit. */
void tern_ring_post(struct tern_device *dev, uint32_t op, uint32_t object, const char *text);

/* completion_thread.c */
/** Body of the library's thread, until ternd is gone. */
void *tern_client_pump(void *dev);
/** Takes completions until the fence has ended, or sleeps once; called if no other thread takes them. Requires
 *  dev->lock, which is released meanwhile. 0: the fence may have ended; -ETIMEDOUT: `until` has passed (NULL: no
 *  limit); -EAGAIN: the library's thread has to take the next completion. */
int tern_client_take(struct tern_context *c, uint64_t fence, const struct timespec *until);
/** True: the caller runs in a callback of the device. */
bool tern_client_in_callback(struct tern_device *dev);

/* process.c */
/** 0, or -EIO with a sentence: the process is in error, or ternd is gone. May make a request then. */
int tern_client_process_check(struct tern_process *proc);
/** Sets the sentence that says why the process is in error, after the text `before`. Returns -EIO. */
int tern_client_process_explain(struct tern_process *proc, const char *before);

/* queue.c; requires dev->lock */
/** Moves the oldest reserved entry of the context to its completion queue. */
void tern_client_tell(struct tern_context *c, const struct tern_completion *told);

/* context.c; requires dev->lock */
void tern_client_context_free(struct tern_context *c);

/* fork.c */
/** Registers the device, so that a child of fork closes its connections. -errno, with a sentence. */
int tern_client_watch(struct tern_device *dev);

#endif
