/* SPDX-License-Identifier: Apache-2.0 */
/** Work-groups on warps: launch, barriers, end, and the warps' turns. */
#include "model.h"

#define BURST 64u /* instructions of a warp before the next warp's turn */

static uint32_t ceil_div(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

static bool dimension_ok(uint32_t global, uint32_t local, uint32_t groups, uint32_t edge)
{
    return global && local && groups && edge >= 1 && edge <= local &&
           (uint64_t)(groups - 1) * local + edge == global;
}

uint32_t simt_check(const struct tern_pkt_dispatch *p)
{
    uint64_t items = (uint64_t)p->local_x * p->local_y * p->local_z;
    bool ok = p->work_dim >= 1 && dimension_ok(p->global_x, p->local_x, p->groups_x, p->edge_x) &&
              dimension_ok(p->global_y, p->local_y, p->groups_y, p->edge_y) &&
              dimension_ok(p->global_z, p->local_z, p->groups_z, p->edge_z) && items <= (uint64_t)LANES * WARPS &&
              p->group_warps == ceil_div(items, LANES) && p->group_slots >= 1 &&
              p->group_slots * p->group_warps <= WARPS && p->group_slots * p->local_bytes <= LMEM_BYTES &&
              p->local_bytes % 64 == 0 && p->stack_log2 >= 6 && p->stack_log2 <= 20 && p->entry % 4 == 0 &&
              p->stack % LINE == 0;
    return ok ? TERN_FAULT_NONE : TERN_FAULT_PACKET_BOUNDS;
}

static void launch_warp(struct simt *s, uint32_t index, uint32_t slot, uint32_t first_item, uint32_t items)
{
    struct warp *w = &s->warp[index];
    const struct group *g = &s->group[slot];
    uint32_t lanes = items - first_item < LANES ? items - first_item : LANES;
    w->born = w->live = lanes == LANES ? ALL_LANES : (1u << lanes) - 1;
    w->waiting = w->any_frm = w->backward = 0;
    w->hot = false;
    w->slot = slot;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t item = first_item + l;
        w->lid[0][l] = item % g->size[0];
        w->lid[1][l] = item / g->size[0] % g->size[1];
        w->lid[2][l] = item / g->size[0] / g->size[1];
        w->depth[l] = 0;
        w->pc[l] = s->p.entry;
        w->fflags[l] = w->frm[l] = 0;
        w->x[2][l] = TERN_WIN_PRIVATE_BASE + (1u << s->p.stack_log2);
        w->x[10][l] = s->p.args;
    }
    warp_select(w);
}

/** Puts the next group of the range, x fastest, into a free slot. */
static void launch(struct simt *s, uint32_t slot)
{
    const struct tern_pkt_dispatch *p = &s->p;
    const uint32_t groups[3] = {p->groups_x, p->groups_y, p->groups_z}, local[3] = {p->local_x, p->local_y, p->local_z};
    const uint32_t edge[3] = {p->edge_x, p->edge_y, p->edge_z}, offset[3] = {p->offset_x, p->offset_y, p->offset_z};
    struct group *g = &s->group[slot];
    for (int d = 0; d < 3; d++) {
        g->id[d] = s->next[d];
        g->base[d] = offset[d] + g->id[d] * local[d];
        g->size[d] = g->id[d] == groups[d] - 1 ? edge[d] : local[d];
    }
    uint32_t items = g->size[0] * g->size[1] * g->size[2];
    g->first_warp = slot * p->group_warps;
    g->n_warps = g->warps_left = ceil_div(items, LANES);
    g->busy = true;
    for (uint32_t i = 0; i < g->n_warps; i++) {
        launch_warp(s, g->first_warp + i, slot, i * LANES, items);
    }
    for (int d = 0; d < 3 && ++s->next[d] == groups[d] && d < 2; d++) {
        s->next[d] = 0;
    }
    s->groups_left--;
    s->groups_running++;
}

