/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A snapshot of what other actors have done when an actor's work ends. The driver's thread takes the snapshot, since on
 * a busy host the test's own thread may run only after all work has ended.
 */
#ifndef SUPPORT_SNAPSHOT_H
#define SUPPORT_SNAPSHOT_H

#include "actor.h"

#define SNAPSHOT_OTHERS 2

struct snapshot {
    struct actor *other[SNAPSHOT_OTHERS];     /* NULL: there is none */
    uint64_t cycles[SNAPSHOT_OTHERS];         /* engine cycles of the others' contexts */
    uint64_t ended[SNAPSHOT_OTHERS];          /* fences of the last buffers of these that ended */
    uint64_t brought;                         /* pages that the pager had brought */
};

/** Replaces the context of an actor, which has submitted nothing yet, by one that takes the snapshot when its
 * work ends. */
void snapshot_at_end(struct snapshot *s, struct actor *a, int32_t engine);

#endif
