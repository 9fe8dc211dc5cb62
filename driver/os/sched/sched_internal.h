/* SPDX-License-Identifier: Apache-2.0 */
/** What the parts of the scheduler owe each other. */
#ifndef TERN_OS_SCHED_INTERNAL_H
#define TERN_OS_SCHED_INTERNAL_H

#include "os/sched/sched.h"

/* bands.c: which band */

/** Order of bands on an engine now: higher is first. */
uint32_t tern_bands_rank(const struct tern_sched_engine *e, uint32_t band);
/** The ready context that the engine should run, or NULL. */
struct tern_sched_context *tern_bands_pick(const struct tern_sched_engine *e);
/** A slice of the band has run for so many cycles: what that adds to NORMAL's budget, or takes. */
void tern_bands_account(const struct tern_sched *s, struct tern_sched_engine *e, uint32_t band, uint64_t cycles);
/** NORMAL begins to go before FOCUS, or ceases to. */
void tern_bands_serve(const struct tern_sched *s, struct tern_sched_engine *e);
/** When the budget of the engine, which is not empty, will next change that; UINT64_MAX: it will not. */
uint64_t tern_bands_due(const struct tern_sched *s, const struct tern_sched_engine *e);

/* balance.c: on which engine */

/** Where a context that becomes ready should queue. */
uint32_t tern_sched_settle(const struct tern_sched *s, const struct tern_sched_context *c);
/** Before a decision of the engine: may take a waiting context from another engine, or give one to it; then true. */
bool tern_sched_balance(struct tern_sched *s, uint32_t engine);

/* sched_wait.c: fences and inheritance */

/** Looks at the context's next slice and puts the context where it belongs. */
int tern_sched_judge(struct tern_sched *s, struct tern_sched_context *c);
/** Judges all that was marked. */
int tern_sched_look(struct tern_sched *s);
void tern_sched_judge_later(struct tern_sched *s, struct tern_sched_context *c);
void tern_sched_set_state(struct tern_sched *s, struct tern_sched_context *c, enum tern_sched_state state);
/** Its own band has changed. */
void tern_sched_reband(struct tern_sched *s, struct tern_sched_context *c);
void tern_sched_index_signals(struct tern_sched *s, struct tern_job *job);
void tern_sched_forget_signals(struct tern_sched *s, struct tern_job *job);

/* sched_retire.c: how slices and jobs end */

/** Handles all indications of the engine. */
int tern_sched_collect(struct tern_sched *s, uint32_t engine);
/** Begins a reset of the engine, or goes on with it; the job in front is guilty, what waited
 * behind it is queued again (F3). */
int tern_sched_reset(struct tern_sched *s, uint32_t engine);
#define TERN_RESET_LOOK 1024u /* cycles after which it is asked again whether a reset is over */
/** How long a slice may keep others of its band waiting: long enough to get on, whatever it takes to restore it. */
static inline uint64_t tern_sched_quantum(const struct tern_sched *s, const struct tern_slice *slice)
{
    uint64_t quantum = s->config.band[slice->context->band].quantum, least = 4 * slice->save_cycles;
    return quantum > least ? quantum : least;
}
/** For how long the slice in front has been there. */
static inline uint64_t tern_sched_front_ran(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    return s->now > e->front_since ? s->now - e->front_since : 0;
}

void tern_sched_tell(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                     const struct tern_sched_context *c, const struct tern_job *job, uint64_t time);
/** Of a slice; last: it was its job's. */
void tern_sched_tell_slice(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                           const struct tern_slice *slice, uint64_t time);

#endif
