/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of the proxies (proxy.h), of both first, then those of the source, then those of the target. */
#ifndef TERN_MIGRATION_PROXY_INTERNAL_H
#define TERN_MIGRATION_PROXY_INTERNAL_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "migration/proxy/proxy.h"
#include "ternd/listen.h"
#include "wire/wire.h"

#define FAR_MAGIC 0x46726554u             /* "TerF" */
#define FAR_VERSION 1u
#define FAR_FRAME_MAX (TERN_WIRE_SLOT + 4096u) /* most bytes after the head of a frame */
#define FAR_PIECE (64u << 10)             /* most bytes of the migration stream in one frame */
#define FAR_SESSIONS 4096u
#define FAR_QUEUE (4u << 20)              /* bytes to send beyond which nothing more is read from sockets */

/** Type of a frame. S: sent by the source, T: sent by the target. */
enum far_type {
    FAR_HELLO = 1,    /* both, once: struct far_hello */
    FAR_ALIVE,        /* both: empty, a sign of life */
    FAR_STREAM,       /* both: bytes of the migration between the two ternd */
    FAR_STREAM_END,   /* both: one of the two ternd has closed the migration stream */
    FAR_DESCRIPTOR,   /* S: struct tern_wire_descriptor */
    FAR_START,        /* S: struct far_start; the session belongs to the target from here on */
    FAR_SUBMISSIONS,  /* S: bytes of the submission ring */
    FAR_HEAD,         /* S: empty; the position is in the head of the frame */
    FAR_REQUEST,      /* S: a request on the slot, and the bytes that it has in the slot */
    FAR_OPEN,         /* S: asks for a connection for calls; slot is a number that the source chose */
    FAR_CLOSE,        /* S: the connection of the slot has ended */
    FAR_END,          /* both: the session has ended */
    FAR_OPENED,       /* T: struct far_opened */
    FAR_COMPLETIONS,  /* T: entries of the completion ring */
    FAR_REPLY,        /* T: a reply on the slot, and the bytes that it has in the slot */
    FAR_RESULT,       /* T: struct tern_wire_progress: the result of the migration at the target */
    FAR_TYPES
};

/** Head of a frame. Integers are little-endian. */
struct far_frame {
    uint32_t type, length; /**< Number of bytes after the head. */
    uint32_t session, slot;
    uint64_t head;         /**< Frames after START. S: head of the completion ring; T: head of the submission ring. */
    uint64_t now;          /**< T: struct tern_wire_shared.now. */
};

enum far_side { FAR_SOURCE = 1, FAR_TARGET = 2 };

struct far_hello {
    uint32_t magic, version, wire, spec;
    int32_t status;        /**< T: 0, or -errno with a reason in `text`. */
    uint32_t side;         /**< Side of the sender: enum far_side. */
    char partition[64];    /**< S: partition that moves. */
    char text[256];
};

/** Positions of the rings at the moment when the target takes the session over. */
struct far_start {
    uint64_t submissions, completions_head, completions_tail;
};

struct far_opened {
    uint32_t id;           /**< Number of the OPEN frame. */
    int32_t status; /**< 0: the slot of the frame is that of the connection; or -errno with a reason in `text`. */
    char text[256];
};

struct far_bytes {
    uint8_t *data;
    size_t start, end, room;
};

struct far_link {
    int in, out;           /**< Descriptors of the link, non-blocking, owned by it; they may be equal. */
    struct far_bytes received, sending;
    size_t shown;          /**< Bytes of `received` that the frame of the last far_next has. */
    bool lost;
    char why[160];
    uint64_t heard, said;  /**< Time of the last byte received and sent, on tern_clock_ns(), in ns. */
};

