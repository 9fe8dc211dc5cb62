/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the state of a preempted dispatch to the lines of a context-save area, and reads it (docs/spec/context.yaml).
 *  The state of a group's barrier is written for other devices, but not read: it follows from the work-items that wait
 *  and those that have ended. */
#include "model.h"

#define LANES_OF_LINE 16u
#define VECTORS (32u / LANES) /* number of vectors that hold the scalars */

static void put_vector(struct lines *s, const uint32_t *v)
{
    for (uint32_t first = 0; first < LANES; first += LANES_OF_LINE) {
        uint32_t line[LANES_OF_LINE] = {0};
        for (uint32_t i = 0; i < LANES_OF_LINE && first + i < LANES; i++) {
            line[i] = v[first + i];
        }
        lines_put(s, line);
    }
}

static void get_vector(struct lines *s, uint32_t *v)
{
    for (uint32_t first = 0; first < LANES; first += LANES_OF_LINE) {
        uint32_t line[LANES_OF_LINE];
        lines_get(s, line);
        for (uint32_t i = 0; i < LANES_OF_LINE && first + i < LANES; i++) {
            v[first + i] = line[i];
        }
    }
}

/* -------------------------------------------------------------------- save */

/** Mask of the registers whose values differ between live lanes. */
static uint32_t vectors(const struct warp *w)
{
    uint32_t mask = 0;
    for (uint32_t r = 1; w->live && r < 32; r++) {
        for (uint32_t m = w->live; m; m &= m - 1) {
            mask |= (w->x[r][__builtin_ctz(m)] != w->x[r][__builtin_ctz(w->live)] ? 1u : 0u) << r;
        }
    }
    return mask;
}

/** Mask of the vectors of scalars that are not all zero. */
static uint32_t scalars(const struct warp *w)
{
    uint32_t mask = vectors(w), found = 0;
    for (uint32_t r = 1; w->live && r < 32; r++) {
        found |= (!(mask >> r & 1u) && w->x[r][__builtin_ctz(w->live)] ? 1u : 0u) << r / LANES;
    }
    return found;
}

static void put_head(struct lines *s, const struct simt *t)
{
    uint32_t line[16];
    struct tern_ctx_simt_head h = {.lanes = LANES, .warps = WARPS, .ended = !t->groups_left,
                                  .pending = t->n_unfinished};
    for (uint32_t i = 0; i < t->p.group_slots; i++) {
        h.slots |= (uint32_t)t->group[i].busy << i;
    }
    for (uint32_t i = 0; i < WARPS; i++) {
        const uint32_t found = scalars(&t->warp[i]);
        h.live |= (t->warp[i].live ? 1u : 0u) << i;
        uint32_t *const words[] = {&h.scalars_0, &h.scalars_1, &h.scalars_2, &h.scalars_3};
        for (uint32_t k = 0; k < VECTORS; k++) {
            *words[k % 4] |= (found >> k & 1u) << (i + k / 4 * 4 * LANES);
        }
    }
    if (t->groups_left) {
        h.next_x = t->next[0];
        h.next_y = t->next[1];
        h.next_z = t->next[2];
        h.base_x = t->p.offset_x + t->next[0] * t->p.local_x;
        h.base_y = t->p.offset_y + t->next[1] * t->p.local_y;
        h.base_z = t->p.offset_z + t->next[2] * t->p.local_z;
    }
    tern_ctx_simt_head_pack(&h, line);
    lines_put(s, line);
}

static void put_slot(struct lines *s, const struct simt *t, const struct group *g)
{
    uint32_t line[16];
    bool parted;
    struct tern_ctx_simt_slot o = {.group_x = g->id[0], .group_y = g->id[1], .group_z = g->id[2],
                                   .base_x = g->base[0], .base_y = g->base[1], .base_z = g->base[2]};
    o.any = simt_waits(t, g, &o.barrier_pc, &o.warp, &o.lane, &parted);
    o.parted = parted;
    tern_ctx_simt_slot_pack(&o, line);
    lines_put(s, line);
}

static void put_warp(struct lines *s, struct warp *w)
{
    uint32_t lane[LANES], pc[LANES], value[LANES], mask = vectors(w), found = scalars(w);
    warp_park(w);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t line[16] = {0};
        bool live = w->live >> l & 1u;
        tern_ctx_simt_lane_pack(
            &(struct tern_ctx_simt_lane){.live = live, .waiting = w->waiting >> l & 1u, .depth = live ? w->depth[l] : 0,
                                         .fflags = live ? w->fflags[l] : 0, .frm = live ? w->frm[l] : 0,
                                         .turn = l ? 0 : w->turn},
            line);
        lane[l] = line[0];
        pc[l] = live ? w->pc[l] : 0;
    }
    put_vector(s, lane);
    put_vector(s, pc);
    for (uint32_t first = 0; first < 32; first += LANES) {
        for (uint32_t l = 0; found >> first / LANES & 1u && l < LANES; l++) {
            value[l] = mask >> (first + l) & 1u ? 0 : w->x[first + l][__builtin_ctz(w->live)];
        }
        if (found >> first / LANES & 1u) {
            put_vector(s, value);
        }
    }
    for (; mask; mask &= mask - 1) {
        for (uint32_t l = 0; l < LANES; l++) {
            value[l] = w->live >> l & 1u ? w->x[__builtin_ctz(mask)][l] : 0;
        }
        put_vector(s, value);
    }
}

