/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Caps: a limit for what some processes together take of each engine, even if nobody else wants it
 * (docs/scheduling.md, section 10). A weight divides an engine among those that want it. A cap slows down work that is
 * being migrated (M1), and leaves the engine idle for that.
 *
 * Each engine has a budget, in cycles times TERN_CAP_WHOLE:
 *
 *     budget += cycles * part            the processes wanted the engine
 *     budget -= cycles * TERN_CAP_WHOLE  the processes ran
 *
 * At 0 the chunk of theirs that runs is preempted; when the budget pays for a slice (config.cap_slice), they run again.
 * Cycles are measured, so errors do not add up: in any time t the processes run t * part / TERN_CAP_WHOLE cycles. The
 * deviation is at most a slice, plus a quantum that they had to wait for others, plus the time of a stop. Time in which
 * they do not want the engine earns nothing. Therefore work that often sleeps is slowed down as well, and a context
 * gains nothing by going to another engine.
 *
 * Locks: as in sched.h.
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

#define TERN_CAP_WHOLE 8u      /**< A cap is part / TERN_CAP_WHOLE; part is 1 to TERN_CAP_WHOLE - 1. */
#define TERN_CAP_SLICE 32768u  /**< Cycles, 131 us at 250 MHz: a stop takes at most a thirteenth of it. */

struct tern_sched_cap {
    struct tern_list node;      /**< Node of the scheduler's list. */
    struct tern_list processes; /**< Processes of the cap, by process->capped. */
    uint32_t part;
    uint64_t begun;             /**< Device time from which cycles count. */
    struct tern_sched_capped {
        int64_t budget;   /**< Cycles times TERN_CAP_WHOLE; negative if the processes have run too much. */
        uint64_t counted; /**< Device time up to which the budget has grown. */
        bool wanted;      /**< Since `counted`, a context of the processes is live on the engine or is held back. */
        bool off;         /**< No chunk of the processes is dispatched to the engine. */
    } on[TERN_ENGINES_MAX];
};

/** Begins a cap that has no process yet. *cap must live until tern_sched_cap_end. */
void tern_sched_cap_begin(struct tern_sched *s, struct tern_sched_cap *cap, uint32_t part);
/** Puts a process that has no cap under this one. The process's contexts stay on their engines while they are live. */
void tern_sched_cap_add(struct tern_sched *s, struct tern_sched_cap *cap, struct tern_sched_process *p);
/** Changes the part. */
void tern_sched_cap_set(struct tern_sched_cap *cap, uint32_t part);
/** Ends the cap. The processes run as before, and do not get the cycles that the cap withheld. */
void tern_sched_cap_end(struct tern_sched *s, struct tern_sched_cap *cap);

/* For the scheduler. */

/** True: the cap allows no dispatch of the context to its engine now. */
bool tern_cap_holds(const struct tern_sched_context *c);
/** Accounts a run of the context on the engine. begin and end are device times. */
void tern_cap_ran(const struct tern_sched_context *c, uint32_t engine, uint64_t begin, uint64_t end);
/** Brings the budgets up to date and sets `off`. Called in a run before states of contexts are found. */
void tern_cap_count(struct tern_sched *s);
/** Sets `wanted` for the time until the next run. Called at the end of a run. */
void tern_cap_note(struct tern_sched *s);
/** Device time at which `off` changes next; UINT64_MAX: it does not change. */
uint64_t tern_cap_due(const struct tern_sched *s);
/** True: a context waits for a budget alone. */
bool tern_cap_waits(const struct tern_sched *s);

#endif