void simt_reset(struct engine *e)
{
    for (uint32_t i = 0; i < WARPS; i++) {
        e->simt.warp[i].turn = 0;
    }
}

void simt_start(struct engine *e, const uint32_t *words)
{
    struct simt *s = &e->simt;
    tern_pkt_dispatch_unpack(&s->p, words);
    if (!s->clean || s->last_root != e->space.root) {
        for (uint32_t i = 0; i < WARPS; i++) {
            memset(s->warp[i].x, 0, sizeof s->warp[i].x);
        }
        memset(s->lmem, 0, sizeof s->lmem);
        s->clean = true;
        s->last_root = e->space.root;
    }
    block_flush(e);
    memset(s->next, 0, sizeof s->next);
    memset(s->group, 0, sizeof s->group);
    for (uint32_t i = 0; i < WARPS; i++) {
        s->warp[i].live = s->warp[i].active = s->warp[i].waiting = 0;
    }
    s->groups_left = (uint64_t)s->p.groups_x * s->p.groups_y * s->p.groups_z;
    s->groups_running = 0;
    s->lres_valid = false;
    for (uint32_t slot = 0; slot < s->p.group_slots && s->groups_left; slot++) {
        launch(s, slot);
    }
}

/** When nobody of a group can run: opens its barrier if every work-item waits at the same one, else a fault of the lowest
 *  barrier at which any waits and the first work-item there. */
static void barrier_check(struct simt *s, struct group *g, struct fault *f)
{
    uint32_t lowest = UINT32_MAX, highest = 0, first = UINT32_MAX;
    bool ended = false;
    for (uint32_t i = 0; i < g->n_warps; i++) {
        const struct warp *w = &s->warp[g->first_warp + i];
        if (w->live & ~w->waiting) {
            return;
        }
        ended |= w->live != w->born;
        for (uint32_t m = w->waiting; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m), pc = w->pc[l] - 4;
            highest = pc > highest ? pc : highest;
            if (pc < lowest) {
                lowest = pc;
                first = i * LANES + l;
            }
        }
    }
    if (ended || lowest != highest) {
        *f = (struct fault){.code = TERN_FAULT_BARRIER_DIVERGENCE, .access = ACCESS_EXECUTE, .va = lowest, .pc = lowest,
                            .warp = g->first_warp + first / LANES, .lane = first % LANES};
        return;
    }
    for (uint32_t i = 0; i < g->n_warps; i++) {
        struct warp *w = &s->warp[g->first_warp + i];
        w->waiting = 0;
        warp_select(w);
    }
}

/** The active lanes of a warp have come to a barrier, or their end. */
static void leave(struct simt *s, struct warp *w, bool exits, struct fault *f)
{
    struct group *g = &s->group[w->slot];
    warp_leave(w, exits);
    if (!w->live && --g->warps_left == 0) {
        g->busy = false;
        s->groups_running--;
        if (s->groups_left) {
            launch(s, w->slot);
        }
        return;
    }
    barrier_check(s, g, f);
}

uint64_t simt_run(struct engine *e, uint64_t budget, bool *done, struct fault *f)
{
    struct simt *s = &e->simt;
    uint64_t n = 0;
    while (n < budget && s->groups_running && !f->code) {
        uint32_t index = s->turn++ % WARPS;
        if (s->warp[index].active) {
            int step;
            n += warp_run(e, index, e->now + n, budget - n < BURST ? budget - n : BURST, &step, f);
            if (step == STEP_FAULT) {
                f->warp = index;
            } else if (step != STEP_NEXT) {
                leave(s, &s->warp[index], step == STEP_EXIT, f);
            }
        }
    }
    e->count.issue += n;
    if (f->code) {
        const struct group *g = &s->group[s->warp[f->warp].slot];
        f->warp -= g->first_warp;
        memcpy(f->group, g->id, sizeof f->group);
    }
    *done = !s->groups_running || f->code;
    return n;
}
