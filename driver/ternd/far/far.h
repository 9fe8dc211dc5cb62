/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs whose ternd is on another machine (docs/decisions/migration-far.md). Two proxies carry over one link what a
 * program and its ternd exchange by sockets and shared memory:
 *
 *     program - sockets, memory - *source* = link = *target* - sockets, memory - ternd
 *
 * To the program the source is its ternd, and to the ternd the target is its program. Both have a memory of the
 * session's; what one side writes into its own is copied to the same place of the other: entries and positions of the
 * rings, and of slots what a request or a reply has there (data.c).
 *
 * Each proxy has one thread, which waits in poll() and nowhere else. What comes over the link is believed no more than
 * a client is. Lengths, slots and positions are checked, and at the source that a completion is the next of a context
 * of the program's (contexts.c); ternd looks at all else. A session for which something impossible comes ends; a link
 * on which no frame is, or one of no session, is lost. Then, as when it is cut off, all end: for a program its ternd is
 * gone, for ternd its program.
 */
#ifndef TERND_FAR_FAR_H
#define TERND_FAR_FAR_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "wire/wire.h"

#define FAR_MAGIC 0x46726554u             /* "TerF" */
#define FAR_VERSION 1u
#define FAR_FRAME_MAX (TERN_WIRE_SLOT + 4096u) /* bytes behind a frame's head */
#define FAR_PIECE (64u << 10)             /* of the migration stream in a frame */
#define FAR_SESSIONS 4096u
#define FAR_QUEUE (4u << 20)              /* with more to send nothing more is taken from sockets */

/** What a frame is. S: from the source, T: from the target. */
enum far_type {
    FAR_HELLO = 1,    /* both, once: struct far_hello */
    FAR_ALIVE,        /* both: nothing */
    FAR_STREAM,       /* both: bytes of the migration between the two ternd */
    FAR_STREAM_END,   /* both: one of the two has closed it */
    FAR_DESCRIPTOR,   /* S: struct tern_wire_descriptor */
    FAR_START,        /* S: struct far_start: the session is the target's */
    FAR_SUBMISSIONS,  /* S: bytes of the submission ring */
    FAR_HEAD,         /* S: nothing but what the head of the frame says */
    FAR_REQUEST,      /* S: on slot: a request, and what it has in the slot */
    FAR_OPEN,         /* S: slot is a number of the source's: a connection for calls is wanted */
    FAR_CLOSE,        /* S: of slot has ended */
    FAR_END,          /* both: the session has */
    FAR_OPENED,       /* T: struct far_opened */
    FAR_COMPLETIONS,  /* T: entries of the completion ring */
    FAR_REPLY,        /* T: on slot: a reply, and what it has in the slot */
    FAR_RESULT,       /* T: struct tern_wire_progress: how the migration ended there */
    FAR_TYPES
};

/** Each frame begins with this; integers are of little-endian machines. */
struct far_frame {
    uint32_t type, length; /**< Bytes that follow. */
    uint32_t session, slot;
    uint64_t head;         /**< From START on: S: of the completion ring; T: of the submission ring. */
    uint64_t now;          /**< T: struct tern_wire_shared.now. */
};

enum far_side { FAR_SOURCE = 1, FAR_TARGET = 2 };

struct far_hello {
    uint32_t magic, version, wire, spec;
    int32_t status;        /**< T: 0, or -errno and why. */
    uint32_t side;         /**< enum far_side: whose this is. */
    char partition[64];    /**< S: which moves. */
    char text[256];
};

/** Positions of the rings at the moment when the programs are the target's. */
struct far_start {
    uint64_t submissions, completions_head, completions_tail;
};

struct far_opened {
    uint32_t id;           /**< Of the OPEN. */
    int32_t status;        /**< 0: the frame's slot is its; or -errno and why. */
    char text[256];
};

struct far_bytes {
    uint8_t *data;
    size_t start, end, room;
};

struct far_link {
    int in, out;           /**< May be the same; not blocking; the link's. */
    struct far_bytes received, sending;
    size_t shown;          /**< Bytes of `received` that the frame has which was got last. */
    bool lost;
    char why[160];
    uint64_t heard, said;  /**< ns: when bytes came last, and went. */
};

