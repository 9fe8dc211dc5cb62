/* SPDX-License-Identifier: Apache-2.0 */
/** The writer's side of tern/tern_stats.h: creation and removal of the file, and consistent updates. */
#ifndef TERN_OS_STATS_FILE_H
#define TERN_OS_STATS_FILE_H

#include "tern/tern_stats.h"

struct tern_stats_file;

/**
 * Creates this process's next file, and removes the files of processes that have ended. NULL: nothing is published,
 * because TERN_STATS=0, the folder cannot be made or others may write to it, or memory ran out. That is no error of
 * opening a device.
 */
struct tern_stats_file *tern_stats_file_create(void);
/** Begin and end an update. In between, readers find no consistent copy. The caller serialises updates. */
struct tern_stats *tern_stats_begin(struct tern_stats_file *f);
void tern_stats_end(struct tern_stats_file *f);
/** Closes the parent's file in the child of a fork, because the file's lock says that the parent runs. f may be NULL,
 *  and is not used again. */
void tern_stats_file_inherited(struct tern_stats_file *f);
/** Removes the file. f may be NULL. */
void tern_stats_file_destroy(struct tern_stats_file *f);

#endif
