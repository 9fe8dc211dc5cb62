/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that both sides of a migration use. They take dev->lock. */
#ifndef TERN_OS_MIGRATE_END_H
#define TERN_OS_MIGRATE_END_H

struct tern_process;

/** Drops the completions of the process that have not been delivered, and delivers no more: its work goes on
 *  elsewhere, or was never submitted. */
void tern_migrate_silence(struct tern_process *proc);
/** Kills and destroys a process that was made by a migration and has not run. proc may be NULL. */
void tern_migrate_discard(struct tern_process *proc);

#endif