static void put_unfinished(struct lines *s, const struct unfinished *u)
{
    uint32_t line[16];
    tern_ctx_simt_pending_pack(&u->p, line);
    lines_put(s, line);
    put_vector(s, u->address);
    if (u->p.op != TERN_CTX_SIMT_PENDING_OP_LOAD) {
        put_vector(s, u->data);
    }
    if (u->p.op == TERN_CTX_SIMT_PENDING_OP_AMO && u->p.amo == MEMORY_CAS) {
        put_vector(s, u->compare);
    }
}

void state_save(struct engine *e, struct lines *s)
{
    struct simt *t = &e->simt;
    uint32_t masks[MASK_LINES * 16] = {0};
    put_head(s, t);
    for (uint32_t i = 0; i < WARPS; i++) {
        masks[i] = vectors(&t->warp[i]);
    }
    for (uint32_t i = 0; i < MASK_LINES; i++) {
        lines_put(s, masks + 16 * i);
    }
    for (uint32_t i = 0; i < t->p.group_slots; i++) {
        if (t->group[i].busy) {
            put_slot(s, t, &t->group[i]);
        }
    }
    for (uint32_t i = 0; i < t->p.group_slots; i++) {
        for (uint32_t at = 0; t->group[i].busy && at < t->p.local_bytes; at += LINE) {
            lines_put(s, t->lmem + i * t->p.local_bytes + at);
        }
    }
    for (uint32_t i = 0; i < WARPS; i++) {
        if (t->warp[i].live) {
            put_warp(s, &t->warp[i]);
        }
    }
    for (uint32_t i = 0; i < t->n_unfinished; i++) {
        put_unfinished(s, &t->unfinished[i]);
    }
}

/* ----------------------------------------------------------------- restore */

static bool invalid(struct lines *s)
{
    s->f->code = s->f->code ? s->f->code : TERN_FAULT_CONTEXT_INVALID;
    return false;
}

/** Finds the index of a group in the range. False: the group is outside of the range. */
static bool in_range(const struct simt *t, const uint32_t id[3], uint64_t *index)
{
    *index = ((uint64_t)id[2] * t->p.groups_y + id[1]) * t->p.groups_x + id[0];
    return id[0] < t->p.groups_x && id[1] < t->p.groups_y && id[2] < t->p.groups_z;
}

static bool get_head(struct lines *s, struct simt *t, struct tern_ctx_simt_head *h)
{
    uint32_t line[16], allowed = (uint32_t)((1ull << t->p.group_slots) - 1);
    uint64_t index, groups = t->groups_left;
    lines_get(s, line);
    if (tern_ctx_simt_head_unpack(h, line) || h->lanes != LANES || h->warps != WARPS || h->pending > PENDING ||
        (h->slots & ~allowed) || (h->live & h->fresh)) {
        return invalid(s);
    }
    t->next[0] = h->next_x;
    t->next[1] = h->next_y;
    t->next[2] = h->next_z;
    if (!h->ended && !in_range(t, t->next, &index)) {
        return invalid(s);
    }
    t->groups_left = h->ended ? 0 : groups - index;
    return !s->f->code;
}

static bool get_slot(struct lines *s, struct simt *t, uint32_t slot)
{
    uint32_t line[16];
    uint64_t index;
    struct tern_ctx_simt_slot o;
    lines_get(s, line);
    if (tern_ctx_simt_slot_unpack(&o, line)) {
        return invalid(s);
    }
    const uint32_t id[3] = {o.group_x, o.group_y, o.group_z}, base[3] = {o.base_x, o.base_y, o.base_z};
    if (s->f->code || !in_range(t, id, &index)) {
        return invalid(s);
    }
    simt_place(t, slot, id);
    memcpy(t->group[slot].base, base, sizeof base);
    return true;
}

/** Restores a warp, which was launched just before. */
static void get_warp(struct lines *s, struct warp *w, uint32_t found, uint32_t vectors)
{
    uint32_t lane[LANES], pc[LANES], value[LANES], live = 0;
    get_vector(s, lane);
    get_vector(s, pc);
    w->waiting = w->any_frm = 0;
    for (uint32_t l = 0; l < LANES; l++) {
        struct tern_ctx_simt_lane o;
        tern_ctx_simt_lane_unpack(&o, (const uint32_t[16]){lane[l]});
        live |= o.live << l;
        w->waiting |= (o.live & o.waiting) << l;
        w->depth[l] = (uint8_t)o.depth;
        w->fflags[l] = o.fflags;
        w->frm[l] = o.frm;
        w->any_frm |= o.frm;
        w->pc[l] = pc[l] & ~3u;
        w->turn = l ? w->turn : o.turn % LANES;
    }
    w->live &= live;
    w->waiting &= w->live;
    for (uint32_t first = 0; first < 32; first += LANES) {
        memset(value, 0, sizeof value);
        if (found >> first / LANES & 1u) {
            get_vector(s, value);
        }
        for (uint32_t i = 0; i < LANES * LANES; i++) {
            w->x[first + i / LANES][i % LANES] = value[i / LANES];
        }
    }
    for (uint32_t m = vectors; m; m &= m - 1) {
        get_vector(s, value);
        memcpy(&w->x[__builtin_ctz(m)], value, sizeof value);
    }
    memset(&w->x[0], 0, sizeof w->x[0]);
}

