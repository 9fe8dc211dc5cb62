/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares two histories of warp instructions by work-item. Devices may group lanes and order warps in any way, but the
 * instructions of one work-item are fixed. A work-item is named by engine, submission, group and number in its group.
 * The dispatches of a submission run one after the other, so they need no name.
 *
 * Everything that depends on a wrong value is wrong too, so registers that differ are tracked. An instruction is the
 * cause of a difference if its sources are equal and its result is not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

/** One lane of one warp instruction. */
struct step {
    uint32_t engine, submit, group[3], item;
    uint32_t index, lane; /* history.r[index], and its lane */
};

struct steps {
    struct step *step;
    uint32_t count;
};

/** State of the comparison, and the best difference so far. rank: 0 a cause, 1 a consequence, 2 open. */
struct walk {
    const struct history *h[2];
    const struct ending *end[2];
    struct parting best;
    uint32_t rank;
};

void history_add(void *user, const struct tern_sim_retired *r)
{
    struct history *h = user;
    if (h->count == h->room) {
        uint32_t room = h->room ? 2 * h->room : 1024;
        struct tern_sim_retired *larger = h->lost ? NULL : realloc(h->r, room * sizeof *larger);
        if (!larger) {
            h->lost = true;
            return;
        }
        h->r = larger;
        h->room = room;
    }
    h->r[h->count++] = *r;
}

void history_free(struct history *h)
{
    free(h->r);
    *h = (struct history){0};
}

/* ------------------------------------------------- steps of each work-item */

/** Returns the submission that an engine ran at a time: that of the last part that began until then, or the next
 * one. */
static uint32_t submission_at(const struct scene *s, const struct ending *e, uint32_t engine, uint64_t time)
{
    const struct seen *last = NULL;
    for (uint32_t i = 0; i < e->count + e->cut_count; i++) {
        const struct seen *x = i < e->count ? &e->seen[i] : &e->cuts[i - e->count];
        if (x->engine == engine && x->begin && x->begin <= time && (!last || x->begin >= last->begin)) {
            last = x;
        }
    }
    if (last && (time <= last->end || last->kind == TERN_ENGINE_IND_INFO_KIND_PREEMPTED)) {
        return last->submit;
    }
    uint32_t i = last ? last->submit + 1 : 0;
    while (i < s->submits && s->submit[i].engine != engine) {
        i++;
    }
    return i;
}

static int by_item(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    const uint32_t p[] = {x->engine, x->submit, x->group[2], x->group[1], x->group[0], x->item};
    const uint32_t q[] = {y->engine, y->submit, y->group[2], y->group[1], y->group[0], y->item};
    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
        if (p[i] != q[i]) {
            return p[i] < q[i] ? -1 : 1;
        }
    }
    return 0;
}

static int by_item_and_order(const void *a, const void *b)
{
    int r = by_item(a, b);
    const struct step *x = a, *y = b;
    return r ? r : (x->index > y->index) - (x->index < y->index);
}

static int steps_of(const struct scene *s, const struct history *h, const struct ending *e, uint32_t lanes,
                    struct steps *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        n += (uint32_t)__builtin_popcount(h->r[i].mask);
    }
    out->step = malloc((n + 1) * sizeof *out->step);
    if (!out->step) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        const struct tern_sim_retired *r = &h->r[i];
        struct step step = {.engine = r->engine, .submit = submission_at(s, e, r->engine, r->time), .index = i,
                            .group = {r->group[0], r->group[1], r->group[2]}};
        if (step.submit < s->submits) {
            step.engine = s->submit[step.submit].engine; /* it may have run on the other engine */
        }
        /* foreign work is not compared */
        for (step.lane = step.submit == s->submits ? lanes : 0; step.lane < lanes; step.lane++) {
            if (r->mask >> step.lane & 1) {
                step.item = r->warp * lanes + step.lane;
                out->step[out->count++] = step;
            }
        }
    }
    qsort(out->step, out->count, sizeof *out->step, by_item_and_order);
    return 0;
}

/* ------------------------------------------------------ what an instruction is */

/** Returns the registers that an instruction reads, one bit each, and possibly others. */
static uint32_t sources(uint32_t word)
{
    uint32_t rd = 1u << (word >> 7 & 31), rs1 = 1u << (word >> 15 & 31), rs2 = 1u << (word >> 20 & 31),
        rs3 = 1u << (word >> 27);
    switch (word & 0x7f) {
    case 0x03: /* loads, immediate operations, jalr */
    case 0x13:
    case 0x67:
        return rs1;
    case 0x73: /* CSRs: rs1 if funct3 is below 4 */
        return word >> 14 & 1 ? 0 : rs1;
    case 0x23: /* stores, branches, register operations */
    case 0x33:
    case 0x53:
    case 0x63:
        return rs1 | rs2;
    case 0x2f: /* atomics; compare-and-swap also reads rd */
        return rs1 | rs2 | (word >> 27 == 5 ? rd : 0);
    case 0x43: /* fused multiply-add */
    case 0x47:
    case 0x4b:
    case 0x4f:
        return rs1 | rs2 | rs3;
    default:
        return 0;
    }
}

/** Returns true if the result may differ: the clock, the hardware thread, and atomics, whose order is open. */
static bool open_result(uint32_t word)
{
    static const uint32_t csr[] = {TERN_CSR_CYCLE, TERN_CSR_TIME, TERN_CSR_CYCLEH, TERN_CSR_TIMEH, TERN_CSR_THREAD};
    for (size_t i = 0; (word & 0x7f) == 0x73 && i < sizeof csr / sizeof csr[0]; i++) {
        if (word >> 20 == csr[i]) {
            return true;
        }
    }
    return (word & 0x7f) == 0x2f;
}

