/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that the files of the scheduler share. The lock is that of sched.h. */
#ifndef TERN_OS_SCHED_INTERNAL_H
#define TERN_OS_SCHED_INTERNAL_H

#include "base/minmax.h"
#include "os/sched/sched.h"

#define TERN_RESET_POLL 1024u /* cycles between two checks whether a reset is over */

/* bands.c: choice of the partition and of the band */

/** Rank of a band in a partition on an engine now. The band of the highest rank goes first. */
uint32_t tern_bands_rank(const struct tern_sched_part *p, uint32_t band);
/** The ready context that the engine should run next, or NULL. */
struct tern_sched_context *tern_bands_pick(const struct tern_sched *s, uint32_t engine);
/** The ready context of the partition that its engine should run next, or NULL. */
struct tern_sched_context *tern_bands_pick_of(const struct tern_sched_part *p);
/** Accounts a chunk of the band that has run for so many cycles in the budget of NORMAL's server. */
void tern_bands_account(const struct tern_sched *s, struct tern_sched_part *p, uint32_t band, uint64_t cycles);
/** Updates `serving` of each partition on the engine. */
void tern_bands_serve(struct tern_sched *s, uint32_t engine);
/** Device time at which `serving` changes next, as far as the front decides it; UINT64_MAX: it does not change. The HW
 *  queue of the engine is not empty. */
uint64_t tern_bands_due(const struct tern_sched *s, const struct tern_sched_engine *e);

/* balance.c: choice of the engine */

/** Engine on which a context that becomes ready should queue. */
uint32_t tern_sched_select_engine(struct tern_sched *s, const struct tern_sched_context *c);
/** Called before a dispatch on the engine. Moves one ready context from another engine to this one, or the reverse, if
 *  that is due. True: it did. */
bool tern_sched_balance(struct tern_sched *s, uint32_t engine);

/* sched_wait.c: states, waits for fences, priority inheritance */

/** Finds the state of the context's next chunk, and puts the context into the queue of that state. */
int tern_sched_update(struct tern_sched *s, struct tern_sched_context *c);
/** Marks the context for tern_sched_update_all, which runs in the next run, or again in this one. */
void tern_sched_update_later(struct tern_sched *s, struct tern_sched_context *c);
/** Updates all contexts that were marked, and those that wait for a fence that may have been written. */
int tern_sched_update_all(struct tern_sched *s);
void tern_sched_set_state(struct tern_sched *s, struct tern_sched_context *c, enum tern_sched_state state);
/** Finds the band of a context whose base band or whose waiters' bands have changed, and so on along `blocked_on`. */
void tern_sched_update_band(struct tern_sched *s, struct tern_sched_context *c);
void tern_sched_index_signals(struct tern_sched *s, struct tern_job *job);
void tern_sched_forget_signals(struct tern_sched *s, struct tern_job *job);

/* sched_complete.c: how chunks and jobs end */

/** Handles all indications of the engine. */
int tern_sched_collect(struct tern_sched *s, uint32_t engine);
/** Begins a reset of the engine, or continues it. The chunk in front is guilty; those behind it are requeued (F3). */
int tern_sched_reset(struct tern_sched *s, uint32_t engine);

/** Cycles that a chunk keeps the engine while others of its band are ready: the band's quantum, but at least four times
 *  what the last save of the chunk took, so that saving and restoring stay a small part. */
static inline uint64_t tern_sched_quantum(const struct tern_sched *s, const struct tern_chunk *chunk)
{
    return tern_max_u64(s->config.band[chunk->context->band].quantum, 4 * chunk->save_cycles);
}
/** Cycles since the front began. */
static inline uint64_t tern_sched_front_ran(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    return s->now > e->front_since ? s->now - e->front_since : 0;
}
/** Reports an event of a chunk. For an event of a context the chunk has the size 0. */
void tern_sched_emit(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                     const struct tern_chunk *chunk, uint64_t time);
void tern_sched_emit_page(struct tern_sched *s, uint32_t engine, const struct tern_chunk *chunk, uint64_t time,
                          uint32_t address);
static inline void tern_sched_emit_job(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                                       struct tern_sched_context *c, struct tern_job *job, uint64_t time)
{
    tern_sched_emit(s, kind, engine, &(struct tern_chunk){.context = c, .job = job}, time);
}

#endif
