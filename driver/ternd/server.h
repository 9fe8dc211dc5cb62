/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ternd: shares one device among many programs (docs/ternd.md). ternd is a program on top of os/, whose functions it
 * calls for its clients.
 *
 * Threads. The main thread accepts connections, and each connection has a thread. The thread of a session's first
 * connection takes submissions out of the ring, and writes completions that found no room before (submissions.c,
 * completions.c). The thread of a connection for calls serves requests (serve.c). The device thread writes completions
 * into the ring. No thread waits for a client, except to receive its next message: sends do not block, and a lock of a
 * session is held for copies of bounded size only.
 *
 * End. A session ends when its first connection does: ternd kills the processes of the session, which ends its calls,
 * and frees all its objects (session.c).
 *
 * Lock order: ternd->lock (sessions, users), session->ring (consumer side of the submission ring), session->lock
 * (objects, connections), session->done (completions). The locks of os/ come after all of these but session->done,
 * which callbacks of os/ take while they hold no other lock.
 */
#ifndef TERND_SERVER_H
#define TERND_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "api/api.h"
#include "base/list.h"
#include "base/lock.h"
#include "os/service.h"
#include "ternd/limits.h"
#include "wire/wire.h"

/** The account of a user, of all its programs together, never freed before ternd ends. */
struct ternd_user {
    struct tern_list node;          /**< Node of ternd->users. Guarded by `ternd->lock`. */
    uid_t uid;                      /**< Constant. */
    struct ternd_limits limits;     /**< The user's limits. Constant. */
    uint32_t connections, contexts; /**< Current numbers of connections and contexts. Guarded by `ternd->lock`. */
    /** Connections beyond the limit that wait for a hello, so that it can be refused with a reason. Guarded by
     *  `ternd->lock`. */
    uint32_t refusals;
    uint32_t silent;                /**< Counted connections whose hello has not come. Guarded by `ternd->lock`. */
    _Atomic uint64_t memory;        /**< Bytes of device memory in use. Atomic; counted without a lock. */
    _Atomic uint64_t pinned;        /**< Bytes of device memory that are pinned. Atomic; counted without a lock. */
};

struct ternd;

/** Migrations between two ternd (docs/decisions/migration-sessions.md), which migration/session/ has. Each function
 *  serves a connection of the kind SEND or RECEIVE, after its welcome, until it ends. */
struct ternd_moves {
    void (*send)(struct ternd *t, int control, const char *partition);
    void (*receive)(struct ternd *t, int control, const char *partition);
};

struct ternd {
    struct tern_device *dev;         /**< The device. Constant, as are the three fields below. */
    const struct ternd_moves *moves;
    struct tern_device_info info;
    const struct ternd_limits_file *limits;
    pthread_mutex_t lock;
    /** Signalled when a connection, migration or use of a session has ended. */
    pthread_cond_t left;
    struct tern_list sessions, users; /**< Sessions, and accounts of users. Guarded by `lock`. */
    uint32_t connections;           /**< Number of connections that have a thread. Guarded by `lock`. */
    struct tern_list clients;       /**< Connections of clients.c. Guarded by `lock`. */
    /** Connections whose hello has not come, the oldest first (silent.c). Guarded by `lock`. */
    struct tern_list silent;
    /** Connections for which there are descriptors, and additional ones for refusals. Constant. */
    uint32_t places, spare;
    uint32_t taken;                 /**< Places in use, of all users. Guarded by `lock`. */
    int hello_ms;                   /**< Time for a hello to come, in ms. Constant. */
    char path[108];                 /**< Absolute path of the socket; empty: clients are not told a path. Constant. */
    uint32_t migrations;            /**< Number of migrations under way, as source or target. Guarded by `lock`. */
    /** Number of sessions that have moved away and are not freed yet. Guarded by `lock`. */
    uint32_t leaving;
    int patience_ms;                /**< Longest time without a byte in a migration, in ms. Constant. */
    bool ending;                    /**< ternd is ending: no migration begins. Guarded by `lock`. */
};

/** Kind of an object that a request names. */
enum ternd_kind {
    TERND_ANY, /**< The request names no object. */
    TERND_PROCESS,
    TERND_CONTEXT,
    TERND_ALLOCATION,
    TERND_FENCE,
};

