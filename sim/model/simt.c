/* SPDX-License-Identifier: Apache-2.0 */
/** Work-groups on warps: launch, barriers, ends, and round-robin execution of the warps. */
#include "model.h"

#define BURST 64u /* instructions that a warp runs before the next warp does */

static uint32_t ceil_div(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

static bool dimension_ok(uint32_t global, uint32_t local, uint32_t groups, uint32_t edge)
{
    return global && local && groups && edge >= 1 && edge <= local &&
           (uint64_t)(groups - 1) * local + edge == global;
}

static uint32_t check(const struct tern_pkt_dispatch *p)
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
    memset(w->x, 0, sizeof w->x);
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

void simt_place(struct simt *s, uint32_t slot, const uint32_t id[3])
{
    const struct tern_pkt_dispatch *p = &s->p;
    const uint32_t groups[3] = {p->groups_x, p->groups_y, p->groups_z}, local[3] = {p->local_x, p->local_y, p->local_z};
    const uint32_t edge[3] = {p->edge_x, p->edge_y, p->edge_z}, offset[3] = {p->offset_x, p->offset_y, p->offset_z};
    struct group *g = &s->group[slot];
    for (int d = 0; d < 3; d++) {
        g->id[d] = id[d];
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
    s->groups_running++;
}

/** Launches the next groups of the range, x fastest, in the free slots, unless a request to stop waits for the groups
 *  that run. */
static void launch(struct engine *e)
{
    struct simt *s = &e->simt;
    const uint32_t groups[3] = {s->p.groups_x, s->p.groups_y, s->p.groups_z};
    for (uint32_t slot = 0; slot < s->p.group_slots && s->groups_left; slot++) {
        if (s->group[slot].busy || engine_stops(e, TERN_ENGINE_COMMAND_GRANULARITY_GROUP)) {
            continue;
        }
        simt_place(s, slot, s->next);
        for (int d = 0; d < 3 && ++s->next[d] == groups[d] && d < 2; d++) {
            s->next[d] = 0;
        }
        s->groups_left--;
    }
}

void simt_reset(struct engine *e)
{
    for (uint32_t i = 0; i < WARPS; i++) {
        e->simt.warp[i].turn = 0;
    }
}

void simt_start(struct engine *e, struct lines *state, struct fault *f)
{
    struct simt *s = &e->simt;
    f->code = tern_pkt_dispatch_unpack(&s->p, e->packet) ? TERN_FAULT_PACKET_RESERVED : check(&s->p);
    if (f->code) {
        return;
    }
    if (!s->clean || s->last_root != e->space.root) {
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
    s->n_unfinished = 0;
    if (state) {
        state_restore(e, state, f);
    }
    if (!e->absent.code) {
        launch(e);
    }
}

bool simt_waits(const struct simt *s, const struct group *g, uint32_t *pc, uint32_t *warp, uint32_t *lane, bool *parted)
{
    uint32_t lowest = UINT32_MAX, highest = 0;
    bool ended = false, any = false;
    *pc = *warp = *lane = 0;
    for (uint32_t i = g->first_warp; i < g->first_warp + g->n_warps; i++) {
        const struct warp *w = &s->warp[i];
        ended |= w->live != w->born;
        for (uint32_t m = w->waiting; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m), at = w->pc[l] - 4;
            highest = at > highest ? at : highest;
            if (!any || at < lowest) {
                any = true;
                *pc = lowest = at;
                *warp = i;
                *lane = l;
            }
        }
    }
    *parted = ended || (any && lowest != highest);
    return any;
}

void simt_barrier(struct simt *s, struct group *g, struct fault *f)
{
    uint32_t pc, warp, lane;
    bool parted;
    for (uint32_t i = g->first_warp; i < g->first_warp + g->n_warps; i++) {
        if (s->warp[i].live & ~s->warp[i].waiting) {
            return;
        }
    }
    if (!simt_waits(s, g, &pc, &warp, &lane, &parted)) {
        return;
    }
    if (parted) {
        *f = (struct fault){.code = TERN_FAULT_BARRIER_DIVERGENCE, .access = ACCESS_EXECUTE, .va = pc, .pc = pc,
                            .warp = warp - g->first_warp, .lane = lane};
        memcpy(f->group, g->id, sizeof f->group);
        return;
    }
    for (uint32_t i = g->first_warp; i < g->first_warp + g->n_warps; i++) {
        s->warp[i].waiting = 0;
        warp_select(&s->warp[i]);
    }
}

/** Handles a barrier or exit of the active lanes of a warp. */
static void leave(struct engine *e, struct warp *w, bool exits, struct fault *f)
{
    struct simt *s = &e->simt;
    struct group *g = &s->group[w->slot];
    warp_leave(w, exits);
    if (!w->live && --g->warps_left == 0) {
        g->busy = false;
        s->groups_running--;
        launch(e);
        return;
    }
    simt_barrier(s, g, f);
}

uint64_t simt_run(struct engine *e, uint64_t budget, bool *done, struct fault *f)
{
    struct simt *s = &e->simt;
    uint64_t n = 0;
    while (n < budget && s->groups_running && !f->code && !e->absent.code) {
        uint32_t index = s->turn++ % WARPS;
        if (s->warp[index].active) {
            int step;
            n += warp_run(e, index, e->now + n, budget - n < BURST ? budget - n : BURST, &step, f);
            if (step == STEP_FAULT || step == STEP_PART) {
                const struct group *g = &s->group[s->warp[index].slot];
                f->warp = index - g->first_warp;
                memcpy(f->group, g->id, sizeof f->group);
                if (f->code == TERN_FAULT_PAGE_ABSENT) {
                    page_request(e, f);
                    *f = (struct fault){0};
                }
            } else if (step != STEP_NEXT) {
                leave(e, &s->warp[index], step == STEP_EXIT, f);
            }
        }
    }
    e->count.issue += n;
    *done = (!s->groups_running && !s->groups_left && !e->absent.code) || f->code;
    return n;
}
