/* SPDX-License-Identifier: Apache-2.0 */
/** Runs one mutant, by seeds or by the signature test. The test that catches it is repeated on the unchanged RTL. */
#include <errno.h>
#include <string.h>

#include "mutants.h"

const char *mutant_name(const struct list *l, uint32_t mutant)
{
    return mutant ? l->names[mutant - 1] : "(unchanged)";
}

bool mutant_wanted(const struct options *o, const char *name)
{
    for (int i = 0; i < o->mutant_names; i++) {
        if (strcmp(o->mutant_name[i], name) == 0) {
            return true;
        }
    }
    return o->mutant_names == 0;
}

/* ------------------------------------------------------------------- seeds */

static struct options one_case(const struct options *o, enum kind kind, uint64_t seed)
{
    struct options of = *o;
    of.first_seed = seed;
    of.seeds = of.jobs = 1;
    of.minutes = 0;
    of.instructions = 0;
    for (enum kind k = 0; k < KINDS; k++) {
        of.kind[k] = k == kind;
    }
    return of;
}

/** Runs the case that caught a mutant on the unchanged RTL. */
static int seeds_unchanged(const struct options *o, struct pair *p, const struct failure *f, struct trial *t)
{
    const struct options of = one_case(o, f->kind, f->seed);
    struct campaign c;
    uint32_t mutant = p->mutant;
    p->mutant = 0;
    int r = campaign_run(&of, p, "the same, unchanged", &c);
    p->mutant = mutant;
    if (r == 0) {
        t->false_alarm = c.failures > 0;
        t->slow = c.slows > 0;
        t->interrupted |= c.interrupted;
        t->unchanged.cases = c.cases - c.slows;
        t->unchanged.instructions = c.instructions;
    }
    campaign_free(&c);
    return r;
}

static int try_seeds(const struct options *o, struct pair *p, struct trial *t)
{
    char title[128];
    snprintf(title, sizeof title, "mutant %u %s", p->mutant, p->mutant_name);
    int r = campaign_run(o, p, title, &t->campaign);
    t->caught = r == 0 && t->campaign.failures > 0;
    t->slow = r == 0 && !t->caught && t->campaign.slows > 0;
    t->interrupted = t->campaign.interrupted;
    r = t->caught ? seeds_unchanged(o, p, &t->campaign.failure[0], t) : r;
    t->studied = t->caught && r == 0 && o->mutant_names == 1;
    if (t->studied) {
        failure_study(o, p, &t->campaign.failure[0], &t->study);
    }
    return r;
}

/* ---------------------------------------------------------- signature test */

static int try_preempt(const struct options *o, struct pair *p, struct trial *t)
{
    int r = preempt_try(o, p, &t->end);
    t->caught = r == 0 && t->end.failures > 0;
    t->slow = r == 0 && !t->caught && t->end.slows > 0;
    t->interrupted = t->end.interrupted;
    return r;
}

/** Options for stops of the RTL in one kernel: at one cycle, or with cycle 0 at every Nth. */
static struct options one_kernel(const struct options *o, const char *kernel, uint64_t every, uint64_t cycle)
{
    struct options of = *o;
    of.kernel = kernel;
    of.every = every;
    of.cycle = cycle;
    of.stop = 1;
    of.granularity = 3;
    of.seeds = 0;
    return of;
}

/** Repeats the stop that caught a mutant on the unchanged RTL. If the mutant already differs without a stop, the whole
 * test of that kernel is repeated. */
static int preempt_unchanged(const struct options *all, struct pair *p, struct trial *t)
{
    const struct options of = one_kernel(all, t->end.kernel, t->end.at ? 1 : all->every, t->end.at);
    struct preempt_end end;
    uint32_t mutant = p->mutant;
    p->mutant = 0;
    int r = preempt_try(&of, p, &end);
    p->mutant = mutant;
    t->false_alarm = r == 0 && end.failures > 0;
    t->slow = r == 0 && end.slows > 0;
    t->interrupted |= end.interrupted;
    t->unchanged_stops = end.stops;
    return r;
}

/* -------------------------------------------------------------------- both */

static bool usable(const struct hint *h, bool preempt)
{
    return h && (strcmp(h->kind, "preempt") == 0) == preempt && (!preempt || h->at);
}

static int try_hint(const struct options *o, struct pair *p, const struct hint *h, struct trial *t)
{
    enum kind kind = 0;
    if (t->preempt) {
        const struct options of = one_kernel(o, h->kernel, 1, h->at);
        return try_preempt(&of, p, t);
    }
    while (kind + 1 < KINDS && strcmp(kind_names[kind], h->kind) != 0) {
        kind++;
    }
    const struct options of = one_case(o, kind, h->at);
    return try_seeds(&of, p, t);
}

int mutant_try(const struct options *o, struct pair *p, const struct list *l, uint32_t mutant, const struct hint *hint,
               struct trial *out)
{
    const char *test = mutant && l->tests && !o->kind_given ? l->tests[mutant - 1] : NULL;
    struct options of = *o;
    char kernel[32];
    unsigned every;
    int r = 0;
    *out = (struct trial){.mutant = mutant, .preempt = o->preempt || test};
    p->mutant = mutant;
    p->mutant_name = mutant_name(l, mutant);
    if (test && sscanf(test, "%31s %u", kernel, &every) != 2) {
        return -EINVAL;
    }
    if (test) {
        of = one_kernel(o, kernel, every, 0);
    }
    if (usable(hint, out->preempt)) {
        r = try_hint(o, p, hint, out);
        out->hinted = out->caught;
    }
    if (r == 0 && !out->caught && !out->interrupted) {
        campaign_free(&out->campaign);
        r = out->preempt ? try_preempt(&of, p, out) : try_seeds(&of, p, out);
    }
    if (r == 0 && test && out->caught) {
        r = preempt_unchanged(&of, p, out);
    }
    if (r) {
        campaign_free(&out->campaign);
    }
    return r;
}