/** A submission that has not been reported to the client. Guarded by `session->done`. */
struct ternd_sent {
    struct ternd_sent *next;
    bool refused; /**< The driver refused the submission; it is reported as aborted once all earlier ones have ended. */
    struct tern_wire_completion told;
};

/** An object of a client. Guarded by `session->lock`, unless a comment says otherwise. */
struct ternd_object {
    struct tern_list node;      /**< Node of session->processes, of a process. */
    struct ternd_session *session; /**< Constant. */
    struct ternd_object *proc;  /**< The process of the object; NULL: the object is a process. Constant. */
    enum ternd_kind kind;       /**< Constant. */
    void *it;                   /**< The driver's object. Constant once the object has a handle. */
    uint32_t handle;
    uint32_t uses;              /**< Threads that use the driver's object now. */
    uint32_t children;          /**< Objects of a process. */
    bool dead;                  /**< The client has destroyed the object, which is freed with its last use. */
    bool killed;                /**< The client has killed the process. */
    uint64_t bytes;             /**< Bytes of device memory that are counted for the user. */
    uint64_t pinned;            /**< Bytes of an allocation that are counted as pinned. */
    uint32_t pins;              /**< Number of times that the allocation was made resident. */
    uint64_t cookie;            /**< Value by which completions name a context to the client. Constant. */
    uint64_t fence;             /**< Fence id of the last submission of a context. Guarded by `session->ring`. */
    uint32_t sent_count;        /**< Submissions of a context, while a session is read from a migration. */
    /** Submissions of a context that have not been reported, oldest first. Guarded by `session->done`. */
    struct ternd_sent *sent, **sent_end;
};

/** The session of a client program: its objects and connections. */
struct ternd_session {
    struct tern_list node;   /**< Node of ternd->sessions. Guarded by `ternd->lock`. */
    struct ternd *ternd;     /**< Constant. */
    struct ternd_user *user; /**< Constant. */
    /** Limits of the user at the begin of the session. Constant, as are the fields below up to `completions`. */
    struct ternd_limits limits;
    char partition[TERN_PARTITION_NAME]; /**< Partition of the session's processes; empty: the default one. */
    struct tern_device_info info;        /**< The device as programs in the partition see it. */
    pid_t pid;
    uid_t uid;
    struct tern_owner owner;
    char program[32];
    uint8_t token[16];
    int connection, memory;
    struct tern_wire_shared *shared;
    uint8_t *submissions;
    struct tern_wire_completion *completions;

    pthread_mutex_t ring;
    /** Position up to which the submission ring was read, in bytes. Guarded by `ring`. */
    uint64_t head;
    uint8_t scratch[TERN_WIRE_ENTRY_MAX]; /**< Copy of the entry that is executed. Guarded by `ring`. */

    pthread_mutex_t lock;
    pthread_cond_t changed;     /**< Signalled when a use, an object or a call ends. */
    struct ternd_object **object; /**< Objects by handle - 1; NULL: the handle is free. Guarded by `lock`. */
    /** Size of the array; and the index below which no handle is free. Guarded by `lock`. */
    uint32_t objects, free_from;
    struct tern_list processes; /**< Processes of the session. Guarded by `lock`. */
    uint32_t calls;             /**< Number of connections for calls. Guarded by `lock`. */
    int call[TERN_WIRE_CONNECTIONS_MAX]; /**< Sockets of these connections by slot; -1: none. Guarded by `lock`. */
    bool ending;                /**< The session ends: calls that would make an object fail. Guarded by `lock`. */
    /** The session is being disconnected, because its client broke the protocol. Atomic. */
    atomic_bool broken;

    /* Migration (freeze.c). */
    /** A migration refers to the session and its processes, which are not freed meanwhile. Guarded by `ternd->lock`. */
    bool holding;
    bool held;          /**< No process of the session begins, ends, is suspended or resumed. Guarded by `lock`. */
    atomic_bool frozen; /**< No message is taken from the client. Atomic; written under `lock`. */
    bool moved;         /**< The session belongs to another ternd: what is left here is freed. Guarded by `lock`. */
    int freeze; /**< An eventfd that is readable while the session is frozen, and once it has moved. Constant. */
    /** Threads that wait for the end of that; and threads in operations that `held` forbids. Guarded by `lock`. */
    uint32_t parked, changing;
    /** Requests of parked threads, by slot. Each is written by the thread of the slot, before it parks under `lock`. */
    struct tern_wire_request *pending[TERN_WIRE_CONNECTIONS_MAX];
    uint64_t shift; /**< Cycles that are added to device times that the program is told. Constant once it runs. */