/* frames.c */
/** Takes the descriptors of a link. */
void far_link_open(struct far_link *l, int in, int out);
void far_link_close(struct far_link *l);
/** Says that nothing more will be sent, and waits briefly until the other side ends as well. For a socket. */
void far_link_finish(struct far_link *l);
/** Queues a frame with two pieces of bytes; f.length is set to their sum. */
void far_send(struct far_link *l, struct far_frame f, const void *a, size_t na, const void *b, size_t nb);
/** Write queued bytes, and read bytes, without blocking. */
void far_flush(struct far_link *l);
void far_fill(struct far_link *l);
/** The next complete frame; its bytes are valid until the next call. False: there is none. */
bool far_next(struct far_link *l, struct far_frame *f, const uint8_t **bytes);
/** Marks the link as lost. Only the first reason is kept. */
void far_lose(struct far_link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Called about once a second. Sends a sign of life when due. reads: input is being read, so long silence means that
 *  the link is lost. */
void far_tick(struct far_link *l, bool reads);
/** Makes room for n more bytes. False: no memory. */
bool far_bytes_room(struct far_bytes *b, size_t n);
size_t far_bytes_left(const struct far_bytes *b);

struct far_call {
    int fd;                           /**< Socket of the connection; -1: none. */
    bool busy;                        /**< A request is waiting for its reply. */
    struct tern_wire_request request; /**< The last request on this connection. */
    uint32_t submits;                 /**< At the source: handle of the context to which the request submits. */
};

/** At the source: state of a context (contexts.c). */
struct far_context {
    uint32_t handle, process;
    uint64_t cookie;
    uint64_t submitted, ended;        /**< Fence ids of the last submission, and of the last one that has ended. */
};

/** The session of a program, in either proxy. */
struct far_session {
    bool there;                       /**< The session has not ended. */
    int connection, memory;
    uint32_t calls;
    uint8_t token[16];
    uid_t uid;                        /**< At the source: user of the program. */
    struct tern_wire_shared *shared;
    uint8_t *submissions;
    struct tern_wire_completion *completions;
    uint64_t tail, taken; /**< Positions in the submission ring: sent to the target; taken by the target's ternd. */
    uint64_t done, seen; /**< Positions in the completion ring: sent to the source; taken by the program. */
    struct far_call call[TERN_WIRE_CONNECTIONS_MAX];
    struct far_context *context;      /**< At the source: `contexts` contexts. */
    uint32_t contexts;
};

/* session.c */
struct far_session *far_session_create(void);
/** Maps the session's memory, whose descriptor it takes, after checking its size for `calls` calls. -EPROTO,
 *  -ENOMEM. */
int far_session_map(struct far_session *s, int memory, uint32_t calls);
/** Makes and maps a memory of the proxy's own. -errno. */
int far_session_make_memory(struct far_session *s, uint32_t calls);
void *far_session_slot(const struct far_session *s, uint32_t slot);
/** Closes the sockets of the session. */
void far_session_end(struct far_session *s);
void far_session_free(struct far_session *s);

/* data.c: number of bytes that a request has in its slot, and that its reply has there */
size_t far_request_data(const struct tern_wire_request *q);
size_t far_reply_data(const struct tern_wire_request *q, const struct tern_wire_reply *a);

/** Kinds of descriptors in the poll list. S: of the source, T: of the target, else of both. */
enum far_watched {
    FAR_LINK,
    FAR_CONTROL,    /* the connection of the proxy to its ternd */
    FAR_TERND,      /* the migration link of its ternd */
    FAR_SIGNALS,    /* S */
    FAR_LISTENER,   /* S */
    FAR_GUEST,      /* S: a new connection, which has not said its session */
    FAR_OPENING,    /* T: a new connection, whose welcome has not come */
    FAR_CONNECTION, /* the connection of a session */
    FAR_CALL        /* a connection for calls of a session */
};

/** Identity of a descriptor in the poll list. */
struct far_tag {
    int what;
    uint32_t session, slot;
};

struct far_watch {
    struct pollfd *fds;
    struct far_tag *tags;
    size_t n, room;
    bool failed;
};

/* watch.c */
void far_watch_begin(struct far_watch *w);
/** Adds a descriptor; fd < 0 is ignored. */
void far_watch_add(struct far_watch *w, int fd, short events, int what, uint32_t session, uint32_t slot);
void far_watch_link(struct far_watch *w, const struct far_link *l, bool reads, int what);
/** Waits for at most `ms` milliseconds. Entries that are ready have revents != 0. -ENOMEM: an entry could not be
 *  added. */
int far_watch_wait(struct far_watch *w, int ms);
void far_watch_end(struct far_watch *w);

/* ---------------------------------------------------------------------- the source: source.c, programs.c, guests.c */

#define FAR_GUESTS 64u /* new connections at a time that are not yet for calls */

/** A new connection, which waits for its hello, and then for the answer of the target. */
struct far_guest {
    int fd; /* -1: the entry is free */
    bool asked;
    uid_t uid;
    uint32_t session;
    uint64_t since;
};

/** Parser of the migration streams of the source's ternd that pass through the proxy (trace.c). */
struct far_trace {
    unsigned streams;                 /* streams that have ended */
    bool inside, last;                /* inside: the stream header has passed; last: in the last record of a stream */
    uint8_t head[40];
    size_t have;                      /* bytes in `head` */
    uint64_t left;                    /* bytes of the record's fields that follow */
    struct far_bytes kept;            /* contents of the third stream */
};

struct far_source {
    struct far_link link;
    struct far_watch watch;
    const char *to, *from;
    void (*round)(void *user, const struct tern_wire_progress *p);
    void *user;
    int signals;
    struct ternd_listener listener;
    char where[108];                  /* absolute path at which it listens */
    struct far_guest guest[FAR_GUESTS];

    int control, ternd; /* sockets of the source's ternd: the connection that asked, and the migration link */
    /* the target has answered; READY was passed on; GO was passed on; the source has reported its end */
    bool greeted, ready, gone, ended;
    bool told, cancelled;             /* the target has reported its end; a signal has come */
    uint64_t until;                   /* deadline of an awaited answer, on tern_clock_ns(), in ns; 0: none */
    struct tern_wire_progress last, result;
    char refused[256];                /* reason for which the proxy itself gave up */
    struct far_trace trace;
    uint8_t scratch[TERN_WIRE_SUBMISSION_BYTES];

    uint32_t n;
    struct far_session **session;
};

/* programs.c */
/** Takes a descriptor that came from the source's ternd. -EPROTO, -ENOMEM. */
int far_program_add(struct far_source *a, const struct tern_wire_descriptor *what, int fd);
/** Takes the programs over: sends the positions of their rings to the target, and tells them where the proxy
 *  listens. */
void far_programs_start(struct far_source *a);
/** Sends new bytes of the programs' rings, then marks the proxy as sleeping. False: there is more to send. */
bool far_programs_pump(struct far_source *a);
void far_programs_watch(struct far_source *a);
/** Handles input on the session's connection, or on a connection for calls. */
void far_program_ready(struct far_source *a, const struct far_tag *t, int fd);
/** Handles a frame of a session. */
void far_program_frame(struct far_source *a, const struct far_frame *f, const uint8_t *bytes);
void far_program_end(struct far_source *a, uint32_t session, bool tell);
uint32_t far_programs_left(const struct far_source *a);

/* trace.c */
/** Parses bytes that pass through. -EPROTO, -ENOMEM. */
int far_trace(struct far_trace *t, const uint8_t *bytes, size_t n);
/** Called when all streams have passed: sets the contexts of the sessions. -EPROTO, -ENOMEM. */
int far_trace_end(struct far_source *a);

/* contexts.c: false means that the message is invalid */
int far_context_add(struct far_session *s, uint32_t handle, uint32_t process, uint64_t cookie, uint64_t ended,
                    uint64_t submitted);
/** Update the contexts by entries of the submission ring, by the entry that a request has in its slot, by a reply,
 *  and by a completion. */
bool far_contexts_submit(struct far_session *s, const uint8_t *bytes, size_t n);
bool far_contexts_request(struct far_session *s, struct far_call *c, const void *slot, size_t size);
bool far_contexts_reply(struct far_session *s, const struct far_call *c, const struct tern_wire_reply *a);
bool far_contexts_complete(struct far_session *s, const struct tern_wire_completion *e);

/* guests.c */
void far_guest_accept(struct far_source *a);
void far_guests_watch(struct far_source *a);
void far_guest_ready(struct far_source *a, uint32_t id, int fd);
void far_guest_opened(struct far_source *a, const struct far_frame *f, const struct far_opened *o);
/** Ends the new connections of a session; and those that have waited too long. */
void far_guests_end(struct far_source *a, uint32_t session);
void far_guests_tick(struct far_source *a);

/* ---------------------------------------------------------------------- the target: target.c, sessions.c */

#define FAR_OPENS 64u /* new connections at a time whose welcome has not come */

struct far_open {
    int fd; /* -1: the entry is free */
    uint32_t id, session, moves;
};

struct far_target {
    struct far_link link;
    struct far_watch watch;
    char to[108];             /* path of the target's ternd */
    uid_t user, own;          /* user of the programs; user of this process */
    struct far_open open[FAR_OPENS];

    int control, ternd;       /* sockets of the target's ternd: the connection that asked, and the migration link */
    struct far_bytes stream;  /* bytes for the link that were not written yet */
    /** Descriptor that is sent with the last bytes of `stream`; -1: none. */
    int descriptor;
    bool greeted, gone, ended; /* the source's hello has come; GO has come; ternd has reported its end */

    char refused[512];        /* reason for which the migration failed here */

    uint32_t n;
    struct far_session **session;
};

/** Set the effective user for making and connecting sockets, so that SO_PEERCRED shows the programs' user, and set
 *  it back. */
void far_target_as_user(const struct far_target *b);
void far_target_as_self(const struct far_target *b);

/* sessions.c */
/** Makes the object that the descriptor stands for: *fd is ternd's end of it. -EPROTO, -ENOMEM. */
int far_session_add(struct far_target *b, const struct tern_wire_descriptor *what, int *fd);
/** Handles a frame of a session. */
void far_session_frame(struct far_target *b, const struct far_frame *f, const uint8_t *bytes);
/** Sends new bytes of the rings, then marks the proxy as sleeping. False: there is more to send. */
bool far_sessions_pump(struct far_target *b);
void far_sessions_watch(struct far_target *b);
void far_session_ready(struct far_target *b, const struct far_tag *t, int fd);
uint32_t far_sessions_left(const struct far_target *b);

#endif
