/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Section 8 of docs/scheduling.md: which band an engine serves, and the server that keeps NORMAL its part of what FOCUS
 * takes (S1). Its budget is in cycles times percent: FOCUS's cycles add normal_percent each, NORMAL's take the rest.
 */
#include "os/sched/sched_internal.h"

static bool ready(const struct tern_sched_engine *e, uint32_t band)
{
    return !RB_EMPTY(&e->band[band].queue.tree);
}

uint32_t tern_bands_rank(const struct tern_sched_engine *e, uint32_t band)
{
    return 2 * band + (e->serving && band == TERN_BAND_NORMAL ? 3 : 0);
}

struct tern_sched_context *tern_bands_pick(const struct tern_sched_engine *e)
{
    int best = -1;
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        if (ready(e, b) && (best < 0 || tern_bands_rank(e, b) > tern_bands_rank(e, (uint32_t)best))) {
            best = (int)b;
        }
    }
    return best < 0 ? NULL : tern_fair_pick(&e->band[best]);
}

void tern_bands_account(const struct tern_sched *s, struct tern_sched_engine *e, uint32_t band, uint64_t cycles)
{
    const uint32_t share = s->config.normal_percent;
    const bool wanted = ready(e, TERN_BAND_NORMAL) || (e->serving && e->band[TERN_BAND_NORMAL].queue.live);
    if (wanted && band == TERN_BAND_FOCUS) {
        e->budget += (int64_t)(cycles * share);
    } else if (band == TERN_BAND_NORMAL) {
        const int64_t used = (int64_t)(cycles * (100 - share));
        e->budget = e->budget > used ? e->budget - used : 0;
    }
}

/** The budget with what runs. */
static int64_t budget_now(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    const uint64_t ran = e->n ? tern_sched_front_ran(s, e) : 0;
    const uint32_t band = e->n ? e->inflight[0].context->band : TERN_BAND_IDLE, share = s->config.normal_percent;
    return band == TERN_BAND_FOCUS    ? e->budget + (int64_t)(ran * share)
           : band == TERN_BAND_NORMAL ? e->budget - (int64_t)(ran * (100 - share))
                                      : e->budget;
}

/** The budget with which it serves: half a quantum of NORMAL. */
static int64_t enough(const struct tern_sched *s)
{
    return tern_fair_times((int64_t)(s->config.band[TERN_BAND_NORMAL].quantum / 2), 100 - s->config.normal_percent);
}

void tern_bands_serve(const struct tern_sched *s, struct tern_sched_engine *e)
{
    const int64_t budget = budget_now(s, e);
    const bool waits = ready(e, TERN_BAND_NORMAL);
    e->serving = e->serving ? budget > 0 && (waits || e->band[TERN_BAND_NORMAL].queue.live)
                            : waits && budget >= enough(s);
}

uint64_t tern_bands_due(const struct tern_sched *s, const struct tern_sched_engine *e)
{
    const int64_t budget = budget_now(s, e);
    const uint32_t band = e->inflight[0].context->band, share = s->config.normal_percent;
    if (band == TERN_BAND_FOCUS && ready(e, TERN_BAND_NORMAL) && budget < enough(s) && share) {
        return s->now + (uint64_t)(enough(s) - budget) / share + 1;
    }
    if (band == TERN_BAND_NORMAL && e->serving && budget > 0 && share < 100) {
        return s->now + (uint64_t)budget / (100 - share) + 1;
    }
    return UINT64_MAX;
}
