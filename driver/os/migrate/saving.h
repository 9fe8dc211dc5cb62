/* SPDX-License-Identifier: Apache-2.0 */
/** The source's side of a migration, stopped (save.c) or while its work runs (rounds.c). */
#ifndef TERN_OS_MIGRATE_SAVING_H
#define TERN_OS_MIGRATE_SAVING_H

#include "os/migrate/image.h"
#include "os/migrate/migrate.h"
#include "os/migrate/sender.h"
#include "os/sched/cap.h"

struct tern_saving {
    struct tern_device *dev;
    struct tern_sender *sender; /* of the stream that is written; NULL: none is */
    struct tern_image *image;   /* that was written last to it */
    struct tern_sched_cap cap;  /* of all of them, while they are slowed down */
    uint32_t n;
    struct tern_saved {
        struct tern_process *proc;
        bool was; /* suspended, before */
    } saved[];
};

/** Each process is `making` something from here on: none is killed to its end. -EIO, -ENOMEM. */
int tern_saving_open(struct tern_process *const *procs, uint32_t n, struct tern_saving **out);
/** Suspends those that were not before, or resumes them. -EIO. */
int tern_saving_suspend(struct tern_saving *m, bool all);
/** A new stream, to which nothing was written yet; and its end. */
int tern_saving_begin(struct tern_saving *m, struct tern_stream *s);
void tern_saving_end(struct tern_saving *m);
/** Writes an image: of memory only, or (work) of all. Its memories have slots of the sender. */
int tern_saving_image(struct tern_saving *m, bool work, struct tern_stream *s);

#endif
