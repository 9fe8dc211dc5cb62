/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A partition's programs move from one ternd to another of the same machine (docs/ternd.md, "Migration"). Over the
 * link, a pair of connected sockets, go
 *
 *     source                                               target
 *     stream: who they are; their sockets and memories ->  makes sessions, frozen
 *     stream: tern_migrate_live                        ->  tern_migrate_load
 *     stream: the state of sessions; sockets of calls  ->  gives the sessions what was loaded
 *                                                      <-  a byte, READY: it has all
 *     a byte, GO: they are the target's                ->  lets them run
 *                                                      <-  a byte, TOLD: the programs know that
 *
 * If links are lost while the processes come, both tell whoever asked, go on over other ones, and the target says when
 * it has read all (again.c); at other times the migration ends.
 *
 * GO decides: before it comes the target has nothing that it cannot drop, and only waits. A target that gives up closes
 * its reading side first and then looks whether the byte has come: a send to a closed side fails, so both come to the
 * same result. If something between the two loses the byte, neither has the programs, and never both.
 */
#ifndef TERND_MOVE_MOVE_H
#define TERND_MOVE_MOVE_H

#include "os/migrate/migrate.h"
#include "ternd/move/words.h"
#include "ternd/server.h"

struct ternd_move {
    struct ternd *t;
    int control, link;                /* link: the first of links, which carries all but pages */
    int links[TERN_STREAM_LINKS];
    uint32_t link_count;
    bool again;                       /* whoever asked makes lost links again */
    uint32_t stuck;                   /* the source's: how often they were lost before anything came over them */
    uint64_t next[TERN_STREAM_LINKS]; /* what the target had when they were lost last */
    char partition[TERN_PARTITION_NAME + 1];
    uint32_t n;                       /* sessions */
    struct ternd_session **sessions;
    struct tern_process **procs;      /* the source's; of all sessions together */
    uint32_t proc_count;
    uint64_t **numbers;               /* the target's: the source's numbers of processes, by session */
    size_t *number_count;
    struct tern_loading *loading;
    struct ternd_arrival {            /* the target's: calls of a session that have no thread yet */
        uint32_t calls;
        uint32_t slot[TERN_WIRE_CONNECTIONS_MAX];
        bool runs;                    /* its own thread is there */
    } *arrivals;
    uint64_t stopped_at, stopped_ns;
    struct tern_stream_counts counts; /* the source's: of the processes' stream */
};

/* link.c */
/** Receives what to do, and the links. -errno, without anything taken. */
int ternd_move_begin(struct ternd_move *m, struct tern_wire_migrate *how);
/** The links, each with one of the same messages. -EPROTO, -ETIMEDOUT; -EPIPE: there are none. */
int ternd_move_receive_links(struct ternd_move *m, struct tern_wire_migrate *how);
void ternd_move_close_links(struct ternd_move *m);
/** A stream over the first link. */
int ternd_move_stream(const struct ternd_move *m, bool writes, struct tern_stream **out);
/** A descriptor, and what it is. -ECANCELED, -ETIMEDOUT, -EPIPE; -EPROTO: another one came. */
int ternd_move_send_fd(const struct ternd_move *m, int fd, const struct tern_wire_descriptor *what);
int ternd_move_receive_fd(const struct ternd_move *m, const struct tern_wire_descriptor *what, int *fd);
/** Tells the other ternd of a step. After GO the programs are the target's, unless this fails. */
int ternd_move_step(const struct ternd_move *m, enum tern_wire_step step);
/** Until the other ternd says so. If this fails, it cannot any more. */
int ternd_move_await(const struct ternd_move *m, enum tern_wire_step step);
/** Tells whoever asked for the migration how it ended, and closes the link. */
void ternd_move_end(struct ternd_move *m, int status);

/* again.c */
/** A stream over all links, which are made again when they are lost, if whoever asked does so. */
int ternd_move_links_stream(struct ternd_move *m, bool writes, struct tern_stream **out);
/** The source: the target has read all of the stream, or gets what it has not. What comes next is not made again. */
int ternd_move_read_to_end(struct ternd_move *m, struct tern_stream *s);
/** The target: it has. */
int ternd_move_has_read(struct ternd_move *m, const struct tern_stream *s);

/* write.c, read.c: programs: who they are; state: what they have */
int ternd_move_write_programs(const struct ternd_move *m);
int ternd_move_write_state(const struct ternd_move *m);
int ternd_move_read_programs(struct ternd_move *m);
int ternd_move_read_state(struct ternd_move *m);

#endif
