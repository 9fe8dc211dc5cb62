/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fair sharing of one engine's cycles by virtual runtime, and of all engines' by migration: docs/scheduling.md is the
 * text to this file and to fair.c, section by section.
 *
 * Three levels, as CFS has them for task groups: each engine has a queue of partitions, each partition on it a queue of
 * processes for each band, each process a queue of contexts. All are a tern_fair_queue of tern_fair_entity.
 * Nothing here knows chunks, packets or preemption.
 */
#ifndef TERN_OS_SCHED_FAIR_H
#define TERN_OS_SCHED_FAIR_H

#include <bsd/sys/tree.h>

#include "base/list.h"

struct tern_sched;
struct tern_sched_context;
struct tern_sched_engine;
struct tern_sched_part;
struct tern_sched_partition;
struct tern_sched_process;

/* vruntime counts 16ths of a cycle of an entity of weight 1 */
#define TERN_FAIR_SCALE 16
/* quanta that an entity is placed from min_vruntime at most: else errors of rounding and estimates add up */
#define TERN_FAIR_LAG_MAX 16
/* a queue's load of one process that has all its weight there */
#define TERN_FAIR_LOAD_ONE (1ull << 32)

RB_HEAD(tern_fair_tree, tern_fair_entity);

struct tern_fair_queue {
    struct tern_fair_tree tree; /**< The entities that can be picked, by vruntime, then order. */
    int64_t min_vruntime;       /**< The largest vruntime that was picked: never falls. */
    uint32_t live;              /**< Contexts ready or in flight, in this queue or in the queues below it. */
    uint64_t load;              /**< Sum of the weights: contexts' w, processes' W * TERN_FAIR_LOAD_ONE. */
    uint64_t *comparisons;      /**< Counts what the tree costs. */
};

struct tern_fair_entity {
    RB_ENTRY(tern_fair_entity) node;
    struct tern_fair_queue *queue; /**< Where it can be picked; NULL: nowhere. */
    int64_t vruntime;
    uint64_t order; /**< Of equals the one picked longer ago is first. */
};

/** A process on one engine, in one band. */
struct tern_fair_group {
    struct tern_fair_entity entity; /**< In the engine's queue while a context of it is ready. */
    struct tern_fair_queue queue;   /**< Its contexts. */
    struct tern_sched_process *process;
    __int128 sum; /**< Of weight * (vruntime - queue.min_vruntime) of its live contexts. */
};

/** One band of a partition on one engine. */
struct tern_fair_band {
    struct tern_fair_queue queue; /**< Its processes. */
    int64_t offset;               /**< min_vruntime less this is the engine's clock, comparable between engines. */
    struct tern_list movable;     /**< Contexts that are ready and may go to another engine, the longest ready first. */
};

void tern_fair_band_init(struct tern_fair_band *b, uint64_t *comparisons);
void tern_fair_group_init(struct tern_fair_group *g, struct tern_sched_process *p, uint64_t *comparisons);

/** Is a before b? Virtual times wrap around. */
static inline bool tern_fair_before(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
}

/**
 * A product of settings, which may be as large as 2^62 each: from 2^60 on all are alike, which is 146 years at 250
 * MHz, and sums of two still fit.
 */
static inline int64_t tern_fair_times(int64_t a, int64_t b)
{
    const int64_t most = (int64_t)1 << 60;
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return (a < 0) == (b < 0) ? most : -most;
    }
    return product > most ? most : product < -most ? -most : product;
}

/** Its partition has another share: its lag on each engine stays the same in cycles. */
void tern_fair_set_share(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share);

/** Its partition on its engine. */
struct tern_sched_part *tern_fair_part_of(const struct tern_sched_context *c);
/** The partition of the engine with a ready context, paging not counted, and the least vruntime, or NULL. */
struct tern_sched_part *tern_fair_pick_part(const struct tern_sched_engine *e);
struct tern_fair_group *tern_fair_group_of(const struct tern_sched_context *c);

/** The ready context of the band with the least vruntime, of the process with the least, or NULL. */
struct tern_sched_context *tern_fair_pick(const struct tern_fair_band *b);
/** Would `a` be picked before `b`, of the same engine, and of the same band or of another partition? Of equals: yes. */
bool tern_fair_behind(const struct tern_sched_context *a, const struct tern_sched_context *b);
/** It has been picked, is in flight and charged with what it will probably take. */
void tern_fair_dispatched(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles);
/** One that was dispatched is no longer in flight. */
void tern_fair_returned(struct tern_sched *s, struct tern_sched_context *c);
/** It has run for more cycles than it was charged with, or (negative) for fewer. */
void tern_fair_charge(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles);
/** min_vruntime of all levels rises to this context's: it is picked, or keeps the engine at the end of a quantum. */
void tern_fair_raise_min(struct tern_sched *s, const struct tern_sched_context *c);

/** Out of the trees and back: around a change of c->state or c->requeued. Back in, it is placed if it was not live. */
void tern_fair_dequeue(struct tern_sched *s, struct tern_sched_context *c);
void tern_fair_enqueue(struct tern_sched *s, struct tern_sched_context *c);
void tern_fair_set_weight(struct tern_sched *s, struct tern_sched_context *c, uint32_t weight);
void tern_fair_set_band(struct tern_sched *s, struct tern_sched_context *c, uint32_t band);
void tern_fair_migrate(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine);

/** What the context's weight adds to the load of a queue of processes. */
uint64_t tern_fair_load(const struct tern_sched_context *c);
/** The clock of the engine (section 7). */
static inline int64_t tern_fair_clock(const struct tern_fair_band *b)
{
    return b->queue.min_vruntime - b->offset;
}

#endif
