/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Caps: what some processes together take of an engine at most, though nobody else wants it (docs/scheduling.md, 10).
 * A weight divides an engine among those that want it; a cap slows down work that moves (M1), and must leave an engine
 * idle for that.
 *
 * A budget for each engine, in cycles, grows by the cap's part of the time in which the processes want the engine, and
 * falls by what they run. At 0 what runs of them is preempted; at a slice (config.cap_slice) they go on. What was run
 * is measured, so errors do not add up: in any time t the processes run t * part / TERN_CAP_WHOLE, but for a slice, a
 * quantum that they had to wait for others, and the time of a stop. Time in which they want nothing earns nothing, so
 * that work that often sleeps is slowed down too, and a context gains nothing by going to another engine.
 *
 * Locks: as the scheduler's.
 */
#ifndef TERN_OS_SCHED_CAP_H
#define TERN_OS_SCHED_CAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "kmd/kmd.h"

struct tern_sched;
struct tern_sched_context;
struct tern_sched_process;

#define TERN_CAP_WHOLE 8u      /**< A cap is so many parts of this, 1 to TERN_CAP_WHOLE - 1. */
#define TERN_CAP_SLICE 32768u  /**< Cycles, 131 us at 250 MHz: a stop takes at most a thirteenth of it. */

struct tern_sched_cap {
    struct tern_list node;      /**< In the scheduler. */
    struct tern_list processes; /**< By process->capped. */
    uint32_t part;
    uint64_t begun; /**< What ran before does not count. */
    struct tern_sched_capped {
        int64_t budget;   /**< Cycles times TERN_CAP_WHOLE; less than 0: they have run too much. */
        uint64_t counted; /**< Time up to which the budget has grown. */
        bool wanted;      /**< Since then: they have something that runs, or would. */
        bool off;         /**< Nothing of them is dispatched. */
    } on[TERN_ENGINES_MAX];
};

/** No process is in it yet. It lives until tern_sched_cap_end. */
void tern_sched_cap_begin(struct tern_sched *s, struct tern_sched_cap *cap, uint32_t part);
/** From now on, for a process that is in none. Its contexts stay on their engines while they have something to do. */
void tern_sched_cap_add(struct tern_sched *s, struct tern_sched_cap *cap, struct tern_sched_process *p);
/** Another part from now on. */
void tern_sched_cap_set(struct tern_sched_cap *cap, uint32_t part);
/** All of its processes run as before, and claim nothing of what they did not get. */
void tern_sched_cap_end(struct tern_sched *s, struct tern_sched_cap *cap);

/* For the scheduler. */

/** May nothing of the context be dispatched to its engine now? */
bool tern_cap_holds(const struct tern_sched_context *c);
/** The context has run on the engine from begin to end. */
void tern_cap_ran(const struct tern_sched_context *c, uint32_t engine, uint64_t begin, uint64_t end);
/** Before contexts' states are found anew: counts the time, and holds or releases. */
void tern_cap_count(struct tern_sched *s);
/** At the end of a run: which engines are wanted until the next one. */
void tern_cap_note(struct tern_sched *s);
/** The time at which one will hold or release; UINT64_MAX: none will. */
uint64_t tern_cap_due(const struct tern_sched *s);
/** Something waits for nothing but a budget. */
bool tern_cap_waits(const struct tern_sched *s);

#endif
