/* SPDX-License-Identifier: Apache-2.0 */
#include "fair_check.h"

#include <stdio.h>

struct sums {
    uint64_t weight[TERN_ENGINES_MAX];
    uint32_t live[TERN_ENGINES_MAX], ready[TERN_ENGINES_MAX];
    double load[TERN_ENGINES_MAX];
    __int128 sum[TERN_ENGINES_MAX];
};

static const char *wrong(const char *what, uint32_t engine, uint32_t band)
{
    static char said[128];
    snprintf(said, sizeof said, "%s (engine %u, band %u)", what, engine, band);
    return said;
}

/** Returns the number of entities of the subtree; -1 if they are not in order between low and high (NULL: no bound). */
static int64_t in_order(const struct tern_fair_entity *e, const struct tern_fair_queue *q,
                        const struct tern_fair_entity *low, const struct tern_fair_entity *high)
{
    if (!e) {
        return 0;
    }
    const int64_t a = low ? e->vruntime - low->vruntime : 1, b = high ? high->vruntime - e->vruntime : 1;
    if (e->queue != q || a < 0 || b < 0 || (a == 0 && e->order <= low->order) || (b == 0 && e->order >= high->order)) {
        return -1;
    }
    const int64_t left = in_order(RB_LEFT(e, node), q, low, e), right = in_order(RB_RIGHT(e, node), q, e, high);
    return left < 0 || right < 0 ? -1 : left + right + 1;
}

/** Adds up the contexts of a process in a band, for each engine. */
static const char *add_contexts(const struct tern_sched_process *p, uint32_t b, struct sums *sums)
{
    TERN_LIST_EACH(node, &p->contexts)
    {
        const struct tern_sched_context *c = TERN_LIST_ENTRY(node, struct tern_sched_context, node);
        const struct tern_fair_group *g = &p->group[b][c->engine];
        const bool ready = c->state == TERN_SCHED_READY;
        if (c->band == b && (c->live != (ready || c->inflight) || (c->entity.queue == &g->queue) != ready)) {
            return wrong("I1: a ready context cannot be picked, or another can", c->engine, b);
        }
        if (c->band == b && c->live) {
            sums->weight[c->engine] += c->weight;
            sums->live[c->engine]++;
            sums->ready[c->engine] += ready;
            sums->sum[c->engine] += (__int128)(c->entity.vruntime - g->queue.min_vruntime) * c->weight;
        }
    }
    return NULL;
}

/** Returns how many processes of the user have live contexts in the band. */
static uint32_t processes_of(const struct tern_sched *s, const struct tern_sched_user *u, uint32_t b)
{
    uint32_t n = 0;
    TERN_LIST_EACH(node, &s->processes)
    {
        const struct tern_sched_process *p = TERN_LIST_ENTRY(node, struct tern_sched_process, node);
        n += p->user == u && p->weight[b];
    }
    return n;
}

/** Checks a process in a band and adds its sums to `all`. */
static const char *check_process(const struct tern_sched *s, const struct tern_sched_process *p, uint32_t b,
                                 struct sums *all)
{
    struct sums sums = {0};
    uint64_t weight = 0;
    const char *r = add_contexts(p, b, &sums);
    for (uint32_t e = 0; e < s->engines; e++) {
        weight += sums.weight[e];
    }
    if (!r && weight != p->weight[b]) {
        return wrong("I3: the weight of a process is not that of its contexts", 0, b);
    }
    const uint32_t n = p->user ? processes_of(s, p->user, b) : 0;
    if (p->user && n != p->user->processes[b]) {
        return wrong("I3: a user has another number of live processes", 0, b);
    }
    const double all_weight = p->user && n ? p->user->share / 100.0 / n : 1;
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        const struct tern_fair_group *g = &p->group[b][e];
        const bool queued = g->entity.queue == &p->partition->on[e].band[b].queue;
        if (in_order(RB_ROOT(&g->queue.tree), &g->queue, NULL, NULL) != sums.ready[e] || queued != !!sums.ready[e]) {
            return wrong("I1: contexts of a process are out of order", e, b);
        }
        if (g->queue.load != sums.weight[e] || g->queue.live != sums.live[e]) {
            return wrong("I3: the load of a process is not the weight of its contexts", e, b);
        }
        if (g->sum != sums.sum[e]) {
            return wrong("I4: the sum of a process is not that of its contexts", e, b);
        }
        all->ready[e] += sums.ready[e] != 0;
        all->live[e] += sums.live[e];
        all->load[e] += weight ? all_weight * (double)sums.weight[e] / (double)weight : 0;
    }
    return r;
}

