/* SPDX-License-Identifier: Apache-2.0 */
/** Two processes with every kind of object that an image describes, for the tests of migrations that fail. */
#ifndef SUPPORT_MIGRATION_SCENE_H
#define SUPPORT_MIGRATION_SCENE_H

#include "actor.h"

#define SCENE_CONFIG "small,mem=32M,timeout=200000"

/** Two processes that share memory. One is in the middle of a kernel that counts. The other has a queue that waits for
 * a fence. */
struct scene {
    struct actor counts, waits;
    struct tern_process *procs[2];
    struct tern_allocation *shared, *sparse, *gone;
    struct tern_fence *gate;
    uint64_t spin, last;
    uint32_t pages; /* free pages of the device before the scene was made */
};

extern struct scene scene;
/** Makes the scene on dev. */
void scene_open(void);
/** Lets all work of the scene end, and checks its results. */
void scene_ends_right(void);
/** Destroys the scene, after which dev has all of its memory, and closes dev. */
void scene_close(void);

#endif
