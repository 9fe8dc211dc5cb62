/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs whose ternd is on another machine (docs/decisions/migration-proxy.md). Two proxies carry over one link the
 * messages and memory contents that a program and its ternd exchange:
 *
 *   program - sockets, memory - *source* = link = *target* - sockets, memory - ternd
 *
 * For the program the source is its ternd; for the ternd the target is its program. Each proxy has a copy of the
 * session's memory. Bytes that its peer writes into one copy are copied to the same place in the other: entries and
 * positions of the rings, and the parts of slots that a request or a reply uses (data.c).
 *
 * Each proxy has one thread, which blocks in poll() only.
 *
 * Trust. Input from the link is checked like that of a client: lengths, slots, positions, and at the source that a
 * completion is the next one of a context of the program (contexts.c). ternd checks everything else. An invalid message
 * ends its session. An invalid frame, or one for no session, ends the link. When the link ends, all sessions end: for a
 * program its ternd is gone, for ternd its program.
 */
#ifndef TERND_FAR_FAR_H
#define TERND_FAR_FAR_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

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

/* source.c */
struct far_source_options {
    const char *from;                 /**< Path of the source's ternd. */
    const char *to;                   /**< Name of the other side, for messages. */
    const char *partition;
    struct tern_wire_migrate how;
    int in, out;                      /**< Descriptors of the link, which the source takes. */
    void (*round)(void *user, const struct tern_wire_progress *p);
    void *user;
};
struct far_source;
/** Migrates the programs of a partition over the link. *moved has the result. 0: the programs are on the other
 *  machine, and the caller calls far_source_run. -errno, with a sentence: nothing has to be freed. */
int far_source_move(const struct far_source_options *o, struct far_source **out, struct tern_wire_progress *moved);
/** Serves the programs until the last one ends (0), the link is lost (-EIO, with a sentence) or a signal comes
 *  (-ECANCELED). Frees s. */
int far_source_run(struct far_source *s);
/** Frees what this process has of the source, which a child process goes on to serve. */
void far_source_leave(struct far_source *s);

/* target.c */
/** Serves a link until it ends, and takes in and out. `to` is the path of the target's ternd. The programs run as
 *  `user`, which only root may choose. Errors as of far_source_run; -EPERM. */
int far_target_run(const char *to, uid_t user, int in, int out);

#endif
