/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of a queue that have not started, and which of them may. In order: only the oldest. Out of order: the
 * oldest whose events have ended, except behind a fence that has not started; one that comes after all before it
 * (after_all) must be the oldest there is, with nothing older on the device.
 *
 * A list in the order of appending, and for out-of-order queues a pairing heap, by that order, of those that wait for
 * no event: so n commands behind one event cost the others nothing, and taking the next costs O(log n) steps. Looking
 * through the list each time would do without the heap, and be quadratic. The links are in the commands: nothing here
 * can run out of memory. Guarded by its owner's lock (the context's).
 */
#ifndef RT_BACKLOG_H
#define RT_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

struct rt_command;

/** Part of a command. */
struct rt_place {
    uint64_t number;  /**< In the order of appending. */
    uint64_t segment; /**< Fences appended before it. */
    struct rt_command *next, *previous;
    struct rt_command *child, *sibling; /**< In the heap. */
};

struct rt_backlog {
    bool in_order;
    struct rt_command *first, *last;
    struct rt_command *ready; /**< The heap. */
    uint64_t appended;        /**< Commands, ever. */
    uint64_t fences;          /**< Appended, ever. */
    uint64_t passed;          /**< Fences taken, ever. */
    uint64_t steps;           /**< Of work, ever: what a test of complexity counts. */
};

/** Appends a command; true: it may be time to take one. */
bool rt_backlog_append(struct rt_backlog *b, struct rt_command *c);
/** A command of it waits for no event any more; true: it may be time to take one. */
bool rt_backlog_ready(struct rt_backlog *b, struct rt_command *c);
/** Takes the next command that may start while those of `flight` (linked by next) are on the device. NULL: none. */
struct rt_command *rt_backlog_take(struct rt_backlog *b, const struct rt_command *flight);
/** Is there a command that waits neither for an event nor for one before it that does? */
bool rt_backlog_free(const struct rt_backlog *b);
/** Puts back what was taken last and is not fence or after_all: it comes before all others. */
void rt_backlog_put_back(struct rt_backlog *b, struct rt_command *c);

#endif
