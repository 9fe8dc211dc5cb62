/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ternd: one device for many processes (docs/ternd.md). It is a program on the driver of os/, whose functions it calls
 * for its clients.
 *
 * Threads: the main one accepts connections. Each connection has one: of a session, it takes submissions out of the
 * ring and sends completions that had no room before (submissions.c, completions.c); of calls, it does requests
 * (serve.c). Completions are put into the ring by the device's thread. None of them ever waits for a client but to
 * receive its next message: sends do not block, and a lock of a session is held for copies of bounded size.
 *
 * A session ends when its connection does, whatever the reason: its processes are killed, its calls end by that, and
 * all it had is freed (session.c).
 *
 * Lock order: ternd->lock (sessions, users); session->ring (the consumer's side of the submission ring); then
 * session->lock (objects, connections), session->done (completions). os/ takes its own below all but the last, which
 * its callbacks take with none held.
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
#include "os/service.h"
#include "ternd/limits.h"
#include "wire/wire.h"

struct ternd_user {
    struct tern_list node;
    uid_t uid;
    struct ternd_limits limits;
    uint32_t connections, contexts; /**< Now. */
    uint32_t refusals;              /**< Connections beyond the limit whose hello is awaited, to tell why. */
    uint32_t silent;                /**< Of the connections, those whose hello has not come. */
    /* Without ternd->lock: */
    _Atomic uint64_t memory;        /**< Bytes of device memory, */
    _Atomic uint64_t pinned;        /**< and those of them that stay on the device. */
};

struct ternd {
    struct tern_device *dev;
    struct tern_device_info info;
    const struct ternd_limits_file *limits;
    pthread_mutex_t lock;
    pthread_cond_t left;            /**< A connection has ended. */
    struct tern_list sessions, users;
    uint32_t connections;           /**< With a thread. */
    struct tern_list clients;       /**< clients.c. */
    struct tern_list silent;        /**< Connections whose hello has not come, the oldest first: silent.c. */
    uint32_t places, spare;         /**< Connections for which there are descriptors; and besides. Constant. */
    uint32_t taken;                 /**< Of these places, by all users. */
    int hello_ms;                   /**< In which the hello must come. Constant. */
    char path[108];                 /**< Where it listens, from the root; empty: its clients are not told. */
    uint32_t migrations;            /**< Under way, to or from here. */
    uint32_t leaving;               /**< Sessions that have moved away and are still being forgotten. */
    int patience_ms;                /**< In which a byte of a migration must come or go. Constant. */
    bool ending;
};

enum ternd_kind {
    TERND_ANY, /**< No object. */
    TERND_PROCESS,
    TERND_CONTEXT,
    TERND_ALLOCATION,
    TERND_FENCE,
};

/** A submission that has not been told. */
struct ternd_sent {
    struct ternd_sent *next;
    bool refused; /**< The driver did not take it: it ends as aborted when all before it have ended. */
    struct tern_wire_completion told;
};

/** An object of a client: session->lock, unless it says otherwise. */
struct ternd_object {
    struct tern_list node;      /**< Processes: in session->processes. */
    struct ternd_session *session;
    struct ternd_object *proc;  /**< NULL: it is one. */
    enum ternd_kind kind;
    void *it;                   /**< Of the driver's. Constant. */
    uint32_t handle;
    uint32_t uses;              /**< Threads that are about to call the driver with it. */
    uint32_t children;          /**< Of a process. */
    bool dead;                  /**< Destroyed by the client: it goes with its last use. */
    bool killed;                /**< Of a process. */
    uint64_t bytes;             /**< Of device memory, counted for the user. */
    uint64_t pinned;            /**< Of an allocation: bytes of it that are counted as pinned, */
    uint32_t pins;              /**< and how often it was made resident. */
    uint64_t cookie;            /**< Of a context, and what follows. */
    uint64_t fence;             /**< Of the last submission; session->ring. */
    uint32_t sent_count;        /**< While it is read from a migration. */
    struct ternd_sent *sent, **sent_end; /**< Oldest first; session->done. */
};

struct ternd_session {
    struct tern_list node;
    struct ternd *ternd;
    struct ternd_user *user;
    struct ternd_limits limits; /**< Constant, as is what follows. */
    char partition[TERN_PARTITION_NAME]; /**< Of its processes; empty: the default one. */
    struct tern_device_info info;        /**< As programs in it see the device. */
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
    uint64_t head;              /**< Of the submission ring. */
    uint8_t scratch[TERN_WIRE_ENTRY_MAX];

    pthread_mutex_t lock;
    pthread_cond_t changed;     /**< Uses, children, calls. */
    struct ternd_object **object; /**< By handle - 1. */
    uint32_t objects, free_from; /**< Places; below free_from all are taken. */
    struct tern_list processes;
    uint32_t calls;             /**< Connections for calls. */
    int call[TERN_WIRE_CONNECTIONS_MAX]; /**< Their sockets by slot, or -1. */
    bool ending;
    atomic_bool broken;         /**< It is being disconnected. */

    /* freeze.c; session->lock, unless it says otherwise */
    bool holding;               /**< A migration refers to it: it is not freed. ternd->lock. */
    bool held;                  /**< No process of it begins, ends, stops or goes on. */
    atomic_bool frozen;         /**< Nothing is taken from the client. */
    bool moved;                 /**< It is another ternd's: only what is left here ends. */
    int freeze;                 /**< An eventfd that can be read while it is frozen, and once it has moved. */
    uint32_t parked, changing;  /**< Threads that wait for the end of that; that are about to do what held forbids. */
    struct tern_wire_request *pending[TERN_WIRE_CONNECTIONS_MAX]; /**< What a parked thread of a call was to do. */
    uint64_t shift;             /**< Constant: what is added to device time that it is told. */

    pthread_mutex_t done;
    uint64_t tail;              /**< Of the completion ring. */
    struct ternd_sent *waiting, **waiting_end; /**< Ended, and no room in the ring yet. */
    uint64_t queued;            /**< Cost of all submissions that are not in the completion ring. */
};

/* server.c */
/** Of a device, which stays the caller's; *t is zero. Errors of tern_device_query, tern_patience: *t is as it was. */
int ternd_create(struct ternd *t, struct tern_device *dev, const struct ternd_limits_file *limits);
/** Forgets its users, of whom no session may be left. */
void ternd_destroy(struct ternd *t);

/* log.c */
/** Messages of a higher level are not written. */
extern int ternd_log_level;
enum { TERND_ERROR = 3, TERND_WARNING = 4, TERND_INFO = 6 };
__attribute__((format(printf, 2, 3))) void ternd_log(int level, const char *format, ...);

/* connection.c */
/** Serves a connection to its end; the thread's whole life. fd stays the caller's. */
void ternd_connection(struct ternd *t, int fd, const struct ucred *who);

/** A connection that came from another ternd. */
void ternd_calls_resume(struct ternd_session *s, int fd, uint32_t slot);
void ternd_session_resume(struct ternd_session *s, int fd);

/* clients.c: connections and their threads */
/** Serves a connection in a thread of its own. fd is taken. */
void ternd_client_begin(struct ternd *t, int fd);
/** There may be no descriptor for one more: some of those that end still have theirs. */
bool ternd_clients_full(struct ternd *t);
/** As ternd_client_begin, of a session, or of its slot's calls, that comes from another ternd: ternd_clients_end
 *  leaves it alone until ternd_clients_own. On failure fd is the caller's. */
int ternd_client_resume(struct ternd_session *s, int fd, bool calls, uint32_t slot);
/** Connections of the session are this ternd's to end, or another's. */
void ternd_clients_own(struct ternd_session *s, bool own);
/** The connection is for a migration, which begins: others are not ended while it lasts. -ESHUTDOWN; and ends. */
int ternd_client_moves(struct ternd *t, int fd);
void ternd_client_moved(struct ternd *t);
/** Ends all, and waits for that. */
void ternd_clients_end(struct ternd *t);

/* user.c; with ternd->lock held by itself */
/** The user's account, made when it is first seen. NULL: no memory. */
struct ternd_user *ternd_user_get(struct ternd *t, uid_t uid);
/** Its name, cut to fit, or its number. */
void ternd_user_name(uid_t uid, char *out, size_t size);
/** Takes from what the user may have: 0, or -ENOSPC or -EAGAIN with a sentence. */
int ternd_user_take(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections);
/** The same for callers that hold ternd->lock. */
int ternd_user_take_held(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts,
                         uint32_t connections);
/** The user's account for what sparse memory commits. Takes no lock. */
struct tern_account ternd_user_account(struct ternd_user *u);
/** What it keeps on the device: 0, or -ENOSPC with a sentence. Takes no lock. */
int ternd_user_pin(struct ternd_user *u, uint64_t bytes);
void ternd_user_unpin(struct ternd_user *u, uint64_t bytes);
void ternd_user_give(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections);

/* silent.c: places of connections, and connections that have said nothing yet */
/** A connection whose hello is awaited; ternd->lock. */
struct ternd_silent {
    struct tern_list node;
    int fd;
    struct ternd_user *user;
    bool refused; /**< It has no place: its hello is awaited so that it can be told. */
    bool ended;   /**< It had to make room for another one, which has its place. */
};
/** How many connections this process has descriptors for. */
void ternd_places(struct ternd *t);
/** With ternd->lock held: has the user a place for n more connections? */
bool ternd_places_left(const struct ternd *t, const struct ternd_user *u, uint32_t n);
/** A place for a connection, and the wait for its hello begins. 0; -EAGAIN with a sentence, which may be told if
 *  *s is waited for; false in *waits: it is to be closed. */
int ternd_silent_begin(struct ternd *t, struct ternd_silent *s, int fd, struct ternd_user *u, bool *waits);
/** Waits for it, or for the end. false: the connection has no place any more, or nothing has come. */
bool ternd_silent_wait(struct ternd *t, struct ternd_silent *s);
/** Descriptors are short: ends the oldest silent connection of the user that has the most, and waits a moment for any
 *  to end. */
void ternd_silent_make_room(struct ternd *t);

/* session.c */
int ternd_session_create(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                         struct ternd_session **out);
/** One that comes from another ternd, without a descriptor, and frozen. `calls`, `queue`: what it was told. */
int ternd_session_make(struct ternd *t, const struct ucred *who, const char *program, const char *partition,
                       uint32_t calls, uint64_t queue, struct ternd_session **out);
/** Maps its memory, of which nothing is believed. -EPROTO. */
int ternd_session_map(struct ternd_session *s, int memory);
/** Among the sessions. -EBUSY; -EEXIST: another one has its token. */
int ternd_session_enter(struct ternd_session *s);
void ternd_session_free(struct ternd_session *s);
/** Its objects are no longer the driver's. */
void ternd_session_discard(struct ternd_session *s);
/** Takes submissions until the client has gone. */
void ternd_session_run(struct ternd_session *s);
/** Frees all that the client had. */
void ternd_session_end(struct ternd_session *s);
/** What the client has done can be no mistake of the library's: the session ends. From any thread; once said. */
__attribute__((format(printf, 2, 3))) void ternd_session_break(struct ternd_session *s, const char *format, ...);
/** A connection for calls begins: the session with this token, or NULL; and ends. */
struct ternd_session *ternd_session_attach(struct ternd *t, const uint8_t token[16], uid_t uid, int fd,
                                           uint32_t *slot);
void ternd_session_detach(struct ternd_session *s, uint32_t slot);

/* freeze.c: sessions that move to another ternd */
/** Until there is something to receive; while the session is frozen, the thread waits here. false: it must end. */
bool ternd_session_wait(struct ternd_session *s, int fd);
/** Waits while the session is frozen; postponed: or held. false: the thread must end. */
bool ternd_session_park(struct ternd_session *s, bool postponed);
/** Something that `held` forbids begins: false, it must be postponed; and ends. */
bool ternd_session_change_begin(struct ternd_session *s);
void ternd_session_change_end(struct ternd_session *s);
/** Processes neither come nor go. -EBUSY: one does, for long; -EIO: it ends. */
int ternd_session_hold(struct ternd_session *s);
/** No thread takes anything from the client. The same errors. */
int ternd_session_freeze(struct ternd_session *s);
/** It goes on here. */
void ternd_session_thaw(struct ternd_session *s);
/** It goes on elsewhere: its threads end, and what is left of it here. */
void ternd_session_leave(struct ternd_session *s);
/** Tells the client where its ternd listens. */
void ternd_session_publish(struct ternd_session *s);

/* move/: migrations (docs/decisions/migration-sessions.md) */
/** The whole life of a connection of kind SEND or RECEIVE after its welcome. */
void ternd_move_send(struct ternd *t, int control, const char *partition);
void ternd_move_receive(struct ternd *t, int control, const char *partition);

/* object.c */
/** Gives an object that is there its number. -EEXIST, -ENOMEM. */
int ternd_object_place(struct ternd_object *o, uint32_t handle);
/** Takes a place in the table; the driver's object is not there yet. NULL: no memory. */
struct ternd_object *ternd_object_create(struct ternd_session *s, struct ternd_object *proc, enum ternd_kind kind);
/** It has one, and can be named by the client. 0, or -EIO, -ENOMEM: then it has no number. */
int ternd_object_add(struct ternd_object *o);
/** The client's object of this kind, for use, or NULL. */
struct ternd_object *ternd_object_get(struct ternd_session *s, uint32_t handle, enum ternd_kind kind);
void ternd_object_put(struct ternd_object *o);
/** The driver's calls for an allocation. What stays on the device counts for its user, however often, once: -ENOSPC. */
int ternd_object_make_resident(struct ternd_object *o);
int ternd_object_evict(struct ternd_object *o);
/** It was made resident so often, here or elsewhere: counts that. -ENOSPC. */
int ternd_object_pin(struct ternd_object *o, uint32_t pins);
/** What it counted for no longer counts for its user. */
void ternd_object_give(const struct ternd_object *o);
/** Ends an allocation or a fence: when its last use ends. */
void ternd_object_drop(struct ternd_object *o);
/** Ends a context, waiting for its uses and its work. The caller's use ends. */
void ternd_context_end(struct ternd_object *o);
/** Ends a process. The caller's use ends. -EBUSY. */
int ternd_process_end(struct ternd_object *o);

/* submissions.c */
/** Takes all that is in the ring. drive: and does the device's work, as tern_os_device_drive. */
void ternd_submissions_take(struct ternd_session *s, bool drive);
/** Does an entry, which the client cannot change any more, with session->ring held. absent: NULL, or it is a submission
 *  that may be refused, with -errno, and *absent is what its process then is (tern_os_process_absent). */
int ternd_submissions_do(struct ternd_session *s, const uint8_t *entry, size_t size, bool *absent);

/* completions.c */
/** The driver's callback, for a context's object. */
void ternd_completed(void *object, const struct tern_completion *told);
/** Begins a submission: -ENOMEM; or it costs too much, which breaks the session. */
struct ternd_sent *ternd_sent_add(struct ternd_object *context, uint64_t fence, uint64_t cost);
/** The driver has not taken it, and there is nothing of it any more: the youngest of the context. */
void ternd_sent_cancel(struct ternd_object *context, struct ternd_sent *sent);
/** The driver has not taken it: it ends in its turn. */
void ternd_sent_refuse(struct ternd_object *context, struct ternd_sent *sent);
/** Puts into the ring what has room. */
void ternd_completions_flush(struct ternd_session *s);

/* partition.c: requests about partitions. -errno with a sentence; -EACCES: the user may not. q->text has an end. */
/** Finds the partition of the session: that of the hello, if its user may be there, else the user's. -EINVAL: there is
 *  none of this name; -EPERM. */
int ternd_partition_choose(struct ternd_session *s, const struct tern_wire_hello *hello);
/** May the program have processes in the partition of this name? */
int ternd_partition_may_use(const struct ternd_session *s, const char *name);
int ternd_partition_create(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_resize(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_set_share(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_destroy(struct ternd_session *s, const struct tern_wire_request *q);
int ternd_partition_list(struct ternd_session *s, const struct tern_wire_request *q, void *slot, uint64_t *count);

/* serve.c */
/** Does a request of `size` bytes and fills the reply; slot: of the connection. false: nothing has happened, and
 *  `message`, which may have changed, is to be done again once the session goes on. */
bool ternd_serve(struct ternd_session *s, void *message, size_t size, void *slot, struct tern_wire_reply *reply);

#endif
