/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs for dispatches in streams: short ones whose results do not depend on the order of work-items. Kind PROGRAM
 * tests single instructions. These test dispatches among other packets: geometry, address spaces, programs that change,
 * and memory that earlier packets have written.
 *
 * The argument block is {out, a, b, k}. A program's number is its place in the page. Two pages have programs that
 * differ in a constant, so that a stale instruction shows in the result.
 */
#include "asm.h"
#include "stream.h"

#define PROGRAM_BYTES 256u
#define PROGRAM_WORDS (PROGRAM_BYTES / 4)
#define COUNTED 16u

enum program { PROGRAM_FILL, PROGRAM_ADD, PROGRAM_COUNT, PROGRAM_STACK, PROGRAM_EXCHANGE, PROGRAMS,
               PROGRAM_GATE = PROGRAMS };

/* Registers of all programs. */
enum { ID = X5, T = X6, U = X7, OFFSET = X8, OUT = X9, FIRST = 11, SECOND = 12, FACTOR = 13, V = 14, N = 15 };

static uint32_t emit(uint32_t *w, uint32_t n, uint32_t word)
{
    w[n] = word;
    return n + 1;
}

/** Loads ID, the work-item's number in the range; OFFSET, four times ID; and the arguments. */
static uint32_t begin(uint32_t *w)
{
    uint32_t n = 0;
    n = emit(w, n, asm_csrr(ID, TERN_CSR_GLOBAL_ID_Z));
    n = emit(w, n, asm_csrr(T, TERN_CSR_OFFSET_Z));
    n = emit(w, n, asm_sub(ID, ID, T));
    for (uint32_t d = 1; d < 3; d++) { /* y, x */
        n = emit(w, n, asm_csrr(T, TERN_CSR_GLOBAL_SIZE_Z - d));
        n = emit(w, n, asm_mul(ID, ID, T));
        n = emit(w, n, asm_csrr(T, TERN_CSR_GLOBAL_ID_Z - d));
        n = emit(w, n, asm_csrr(U, TERN_CSR_OFFSET_Z - d));
        n = emit(w, n, asm_sub(T, T, U));
        n = emit(w, n, asm_add(ID, ID, T));
    }
    n = emit(w, n, asm_slli(OFFSET, ID, 2));
    n = emit(w, n, asm_lw(OUT, 0, A0));
    n = emit(w, n, asm_lw(FIRST, 4, A0));
    n = emit(w, n, asm_lw(SECOND, 8, A0));
    return emit(w, n, asm_lw(FACTOR, 12, A0));
}