/* frames.c */
void far_link_open(struct far_link *l, int in, int out);
void far_link_close(struct far_link *l);
/** Nothing more is to be sent: tells that, and waits a moment until the other side has ended, too. Of a socket. */
void far_link_finish(struct far_link *l);
/** Sends a frame with two pieces, later: its length is theirs together. */
void far_send(struct far_link *l, struct far_frame f, const void *a, size_t na, const void *b, size_t nb);
/** Writes, reads what goes without waiting. */
void far_flush(struct far_link *l);
void far_fill(struct far_link *l);
/** The next frame that is there whole; its bytes hold until the next call. */
bool far_next(struct far_link *l, struct far_frame *f, const uint8_t **bytes);
/** The link is lost, and why; the first reason stays. */
void far_lose(struct far_link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Now and then: says that this side lives. reads: it takes what comes, so that silence is a loss. */
void far_tick(struct far_link *l, bool reads);
/** Room for n more bytes behind the last: false, no memory. */
bool far_bytes_room(struct far_bytes *b, size_t n);
size_t far_bytes_left(const struct far_bytes *b);

struct far_call {
    int fd;                           /**< -1: none. */
    bool busy;                        /**< A request waits for its reply. */
    struct tern_wire_request request; /**< The last one that went this way. */
    uint32_t submits;                 /**< The source's: the context that it submits to. */
};

/** The source's: what it knows of a context (contexts.c). */
struct far_context {
    uint32_t handle, process;
    uint64_t cookie;
    uint64_t submitted, ended;        /**< Its last fence ids. */
};

/** A program's session, in either proxy. */
struct far_session {
    bool there;                       /**< It has not ended. */
    int connection, memory;
    uint32_t calls;
    uint8_t token[16];
    uid_t uid;                        /**< The source's: of the program. */
    struct tern_wire_shared *shared;
    uint8_t *submissions;
    struct tern_wire_completion *completions;
    uint64_t tail, taken;             /**< Submission ring: what went to the target; what its ternd has taken. */
    uint64_t done, seen;              /**< Completion ring: what went to the source; what the program has taken. */
    struct far_call call[TERN_WIRE_CONNECTIONS_MAX];
    struct far_context *context;      /**< The source's. */
    uint32_t contexts;
};

/* session.c */
struct far_session *far_session_create(void);
/** Maps `memory`, which it takes, if it is what a session of this many calls has. -EPROTO, -ENOMEM. */
int far_session_map(struct far_session *s, int memory, uint32_t calls);
/** A memory of its own. */
int far_session_make_memory(struct far_session *s, uint32_t calls);
void *far_session_slot(const struct far_session *s, uint32_t slot);
/** Ends it: closes its sockets. */
void far_session_end(struct far_session *s);
void far_session_free(struct far_session *s);

/* data.c: bytes that a request has in its slot, and that its reply has there */
size_t far_request_data(const struct tern_wire_request *q);
size_t far_reply_data(const struct tern_wire_request *q, const struct tern_wire_reply *a);

/** What poll() waits for. */
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
/** fd < 0 is left out. */
void far_watch_add(struct far_watch *w, int fd, short events, int what, uint32_t session, uint32_t slot);
void far_watch_link(struct far_watch *w, const struct far_link *l, bool reads, int what);
/** At most this long; what is ready, has revents. -ENOMEM. */
int far_watch_wait(struct far_watch *w, int ms);
void far_watch_end(struct far_watch *w);

/* source.c */
struct far_source_options {
    const char *from;                 /**< Where the source's ternd listens. */
    const char *to;                   /**< For messages: the other side. */
    const char *partition;
    struct tern_wire_migrate how;
    int in, out;                      /**< The link, which it takes. */
    void (*round)(void *user, const struct tern_wire_progress *p);
    void *user;
};
struct far_source;
/** Moves the programs of a partition over the link; *moved: what became of them. 0: they are the other machine's, and
 *  far_source_run is to be called; else -errno with a sentence, and nothing is left. */
int far_source_move(const struct far_source_options *o, struct far_source **out, struct tern_wire_progress *moved);
/** Until they have ended (0), or the link is lost (-EIO, with a sentence) or a signal comes (-ECANCELED). Frees it. */
int far_source_run(struct far_source *s);
/** A child goes on with it: frees what this process has of it. */
void far_source_leave(struct far_source *s);

/* target.c */
/** Serves one link to its end: in and out are taken, `to` is where its ternd listens, and the programs are this user's,
 *  which only root may choose. The same errors, and -EPERM. */
int far_target_run(const char *to, uid_t user, int in, int out);

#endif
