/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of the proxy at the source (far.h): source.c, programs.c, guests.c. */
#ifndef TERND_FAR_SOURCE_H
#define TERND_FAR_SOURCE_H

#include "migration/proxy/far.h"
#include "ternd/listen.h"

#define FAR_GUESTS 64u /* new connections at a time that are not yet for calls */

enum far_ready { FAR_LINK, FAR_SIGNALS, FAR_CONTROL, FAR_TERND, FAR_LISTENER, FAR_GUEST, FAR_CONNECTION, FAR_CALL };

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

#endif
