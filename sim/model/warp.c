/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One warp: its instructions in order, and the choice of the lanes that run next when lanes diverge.
 *
 * Policy: the lanes with the deepest call run first, and of these the ones with the lowest pc.
 * Rotation: every 16th backward jump of a part of the lanes gives other lanes 32 instructions. If the part has done an
 * atomic operation, as lanes that spin do, every 4th jump does. Without this, lanes that spin could keep others from
 * doing what they wait for.
 */
#include "model.h"

#define ROTATE_EVERY 16u
#define ROTATE_HOT 4u
#define ROTATE_QUANTUM 32u
#define NO_MERGE UINT32_MAX
#define DEEPEST UINT8_MAX

static uint32_t runnable(const struct warp *w)
{
    return w->live & ~w->waiting;
}

void warp_activate(struct warp *w, uint32_t mask)
{
    w->active = mask;
    for (int l = 0; l < LANES; l++) {
        w->on[l] = 0u - (mask >> l & 1u);
    }
}

/** Records that the active lanes go on at pc. */
static void park(struct warp *w, uint32_t pc)
{
    for (uint32_t m = w->active; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        w->pc[l] = pc;
        w->depth[l] = (uint8_t)w->at_depth;
    }
}

void warp_park(struct warp *w)
{
    park(w, w->at);
}

void warp_select(struct warp *w)
{
    uint32_t depth = 0, at = NO_MERGE, merge = NO_MERGE, chosen = 0;
    for (uint32_t m = runnable(w); m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->depth[l] > depth || (w->depth[l] == depth && w->pc[l] < at)) {
            depth = w->depth[l];
            at = w->pc[l];
        }
    }
    for (uint32_t m = runnable(w); m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->depth[l] == depth && w->pc[l] == at) {
            chosen |= 1u << l;
        } else if (w->depth[l] == depth && w->pc[l] < merge) {
            merge = w->pc[l];
        }
    }
    w->at = at;
    w->at_depth = depth;
    w->merge = merge;
    w->quantum = 0;
    warp_activate(w, chosen);
}

/** Activates, for a quantum, the lanes with the pc and depth of the next lane in turn that did not run. */
static void rotate(struct warp *w)
{
    uint32_t others = runnable(w) & ~w->active, later = others & (uint32_t)(~0ull << w->turn), chosen = 0;
    uint32_t leader = (uint32_t)__builtin_ctz(later ? later : others);
    for (uint32_t m = runnable(w); m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->pc[l] == w->pc[leader] && w->depth[l] == w->depth[leader]) {
            chosen |= 1u << l;
        }
    }
    w->turn = (leader + 1) % LANES;
    w->at = w->pc[leader];
    w->at_depth = w->depth[leader];
    w->merge = NO_MERGE;
    w->quantum = ROTATE_QUANTUM;
    w->hot = false;
    warp_activate(w, chosen);
}

void warp_leave(struct warp *w, bool exits)
{
    if (exits) {
        w->live &= ~w->active;
    } else {
        park(w, w->at + 4);
        w->waiting |= w->active;
    }
    if (runnable(w)) {
        warp_select(w);
    } else {
        warp_activate(w, 0);
    }
}

/** Chooses the next pc and lanes after the jump o at pc. quantum_end: it was the last instruction of a rotation. */
static void jump(struct core *c, struct warp *w, const struct op *o, uint32_t pc, bool quantum_end)
{
    bool indirect = o->code == OP_JALR, calls = (indirect || o->code == OP_JAL) && o->rd == 1;
    bool returns = indirect && o->rd == SINK && o->rs1 == 1;
    bool full = w->active == runnable(w), uniform = c->taken == 0 || c->taken == w->active;
    uint32_t lead = indirect ? c->target[__builtin_ctz(w->active)] : o->imm;
    bool backward = c->taken && lead <= pc, turn = false;
    if (indirect) {
        const vec other = (c->target ^ lead) & w->on;
        for (int l = 0; l < LANES; l++) {
            uniform &= !other[l];
        }
    }
    if (!full && backward && !w->quantum && !quantum_end) {
        turn = w->backward + 1 >= (w->hot ? ROTATE_HOT : ROTATE_EVERY);
        w->backward = turn ? 0 : w->backward + 1;
    }
    w->at_depth = calls && w->at_depth < DEEPEST ? w->at_depth + 1 : returns && w->at_depth ? w->at_depth - 1
        : w->at_depth;
    uint32_t next = c->taken ? lead : pc + 4;
    if (uniform && !quantum_end && !turn && (full || w->quantum || calls || (!returns && next < w->merge))) {
        w->at = next;
        w->merge = calls ? NO_MERGE : w->merge;
        return;
    }
    park(w, pc + 4);
    for (uint32_t m = c->taken; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        w->pc[l] = indirect ? c->target[l] : lead;
    }
    if (turn) {
        rotate(w);
    } else {
        warp_select(w);
    }
}

