/* SPDX-License-Identifier: Apache-2.0 */
/** Notes what other actors have done at the moment when an actor's work ends. The note is taken in the driver's thread,
 *  since on a busy host the test's own thread may run only after all work has ended. */
#ifndef BESIDE_H
#define BESIDE_H

#include "rig.h"

#define BESIDE 2

struct beside {
    struct actor *other[BESIDE];              /* NULL: there is none */
    uint64_t cycles[BESIDE], ended[BESIDE];   /* the other contexts: engine cycles; fence of the last ended buffer */
    uint64_t brought;                         /* pages that the pager had brought */
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

/** Replaces the context of an actor, which has submitted nothing yet, by one that takes the note. */
static inline void beside_begin(struct beside *s, struct actor *a, int32_t engine)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = "beside", .engine = engine,
                                        .completed = beside_note, .user = s};
    tern_context_destroy(a->c);
    ok(tern_context_create(a->p, &d, &a->c));
}

#endif
