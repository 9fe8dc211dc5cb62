/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that move from one device, `dev`, to another: opens both, and has streams in memory between them. */
#ifndef SUPPORT_MIGRATION_H
#define SUPPORT_MIGRATION_H

#include "actor.h"
#include "breakpoint.h"
#include "migration/state/migrate.h"

/** The target of migrations from `dev`, with the same backend unless TERN_TEST_THERE names another. */
extern struct tern_device *there;
/** Where the time of dev stops. */
extern struct breakpoint *here;
/** Opens the target. */
void open_there(const char *config);
/** Opens dev with a breakpoint, and the target. */
void open_both(const char *config);
void close_both(void);
/** Stops the processes and writes them to a stream in memory. */
struct tern_stream *saved(struct tern_process *const *procs, uint32_t n, struct tern_saving **m);
/** Loads what was written to a stream in memory. */
struct tern_loading *loaded(struct tern_device *to, const struct tern_stream *from,
                            const struct tern_migrate_owner *owner);

/** Processes between source and target: stopped at the source, and not running at the target yet. */
struct journey {
    struct tern_saving *saving;
    struct tern_stream *stream;
    struct tern_loading *loading;
};

/** Stops processes of dev and loads them on the target. */
struct journey depart(struct tern_process *const *procs, uint32_t n, const struct tern_migrate_owner *owner);
/** The processes run on the target. The source's objects remain to be destroyed (forget). */
void arrive(struct journey *j);
/** Destroys the source's process after it has moved. */
void forget(struct tern_process *p);
/** Makes the actor use its objects on the target instead of those at the source. */
void actor_follow(struct actor *a, const struct tern_loading *l, uint32_t i);

#endif
