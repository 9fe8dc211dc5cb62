/* SPDX-License-Identifier: Apache-2.0 */
/** The writer's side of tern/tern_stats.h: the file, not what is in it. */
#ifndef TERN_OS_STATS_FILE_H
#define TERN_OS_STATS_FILE_H

#include "tern/tern_stats.h"

struct tern_stats_file;

/**
 * Makes this process's next file and removes those of processes that have ended. NULL: nothing is published (the folder
 * cannot be made or is not the user's alone, TERN_STATS=0, no memory), which is no error of opening a device.
 */
struct tern_stats_file *tern_stats_file_create(void);
/** Between the two, readers find no consistent copy. One writer. */
struct tern_stats *tern_stats_begin(struct tern_stats_file *f);
void tern_stats_end(struct tern_stats_file *f);
/** In the child of a fork: closes the parent's file, whose lock says that the parent runs. f may be
 * NULL; it is not used again. */
void tern_stats_file_inherited(struct tern_stats_file *f);
/** Removes the file. f may be NULL. */
void tern_stats_file_destroy(struct tern_stats_file *f);

#endif