static const char *check_band(const struct tern_sched_partition *part, uint32_t e, uint32_t b, const struct sums *all,
                              int64_t *seen)
{
    const struct tern_fair_queue *q = &part->on[e].band[b].queue;
    const double load = (double)q->load / (double)TERN_FAIR_LOAD_ONE;
    if (in_order(RB_ROOT(&q->tree), q, NULL, NULL) != all->ready[e]) {
        return wrong("I1: processes are out of order", e, b);
    }
    if (q->min_vruntime < *seen) {
        return wrong("I2: min_vruntime has fallen", e, b);
    }
    if (q->live != all->live[e] || load < all->load[e] - 1e-6 || load > all->load[e] + 1e-6) {
        return wrong("I3: the load of an engine is not the weight of its processes", e, b);
    }
    *seen = q->min_vruntime;
    return NULL;
}

/** Contexts of a partition on each engine, over all bands except that of paging. */
struct counted {
    uint32_t live[TERN_ENGINES_MAX], ready[TERN_ENGINES_MAX];
};

static const char *check_partition(const struct tern_sched *s, const struct tern_sched_partition *part, uint32_t number,
                                   struct fair_seen *seen, struct counted *counted)
{
    const char *r = NULL;
    for (uint32_t b = 0; !r && b < TERN_BANDS; b++) {
        struct sums all = {0};
        for (const struct tern_list *node = s->processes.next; !r && node != &s->processes; node = node->next) {
            const struct tern_sched_process *p = TERN_LIST_ENTRY(node, struct tern_sched_process, node);
            r = p->partition == part ? check_process(s, p, b, &all) : r;
            seen->due++;
        }
        for (uint32_t e = 0; !r && e < s->engines; e++) {
            r = check_band(part, e, b, &all, &seen->min_vruntime[number][e][b]);
            seen->due += all.live[e];
            counted->live[e] += b == TERN_BAND_PAGING ? 0 : all.live[e];
            counted->ready[e] += b == TERN_BAND_PAGING ? 0 : all.ready[e];
        }
    }
    return r;
}

static const char *check_engine(const struct tern_sched *s, uint32_t e, uint32_t partitions, struct fair_seen *seen)
{
    const struct tern_fair_queue *q = &s->engine[e].parts;
    if (in_order(RB_ROOT(&q->tree), q, NULL, NULL) != partitions) {
        return wrong("I1: partitions are out of order", e, 0);
    }
    if (q->min_vruntime < seen->min_of_partitions[e]) {
        return wrong("I2: min_vruntime of the partitions has fallen", e, 0);
    }
    seen->min_of_partitions[e] = q->min_vruntime;
    return NULL;
}

const char *fair_check(const struct tern_sched *s, struct fair_seen *seen)
{
    const char *r = NULL;
    uint32_t number = 0, queued[TERN_ENGINES_MAX] = {0};
    seen->due = seen->runs + 1;
    for (const struct tern_list *n = s->partitions.next; !r && n != &s->partitions; n = n->next) {
        const struct tern_sched_partition *part = TERN_LIST_ENTRY(n, struct tern_sched_partition, node);
        struct counted counted = {0};
        r = check_partition(s, part, number++ % FAIR_PARTITIONS, seen, &counted);
        for (uint32_t e = 0; !r && e < s->engines; e++) {
            const struct tern_sched_part *on = &part->on[e];
            const bool in = on->entity.queue == &s->engine[e].parts;
            if (on->live != counted.live[e] || on->groups != counted.ready[e] || in != !!counted.ready[e]) {
                r = wrong("I1: a partition with something ready cannot be picked, or another can", e, 0);
            }
            queued[e] += in;
        }
    }
    for (uint32_t e = 0; !r && e < s->engines; e++) {
        r = check_engine(s, e, queued[e], seen);
    }
    return r;
}

const char *fair_check_now_and_then(const struct tern_sched *s, struct fair_seen *seen)
{
    return ++seen->runs < seen->due ? NULL : fair_check(s, seen);
}
