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
#ifndef TERN_MIGRATION_PROXY_H
#define TERN_MIGRATION_PROXY_H

#include <sys/types.h>

#include "wire/wire.h"

/* source.c */
struct proxy_source_options {
    const char *from;                 /**< Path of the source's ternd. */
    const char *to;                   /**< Name of the other side, for messages. */
    const char *partition;
    struct tern_wire_migrate how;
    int in, out;                      /**< Descriptors of the link, which the source takes. */
    void (*round)(void *user, const struct tern_wire_progress *p);
    void *user;
};
struct proxy_source;
/** Migrates the programs of a partition over the link. *moved has the result. 0: the programs are on the other
 *  machine, and the caller calls proxy_source_run. -errno, with a sentence: nothing has to be freed. */
int proxy_source_move(const struct proxy_source_options *o, struct proxy_source **out,
                      struct tern_wire_progress *moved);
/** Serves the programs until the last one ends (0), the link is lost (-EIO, with a sentence) or a signal comes
 *  (-ECANCELED). Frees s. */
int proxy_source_run(struct proxy_source *s);
/** Frees what this process has of the source, which a child process goes on to serve. */
void proxy_source_leave(struct proxy_source *s);

/* target.c */
/** Serves a link until it ends, and takes in and out. `to` is the path of the target's ternd. The programs run as
 *  `user`, which only root may choose. Errors as of proxy_source_run; -EPERM. */
int proxy_target_run(const char *to, uid_t user, int in, int out);

#endif
