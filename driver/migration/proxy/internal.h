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

#define PROXY_MAGIC 0x46726554u             /* "TerF" */
#define PROXY_VERSION 1u
#define PROXY_FRAME_MAX (TERN_WIRE_SLOT + 4096u) /* most bytes after the head of a frame */
#define PROXY_PIECE (64u << 10)             /* most bytes of the migration stream in one frame */
#define PROXY_SESSIONS 4096u
#define PROXY_QUEUE (4u << 20)              /* bytes to send beyond which nothing more is read from sockets */

/** Type of a frame. S: sent by the source, T: sent by the target. */
enum proxy_type {
    PROXY_HELLO = 1,    /* both, once: struct proxy_hello */
    PROXY_ALIVE,        /* both: empty, a sign of life */
    PROXY_STREAM,       /* both: bytes of the migration between the two ternd */
    PROXY_STREAM_END,   /* both: one of the two ternd has closed the migration stream */
    PROXY_DESCRIPTOR,   /* S: struct tern_wire_descriptor */
    PROXY_START,        /* S: struct proxy_start; the session belongs to the target from here on */
    PROXY_SUBMISSIONS,  /* S: bytes of the submission ring */
    PROXY_HEAD,         /* S: empty; the position is in the head of the frame */
    PROXY_REQUEST,      /* S: a request on the slot, and the bytes that it has in the slot */
    PROXY_OPEN,         /* S: asks for a connection for calls; slot is a number that the source chose */
    PROXY_CLOSE,        /* S: the connection of the slot has ended */
    PROXY_END,          /* both: the session has ended */
    PROXY_OPENED,       /* T: struct proxy_opened */
    PROXY_COMPLETIONS,  /* T: entries of the completion ring */
    PROXY_REPLY,        /* T: a reply on the slot, and the bytes that it has in the slot */
    PROXY_RESULT,       /* T: struct tern_wire_progress: the result of the migration at the target */
    PROXY_TYPES
};

/** Head of a frame. Integers are little-endian. */
struct proxy_frame {
    uint32_t type, length; /**< Number of bytes after the head. */
    uint32_t session, slot;
    uint64_t head;         /**< Frames after START. S: head of the completion ring; T: head of the submission ring. */
    uint64_t now;          /**< T: struct tern_wire_shared.now. */
};

enum proxy_side { PROXY_SOURCE = 1, PROXY_TARGET = 2 };

struct proxy_hello {
    uint32_t magic, version, wire, spec;
    int32_t status;        /**< T: 0, or -errno with a reason in `text`. */
    uint32_t side;         /**< Side of the sender: enum proxy_side. */
    char partition[64];    /**< S: partition that moves. */
    char text[256];
};

/** Positions of the rings at the moment when the target takes the session over. */
struct proxy_start {
    uint64_t submissions, completions_head, completions_tail;
};

struct proxy_opened {
    uint32_t id;           /**< Number of the OPEN frame. */
    int32_t status; /**< 0: the slot of the frame is that of the connection; or -errno with a reason in `text`. */
    char text[256];
};

struct proxy_bytes {
    uint8_t *data;
    size_t start, end, room;
};

struct proxy_link {
    int in, out;           /**< Descriptors of the link, non-blocking, owned by it; they may be equal. */
    struct proxy_bytes received, sending;
    size_t frame_bytes;    /**< Bytes at the begin of `received` that the frame of the last proxy_next takes. */
    bool lost;
    char why[160];         /**< Reason for `lost`. */
    uint64_t received_at, sent_at; /**< Times of the last byte received and sent, on tern_clock_ns(), in ns. */
};