    pthread_mutex_t done;
    /** Position up to which the completion ring was written, in entries. Guarded by `done`. */
    uint64_t tail;
    /** Completions for which the ring had no room, oldest first. Guarded by `done`. */
    struct ternd_sent *waiting, **waiting_end;
    /** Bytes of all submissions whose completion is not in the ring, counted against limits.queue. Guarded by
     *  `done`. */
    uint64_t queued;
};

/* server.c */
/** Makes the state of ternd in *t, which is zero. The device stays the caller's. Errors of tern_device_query and
 *  tern_patience leave *t unchanged. */
int ternd_create(struct ternd *t, struct tern_device *dev, const struct ternd_limits_file *limits,
                 const struct ternd_moves *moves);
/** Frees the accounts of users. No session may be left. */
void ternd_destroy(struct ternd *t);

/* log.c */
/** Messages of a higher level are not written. Constant once threads run. */
extern int ternd_log_level;
enum { TERND_ERROR = 3, TERND_WARNING = 4, TERND_INFO = 6 };
__attribute__((format(printf, 2, 3))) void ternd_log(int level, const char *format, ...);

/* connection.c */
/** Serves a connection until it ends; the body of its thread. The caller closes fd. */
void ternd_connection(struct ternd *t, int fd, const struct ucred *who);

/** As ternd_connection, for a connection that came from another ternd. */
void ternd_calls_resume(struct ternd_session *s, int fd, uint32_t slot);
void ternd_session_resume(struct ternd_session *s, int fd);

/* clients.c: connections and their threads */
/** Serves a connection in a thread of its own, which closes fd. Takes ternd->lock. */
void ternd_client_begin(struct ternd *t, int fd);
/** True: there may be no descriptor for another connection, because some that end have not closed theirs yet. */
bool ternd_clients_full(struct ternd *t);
/** As ternd_client_begin, for the first connection of a session, or (calls) one for calls in a slot, that comes from
 *  another ternd. ternd_clients_end does not end it until ternd_clients_own says so. On failure fd stays the
 *  caller's. */
int ternd_client_resume(struct ternd_session *s, int fd, bool calls, uint32_t slot);
/** own: this ternd may end the connections of the session. Otherwise another ternd owns them. */
void ternd_clients_own(struct ternd_session *s, bool own);
/** Marks the connection as that of a migration, which begins. Until ternd_client_moved no other connection is ended.
 *  -ESHUTDOWN: ternd is ending. */
int ternd_client_moves(struct ternd *t, int fd);
void ternd_client_moved(struct ternd *t);
/** Ends all connections, and waits until all have ended. */
void ternd_clients_end(struct ternd *t);

/* user.c: functions take ternd->lock, unless a comment says otherwise */
/** The account of a user, made at first use. NULL: no memory. */
struct ternd_user *ternd_user_get(struct ternd *t, uid_t uid);
/** Name of the user, cut to fit, else its number. Takes no lock. */
void ternd_user_name(uid_t uid, char *out, size_t size);
/** Counts the resources against the limits of the user. 0, or -ENOSPC or -EAGAIN with a sentence, and nothing is
 *  counted. */
int ternd_user_take(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections);
/** As ternd_user_take. Requires ternd->lock. */
int ternd_user_take_held(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts,
                         uint32_t connections);
/** The account against which the driver counts committed sparse memory. The account's functions take no lock. */
struct tern_account ternd_user_account(struct ternd_user *u);
/** Counts pinned bytes. 0, or -ENOSPC with a sentence. Takes no lock. */
int ternd_user_pin(struct ternd_user *u, uint64_t bytes);
void ternd_user_unpin(struct ternd_user *u, uint64_t bytes);
/** Gives back what ternd_user_take has counted. */
void ternd_user_give(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections);

