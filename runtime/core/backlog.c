/* SPDX-License-Identifier: Apache-2.0 */
/** Commands that have not started (backlog.h). */
#include "runtime/core/backlog.h"

#include <stddef.h>

#include "runtime/core/command.h"

static struct rt_command *meld(struct rt_backlog *b, struct rt_command *x, struct rt_command *y)
{
    b->steps++;
    if (x == NULL || y == NULL) {
        return x == NULL ? y : x;
    }
    if (y->place.number < x->place.number) {
        struct rt_command *const older = y;
        y = x;
        x = older;
    }
    y->place.sibling = x->place.child;
    x->place.child = y;
    return x;
}

static void push(struct rt_backlog *b, struct rt_command *c)
{
    c->place.child = NULL;
    c->place.sibling = NULL;
    b->ready = meld(b, b->ready, c);
}

/** Removes the root of the heap. Two-pass pairing: the children of the root are melded in pairs from first to last,
 *  then the pairs from last to first. */
static void pop(struct rt_backlog *b)
{
    struct rt_command *pairs = NULL;
    for (struct rt_command *c = b->ready->place.child, *rest; c != NULL; c = rest) {
        struct rt_command *const other = c->place.sibling;
        rest = other == NULL ? NULL : other->place.sibling;
        c->place.sibling = NULL;
        if (other != NULL) {
            other->place.sibling = NULL;
        }
        c = meld(b, c, other);
        c->place.sibling = pairs;
        pairs = c;
    }
    b->ready = NULL;
    for (struct rt_command *c = pairs, *rest; c != NULL; c = rest) {
        rest = c->place.sibling;
        c->place.sibling = NULL;
        b->ready = meld(b, b->ready, c);
    }
}

static void unlink_it(struct rt_backlog *b, struct rt_command *c)
{
    struct rt_place *p = &c->place;
    *(p->previous == NULL ? &b->first : &p->previous->place.next) = p->next;
    *(p->next == NULL ? &b->last : &p->next->place.previous) = p->previous;
    p->next = NULL;
    p->previous = NULL;
    b->steps++;
}

bool rt_backlog_ready(struct rt_backlog *b, struct rt_command *c)
{
    if (!b->in_order && !c->after_all) {
        push(b, c);
        return true;
    }
    return c == b->first;
}

bool rt_backlog_append(struct rt_backlog *b, struct rt_command *c)
{
    c->place = (struct rt_place){.number = b->appended++, .segment = b->fences, .previous = b->last};
    b->fences += c->fence;
    *(b->last == NULL ? &b->first : &b->last->place.next) = c;
    b->last = c;
    b->steps++;
    return c->pending == 0 && rt_backlog_ready(b, c);
}

/** True: no command on the device is older than c. An out-of-order queue may have younger ones there. */
static bool is_oldest(struct rt_backlog *b, const struct rt_command *c, const struct rt_command *flight)
{
    for (; flight != NULL; flight = flight->next) {
        b->steps++;
        if (flight->place.number < c->place.number) {
            return false;
        }
    }
    return true;
}

struct rt_command *rt_backlog_take(struct rt_backlog *b, const struct rt_command *flight)
{
    struct rt_command *c = b->first;
    b->steps++;
    if (c == NULL) {
        return NULL;
    }
    const bool in_turn = c->pending == 0 && (c->after_all ? is_oldest(b, c, flight) : b->in_order);
    if (!in_turn) {
        c = b->ready; /* NULL in an in-order queue */
        if (c == NULL || c->place.segment > b->passed) {
            return NULL;
        }
        pop(b);
    }
    unlink_it(b, c);
    b->passed += c->fence;
    return c;
}

bool rt_backlog_free(const struct rt_backlog *b)
{
    return b->first != NULL &&
        (b->first->pending == 0 || (b->ready != NULL && b->ready->place.segment <= b->passed));
}

void rt_backlog_put_back(struct rt_backlog *b, struct rt_command *c)
{
    c->place.previous = NULL;
    c->place.next = b->first;
    *(b->first == NULL ? &b->last : &b->first->place.previous) = c;
    b->first = c;
    if (!b->in_order) {
        push(b, c);
    }
}
