/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Migration of a partition's programs from one ternd to another on the same machine (docs/ternd.md, "Migration"). The
 * link is a pair of connected sockets, over which go
 *
 *   source                                               target
 *   stream: the programs; their sockets and memories ->  makes sessions, frozen
 *   stream: tern_migrate_live                        ->  tern_migrate_load
 *   stream: the state of sessions; sockets of calls  ->  gives the sessions the loaded objects
 *                                                    <-  a byte, READY: the target has everything
 *   a byte, GO: the programs are the target's        ->  lets them run
 *                                                    <-  a byte, TOLD: the programs know their new ternd
 *
 * Lost links. If links are lost while processes are sent, both ternd tell the tool that asked for the migration, go on
 * over other links, and the target reports when it has read everything (reconnect.c). If a link is lost at another
 * time, the migration fails.
 *
 * Commit. GO decides. Before GO the target has nothing that it cannot drop, and only waits. A target that gives up
 * shuts down its reading side first, and then checks whether GO has come: a send to a side that is shut down fails, so
 * both sides come to the same result. If something between the two loses the byte, neither side has the programs, but
 * never both.
 */
#ifndef TERN_MIGRATION_SESSION_H
#define TERN_MIGRATION_SESSION_H

struct ternd_moves;
/** Both sides of a migration, for ternd_open's caller. */
extern const struct ternd_moves ternd_moves;

/* Sizes of the records of sessions (docs/migration-stream.md), for their reader in a proxy. */
#define TERND_MOVE_SENT_WORDS 3u /* numbers of a submission: fence, cost, flag that it was refused */
#define TERND_MOVE_TOLD_WORDS 8u /* numbers of a completion, as in struct tern_wire_completion */
#define TERND_MOVE_CONTEXT 2u    /* kind of a context, as in enum ternd_kind */

#endif