/* silent.c: the places of connections, and connections without a hello */
/** A connection whose hello has not come. Guarded by `ternd->lock`. */
struct ternd_silent {
    struct tern_list node;
    int fd;
    struct ternd_user *user;
    bool refused; /**< The connection has no place, and its hello is awaited so that the refusal can be sent. */
    bool ended;   /**< The connection was shut down to make room for another one, which has its place. */
};
/** Sets t->places and t->spare from the limit of descriptors of this process. */
void ternd_places(struct ternd *t);
/** True: the user may have n more places. Requires ternd->lock. */
bool ternd_places_left(const struct ternd *t, const struct ternd_user *u, uint32_t n);
/** Takes a place for a connection, and begins to wait for its hello. 0: it has a place. -EAGAIN, with a sentence: it
 *  has none; if *waits, its hello is awaited for the refusal, else the caller closes it. */
int ternd_silent_begin(struct ternd *t, struct ternd_silent *s, int fd, struct ternd_user *u, bool *waits);
/** Waits for the hello, for at most t->hello_ms. False: the connection has lost its place, or no hello came. */
bool ternd_silent_wait(struct ternd *t, struct ternd_silent *s);
/** Called when descriptors are short: shuts down the oldest silent connection of the user that has the most, and
 *  waits briefly for any connection to end. */
void ternd_silent_make_room(struct ternd *t);

/* session.c */
/** Makes the session of a client after its hello. The session uses fd, which the caller closes after
 *  ternd_session_end. -errno, with a sentence for the client. */
int ternd_session_create(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                         struct ternd_session **out);
/** Makes a frozen session that comes from another ternd, without a connection. calls, queue: limits that its program
 *  was told. */
int ternd_session_make(struct ternd *t, const struct ucred *who, const char *program, const char *partition,
                       uint32_t calls, uint64_t queue, struct ternd_session **out);
/** Maps the session's shared memory, whose contents are not trusted. -EPROTO. */
int ternd_session_map(struct ternd_session *s, int memory);
/** Adds the session to ternd. -EBUSY: the device has one address space, and another session uses it; -EEXIST:
 *  another session has the token. */
int ternd_session_enter(struct ternd_session *s);
void ternd_session_free(struct ternd_session *s);
/** Frees the session's objects without calling the driver, whose objects are gone. */
void ternd_session_discard(struct ternd_session *s);
/** Takes submissions until the client disconnects. Runs in the thread of the first connection. */
void ternd_session_run(struct ternd_session *s);
/** Kills the session's processes, waits for its calls and frees all its objects. */
void ternd_session_end(struct ternd_session *s);
/** Disconnects a client that broke the protocol in a way that the library cannot. May be called from any thread;
 *  only the first reason is logged. */
__attribute__((format(printf, 2, 3))) void ternd_session_break(struct ternd_session *s, const char *format, ...);
/** Begins a connection for calls: the session with this token and user, and the slot; NULL: none.
 *  ternd_session_detach ends it. */
struct ternd_session *ternd_session_attach(struct ternd *t, const uint8_t token[16], uid_t uid, int fd,
                                           uint32_t *slot);
void ternd_session_detach(struct ternd_session *s, uint32_t slot);

/* freeze.c: sessions that move to another ternd; functions take session->lock, unless a comment says otherwise */
/** Waits until fd is readable. A thread of a frozen session waits here until the session is thawed. False: the
 *  thread must end. */
bool ternd_session_wait(struct ternd_session *s, int fd);
/** Waits while the session is frozen, and (postponed) while it is held. False: the thread must end. */
bool ternd_session_park(struct ternd_session *s, bool postponed);
/** Begins an operation that `held` forbids. False: the operation must be postponed. */
bool ternd_session_change_begin(struct ternd_session *s);
void ternd_session_change_end(struct ternd_session *s);
/** Waits until no process begins, ends, or changes. -EBUSY: an operation takes too long; -EIO: the session ends. */
int ternd_session_hold(struct ternd_session *s);
/** Waits until no thread takes messages from the client. Errors as of ternd_session_hold. */
int ternd_session_freeze(struct ternd_session *s);
/** Ends holding and freezing: the session goes on here. Takes ternd->lock as well. */
void ternd_session_thaw(struct ternd_session *s);
/** Marks the session as moved: its threads end, and its objects here are freed. Takes ternd->lock as well. */
void ternd_session_leave(struct ternd_session *s);
/** Tells the client at which path its ternd listens. Takes no lock. */
void ternd_session_publish(struct ternd_session *s);

