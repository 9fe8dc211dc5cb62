/* SPDX-License-Identifier: Apache-2.0 */
/** What others have done at the moment when an actor's work ends. It is noted in the driver's thread: later on the host
 *  may run nobody until all has ended. */
#ifndef BESIDE_H
#define BESIDE_H

#include "rig.h"

#define BESIDE 2

struct beside {
    struct actor *other[BESIDE];              /* or NULL */
    uint64_t cycles[BESIDE], ended[BESIDE];   /* of theirs: engine cycles, and the last buffer that had ended */
    uint64_t brought;                         /* pages, by the pager */
};

static inline void beside_note(void *user, const struct tern_completion *done)
{
    struct beside *s = user;
    (void)done;
    for (int i = 0; i < BESIDE && s->other[i]; i++) {
        s->cycles[i] = stats(s->other[i]).cycles;
        s->ended[i] = tern_context_ended(s->other[i]->c);
    }
    s->brought = dev->pager.brought;
}

/** Gives the actor, which has submitted nothing yet, a context that notes. */
static inline void beside_begin(struct beside *s, struct actor *a, int32_t engine)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = "beside", .engine = engine,
                                        .completed = beside_note, .user = s};
    tern_context_destroy(a->c);
    ok(tern_context_create(a->p, &d, &a->c));
}

#endif
