/* SPDX-License-Identifier: Apache-2.0 */
/** Runs one case on both devices. */
#include <errno.h>

#include "verify.h"

#define EVERY_PAGE 64u /* with one seed in so many, all of memory is compared */
#define UNSTOPPED 2u   /* with one seed in so many, only the RTL is stopped and reset, not the model */

static uint32_t faults(const struct ending *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        n += e->seen[i].kind == TERN_ENGINE_IND_INFO_KIND_FAULTED;
    }
    return n;
}

void side_free(struct side *d)
{
    if (d->sim) {
        d->backend->api->destroy(d->sim);
    }
    ending_free(&d->end);
    d->sim = NULL;
}

int case_compare(const struct test_case *c, const struct pair *p, struct cover *cover, struct verdict *out)
{
    struct side model = {.backend = &p->model}, rtl = {.backend = &p->rtl};
    const struct watch watch = {.observer = cover_retired, .user = cover};
    struct scene s;
    struct difference d = {0};
    int r = case_build(c, &p->geometry, &s);
    if (r) {
        return r;
    }
    struct scene expected = s;
    if (c->seed % UNSTOPPED == 0) {
        expected.stop_every = 0;
        expected.before = NULL;
    }
    r = scene_run(&expected, &p->model, 0, NULL, &model.sim, &model.end);
    if (r == 0) {
        r = scene_run(&s, &p->rtl, p->mutant, cover ? &watch : NULL, &rtl.sim, &rtl.end);
    }
    if (r == 0) {
        r = compare(&s, &model, &rtl, c->seed % EVERY_PAGE == 0, &d);
    }
    if (r == 0) {
        if (cover) {
            cover_case(cover, c, &s, &rtl.end);
        }
        *out = (struct verdict){
            .instructions = model.end.instructions < rtl.end.instructions ? model.end.instructions
                                                                          : rtl.end.instructions,
            .indications = rtl.end.count,
            .faults = faults(&rtl.end),
            .requests = rtl.end.requests,
            .taken = rtl.end.taken,
            .cycles = rtl.end.cycles,
            .difference = d,
        };
    }
    side_free(&model);
    side_free(&rtl);
    scene_free(&s);
    return r;
}