static uint32_t body(uint32_t *w, uint32_t n, enum program program, uint32_t constant)
{
    switch (program) {
    case PROGRAM_FILL:
        n = emit(w, n, asm_mul(V, ID, FACTOR));
        n = emit(w, n, asm_csrr(T, TERN_CSR_USER0));
        n = emit(w, n, asm_add(V, V, T));
        n = emit(w, n, asm_csrr(T, TERN_CSR_USER1));
        n = emit(w, n, asm_sub(V, V, T));
        break;
    case PROGRAM_ADD:
        n = emit(w, n, asm_add(FIRST, FIRST, OFFSET));
        n = emit(w, n, asm_add(SECOND, SECOND, OFFSET));
        n = emit(w, n, asm_lw(V, 0, FIRST));
        n = emit(w, n, asm_lw(T, 0, SECOND));
        n = emit(w, n, asm_add(V, V, T));
        break;
    case PROGRAM_COUNT:
        n = emit(w, n, asm_andi(OFFSET, OFFSET, 4 * (COUNTED - 1)));
        n = emit(w, n, asm_add(OUT, OUT, OFFSET));
        n = emit(w, n, asm_addi(V, ID, constant));
        n = emit(w, n, asm_amo(AMOADD, 0, X0, V, OUT));
        return emit(w, n, ASM_EXIT);
    case PROGRAM_STACK:
        n = emit(w, n, asm_sw(ID, (uint32_t)-4, SP));
        n = emit(w, n, asm_sw(FACTOR, (uint32_t)-64, SP));
        n = emit(w, n, asm_csrr(T, TERN_CSR_STACK_TOP));
        n = emit(w, n, asm_lw(V, (uint32_t)-4, T));
        n = emit(w, n, asm_lw(T, (uint32_t)-64, SP));
        n = emit(w, n, asm_mul(V, V, T));
        break;
    case PROGRAM_GATE:
        n = emit(w, n, asm_amo(AMOOR, 0, V, X0, OUT));
        n = emit(w, n, asm_b(BEQ, V, X0, (uint32_t)-4));
        return emit(w, n, ASM_EXIT);
    default:
        n = emit(w, n, asm_csrr(V, TERN_CSR_LOCAL_ID_Z));
        n = emit(w, n, asm_csrr(N, TERN_CSR_LOCAL_SIZE_Z));
        for (uint32_t d = 1; d < 3; d++) {
            n = emit(w, n, asm_csrr(T, TERN_CSR_LOCAL_SIZE_Z - d));
            n = emit(w, n, asm_mul(N, N, T));
            n = emit(w, n, asm_mul(V, V, T));
            n = emit(w, n, asm_csrr(T, TERN_CSR_LOCAL_ID_Z - d));
            n = emit(w, n, asm_add(V, V, T));
        }
        n = emit(w, n, asm_lui(T, TERN_WIN_LOCAL_BASE));
        n = emit(w, n, asm_shadd(2, U, V, T));
        n = emit(w, n, asm_add(ID, ID, FACTOR));
        n = emit(w, n, asm_sw(ID, 0, U));
        n = emit(w, n, ASM_BARRIER);
        n = emit(w, n, asm_sub(N, N, V)); /* the partner's number plus one; it is as far from the end */
        n = emit(w, n, asm_shadd(2, U, N, T));
        n = emit(w, n, asm_lw(V, (uint32_t)-4, U));
        break;
    }
    n = emit(w, n, asm_addi(V, V, constant));
    n = emit(w, n, asm_add(OUT, OUT, OFFSET));
    n = emit(w, n, asm_sw(V, 0, OUT));
    return emit(w, n, ASM_EXIT);
}

void stream_kernel_init(struct stream *st)
{
    for (uint32_t page = 0; page < 2; page++) {
        for (uint32_t i = 0; i <= PROGRAM_GATE; i++) {
            uint32_t w[PROGRAM_WORDS] = {0};
            body(w, begin(w), i, 1 + 100 * page);
            scene_put(st->scene, CODE + page * PAGE + i * PROGRAM_BYTES, w, sizeof w);
        }
    }
    st->scene->code = CODE;
    st->scene->code_bytes = PAGE;
    st->scene->code_va = VA_CODE;
}

/* ------------------------------------------------------------------ geometry */

/** Draws a range whose groups have at most `items` work-items, and with at most so many groups. Returns its
 * work-items. */
static uint32_t draw_range(struct rng *r, uint32_t items, uint32_t groups, struct tern_pkt_dispatch *p)
{
    uint32_t local[3], count[3], edge[3], global[3], all = 1;
    for (uint32_t k = 0, first = rng_below(r, 3); k < 3; k++) {
        uint32_t d = (first + k) % 3;
        local[d] = rng_one_in(r, 3)   ? least(items, 1 + rng_below(r, 4))
                   : rng_one_in(r, 3) ? items
                                      : 1 + rng_below(r, items);
        count[d] = 1 + rng_below(r, groups);
        edge[d] = rng_one_in(r, 2) ? local[d] : 1 + rng_below(r, local[d]);
        global[d] = (count[d] - 1) * local[d] + edge[d];
        all *= global[d];
        items /= local[d];
        groups /= count[d];
    }
    p->local_x = local[0], p->local_y = local[1], p->local_z = local[2];
    p->groups_x = count[0], p->groups_y = count[1], p->groups_z = count[2];
    p->edge_x = edge[0], p->edge_y = edge[1], p->edge_z = edge[2];
    p->global_x = global[0], p->global_y = global[1], p->global_z = global[2];
    p->work_dim = global[2] > 1 ? 3 : global[1] > 1 ? 2 + rng_below(r, 2) : 1 + rng_below(r, 3);
    return all;
}

