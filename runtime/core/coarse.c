/* SPDX-License-Identifier: Apache-2.0 */
/** Coarse dispatches (coarse.h). */
#include "runtime/core/coarse.h"

#include <stdio.h>
#include <string.h>

#include "runtime/core/fault.h"
#include "runtime/core/group.h"

#define ROUNDS_MAX 16u  /* largest number of rounds, at which the cost of ids and arguments is negligible */

/** Chooses tiles if enough of the engine's lanes have work. */
static bool choose_tiles(const struct tc_kernel *k, uint32_t lanes, uint32_t warps, uint32_t max,
                         const struct rt_range *r, struct rt_range *hardware)
{
    const uint32_t wide = TC_COARSE_STRIDE * k->coarse;
    const struct tc_coarse_range least = tc_coarse_least(k, lanes * warps);
    if ((uint64_t)r->offset[1] + r->global[1] > TC_COARSE_END ||
        (uint64_t)r->offset[2] + r->global[2] > TC_COARSE_END || r->global[1] < least.y ||
        r->global[0] < least.x || (k->coarse_rows && max < TC_COARSE_STRIDE)) {
        return false;
    }
    const bool whole = k->coarse > 1 || k->coarse_rows; /* rows of the hardware are whole */
    const uint32_t x = whole ? rt_group_count(r->global[0], wide) * TC_COARSE_STRIDE : r->global[0];
    const uint32_t y = rt_group_count(r->global[1], k->tile);
    const uint64_t rows = (uint64_t)y * r->global[2];
    if (rows < least.hardware && rows * x < least.hardware) {
        return false;
    }
    hardware->global[0] = x;
    hardware->global[1] = y;
    if (k->coarse_rows) {
        memcpy(hardware->local, (const uint32_t[3]){TC_COARSE_STRIDE, 1, 1}, sizeof hardware->local);
        return true;
    }
    rt_group_choose(lanes, max, r->dims, true, hardware->global, hardware->local);
    return true;
}

uint32_t rt_coarse_user1(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *hardware)
{
    return k->tile ? r->offset[1] + r->global[1] : hardware->global[0] * k->coarse;
}

/** Work-items of the hardware that run a row in so many rounds, in whole rows of TC_COARSE_STRIDE. */
static uint32_t width(const struct tc_kernel *k, const struct rt_range *r, uint32_t rounds)
{
    const uint64_t block = (uint64_t)TC_COARSE_STRIDE * k->coarse * rounds;
    return (uint32_t)((r->global[0] + block - 1) / block) * TC_COARSE_STRIDE;
}

/** Chooses the number of rounds for an engine of `full` work-items; 0: coarsening would not pay. */
static uint32_t choose_rounds(const struct tc_kernel *k, uint32_t full, const struct rt_range *r)
{
    const uint64_t rows = (uint64_t)r->global[1] * r->global[2];
    /* Several rounds only if one fill of the engine covers a row once, from begin to end. Otherwise each fill would
     * access the whole row, and memory that is not all resident would be paged in once for each fill. Several short
     * rows fill the engine together. */
    const uint32_t one_fill = rt_group_count(r->global[0], full * k->coarse);
    if (one_fill > 1 && (rows == 1 || one_fill > ROUNDS_MAX)) {
        const uint64_t x = width(k, r, one_fill);
        if (x <= full && 8 * x >= 7 * (uint64_t)full) { /* most lanes have work */
            return one_fill;
        }
    }
    for (uint32_t rounds = ROUNDS_MAX; rounds > 0; rounds /= 2) {
        const uint32_t x = width(k, r, rounds);
        /* further rounds pay if all lanes still have work */
        const uint64_t least = rounds > 1 ? full : tc_coarse_least(k, full).hardware;
        if ((rounds == 1 || x <= full) && r->global[0] >= TC_COARSE_STRIDE * k->coarse * rounds &&
            (rows >= least || rows * x >= least)) {
            return rounds;
        }
    }
    return 0;
}

bool rt_coarse_choose(const struct tc_kernel *k, uint32_t lanes, uint32_t warps, uint32_t max, const struct rt_range *r,
                      struct rt_range *hardware)
{
    *hardware = *r;
    if (k->coarse == 0 || (uint64_t)r->offset[0] + r->global[0] > TC_COARSE_END) {
        return false;
    }
    if (k->tile) {
        return choose_tiles(k, lanes, warps, max, r, hardware);
    }
    const uint32_t rounds = choose_rounds(k, lanes * warps, r);
    if (rounds == 0) {
        return false;
    }
    hardware->global[0] = width(k, r, rounds);
    rt_group_choose(lanes, max, r->dims, true, hardware->global, hardware->local);
    return true;
}

/** Number of work-items of n, `apart` from each other, that begin at `first` and are below `end`. */
static uint32_t within(uint64_t first, uint32_t n, uint32_t apart, uint32_t end)
{
    const uint64_t left = first < end ? (end - 1 - first) / apart + 1 : 0;
    return left < n ? (uint32_t)left : n;
}

/** Writes who ran in a hardware work-item of a dispatch by rounds. */
static void tell_rounds(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *hardware,
                        const struct tern_fault *fault, char *text, size_t size)
{
    const uint32_t h = fault->item[0] - r->offset[0];
    const uint32_t step = hardware->global[0] * k->coarse;
    uint32_t first = h / TC_COARSE_STRIDE * TC_COARSE_STRIDE * k->coarse + h % TC_COARSE_STRIDE;
    uint32_t n = 0, each = 1;
    if (k->coarse_rows) { /* any work-item of the row */
        first -= h % TC_COARSE_STRIDE;
        each = TC_COARSE_STRIDE;
    }
    for (uint64_t round = first; round < r->global[0]; round += step) {
        n += within(round, k->coarse * each, TC_COARSE_STRIDE / each, r->global[0]);
    }
    snprintf(text, size, "one of %u work-items (x, %u, %u), the first with x = %u", n, fault->item[1], fault->item[2],
             first + r->offset[0]);
}

/** Writes who ran in a hardware work-item of a dispatch by tiles. */
static void tell_tile(const struct tc_kernel *k, const struct rt_range *r, const struct tern_fault *fault, char *text,
                      size_t size)
{
    const uint32_t h = fault->item[0] - r->offset[0], y = (fault->item[1] - r->offset[1]) * k->tile;
    const uint32_t each = k->coarse_rows ? TC_COARSE_STRIDE : 1; /* any work-item of the row */
    const uint32_t lane = k->coarse_rows ? 0 : h % TC_COARSE_STRIDE;
    const uint32_t x = h / TC_COARSE_STRIDE * TC_COARSE_STRIDE * k->coarse + lane;
    const uint32_t n = within(x, each * k->coarse, TC_COARSE_STRIDE / each, r->global[0]) *
        within(y, k->tile, 1, r->global[1]);
    snprintf(text, size, "one of %u work-items (x, y, %u), the first with x = %u, y = %u", n, fault->item[2],
             x + r->offset[0], y + r->offset[1]);
}

void rt_coarse_explain(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *hardware,
                       struct tern_fault *fault, char more[RT_FAULT_MORE])
{
    char who[160];
    if (k->tile) {
        tell_tile(k, r, fault, who, sizeof who);
    } else {
        tell_rounds(k, r, hardware, fault, who, sizeof who);
    }
    if (!rt_fault_name_items(fault, who)) {
        return;
    }
    const size_t at = strlen(more);
    snprintf(more + at, RT_FAULT_MORE - at, " Built with -g, the kernel is not coarsened, and the work-item is told.");
}
