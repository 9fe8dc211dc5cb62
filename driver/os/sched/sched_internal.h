/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of the scheduler call of each other. */
#ifndef TERN_OS_SCHED_INTERNAL_H
#define TERN_OS_SCHED_INTERNAL_H

#include "os/sched/sched.h"

#define TERN_RESET_POLL 1024u /* cycles after which it is asked again whether a reset is over */

/* bands.c: which partition, and which band */

/** Order of bands of a partition on an engine now: higher is first. */
uint32_t tern_bands_rank(const struct tern_sched_part *p, uint32_t band);
/** The ready context that the engine should run, or NULL. */
struct tern_sched_context *tern_bands_pick(const struct tern_sched *s, uint32_t engine);
/** The same, were there no other partition. */
struct tern_sched_context *tern_bands_pick_of(const struct tern_sched_part *p);
/** A chunk of the band has run for so many cycles: what that adds to NORMAL's budget, or takes. */
void tern_bands_account(const struct tern_sched *s, struct tern_sched_part *p, uint32_t band, uint64_t cycles);
/** In partitions NORMAL begins to go before FOCUS, or ceases to. */
void tern_bands_serve(struct tern_sched *s, uint32_t engine);
/** When the budget of the engine, which is not empty, will next change that; UINT64_MAX: it will not. */
uint64_t tern_bands_due(const struct tern_sched *s, const struct tern_sched_engine *e);

/* balance.c: on which engine */

/** Where a context that becomes ready should queue. */
uint32_t tern_sched_select_engine(struct tern_sched *s, const struct tern_sched_context *c);
/** Before a dispatch on the engine: may move a ready context from another engine to it, or the reverse; then true. */
bool tern_sched_balance(struct tern_sched *s, uint32_t engine);

/* sched_wait.c: states, waits for fences, priority inheritance */

/** Finds the state of the context's next chunk, and puts the context into the queue of that state. */
int tern_sched_update(struct tern_sched *s, struct tern_sched_context *c);
/** The same in the next run, or later in this one. */
void tern_sched_update_later(struct tern_sched *s, struct tern_sched_context *c);
/** Does so for all that were marked, and for those that wait for a fence which may have been written. */
int tern_sched_update_all(struct tern_sched *s);
void tern_sched_set_state(struct tern_sched *s, struct tern_sched_context *c, enum tern_sched_state state);
/** Its base band, or the band of a context that waits for it, has changed: finds its band, and on along the chain. */
void tern_sched_update_band(struct tern_sched *s, struct tern_sched_context *c);
void tern_sched_index_signals(struct tern_sched *s, struct tern_job *job);
void tern_sched_forget_signals(struct tern_sched *s, struct tern_job *job);

/* sched_complete.c: how chunks and jobs end */

/** Handles all indications of the engine. */
int tern_sched_collect(struct tern_sched *s, uint32_t engine);
/** Begins a reset of the engine, or goes on with it; the job in front is guilty, what is behind it is requeued (F3). */
int tern_sched_reset(struct tern_sched *s, uint32_t engine);

/** Cycles that a chunk keeps the engine while others of its band are ready; enough that a restore pays. */
static inline uint64_t tern_sched_quantum(const struct tern_sched *s, const struct tern_chunk *chunk)
{
    uint64_t quantum = s->config.band[chunk->context->band].quantum, least = 4 * chunk->save_cycles;
    return quantum > least ? quantum : least;
}
/** How long the front has been so. */
static inline uint64_t tern_sched_front_ran(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    return s->now > e->front_since ? s->now - e->front_since : 0;
}
/** Reports an event of a chunk; of a context: a chunk of no size. */
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
