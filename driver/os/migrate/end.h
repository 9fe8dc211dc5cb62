/* SPDX-License-Identifier: Apache-2.0 */
/** What the ends of both sides share. */
#ifndef TERN_OS_MIGRATE_END_H
#define TERN_OS_MIGRATE_END_H

struct tern_process;

/** The owner of the process is told nothing more of its work: what is queued elsewhere goes on, or never was. */
void tern_migrate_silence(struct tern_process *proc);
/** A process that was made here and never ran is as if it had never been. NULL is allowed. */
void tern_migrate_discard(struct tern_process *proc);

#endif
