/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of the proxy at the target (far.h): target.c, sessions.c. */
#ifndef TERND_FAR_TARGET_H
#define TERND_FAR_TARGET_H

#include "migration/proxy/far.h"

#define FAR_OPENS 64u /* new connections at a time whose welcome has not come */

enum far_target_ready { FAR_LINK, FAR_CONTROL, FAR_TERND, FAR_OPENING, FAR_CONNECTION, FAR_CALL };

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
