/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TERN_CHECKPOINT: a program that knows nothing of checkpoints is saved at a moment that the environment tells. The
 * device thread stops its processes (os/proc/hold.h); a thread of this part's own writes the file.
 *
 * TERN_CHECKPOINT          the file
 * TERN_CHECKPOINT_CYCLE    device time; or
 * TERN_CHECKPOINT_KERNEL   the label of buffers, which is the kernel's name,
 * TERN_CHECKPOINT_LAUNCH   which of them, in the order of their submission (1),
 * TERN_CHECKPOINT_AFTER    and how many cycles after it began (0)
 * TERN_CHECKPOINT_STOP     1: the program ends then, with status 0; one that could not be saved goes on
 */
#ifndef TERN_OS_AUTOSAVE_H
#define TERN_OS_AUTOSAVE_H

#include <stdbool.h>

struct tern_device;

/** Once the device works. -EINVAL: a variable is no number, or there is no moment; -ENOMEM; -EAGAIN: a thread. */
int tern_autosave_open(struct tern_device *dev);
/** Waits for a checkpoint that is being written. Says on standard error if there was none. */
void tern_autosave_close(struct tern_device *dev);

/* checkpoint.c */

/** What was written. */
struct tern_saved_file {
    unsigned processes;
    unsigned long long buffers, bytes; /**< Buffers that had not ended; bytes of the file. */
};
/** tern_checkpoint_save. stay: once they are saved, the processes do not go on, because the program ends next. */
int tern_checkpoint_write(struct tern_device *dev, const char *file, bool stay, struct tern_saved_file *out);

#endif