/* object.c: functions take session->lock, unless a comment says otherwise */
/** Gives an object the handle that it had in another ternd. -EEXIST, -ENOMEM. */
int ternd_object_place(struct ternd_object *o, uint32_t handle);
/** Makes an object of the process, without the driver's object yet. Takes no lock. NULL: no memory. */
struct ternd_object *ternd_object_create(struct ternd_session *s, struct ternd_object *proc, enum ternd_kind kind);
/** Gives the object a handle, once o->it is set. -EIO: the session ends; -ENOMEM. */
int ternd_object_add(struct ternd_object *o);
/** Looks an object up by handle and kind, and begins a use of it; NULL: none. ternd_object_put ends the use. */
struct ternd_object *ternd_object_get(struct ternd_session *s, uint32_t handle, enum ternd_kind kind);
void ternd_object_put(struct ternd_object *o);
/** Make the driver's allocation resident, and evict it. The bytes count once for the user while the allocation is
 *  pinned. -ENOSPC: the user's limit; errors of the driver. */
int ternd_object_make_resident(struct ternd_object *o);
int ternd_object_evict(struct ternd_object *o);
/** Counts an allocation that was made resident `pins` times in another ternd. -ENOSPC. */
int ternd_object_pin(struct ternd_object *o, uint32_t pins);
/** Gives the memory and the context of the object back to its user's account. Takes ternd->lock only. */
void ternd_object_give(const struct ternd_object *o);
/** Takes the handle of an allocation or fence, and ends the caller's use. The last use destroys the driver's object. */
void ternd_object_drop(struct ternd_object *o);
/** Destroys a context. Waits for its other uses and its work, and ends the caller's use. */
void ternd_context_end(struct ternd_object *o);
/** Destroys a process, and ends the caller's use. Waits for its other uses. -EBUSY: it has objects, or is being
 *  destroyed. */
int ternd_process_end(struct ternd_object *o);

/* submissions.c */
/** Takes all submissions out of the ring. drive: then also runs the device in this thread, as tern_os_device_drive. */
void ternd_submissions_take(struct ternd_session *s, bool drive);
/** Executes an entry, a private copy. Requires session->ring. absent NULL: the entry is of the ring. absent set: the
 *  entry came by a request and may be refused with -errno; *absent is set as by tern_os_process_absent. */
int ternd_submissions_do(struct ternd_session *s, const uint8_t *entry, size_t size, bool *absent);

/* completions.c */
/** The driver's callback for a context. May run in the device thread. */
void ternd_completed(void *object, const struct tern_completion *told);
/** Records a submission before the driver gets it. `cost` is its size in bytes. NULL: there is no memory, or the
 *  cost exceeds limits.queue, for which the client is disconnected. */
struct ternd_sent *ternd_sent_add(struct ternd_object *context, uint64_t fence, uint64_t cost);
/** Removes the record of the context's youngest submission, which the driver did not take. */
void ternd_sent_cancel(struct ternd_object *context, struct ternd_sent *sent);
/** Marks the submission as refused: it ends as aborted after all earlier ones. */
void ternd_sent_refuse(struct ternd_object *context, struct ternd_sent *sent);
/** Writes waiting completions into the ring, as far as it has room. */
void ternd_completions_flush(struct ternd_session *s);

/* partition.c: requests about partitions. -errno with a sentence; -EACCES: the user may not do this. Text in q->text
 * is terminated. */
/** Chooses the partition of the session: that of the hello, if the user may use it, else that of the user's limits.
 *  -EINVAL: no partition has this name; -EPERM. */
int ternd_partition_choose(struct ternd_session *s, const struct tern_wire_hello *hello);
/** True: the program may have processes in this partition. */
int ternd_partition_may_use(const struct ternd_session *s, const char *name);
int ternd_partition_create(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_resize(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_set_share(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_destroy(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_list(struct ternd_session *s, const struct tern_wire_request *q, void *slot, uint64_t *count);

/* serve.c */
/** Serves a request of `size` bytes, and fills the reply; `slot` is that of the connection. False: nothing was done,
 *  and `message`, which may have changed, must be served again when the session goes on. */
bool ternd_serve(struct ternd_session *s, void *message, size_t size, void *slot, struct tern_wire_reply *reply);

#endif
