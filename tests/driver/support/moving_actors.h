/* SPDX-License-Identifier: Apache-2.0 */
/** Actors (rig.h) that migrate. */
#ifndef MOVING_ACTORS_H
#define MOVING_ACTORS_H

#include "rig.h"

#include "moving.h"

/** Makes the actor use its objects on the target instead of those at the source. */
static inline void actor_follow(struct actor *a, const struct tern_loading *l, uint32_t i)
{
    uint32_t number;
    struct actor to = *a;
    to.p = tern_loading_process(l, i, &number);
    assert_int_equal(number, a->p->id);
    to.c = tern_loading_context(l, i, 0, &number);
    assert_int_equal(number, a->c->id);
    to.code = tern_loading_allocation(l, i, tern_allocation_address(a->code));
    to.args = tern_loading_allocation(l, i, tern_allocation_address(a->args));
    to.stack = tern_loading_allocation(l, i, tern_allocation_address(a->stack));
    to.data = tern_loading_allocation(l, i, tern_allocation_address(a->data));
    assert_true(to.code && to.args && to.stack && to.data);
    *a = to;
}

#endif
