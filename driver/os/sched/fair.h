/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fair sharing of one engine's cycles by virtual runtime, and of all engines' cycles by migration. docs/scheduling.md
 * explains this file and fair.c section by section.
 *
 * There are three levels, as CFS has them for task groups: each engine has a queue of partitions, each partition on it
 * a queue of processes for each band, each process a queue of contexts. All are a tern_fair_queue of tern_fair_entity.
 * This level does not know chunks, packets or preemption. The lock is that of sched.h.
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

/* units of vruntime for a cycle of an entity of weight 1 */
#define TERN_FAIR_SCALE 16
/* largest distance, in quanta, at which an entity is placed from min_vruntime: without a limit, errors of rounding and
 * of estimates would add up */
#define TERN_FAIR_LAG_MAX 16
/* load that a process of weight 1 adds to a queue if all its weight is there */
#define TERN_FAIR_LOAD_ONE (1ull << 32)

RB_HEAD(tern_fair_tree, tern_fair_entity);

struct tern_fair_queue {
    struct tern_fair_tree tree; /**< The entities that can be picked, by vruntime, then order. */
    int64_t min_vruntime;       /**< The largest vruntime that was ever picked; it never falls. */
    uint32_t live;              /**< Number of contexts, ready or in flight, in this queue and in those below it. */
    uint64_t load;              /**< Sum of the weights: w of contexts, W * TERN_FAIR_LOAD_ONE of processes. */
    uint64_t *comparisons;      /**< Counter of the tree's comparisons. */
};

struct tern_fair_entity {
    RB_ENTRY(tern_fair_entity) node;
    struct tern_fair_queue *queue; /**< Queue in which it can be picked; NULL: it cannot. */
    int64_t vruntime;              /**< Cycles / weight, in units of 1 / TERN_FAIR_SCALE. */
    uint64_t order;                /**< Order among equals: the one that was picked longest ago is first. */
};

/** A process on one engine, in one band. */
struct tern_fair_group {
    struct tern_fair_entity entity; /**< In the band's queue while a context of the process is ready there. */
    struct tern_fair_queue queue;   /**< Queue of its contexts. */
    struct tern_sched_process *process;
    __int128 sum; /**< Sum of weight * (vruntime - queue.min_vruntime) over its live contexts. */
};

/** One band of a partition on one engine. */
struct tern_fair_band {
    struct tern_fair_queue queue; /**< Queue of its processes. */
    int64_t offset;               /**< Clock of the engine = min_vruntime - offset; comparable between engines. */
    struct tern_list movable;     /**< Ready contexts that may go to another engine, the longest ready first. */
};

void tern_fair_band_init(struct tern_fair_band *b, uint64_t *comparisons);
void tern_fair_group_init(struct tern_fair_group *g, struct tern_sched_process *p, uint64_t *comparisons);

/** True: a is before b. The comparison is right although virtual times wrap around. */
static inline bool tern_fair_before(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
}

/**
 * The product of two settings, limited to +-2^60. Settings may be as large as 2^62 each. 2^60 cycles are 146 years at
 * 250 MHz, and the sum of two such products still fits.
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

/** Changes the partition's share. The partition's lag on each engine stays the same in cycles. */
void tern_fair_set_share(struct tern_sched *s, struct tern_sched_partition *p, uint32_t share);

/** The context's partition on the context's engine. */
struct tern_sched_part *tern_fair_part_of(const struct tern_sched_context *c);
/** The engine's partition with the least vruntime of those that have a ready context other than paging, or NULL. */
struct tern_sched_part *tern_fair_pick_part(const struct tern_sched_engine *e);
struct tern_fair_group *tern_fair_group_of(const struct tern_sched_context *c);

/** The ready context with the least vruntime of the band's process with the least vruntime, or NULL. */
struct tern_sched_context *tern_fair_pick(const struct tern_fair_band *b);
/** True: `a` would be picked before `b`, or they are equal. Both are on the same engine, and either in the same band or
 *  in different partitions. */
bool tern_fair_behind(const struct tern_sched_context *a, const struct tern_sched_context *b);
/** Charges a context with the estimate `cycles`. The context has been picked, and a chunk of it is in flight. */
void tern_fair_dispatched(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles);
/** A chunk of the context is no longer in flight. */
void tern_fair_returned(struct tern_sched *s, struct tern_sched_context *c);
/** Charges the context for cycles beyond those that it was charged with; cycles < 0 gives charge back. */
void tern_fair_charge(struct tern_sched *s, struct tern_sched_context *c, int64_t cycles);
/** Raises min_vruntime of all levels to the vruntimes of this context, its process and its partition. Called when the
 *  context is picked, and when it keeps the engine at the end of a quantum. */
void tern_fair_raise_min(struct tern_sched *s, const struct tern_sched_context *c);

/** Makes the context live if it is ready or has a chunk in flight, else not live. One whose state is about to be
 *  updated stays live until then: its only chunk may have come back unfinished, and it keeps the service that it is
 *  owed. */
void tern_fair_settle(struct tern_sched *s, struct tern_sched_context *c);

/** Take the context out of the trees and put it back, around a change of c->state or c->requeued. tern_fair_enqueue
 *  places a context that was not live (section 4). */
void tern_fair_dequeue(struct tern_sched *s, struct tern_sched_context *c);
void tern_fair_enqueue(struct tern_sched *s, struct tern_sched_context *c);
void tern_fair_set_weight(struct tern_sched *s, struct tern_sched_context *c, uint32_t weight);
void tern_fair_set_band(struct tern_sched *s, struct tern_sched_context *c, uint32_t band);
void tern_fair_migrate(struct tern_sched *s, struct tern_sched_context *c, uint32_t engine);

/** Load that the context adds to its band's queue. */
uint64_t tern_fair_load(const struct tern_sched_context *c);
/** The clock of the engine (section 7). */
static inline int64_t tern_fair_clock(const struct tern_fair_band *b)
{
    return b->queue.min_vruntime - b->offset;
}

#endif
