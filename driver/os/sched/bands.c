/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Section 8 of docs/scheduling.md: the choice of the partition and of the band that an engine serves. In each partition
 * a server keeps a part of FOCUS's cycles for NORMAL (S1). The server's budget is in cycles times percent:
 *
 *     budget += cycles * normal_percent          FOCUS ran while NORMAL was ready
 *     budget -= cycles * (100 - normal_percent)  NORMAL ran
 */
#include "os/sched/sched_internal.h"

static bool ready(const struct tern_sched_part *p, uint32_t band)
{
    return !RB_EMPTY(&p->band[band].queue.tree);
}

uint32_t tern_bands_rank(const struct tern_sched_part *p, uint32_t band)
{
    return 2 * band + (p->serving && band == TERN_BAND_NORMAL ? 3 : 0);
}

struct tern_sched_context *tern_bands_pick_of(const struct tern_sched_part *p)
{
    int best = -1;
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        if (ready(p, b) && (best < 0 || tern_bands_rank(p, b) > tern_bands_rank(p, (uint32_t)best))) {
            best = (int)b;
        }
    }
    return best < 0 ? NULL : tern_fair_pick(&p->band[best]);
}

struct tern_sched_context *tern_bands_pick(const struct tern_sched *s, uint32_t engine)
{
    const struct tern_sched_part *part = tern_fair_pick_part(&s->engine[engine]), *first = &s->main.on[engine];
    part = !part || ready(first, TERN_BAND_PAGING) ? first : part;
    return tern_bands_pick_of(part);
}

void tern_bands_account(const struct tern_sched *s, struct tern_sched_part *p, uint32_t band, uint64_t cycles)
{
    const uint32_t share = s->config.normal_percent;
    const bool wanted = ready(p, TERN_BAND_NORMAL) || (p->serving && p->band[TERN_BAND_NORMAL].queue.live);
    if (wanted && band == TERN_BAND_FOCUS) {
        p->budget += (int64_t)(cycles * share);
    } else if (band == TERN_BAND_NORMAL) {
        const int64_t used = (int64_t)(cycles * (100 - share));
        p->budget = p->budget > used ? p->budget - used : 0;
    }
}

/** The budget as if the front ended now. */
static int64_t budget_now(const struct tern_sched *s, const struct tern_sched_engine *e,
                          const struct tern_sched_part *p)
{
    const bool runs = e->n && tern_fair_part_of(e->inflight[0].context) == p;
    const uint64_t ran = runs ? tern_sched_front_ran(s, e) : 0;
    const uint32_t band = runs ? e->inflight[0].context->band : TERN_BAND_IDLE, share = s->config.normal_percent;
    return band == TERN_BAND_FOCUS    ? p->budget + (int64_t)(ran * share)
           : band == TERN_BAND_NORMAL ? p->budget - (int64_t)(ran * (100 - share))
                                      : p->budget;
}

/** The budget at which NORMAL begins to go before FOCUS: it pays for half a quantum of NORMAL. */
static int64_t enough(const struct tern_sched *s)
{
    return tern_fair_times((int64_t)(s->config.band[TERN_BAND_NORMAL].quantum / 2), 100 - s->config.normal_percent);
}

void tern_bands_serve(struct tern_sched *s, uint32_t engine)
{
    TERN_LIST_EACH(node, &s->partitions)
    {
        struct tern_sched_part *p = &TERN_LIST_ENTRY(node, struct tern_sched_partition, node)->on[engine];
        const int64_t budget = budget_now(s, &s->engine[engine], p);
        const bool waits = ready(p, TERN_BAND_NORMAL);
        p->serving = p->serving ? budget > 0 && (waits || p->band[TERN_BAND_NORMAL].queue.live)
                                : waits && budget >= enough(s);
    }
}

uint64_t tern_bands_due(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    const struct tern_sched_part *p = tern_fair_part_of(e->inflight[0].context);
    const int64_t budget = budget_now(s, e, p);
    const uint32_t band = e->inflight[0].context->band, share = s->config.normal_percent;
    if (band == TERN_BAND_FOCUS && ready(p, TERN_BAND_NORMAL) && budget < enough(s) && share) {
        return s->now + (uint64_t)(enough(s) - budget) / share + 1;
    }
    if (band == TERN_BAND_NORMAL && p->serving && budget > 0 && share < 100) {
        return s->now + (uint64_t)budget / (100 - share) + 1;
    }
    return UINT64_MAX;
}
