/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The driver's objects in a client of ternd (docs/ternd.md): what tern.h promises of them, from what ternd answers.
 *
 * Threads. Requests are sent by the thread that calls and wait for the reply, each on a connection of its own (call.c).
 * Submissions go into the ring (submit.c). One thread at a time takes completions out of theirs, calls callbacks and
 * wakes others that wait (pump.c): a thread that waits for one, or else one of the library, which learns, too, when
 * ternd is gone.
 *
 * Lock order: dev->submit (the producer's side of the submission ring), then dev->lock (all below unless it says
 * otherwise). Those of call.c and base/fork.c are last. No request is made with dev->lock held.
 */
#ifndef TERN_CLIENT_CLIENT_H
#define TERN_CLIENT_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "base/fork.h"
#include "base/list.h"
#include "wire/wire.h"

struct tern_connection {
    struct tern_connection *next; /**< Idle ones; of call.c. */
    int fd;
    uint32_t slot;
};

struct tern_device {
    const struct tern_api *api;
    struct tern_device_info info;  /**< Constant once open, as is what follows. */
    char partition[64];            /**< TERN_PARTITION; empty: that of the user. */
    uint8_t token[16];
    int session;                   /**< The connection of the session. */
    struct tern_wire_shared *shared;
    uint8_t *submissions;
    const struct tern_wire_completion *completions;
    uint32_t connections_max;
    uint64_t queue_max;
    pthread_t thread;

    /* call.c */
    pthread_mutex_t pool;
    pthread_cond_t returned;
    struct tern_connection *idle;
    struct tern_connection *connection[TERN_WIRE_CONNECTIONS_MAX]; /**< All; also under tern_fork_lock. */
    uint32_t connections, waiting; /**< waiting: threads that want one. */
    uint32_t most;                 /**< As many as ternd gives. */

    pthread_mutex_t submit;
    pthread_mutex_t lock;
    pthread_cond_t changed;        /**< Something ended, or ternd is gone. */
    struct tern_list processes, queues;
    uint64_t numbers;              /**< Processes so far. */
    uint64_t queued;               /**< Cost of submissions that have not ended. */
    /* pump.c */
    bool taking;                   /**< A thread, `taker`, takes completions: the one that may use head. */
    pthread_t taker;
    uint64_t head;                 /**< Of the completion ring. */
    int nudge;                     /**< An eventfd: the library's thread shall take. */
    _Atomic uint64_t now;          /**< Latest device time that this process has seen. */
    _Atomic uint64_t asked;        /**< ns of CLOCK_MONOTONIC: when ternd was last heard of the time. */
    atomic_bool gone;
    struct tern_fork fork;
};

struct tern_process {
    const struct tern_api *api;
    struct tern_list node, contexts, allocations, fences;
    struct tern_device *dev;
    uint32_t handle;
    char name[64];
    uint64_t number;
    uint32_t children;
    atomic_bool error;
    atomic_bool absent; /**< As ternd last said: a submission may be refused, and is a call that tells it. */
    bool killed, ended; /**< tern_process_kill has begun, and has ended. */
    atomic_bool has_fault; /**< fault does not change any more. */
    struct tern_fault fault;
};

struct tern_context {
    const struct tern_api *api;
    struct tern_list node;
    struct tern_process *proc;
    uint32_t handle;
    char name[64];
    tern_completion_fn completed;
    bool any_thread; /**< TERN_CONTEXT_ANY_THREAD. */
    void *user;
    struct tern_completion_queue *completions;
    struct tern_list reserved; /**< Entries for what has not ended, oldest first. */
    atomic_bool takes_data;
    uint64_t submitted, ended, first_bad;
};

struct tern_allocation {
    const struct tern_api *api;
    struct tern_list node;
    struct tern_process *proc;
    uint32_t handle, address;
    uint64_t size;
};

struct tern_fence {
    const struct tern_api *api;
    struct tern_list node;
    struct tern_process *proc;
    uint32_t handle, address;
};

/* connect.c */
/** Connects to dev->info.service and says hello. *fd: the shared memory, or NULL for CALLS. 0, or -errno and its
 *  sentence: -ECONNREFUSED and -ENOENT: there is no ternd. */
int tern_client_connect(struct tern_device *dev, uint32_t kind, struct tern_wire_welcome *welcome, int *memory);
/** -EIO: ternd is gone. */
int tern_client_gone(const struct tern_device *dev);
/** 0, or -ENODEV in the child of a fork, or -EIO, with sentences. */
int tern_client_check(const struct tern_device *dev);

/* call.c: a request and its reply */
struct tern_call {
    struct tern_device *dev;
    struct tern_connection *connection;
    void *slot; /**< What does not fit the messages. */
    struct tern_wire_request request;
    struct tern_wire_reply reply;
};
/** Takes a connection, perhaps waiting until another thread's call ends. -EIO, -ENODEV, -ENOMEM. */
int tern_call_begin(struct tern_call *call, struct tern_device *dev, uint32_t op, uint32_t object);
/** Does it: the reply's status, with its sentence. */
int tern_call_do(struct tern_call *call);
void tern_call_end(struct tern_call *call);
/** All of it, for a request of up to three values: status; reply may be NULL. */
int tern_call(struct tern_device *dev, uint32_t op, uint32_t object, const uint64_t values[3], const char *text,
              struct tern_wire_reply *reply);
/** Do other threads wait for a connection? */
bool tern_call_crowded(struct tern_device *dev);
void tern_call_close_all(struct tern_device *dev);

/* submit.c */
/** An entry without packets: what to do in the order of submissions. Waits until it is in the ring. */
void tern_ring_post(struct tern_device *dev, uint32_t op, uint32_t object, const char *text);

/* pump.c */
void *tern_client_pump(void *dev);
/** With dev->lock held, which is released meanwhile: takes completions, waiting for them, while no other thread does.
 *  0: the context's fence may have ended; -ETIMEDOUT: `until` (NULL: never) is reached; -EAGAIN: the library's thread
 *  will take what is next. */
int tern_client_take(struct tern_context *c, uint64_t fence, const struct timespec *until);
/** Is the caller called by a callback? */
bool tern_client_in_callback(struct tern_device *dev);

/* process.c */
/** 0, or -EIO: it is in error, or ternd is gone. Makes a request then. */
int tern_client_process_check(struct tern_process *proc);
/** The sentence of why it is in error. */
int tern_client_process_explain(struct tern_process *proc, const char *before);

/* queue.c; with dev->lock held */
void tern_client_tell(struct tern_context *c, const struct tern_completion *told);

/* context.c; with dev->lock held */
void tern_client_context_free(struct tern_context *c);

/* fork.c */
int tern_client_watch(struct tern_device *dev);

#endif