/** Returns the number of instructions of a block that may run before lanes or warps must be chosen again. */
static uint32_t stretch(const struct warp *w, const struct block *b, uint64_t limit)
{
    uint32_t n = least(b->count, limit);
    if (w->merge > w->at) {
        n = least(n, (w->merge - w->at) / 4);
    }
    return w->quantum ? least(n, w->quantum) : n;
}

/** Reports an instruction to the observer, for these lanes. */
static void observe(const struct core *c, const struct warp *w, const struct op *o, uint32_t mask)
{
    const struct group *g = &c->e->simt.group[w->slot];
    uint32_t n = (uint32_t)(o - c->block->op);
    struct tern_sim_retired r = {.time = c->time + n, .engine = c->e->index, .warp = c->index - g->first_warp,
                                 .pc = c->block->pc + 4 * n, .word = c->block->word[n], .mask = mask,
                                 .rd = writes_register(o->code) && o->rd != SINK ? o->rd : 0};
    memcpy(r.group, g->id, sizeof r.group);
    for (uint32_t m = r.rd ? mask : 0; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        r.value[l] = w->x[r.rd][l];
    }
    c->e->dev->observer(c->e->dev->observer_user, &r);
}

/** Returns the block at the warp's pc. The block that followed `last` before is tried without a lookup. */
static struct block *follow(struct core *c, const struct warp *w, struct block *last)
{
    uint32_t code = 0;
    struct block **link = last ? &last->next[w->at != last->pc + 4 * last->count] : NULL, *b = link ? *link : NULL;
    if (b && b->pc == w->at && b->seen == c->e->simt.blocks.era) {
        return b;
    }
    b = block_find(c->e, w->at, &code);
    if (!b) {
        fail(c, code, ACCESS_EXECUTE, w->at, (uint32_t)__builtin_ctz(w->active));
    } else if (link) {
        *link = b;
    }
    return b;
}

uint64_t warp_run(struct engine *e, uint32_t index, uint64_t now, uint64_t limit, int *step, struct fault *f)
{
    struct warp *w = &e->simt.warp[index];
    struct core c = {.e = e, .f = f, .index = index};
    const bool observed = e->dev->observer != NULL;
    struct block *b = NULL;
    uint64_t n = 0;
    *step = STEP_NEXT;
    while (n < limit) {
        if (!(b = follow(&c, w, b))) {
            f->pc = w->at;
            *step = STEP_FAULT;
            return n + 1;
        }
        c.block = b;
        c.time = now + n;
        const struct op *o = b->op, *end = o + stretch(w, b, limit - n);
        do {
            *step = o->run(&c, w, o);
            if (observed && *step != STEP_FAULT) {
                const struct simt *s = &e->simt;
                observe(&c, w, o, w->active & ~(*step == STEP_PART ? s->unfinished[s->n_unfinished - 1].p.mask : 0));
            }
            o++;
        } while (o != end && *step == STEP_NEXT);
        uint32_t ran = (uint32_t)(o - b->op), pc = w->at + 4 * (ran - 1);
        bool quantum_end = w->quantum && w->quantum == ran;
        n += ran;
        e->count.lanes += ran * (uint64_t)__builtin_popcount(w->active);
        w->quantum -= w->quantum ? ran : 0;
        if (*step == STEP_JUMP) {
            jump(&c, w, o - 1, pc, quantum_end);
            *step = STEP_NEXT;
        } else if (*step == STEP_NEXT || *step == STEP_PART) {
            w->at = pc + 4;
            if (w->at == w->merge || quantum_end) {
                park(w, w->at);
                warp_select(w);
            }
        } else {
            w->at = pc;
        }
        if (*step != STEP_NEXT) {
            f->pc = pc;
            return n;
        }
    }
    return n;
}
