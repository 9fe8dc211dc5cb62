/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of the proxy at the source (far.h): source.c, programs.c, guests.c. */
#ifndef TERND_FAR_SOURCE_H
#define TERND_FAR_SOURCE_H

#include "ternd/far/far.h"
#include "ternd/listen.h"

#define FAR_GUESTS 64u /* connections at a time that are not calls yet */

enum far_ready { FAR_LINK, FAR_SIGNALS, FAR_CONTROL, FAR_TERND, FAR_LISTENER, FAR_GUEST, FAR_CONNECTION, FAR_CALL };

/** A new connection: its hello is awaited, or then the target's answer. */
struct far_guest {
    int fd; /* -1: free */
    bool asked;
    uid_t uid;
    uint32_t session;
    uint64_t since;
};

/** Where in the streams of the source's ternd the bytes are that go through (trace.c). */
struct far_trace {
    unsigned streams;                 /* that have ended */
    bool inside, last;                /* behind the header of one; in its last record */
    uint8_t head[40];
    size_t have;                      /* bytes of head */
    uint64_t left;                    /* bytes of fields that follow */
    struct far_bytes kept;            /* the third stream */
};

struct far_source {
    struct far_link link;
    struct far_watch watch;
    const char *to, *from;
    void (*round)(void *user, const struct tern_wire_progress *p);
    void *user;
    int signals;
    struct ternd_listener listener;
    char where[108];                  /* it listens, from the root */
    struct far_guest guest[FAR_GUESTS];

    int control, ternd;               /* the source's ternd: the connection that asked, and what it sends to */
    bool greeted, ready, gone, ended; /* the target has answered; READY, GO have been said; the source has ended */
    bool told, cancelled;             /* the target has said how it ended; a signal has come */
    uint64_t until;                   /* when it has, on tern_clock_ns(), an answer is awaited; 0: no limit */
    struct tern_wire_progress last, result;
    char refused[256];                /* what the proxy itself has given up for */
    struct far_trace trace;
    uint8_t scratch[TERN_WIRE_SUBMISSION_BYTES];

    uint32_t n;
    struct far_session **session;
};

/* programs.c */
/** A descriptor that came, which is taken: -EPROTO, -ENOMEM. */
int far_program_add(struct far_source *a, const struct tern_wire_descriptor *what, int fd);
/** The programs are this proxy's: tells the target where their rings are, and them where it listens. */
void far_programs_start(struct far_source *a);
/** Sends what is new in their rings, and says that it sleeps: false, there is more. */
bool far_programs_pump(struct far_source *a);
void far_programs_watch(struct far_source *a);
/** Something has come on the connection, or from a slot's calls. */
void far_program_ready(struct far_source *a, const struct far_tag *t, int fd);
/** A frame of a session. */
void far_program_frame(struct far_source *a, const struct far_frame *f, const uint8_t *bytes);
void far_program_end(struct far_source *a, uint32_t session, bool tell);
uint32_t far_programs_left(const struct far_source *a);

/* trace.c */
/** Bytes that go through: -EPROTO, -ENOMEM. */
int far_trace(struct far_trace *t, const uint8_t *bytes, size_t n);
/** All have: the sessions' contexts. */
int far_trace_end(struct far_source *a);

/* contexts.c; false: that cannot be */
int far_context_add(struct far_session *s, uint32_t handle, uint32_t process, uint64_t cookie, uint64_t ended,
                    uint64_t submitted);
/** Entries of the ring; what a request has in its slot, if that is one; a reply to a request; a completion. */
bool far_contexts_submit(struct far_session *s, const uint8_t *bytes, size_t n);
bool far_contexts_request(struct far_session *s, struct far_call *c, const void *slot, size_t size);
bool far_contexts_reply(struct far_session *s, const struct far_call *c, const struct tern_wire_reply *a);
bool far_contexts_complete(struct far_session *s, const struct tern_wire_completion *e);

/* guests.c */
void far_guest_accept(struct far_source *a);
void far_guests_watch(struct far_source *a);
void far_guest_ready(struct far_source *a, uint32_t id, int fd);
void far_guest_opened(struct far_source *a, const struct far_frame *f, const struct far_opened *o);
/** Those of the session, or that have waited too long. */
void far_guests_end(struct far_source *a, uint32_t session);
void far_guests_tick(struct far_source *a);

#endif
