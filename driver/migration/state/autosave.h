/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TERN_CHECKPOINT: saves the processes of a program that does not call the checkpoint functions itself, at a moment
 * that the environment gives. The device thread stops the processes (os/proc/hold.c); a thread of this module writes
 * the file.
 *
 *   TERN_CHECKPOINT          name of the file
 *   TERN_CHECKPOINT_CYCLE    device time of the checkpoint, in cycles; or
 *   TERN_CHECKPOINT_KERNEL   label of a buffer, which is the name of its kernel
 *   TERN_CHECKPOINT_LAUNCH   which buffer with this label, in order of submission; default 1
 *   TERN_CHECKPOINT_AFTER    cycles after the begin of that buffer; default 0
 *   TERN_CHECKPOINT_STOP     1: the program exits with status 0 once saved, and goes on if it could not be saved
 */
#ifndef TERN_OS_AUTOSAVE_H
#define TERN_OS_AUTOSAVE_H

#include <stdbool.h>

struct tern_device;

/** Reads the environment and starts the thread. Called once the device works. -EINVAL: a variable is no number, or
 *  no moment is given; -ENOMEM; -EAGAIN: the thread cannot be started. Each with a sentence. */
int tern_autosave_open(struct tern_device *dev);
/** Waits for a checkpoint that is being written, and ends the thread. Prints on standard error if no checkpoint was
 *  made. */
void tern_autosave_close(struct tern_device *dev);

/* checkpoint.c */

/** The result of tern_checkpoint_write. */
struct tern_saved_file {
    unsigned processes;
    /** Number of submitted buffers that had not ended, and size of the file in bytes. */
    unsigned long long buffers, bytes;
};
/** Implements tern_checkpoint_save. stay: on success the processes stay suspended, because the program exits next. */
int tern_checkpoint_write(struct tern_device *dev, const char *file, bool stay, struct tern_saved_file *out);

#endif