/** Draws warps, slots and local memory of a group. */
static void draw_room(const struct geometry *g, struct rng *r, uint32_t program, struct tern_pkt_dispatch *p)
{
    uint32_t items = p->local_x * p->local_y * p->local_z,
        needed = program == PROGRAM_EXCHANGE ? (4 * items + 63) & ~63u : 0;
    p->group_warps = (items + g->lanes - 1) / g->lanes;
    p->local_bytes = rng_one_in(r, 4) ? g->local_bytes : needed + 64 * rng_below(r, 9);
    uint32_t slots = g->warps / p->group_warps;
    slots = p->local_bytes ? least(slots, g->local_bytes / p->local_bytes) : slots;
    p->group_slots = rng_one_in(r, 2) ? slots : 1 + rng_below(r, slots);
}

static void draw_stack(const struct buffer *b, struct rng *r, uint32_t program, struct tern_pkt_dispatch *p,
                       struct packet *out)
{
    uint32_t threads = b->st->g->lanes * b->st->g->warps, most = 6;
    p->stack_log2 = 6 + rng_below(r, 15);
    p->stack = rng_next(r) & ~63u;
    if (program == PROGRAM_STACK) {
        for (; most < 20 && threads << (most + 1) <= STACK_BYTES; most++) {
        }
        p->stack_log2 = 6 + rng_below(r, most - 5);
        uint32_t bytes = threads << p->stack_log2, offset = 64 * rng_below(r, (STACK_BYTES - bytes) / 64 + 1);
        p->stack = (b->paging ? STACKS + b->engine * STACK_BYTES : VA_STACK) + offset;
        out->open_first = STACKS + b->engine * STACK_BYTES + offset;
        out->open_bytes = bytes;
        out->reason = OPEN_STACK;
        out->open_dirty = true;
    }
}

/** Draws the address of a kernel's memory; kernels have 32-bit addresses. */
static uint32_t pick(const struct buffer *b, struct rng *r, uint32_t bytes, unsigned use, enum aim aim)
{
    uint64_t at = stream_pick(b, r, bytes, 4, use, aim);
    return at >= TERN_WIN_LOCAL_BASE ? (uint32_t)b->st->g->mem_bytes : (uint32_t)at;
}

/** A program or arguments that cannot be read: every work-item faults at once. */
static uint32_t nowhere(const struct buffer *b, struct rng *r, bool entry)
{
    return b->paging                      ? (uint32_t)b->st->g->mem_bytes + PAGE * rng_below(r, 9)
           : entry && rng_one_in(r, 2) ? VA_ARGS + 4 * rng_below(r, 99)
                                          : 0x30000000u + 4 * rng_below(r, 0x3fffff);
}

void stream_dispatch(const struct buffer *b, struct rng *r, uint32_t item, enum aim aim, struct tern_pkt_dispatch *p,
                     struct packet *out)
{
    const struct geometry *g = b->st->g;
    uint32_t program = rng_below(r, PROGRAMS), wild = aim == AIM_WILD ? rng_below(r, 5) : 5;
    uint32_t most = rng_one_in(r, 8) ? least(g->lanes * g->warps, 64)
                                     : 1 + rng_below(r, rng_one_in(r, 3) ? 2 * g->lanes : g->lanes);
    /* One warp: with several the faulting one would be open. Counters may all lie in the good part of a place. */
    if (aim == AIM_WILD) {
        bool sure = program != PROGRAM_STACK && !(wild == 0 && program == PROGRAM_COUNT);
        program = wild == 1 ? PROGRAM_ADD : sure ? program : PROGRAM_FILL;
        most = g->lanes;
    }
    *out = (struct packet){.lines = TERN_PKT_DISPATCH_LINES};
    *p = (struct tern_pkt_dispatch){.offset_x = rng_next(r), .offset_y = rng_next(r), .offset_z = rng_next(r),
                                    .user0 = rng_next(r), .user1 = rng_next(r)};
    uint32_t items = draw_range(r, most, aim == AIM_WILD ? 1 : rng_one_in(r, 8) ? 6 : 1 + rng_one_in(r, 3), p);
    draw_room(g, r, program, p);
    draw_stack(b, r, program, p, out);