/* --------------------------------------------------------------- the walk */

static const struct seen *fault_of(const struct ending *e, uint32_t submit)
{
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->seen[i].submit == submit && e->seen[i].kind == TERN_ENGINE_IND_INFO_KIND_FAULTED) {
            return &e->seen[i];
        }
    }
    return NULL;
}

/** Replaces the best difference by an earlier one. Other lanes of the same warp instruction are added. */
static void offer(struct walk *w, uint32_t rank, const struct parting *p)
{
    struct parting *best = &w->best;
    bool sooner = best->kind == PART_NONE || rank < w->rank || (rank == w->rank && p->time[1] < best->time[1]);
    bool same = !sooner && p->kind == PART_VALUE && best->kind == PART_VALUE && rank == w->rank &&
                p->time[1] == best->time[1] && p->engine == best->engine && p->warp == best->warp &&
                memcmp(p->group, best->group, sizeof p->group) == 0;
    if (sooner) {
        *best = *p;
        w->rank = rank;
    }
    if (sooner || same) {
        best->lanes |= 1u << p->lane;
        best->expected[p->lane] = p->value[0];
        best->got[p->lane] = p->value[1];
    }
}

static void fill(struct parting *p, const struct step *a, const struct step *b, const struct walk *w)
{
    const struct tern_sim_retired *x = a ? &w->h[0]->r[a->index] : NULL, *y = b ? &w->h[1]->r[b->index] : NULL;
    const struct step *any = b ? b : a;
    const struct tern_sim_retired *r = b ? y : x;
    p->engine = any->engine;
    p->submit = any->submit;
    memcpy(p->group, any->group, sizeof p->group);
    p->warp = r->warp;
    p->lane = any->lane;
    p->mask = r->mask;
    p->rd = r->rd;
    for (int side = 0; side < 2; side++) {
        const struct tern_sim_retired *t = side ? y : x;
        p->pc[side] = t ? t->pc : 0;
        p->word[side] = t ? t->word : 0;
        p->time[side] = t ? t->time : 0;
        p->value[side] = t ? t->value[side ? b->lane : a->lane] : 0;
    }
}

/** A work-item goes on where the other side's has ended. */
static void uneven(struct walk *w, struct parting *p, const struct step *a, const struct step *b, uint64_t last)
{
    int lacks = a ? 1 : 0;
    const struct step *more = a ? a : b;
    const struct tern_sim_retired *r = &w->h[1 - lacks]->r[more->index];
    const struct seen *f = fault_of(w->end[lacks], more->submit);
    bool here = f && f->pc == r->pc && f->warp == r->warp && f->lane == more->lane &&
                memcmp(f->group, r->group, sizeof f->group) == 0;
    if (f && !here) {
        return; /* cut off by the fault of another work-item */
    }
    p->kind = a ? PART_NOT_RUN : PART_EXTRA;
    fill(p, a, b, w);
    p->time[1] = b ? p->time[1] : last;
    offer(w, here ? 0 : 1, p);
}

static void walk_item(struct walk *w, const struct step *a, uint32_t na, const struct step *b, uint32_t nb)
{
    struct parting p = {0};
    uint32_t differ = 0; /* mask of registers */
    uint64_t last = 0;
    for (uint32_t i = 0; i < na || i < nb; i++) {
        if (i >= na || i >= nb) {
            uneven(w, &p, i < na ? &a[i] : NULL, i < nb ? &b[i] : NULL, last);
            return;
        }
        const struct tern_sim_retired *x = &w->h[0]->r[a[i].index], *y = &w->h[1]->r[b[i].index];
        uint32_t vx = x->value[a[i].lane], vy = y->value[b[i].lane];
        bool follows = differ & sources(x->word);
        last = y->time;
        if (x->pc != y->pc || x->word != y->word) {
            p.kind = PART_FLOW;
            fill(&p, &a[i], &b[i], w);
            offer(w, differ != 0, &p);
            return;
        }
        if (x->rd != y->rd || (x->rd && vx != vy)) {
            p.kind = PART_VALUE;
            fill(&p, &a[i], &b[i], w);
            offer(w, open_result(x->word) ? 2 : follows, &p);
        }
        if (x->rd) {
            uint32_t bit = 1u << x->rd;
            differ = vx != vy ? differ | bit : differ & ~bit;
            p.known |= bit;
            p.before[0][x->rd] = vx;
            p.before[1][x->rd] = vy;
        }
    }
}

static uint32_t run_of(const struct steps *s, uint32_t from)
{
    uint32_t n = from;
    while (n < s->count && by_item(&s->step[from], &s->step[n]) == 0) {
        n++;
    }
    return n - from;
}

int history_compare(const struct scene *s, const struct history *model, const struct ending *model_end,
                    const struct history *rtl, const struct ending *rtl_end, uint32_t lanes, struct parting *out)
{
    struct walk w = {.h = {model, rtl}, .end = {model_end, rtl_end}};
    struct steps a = {0}, b = {0};
    int r = steps_of(s, model, model_end, lanes, &a);
    if (r == 0) {
        r = steps_of(s, rtl, rtl_end, lanes, &b);
    }
    for (uint32_t i = 0, j = 0; r == 0 && (i < a.count || j < b.count);) {
        int order = i >= a.count ? 1 : j >= b.count ? -1 : by_item(&a.step[i], &b.step[j]);
        uint32_t na = order <= 0 ? run_of(&a, i) : 0, nb = order >= 0 ? run_of(&b, j) : 0;
        walk_item(&w, &a.step[i < a.count ? i : 0], na, &b.step[j < b.count ? j : 0], nb);
        i += na;
        j += nb;
    }
    if (r == 0) {
        *out = w.best;
    }
    free(a.step);
    free(b.step);
    return r;
}
