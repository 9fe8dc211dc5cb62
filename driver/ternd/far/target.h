/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of the proxy at the target (far.h): target.c, sessions.c. */
#ifndef TERND_FAR_TARGET_H
#define TERND_FAR_TARGET_H

#include "ternd/far/far.h"

#define FAR_OPENS 64u /* connections at a time whose welcome has not come */

enum far_target_ready { FAR_LINK, FAR_CONTROL, FAR_TERND, FAR_OPENING, FAR_CONNECTION, FAR_CALL };

struct far_open {
    int fd; /* -1: free */
    uint32_t id, session, moves;
};

struct far_target {
    struct far_link link;
    struct far_watch watch;
    char to[108];             /* where its ternd listens */
    uid_t user, own;          /* of the programs; of this process */
    struct far_open open[FAR_OPENS];

    int control, ternd;       /* the target's ternd: the connection that asked, and what it reads */
    struct far_bytes stream;  /* for it; with `descriptor`, unless that is -1, at the end */
    int descriptor;
    bool greeted, gone, ended; /* the source's hello has come; GO has; ternd has said how it ended */

    char refused[512];        /* why the migration failed here */

    uint32_t n;
    struct far_session **session;
};

/** From now on the system names the programs' user as whoever makes sockets, and connects; and again this process's. */
void far_target_as_user(const struct far_target *b);
void far_target_as_self(const struct far_target *b);

/* sessions.c */
/** Makes what the descriptor is: *fd is the end for ternd. -EPROTO, -ENOMEM. */
int far_session_add(struct far_target *b, const struct tern_wire_descriptor *what, int *fd);
/** A frame of a session. */
void far_session_frame(struct far_target *b, const struct far_frame *f, const uint8_t *bytes);
/** Sends what is new in their rings, and says that it sleeps: false, there is more. */
bool far_sessions_pump(struct far_target *b);
void far_sessions_watch(struct far_target *b);
void far_session_ready(struct far_target *b, const struct far_tag *t, int fd);
uint32_t far_sessions_left(const struct far_target *b);

#endif
