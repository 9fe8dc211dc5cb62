/* SPDX-License-Identifier: Apache-2.0 */
/** What the parts of the scheduler owe each other. */
#ifndef TERN_OS_SCHED_INTERNAL_H
#define TERN_OS_SCHED_INTERNAL_H

#include "os/sched/sched.h"

/* sched_tree.c: who is where, and virtual time */

#define TERN_SCHED_SCALE 16 /* virtual time has four bits after the point */

/**
 * A product of settings, which may be as large as 2^62 each: from 2^60 on all are alike, which is 146 years at 250
 * MHz, and sums of two still fit.
 */
static inline int64_t tern_sched_times(int64_t a, int64_t b)
{
    const int64_t most = (int64_t)1 << 60;
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return (a < 0) == (b < 0) ? most : -most;
    }
    return product > most ? most : product < -most ? -most : product;
}

/** Is a before b? Times wrap around. */
static inline bool tern_sched_before(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
}
static inline struct tern_sched_share *tern_sched_share_of(const struct tern_sched_context *c)
{
    return &c->process->share[c->band][c->engine];
}
/**
 * Place among those of equal time: the end. But paging that came back keeps its fence id (P6), and so must keep its
 * order: it is placed by that id, which is less than whatever is new gets.
 */
uint64_t tern_sched_order(struct tern_sched *s, const struct tern_sched_context *c);
/** Charges engine cycles (negative: a correction) to a context and its process. */
void tern_sched_charge(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles);
/** Out of the trees and back: around a change of what they are sorted by, or of state. */
void tern_sched_detach(struct tern_sched *s, struct tern_sched_context *c);
void tern_sched_attach(struct tern_sched *s, struct tern_sched_context *c);
/** A slice of the context goes to its engine, charged with so many cycles: the present moves on to it. */
void tern_sched_launch(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles);
/** One came back. */
void tern_sched_land(struct tern_sched *s, struct tern_sched_context *c);
/** To another engine or band. What it has had too much goes along; to another engine also
 * what it has had too little. */
void tern_sched_move(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine, uint32_t band);
void tern_sched_set_weight(struct tern_sched *s, struct tern_sched_context *c, uint32_t weight);
/** The context runs by right from here on: the present moves on to it. */
void tern_sched_present(struct tern_sched *s, const struct tern_sched_context *c);
/** The ready context of the band that is furthest behind, or NULL. */
struct tern_sched_context *tern_sched_first(const struct tern_sched_engine *e, uint32_t band);
/** The ready context that the engine should run, or NULL. */
struct tern_sched_context *tern_sched_best(const struct tern_sched *s, uint32_t engine);
/** Order of bands on an engine now: higher is first. */
uint32_t tern_sched_rank(const struct tern_sched_engine *e, uint32_t band);

/* sched_place.c: on which engine */

/** So much weight more, or less, is present where the context is. */
void tern_sched_weigh(struct tern_sched *s, const struct tern_sched_context *c, int64_t more);
/** The engine gets a context of the band: if it is the first, its clock is set to the others'. */
void tern_sched_join(struct tern_sched *s, uint32_t engine, uint32_t band);
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
/** Keeps account of what FOCUS owes NORMAL (S1). */
void tern_sched_owe(struct tern_sched *s, struct tern_sched_engine *e, uint32_t band, uint64_t cycles);

void tern_sched_tell(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                     const struct tern_sched_context *c, const struct tern_job *job, uint64_t time);
/** Of a slice; last: it was its job's. */
void tern_sched_tell_slice(struct tern_sched *s, enum tern_sched_event_kind kind, uint32_t engine,
                           const struct tern_slice *slice, uint64_t time);

#endif