    uint32_t bytes = program == PROGRAM_COUNT ? 4 * COUNTED : 4 * items;
    bool count = program == PROGRAM_COUNT;
    uint32_t args[LINE / 4] = {
        pick(b, r, bytes, USE_WRITE, wild == 0 ? AIM_WILD : AIM_GOOD),
        pick(b, r, bytes, USE_READ, wild == 1 ? AIM_WILD : AIM_GOOD), pick(b, r, bytes, USE_READ, AIM_GOOD),
        rng_next(r)};
    if (count && aim == AIM_GOOD && rng_one_in(r, 2)) {
        args[0] = (b->paging ? COUNTERS : VA_COUNTERS) + LINE * rng_below(r, 4);
    }
    out->box[0] = (struct box){.at = args[0], .width = bytes, .rows = 1, .slices = 1,
                               .use = USE_WRITE | (count ? USE_READ : 0)};
    out->box[1] = (struct box){.at = args[1], .width = bytes, .rows = 1, .slices = 1, .use = USE_READ};
    out->box[2] = (struct box){.at = args[2], .width = bytes, .rows = 1, .slices = 1, .use = USE_READ};
    out->boxes = wild == 2 || wild == 3 ? 0 : program == PROGRAM_ADD ? 3 : 1;
    out->faults = wild == 2 || wild == 3;
    scene_put(b->st->scene, ARGS + item * LINE, args, sizeof args);
    p->args = wild == 2 ? nowhere(b, r, false) : (b->paging ? ARGS : VA_ARGS) + item * LINE;
    p->entry = (b->paging ? CODE + rng_below(r, 2) * PAGE : VA_CODE + 2 * rng_below(r, 2) * PAGE) +
               program * PROGRAM_BYTES;
    p->entry = wild == 3 ? nowhere(b, r, true) : p->entry;
    int bad = tern_pkt_dispatch_pack(p, out->w);
    b->st->error = b->st->error ? b->st->error : bad;
}

void stream_gate_kernel(struct buffer *b, struct rng *r, uint32_t item, uint32_t at)
{
    const struct geometry *g = b->st->g;
    uint32_t items = 1 + rng_below(r, 2 * g->lanes), args[LINE / 4] = {at};
    struct tern_pkt_dispatch d = {
        .entry = (b->paging ? CODE : VA_CODE) + PROGRAM_GATE * PROGRAM_BYTES,
        .args = (b->paging ? ARGS : VA_ARGS) + item * LINE, .work_dim = 1,
        .group_warps = (items + g->lanes - 1) / g->lanes, .group_slots = 1, .stack_log2 = 6, .global_x = items,
        .global_y = 1, .global_z = 1, .local_x = items, .local_y = 1, .local_z = 1, .groups_x = 1, .groups_y = 1,
        .groups_z = 1, .edge_x = items, .edge_y = 1, .edge_z = 1};
    struct packet p = {.lines = TERN_PKT_DISPATCH_LINES};
    int bad = tern_pkt_dispatch_pack(&d, p.w);
    scene_put(b->st->scene, ARGS + item * LINE, args, sizeof args);
    stream_admit(b, &p, false);
    stream_emit(b, p.w, p.lines);
    b->st->error = b->st->error ? b->st->error : bad;
}

void stream_fresh_code(struct buffer *b, struct rng *r, uint32_t item)
{
    uint32_t from = CODE + rng_below(r, 2) * PAGE, to = CODE + (2 + b->engine) * PAGE;
    struct tern_pkt_copy c = {.src_lo = b->paging ? from : VA_CODE, .dst_lo = b->paging ? to : VA_CODE + PAGE,
                              .width = PROGRAMS * PROGRAM_BYTES, .rows = 1, .slices = 1};
    struct packet p = {.lines = TERN_PKT_COPY_LINES};
    int bad = tern_pkt_copy_pack(&c, p.w);
    stream_admit(b, &p, false);
    stream_emit(b, p.w, p.lines);
    stream_put(b, r, item, TERN_PKT_BARRIER, AIM_GOOD);
    for (int tries = 0; tries < 12; tries++) {
        struct tern_pkt_dispatch d;
        stream_dispatch(b, r, item, AIM_GOOD, &d, &p);
        d.entry = c.dst_lo + d.entry % PAGE;
        if (bad == 0) {
            bad = tern_pkt_dispatch_pack(&d, p.w);
        }
        if (stream_admit(b, &p, false)) {
            stream_emit(b, p.w, p.lines);
            break;
        }
    }
    b->st->error = b->st->error ? b->st->error : bad;
}