/* frames.c */
/** Takes the descriptors of a link. */
void proxy_link_open(struct proxy_link *l, int in, int out);
void proxy_link_close(struct proxy_link *l);
/** Says that nothing more will be sent, and waits briefly until the other side ends as well. For a socket. */
void proxy_link_finish(struct proxy_link *l);
/** Queues a frame with two pieces of bytes; f.length is set to their sum. */
void proxy_send(struct proxy_link *l, struct proxy_frame f, const void *a, size_t na, const void *b, size_t nb);
/** Write queued bytes, and read bytes, without blocking. */
void proxy_flush(struct proxy_link *l);
void proxy_fill(struct proxy_link *l);
/** The next complete frame; its bytes are valid until the next call. False: there is none. */
bool proxy_next(struct proxy_link *l, struct proxy_frame *f, const uint8_t **bytes);
/** Marks the link as lost. Only the first reason is kept. */
void proxy_lose(struct proxy_link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Called about once a second. Sends a sign of life when due. reads: input is being read, so long silence means that
 *  the link is lost. */
void proxy_tick(struct proxy_link *l, bool reads);
/** Makes room for n more bytes. False: no memory. */
bool proxy_bytes_room(struct proxy_bytes *b, size_t n);
size_t proxy_bytes_left(const struct proxy_bytes *b);

struct proxy_call {
    int fd;                           /**< Socket of the connection; -1: none. */
    bool busy;                        /**< A request is waiting for its reply. */
    struct tern_wire_request request; /**< The last request on this connection. */
    uint32_t submits;                 /**< At the source: handle of the context to which the request submits. */
};

/** At the source: state of a context (contexts.c). */
struct proxy_context {
    uint32_t handle, process;
    uint64_t cookie;
    uint64_t submitted, ended;        /**< Fence ids of the last submission, and of the last one that has ended. */
};

/** The session of a program, in either proxy. */
struct proxy_session {
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
    struct proxy_call call[TERN_WIRE_CONNECTIONS_MAX];
    struct proxy_context *context;    /**< At the source: `contexts` contexts. */
    uint32_t contexts;
};

/* session.c */
struct proxy_session *proxy_session_create(void);
/** Maps the session's memory, whose descriptor it takes, after checking its size for `calls` calls. -EPROTO,
 *  -ENOMEM. */
int proxy_session_map(struct proxy_session *s, int memory, uint32_t calls);
/** Makes and maps a memory of the proxy's own. -errno. */
int proxy_session_make_memory(struct proxy_session *s, uint32_t calls);
void *proxy_session_slot(const struct proxy_session *s, uint32_t slot);
/** Closes the sockets of the session. */
void proxy_session_end(struct proxy_session *s);
void proxy_session_free(struct proxy_session *s);

/* data.c: number of bytes that a request has in its slot, and that its reply has there */
size_t proxy_request_data(const struct tern_wire_request *q);
size_t proxy_reply_data(const struct tern_wire_request *q, const struct tern_wire_reply *a);

/** Kinds of descriptors in the poll list. S: of the source, T: of the target, else of both. */
enum proxy_watched {
    PROXY_LINK,
    PROXY_CONTROL,    /* the connection of the proxy to its ternd */
    PROXY_TERND,      /* the migration link of its ternd */
    PROXY_SIGNALS,    /* S */
    PROXY_LISTENER,   /* S */
    PROXY_PENDING,    /* S: a new connection, which has not said its session */
    PROXY_OPENING,    /* T: a new connection, whose welcome has not come */
    PROXY_CONNECTION, /* the connection of a session */
    PROXY_CALL        /* a connection for calls of a session */
};

/** Identity of a descriptor in the poll list. */
struct proxy_tag {
    int what;
    uint32_t session, slot;
};

struct proxy_watch {
    struct pollfd *fds;
    struct proxy_tag *tags;
    size_t n, room;
    bool failed;
};

/* watch.c */
void proxy_watch_begin(struct proxy_watch *w);
/** Adds a descriptor; fd < 0 is ignored. */
void proxy_watch_add(struct proxy_watch *w, int fd, short events, int what, uint32_t session, uint32_t slot);
void proxy_watch_link(struct proxy_watch *w, const struct proxy_link *l, bool reads, int what);
/** Waits for at most `ms` milliseconds. Entries that are ready have revents != 0. -ENOMEM: an entry could not be
 *  added. */
int proxy_watch_wait(struct proxy_watch *w, int ms);
void proxy_watch_end(struct proxy_watch *w);

/* ---------------------------------------------------------------------- the source: source.c, programs.c, pending.c */

#define PROXY_PENDING_MAX 64u /* new connections at a time that are not yet for calls */

/** A new connection, which waits for its hello, and then for the answer of the target. */
struct proxy_pending {
    int fd; /* -1: the entry is free */
    bool asked;
    uid_t uid;
    uint32_t session;
    uint64_t since;
};

/** Parser of the migration streams of the source's ternd that pass through the proxy (parse.c). */
struct proxy_parser {
    unsigned streams;                 /* streams that have ended */
    bool inside, last;                /* inside: the stream header has passed; last: in the last record of a stream */
    uint8_t head[40];
    size_t have;                      /* bytes in `head` */
    uint64_t left;                    /* bytes of the record's fields that follow */
    struct proxy_bytes kept;          /* contents of the third stream */
};

struct proxy_source {
    struct proxy_link link;
    struct proxy_watch watch;
    const char *to, *from;
    void (*round)(void *user, const struct tern_wire_progress *p);
    void *user;
    int signals;
    struct ternd_listener listener;
    char where[108];                  /* absolute path at which it listens */
    struct proxy_pending pending[PROXY_PENDING_MAX];

    int control, ternd; /* sockets of the source's ternd: the connection that asked, and the migration link */
    /* the target has answered; READY was passed on; GO was passed on; the source has reported its end */
    bool greeted, ready, gone, ended;
    bool told, cancelled;             /* the target has reported its end; a signal has come */
    uint64_t until;                   /* deadline of an awaited answer, on tern_clock_ns(), in ns; 0: none */
    struct tern_wire_progress last, result;
    char refused[256];                /* reason for which the proxy itself gave up */
    struct proxy_parser parser;
    uint8_t scratch[TERN_WIRE_SUBMISSION_BYTES];

    uint32_t n;
    struct proxy_session **session;
};

/* programs.c */
/** Takes a descriptor that came from the source's ternd. -EPROTO, -ENOMEM. */
int proxy_program_add(struct proxy_source *a, const struct tern_wire_descriptor *what, int fd);
/** Takes the programs over: sends the positions of their rings to the target, and tells them where the proxy
 *  listens. */
void proxy_programs_start(struct proxy_source *a);
/** Sends new bytes of the programs' rings, then marks the proxy as sleeping. False: there is more to send. */
bool proxy_programs_pump(struct proxy_source *a);
void proxy_programs_watch(struct proxy_source *a);
/** Handles input on the session's connection, or on a connection for calls. */
void proxy_program_ready(struct proxy_source *a, const struct proxy_tag *t, int fd);
/** Handles a frame of a session. */
void proxy_program_frame(struct proxy_source *a, const struct proxy_frame *f, const uint8_t *bytes);
void proxy_program_end(struct proxy_source *a, uint32_t session, bool tell);
uint32_t proxy_programs_left(const struct proxy_source *a);

/* parse.c */
/** Parses bytes that pass through. -EPROTO, -ENOMEM. */
int proxy_parse(struct proxy_parser *t, const uint8_t *bytes, size_t n);
/** Called when all streams have passed: sets the contexts of the sessions. -EPROTO, -ENOMEM. */
int proxy_parse_end(struct proxy_source *a);

/* contexts.c: false means that the message is invalid */
int proxy_context_add(struct proxy_session *s, uint32_t handle, uint32_t process, uint64_t cookie, uint64_t ended,
                      uint64_t submitted);
/** Update the contexts by entries of the submission ring, by the entry that a request has in its slot, by a reply,
 *  and by a completion. */
bool proxy_contexts_submit(struct proxy_session *s, const uint8_t *bytes, size_t n);
bool proxy_contexts_request(struct proxy_session *s, struct proxy_call *c, const void *slot, size_t size);
bool proxy_contexts_reply(struct proxy_session *s, const struct proxy_call *c, const struct tern_wire_reply *a);
bool proxy_contexts_complete(struct proxy_session *s, const struct tern_wire_completion *e);

/* pending.c */
void proxy_pending_accept(struct proxy_source *a);
void proxy_pending_watch(struct proxy_source *a);
void proxy_pending_ready(struct proxy_source *a, uint32_t id, int fd);
void proxy_pending_opened(struct proxy_source *a, const struct proxy_frame *f, const struct proxy_opened *o);
/** Ends the new connections of a session; and those that have waited too long. */
void proxy_pending_end(struct proxy_source *a, uint32_t session);
void proxy_pending_tick(struct proxy_source *a);

/* ---------------------------------------------------------------------- the target: target.c, sessions.c */

#define PROXY_OPENS 64u /* new connections at a time whose welcome has not come */

struct proxy_open {
    int fd; /* -1: the entry is free */
    uint32_t id, session, moves;
};

struct proxy_target {
    struct proxy_link link;
    struct proxy_watch watch;
    char to[108];             /* path of the target's ternd */
    uid_t user, own;          /* user of the programs; user of this process */
    struct proxy_open open[PROXY_OPENS];

    int control, ternd;       /* sockets of the target's ternd: the connection that asked, and the migration link */
    struct proxy_bytes stream; /* bytes for the link that were not written yet */
    /** Descriptor that is sent with the last bytes of `stream`; -1: none. */
    int descriptor;
    bool greeted, gone, ended; /* the source's hello has come; GO has come; ternd has reported its end */

    char refused[512];        /* reason for which the migration failed here */

    uint32_t n;
    struct proxy_session **session;
};

/** Set the effective user for making and connecting sockets, so that SO_PEERCRED shows the programs' user, and set
 *  it back. */
void proxy_target_as_user(const struct proxy_target *b);
void proxy_target_as_self(const struct proxy_target *b);

/* sessions.c */
/** Makes the object that the descriptor stands for: *fd is ternd's end of it. -EPROTO, -ENOMEM. */
int proxy_session_add(struct proxy_target *b, const struct tern_wire_descriptor *what, int *fd);
/** Handles a frame of a session. */
void proxy_session_frame(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes);
/** Sends new bytes of the rings, then marks the proxy as sleeping. False: there is more to send. */
bool proxy_sessions_pump(struct proxy_target *b);
void proxy_sessions_watch(struct proxy_target *b);
void proxy_session_ready(struct proxy_target *b, const struct proxy_tag *t, int fd);
uint32_t proxy_sessions_left(const struct proxy_target *b);

#endif
