/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

static void take(void *user, const struct tern_completion *done)
{
    struct snapshot *s = user;
    (void)done;
    for (int i = 0; i < SNAPSHOT_OTHERS && s->other[i]; i++) {
        s->cycles[i] = stats(s->other[i]).cycles;
        s->ended[i] = tern_context_ended(s->other[i]->c);
    }
    s->brought = dev->pager.brought;
}

void snapshot_at_end(struct snapshot *s, struct actor *a, int32_t engine)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = "snapshot", .engine = engine,
                                        .completed = take, .user = s};
    tern_context_destroy(a->c);
    ok(tern_context_create(a->p, &d, &a->c));
}
