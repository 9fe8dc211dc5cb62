/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of a migration between two ternd (session.h). */
#ifndef TERN_MIGRATION_SESSION_INTERNAL_H
#define TERN_MIGRATION_SESSION_INTERNAL_H

#include "migration/session/session.h"
#include "migration/state/migrate.h"
#include "ternd/server.h"

struct ternd_move {
    struct ternd *t;
    int control, link;                /* link: the first of `links`, which carries everything except pages */
    int links[TERN_STREAM_LINKS];
    uint32_t link_count;
    bool again;                       /* the tool replaces lost links */
    uint32_t stuck;                   /* source: losses in a row before anything came over the links */
    uint64_t next[TERN_STREAM_LINKS]; /* source: next record that the target needed at the last loss, by link */
    char partition[TERN_PARTITION_NAME + 1];
    uint32_t n;                       /* number of sessions */
    struct ternd_session **sessions;
    struct tern_process **procs;      /* source: the processes of all sessions */
    uint32_t proc_count;
    uint64_t **numbers;               /* target: numbers of the processes on the source, by session */
    size_t *number_count;
    struct tern_loading *loading;
    struct ternd_arrival {            /* target: the connections for calls of a session that have no thread yet */
        uint32_t calls;
        uint32_t slot[TERN_WIRE_CONNECTIONS_MAX];
        bool runs;                    /* the thread of the first connection runs */
    } *arrivals;
    uint64_t stopped_at, stopped_ns;
    struct tern_stream_counts counts; /* source: counts of the stream of processes */
};

/** As struct ternd_moves. */
void ternd_move_send(struct ternd *t, int control, const char *partition);
void ternd_move_receive(struct ternd *t, int control, const char *partition);

/* link.c */
/** Receives the request and the links. -errno, and nothing is taken. */
int ternd_move_begin(struct ternd_move *m, struct tern_wire_migrate *how);
/** Receives the links, each with one of equal messages. -EPROTO, -ETIMEDOUT; -EPIPE: the tool has none. */
int ternd_move_receive_links(struct ternd_move *m, struct tern_wire_migrate *how);
void ternd_move_close_links(struct ternd_move *m);
/** A stream over the first link, which the caller closes. */
int ternd_move_stream(const struct ternd_move *m, bool writes, struct tern_stream **out);
/** Send and receive a descriptor with its description. -ECANCELED, -ETIMEDOUT, -EPIPE; -EPROTO: another one came. */
int ternd_move_send_fd(const struct ternd_move *m, int fd, const struct tern_wire_descriptor *what);
int ternd_move_receive_fd(const struct ternd_move *m, const struct tern_wire_descriptor *what, int *fd);
/** Sends a step to the other ternd. After GO the programs are the target's, unless this fails. */
int ternd_move_step(const struct ternd_move *m, enum tern_wire_step step);
/** Waits for a step of the other ternd. After a failure the other ternd cannot send it any more. */
int ternd_move_await(const struct ternd_move *m, enum tern_wire_step step);
/** Reports the result to the tool, and closes the links. */
void ternd_move_end(struct ternd_move *m, int status);

/* reconnect.c */
/** A stream over all links. Lost links are replaced if the tool does so. */
int ternd_move_links_stream(struct ternd_move *m, bool writes, struct tern_stream **out);
/** Source: waits until the target has read all of the stream, and sends again what it lacks. Later losses end the
 *  migration. */
int ternd_move_read_to_end(struct ternd_move *m, struct tern_stream *s);
/** Target: reports that it has read all of the stream. */
int ternd_move_has_read(struct ternd_move *m, const struct tern_stream *s);

/* write.c, read.c: the programs, and the state of their sessions. -errno, with a sentence */
int ternd_move_write_programs(const struct ternd_move *m);
int ternd_move_write_state(const struct ternd_move *m);
int ternd_move_read_programs(struct ternd_move *m);
int ternd_move_read_state(struct ternd_move *m);

#endif