/** Continues a memory instruction. Results go to the warp that issued it, if that still runs. */
static void get_pending(struct lines *s, struct engine *e)
{
    uint32_t line[16], result[LANES], done;
    struct simt *t = &e->simt;
    struct unfinished u = {0};
    lines_get(s, line);
    if (tern_ctx_simt_pending_unpack(&u.p, line) || u.p.warp >= WARPS || (u.p.mask & ~ALL_LANES)) {
        invalid(s);
        return;
    }
    get_vector(s, u.address);
    if (u.p.op != TERN_CTX_SIMT_PENDING_OP_LOAD) {
        get_vector(s, u.data);
    }
    if (u.p.op == TERN_CTX_SIMT_PENDING_OP_AMO && u.p.amo == MEMORY_CAS) {
        get_vector(s, u.compare);
    }
    if (s->f->code || !memory_replay(e, &u, result, &done, s->f)) {
        return;
    }
    const struct warp *w = &t->warp[u.p.warp];
    const struct group *g = &t->group[w->slot];
    bool same = g->busy && g->id[0] == u.p.group_x && g->id[1] == u.p.group_y && g->id[2] == u.p.group_z &&
                g->first_warp + u.p.member == u.p.warp;
    for (uint32_t m = same && u.p.rd && u.p.op != TERN_CTX_SIMT_PENDING_OP_STORE ? done & w->live : 0; m; m &= m - 1) {
        t->warp[u.p.warp].x[u.p.rd][__builtin_ctz(m)] = result[__builtin_ctz(m)];
    }
    u.p.mask &= ~done;
    if (u.p.mask) { /* the rest stays unfinished */
        u.p.private_ &= u.p.mask;
        t->unfinished[t->n_unfinished++] = u;
    }
}

/** Resumes the warps if all pages are there, and removes groups whose last warp has ended. */
static void go_on(struct simt *t, struct lines *s)
{
    for (uint32_t i = 0; i < t->p.group_slots; i++) {
        struct group *g = &t->group[i];
        g->warps_left = 0;
        for (uint32_t w = g->first_warp; g->busy && w < g->first_warp + g->n_warps; w++) {
            g->warps_left += t->warp[w].live != 0;
            if (t->warp[w].live & ~t->warp[w].waiting) {
                warp_select(&t->warp[w]);
            } else {
                warp_activate(&t->warp[w], 0);
            }
        }
        if (g->busy && !g->warps_left) {
            g->busy = false;
            t->groups_running--;
        } else if (g->busy && !t->n_unfinished) {
            simt_barrier(t, g, s->f);
        }
    }
}

void state_restore(struct engine *e, struct lines *s, struct fault *f)
{
    struct simt *t = &e->simt;
    struct tern_ctx_simt_head h;
    uint32_t masks[MASK_LINES * 16];
    if (!get_head(s, t, &h)) {
        return;
    }
    for (uint32_t i = 0; i < MASK_LINES; i++) {
        lines_get(s, masks + 16 * i);
    }
    for (uint32_t i = 0; i < t->p.group_slots; i++) {
        if (h.slots >> i & 1u && !get_slot(s, t, i)) {
            return;
        }
    }
    for (uint32_t i = 0; i < t->p.group_slots; i++) {
        for (uint32_t at = 0; h.slots >> i & 1u && at < t->p.local_bytes; at += LINE) {
            lines_get(s, t->lmem + i * t->p.local_bytes + at);
        }
    }
    for (uint32_t i = 0; i < WARPS; i++) {
        if (h.live >> i & 1u) {
            const uint32_t words[] = {h.scalars_0, h.scalars_1, h.scalars_2, h.scalars_3};
            uint32_t found = 0;
            for (uint32_t k = 0; k < VECTORS; k++) {
                found |= (words[k % 4] >> (i + k / 4 * 4 * LANES) & 1u) << k;
            }
            get_warp(s, &t->warp[i], found, masks[i]);
        } else if (!(h.fresh >> i & 1u)) {
            t->warp[i].live = t->warp[i].waiting = 0;
        }
    }
    for (uint32_t i = 0; i < h.pending && !f->code; i++) {
        get_pending(s, e);
    }
    if (s->next != s->end) {
        invalid(s);
    }
    if (!f->code) {
        go_on(t, s);
    }
}
