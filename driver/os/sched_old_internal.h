/* SPDX-License-Identifier: Apache-2.0 */
/** Between the two halves of the scheduler. */
#ifndef TERN_OS_SCHED_INTERNAL_H
#define TERN_OS_SCHED_INTERNAL_H

#include "os/sched_old.h"

/** Adds engine cycles (may be negative: a correction) to the virtual times of a context and its process. */
void tern_sched_charge(struct tern_sched_context *c, int64_t cycles);
void tern_sched_set_live(struct tern_sched *s, struct tern_sched_context *c, bool live);
/** Handles all indications of the engine. */
int tern_sched_collect(struct tern_sched *s, uint32_t engine);
/** Resets the engine; the job in front is guilty, what waited behind it is queued again (F3). */
int tern_sched_reset(struct tern_sched *s, uint32_t engine);

#endif
