/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of a queue that have not started, and the choice of the next one.
 *
 * In-order queue: only the oldest command may start. Out-of-order queue: the oldest command whose events have ended may
 * start, if no fence before it has not started. A command with `after_all` may start only if it is the oldest and no
 * older command is on the device.
 *
 * Data structure. All commands are in a list in the order of appending. In an out-of-order queue, commands that wait
 * for no event are also in a pairing heap ordered by `number`. Therefore n commands that wait for events cost the
 * others nothing, and taking the next command takes O(log n) amortised steps. Alternative dropped: a search of the list
 * at each take, which is quadratic. All links are in the commands, so no function can run out of memory.
 *
 * Locks: functions require the lock of the owner, which is the context's. Callers assert it, because a backlog does not
 * know its owner.
 */
#ifndef RT_BACKLOG_H
#define RT_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

struct rt_command;

/** Part of a command: its place in the backlog. Guarded by the owner's lock. */
struct rt_place {
    uint64_t number;  /**< Number in the order of appending. */
    uint64_t segment; /**< Number of fences that were appended before it. */
    struct rt_command *next, *previous;
    struct rt_command *child, *sibling; /**< Links of the heap. */
};

/** The backlog of a queue. Guarded by the owner's lock, except where a comment says otherwise. */
struct rt_backlog {
    bool in_order;                   /**< Constant. */
    struct rt_command *first, *last; /**< The list. */
    struct rt_command *ready; /**< Root of the heap. */
    uint64_t appended;        /**< Commands appended so far. */
    uint64_t fences;          /**< Fences appended so far. */
    uint64_t passed;          /**< Fences taken so far. */
    uint64_t steps;           /**< Steps of work so far, for tests of complexity. */
};

/** Appends a command. True: a command may be ready to take. */
bool rt_backlog_append(struct rt_backlog *b, struct rt_command *c);
/** A command of the backlog waits for no event any more. True: a command may be ready to take. */
bool rt_backlog_ready(struct rt_backlog *b, struct rt_command *c);
/** Removes and returns the next command that may start. flight: commands on the device, linked by `next`. NULL: none
 *  may start. */
struct rt_command *rt_backlog_take(struct rt_backlog *b, const struct rt_command *flight);
/** True: a command waits neither for an event nor for an earlier command that does. */
bool rt_backlog_free(const struct rt_backlog *b);
/** Puts back the command that was taken last, before all others. The command must not have fence or after_all. */
void rt_backlog_put_back(struct rt_backlog *b, struct rt_command *c);

#endif
