/* SPDX-License-Identifier: Apache-2.0 */
/** The source side of a migration, with suspended processes (save.c) or during the brownout (rounds.c). */
#ifndef TERN_OS_MIGRATE_SAVING_H
#define TERN_OS_MIGRATE_SAVING_H

#include "migration/state/image.h"
#include "migration/state/migrate.h"
#include "migration/state/sender.h"

struct tern_saving {
    struct tern_device *dev;
    struct tern_sender *sender; /* sender of the stream that is written; NULL: none is */
    struct tern_image *image;   /* the image that was last written to the stream */
    struct tern_sched_cap cap;  /* the cap of all processes during the brownout */
    uint32_t n;
    struct tern_saved {
        struct tern_process *proc;
        bool was; /* its owner had suspended the process before */
    } saved[];
};

/** Takes the processes into a new saving. proc->making keeps them alive until tern_migrate_go_on or
 *  tern_migrate_end. -EIO, -ENOMEM. */
int tern_saving_open(struct tern_process *const *procs, uint32_t n, struct tern_saving **out);
/** Suspends (`all`) or resumes the processes that were not suspended before. -EIO. */
int tern_saving_suspend(struct tern_saving *m, bool all);
/** Begin a stream to which nothing was written yet, and end it. */
int tern_saving_begin(struct tern_saving *m, struct tern_stream *s);
void tern_saving_end(struct tern_saving *m);
/** Writes an image, of memory only or (work) of everything. The memories get slots of the sender. */
int tern_saving_image(struct tern_saving *m, bool work, struct tern_stream *s);

#endif
