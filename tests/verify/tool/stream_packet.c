/* SPDX-License-Identifier: Apache-2.0 */
/** Well-formed packets, with random fields within their ranges and at the edges, and the memory that each reads and
 * writes. */
#include <string.h>

#include "stream.h"

const uint32_t stream_opcodes[13] = {
    TERN_PKT_NOP, TERN_PKT_DISPATCH, TERN_PKT_COPY, TERN_PKT_FILL, TERN_PKT_FENCE_SIGNAL, TERN_PKT_FENCE_WAIT,
    TERN_PKT_TIMESTAMP, TERN_PKT_BARRIER, TERN_PKT_USER_CALL, TERN_PKT_PTE_UPDATE, TERN_PKT_PTE_COPY,
    TERN_PKT_TLB_FLUSH, TERN_PKT_CONTEXT_INIT,
};

uint32_t stream_edge(struct rng *r, uint32_t most)
{
    const uint32_t edges[] = {0, 1, 63, 64, 65, most - 1, most, most / 2};
    uint32_t edge = edges[rng_below(r, 8)];
    return rng_one_in(r, 4) && edge <= most ? edge : rng_below(r, most) + rng_below(r, 2);
}

uint64_t stream_random64(struct rng *r)
{
    uint64_t v = (uint64_t)rng_next(r) << 32;
    return v | rng_next(r);
}

/** 64-bit values of fences: small, at the edges of the halves, or random. */
static uint64_t value64(struct rng *r)
{
    static const uint64_t edges[] = {0, 1, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX};
    return rng_one_in(r, 3) ? edges[rng_below(r, 7)] : rng_one_in(r, 2) ? rng_below(r, 1000) : stream_random64(r);
}

/* --------------------------------------------------------------------- boxes */

enum shape { SHAPE_NOTHING, SHAPE_ROW, SHAPE_ROWS, SHAPE_SLICES, SHAPE_BYTES };

/** A box that takes long, so that a stop probably finds it begun: some slices of some rows of some lines. */
static struct box draw_long(struct rng *r)
{
    struct box b = {.width = 100 + rng_below(r, 600)};
    b.rows = 2 + rng_below(r, 3);
    b.slices = 2 + rng_below(r, 4);
    return b;
}

/** A box without a place. Pitches that are not used are random. */
static struct box draw_shape(const struct buffer *b, struct rng *r)
{
    if (b->st->plan.stop_every && rng_one_in(r, 3)) {
        return draw_long(r);
    }
    static const uint8_t shapes[] = {SHAPE_NOTHING, SHAPE_ROW, SHAPE_ROW, SHAPE_ROW, SHAPE_ROWS, SHAPE_ROWS,
                                     SHAPE_SLICES, SHAPE_BYTES};
    uint32_t shape = shapes[rng_below(r, 8)];
    struct box box = {.width = stream_edge(r, rng_one_in(r, 200)  ? 50000
                                              : rng_one_in(r, 24) ? 9000
                                              : rng_one_in(r, 2)  ? 400
                                                                  : 130),
                      .rows = 1, .slices = 1};
    if (shape == SHAPE_ROWS || shape == SHAPE_SLICES) {
        box.width = 1 + rng_below(r, 160);
        box.rows = 1 + rng_below(r, shape == SHAPE_ROWS ? 6 : 3);
        box.slices = shape == SHAPE_ROWS ? 1 : 2 + rng_below(r, 2);
    } else if (shape == SHAPE_BYTES) {
        box.width = 1 + (rng_one_in(r, 3) ? rng_below(r, 8) : 0);
        box.rows = 1 + rng_below(r, rng_one_in(r, 3) ? 20 : 6);
    } else if (shape == SHAPE_NOTHING) {
        const uint32_t any[3] = {rng_next(r), rng_next(r), rng_next(r)};
        uint32_t none = rng_below(r, 3);
        box.width = none == 0 ? 0 : any[0];
        box.rows = none == 1 ? 0 : any[1];
        box.slices = none == 2 ? 0 : any[2];
    }
    return box;
}

static bool empty(const struct box *b)
{
    return !b->width || !b->rows || !b->slices;
}

/** Draws the pitches of rows and slices; less than a row only if rows may overlap. Returns the bytes from end to
 * end. */
static uint64_t draw_pitches(struct rng *r, struct box *b, bool may_meet)
{
    uint32_t width = (uint32_t)b->width, close = may_meet && rng_one_in(r, 4) ? rng_below(r, width + 1) : width;
    b->row = b->rows == 1                       ? rng_next(r)
             : rng_one_in(r, 5) && width < 3900 ? PAGE - 70 + rng_below(r, 140)
                                                : close + stream_edge(r, 100);
    uint64_t slice = b->rows == 1 ? width : (uint64_t)b->row * b->rows;
    b->slice = b->slices == 1 ? rng_next(r) : (uint32_t)slice + stream_edge(r, 200);
    return b->width + (b->rows - 1) * (uint64_t)b->row + (b->slices - 1) * (uint64_t)b->slice;
}

/** Places a box; an empty one may be anywhere. */
static void place(const struct buffer *b, struct rng *r, struct box *box, unsigned use, bool may_meet, enum aim aim)
{
    box->use = use;
    if (empty(box)) {
        box->at = b->paging ? stream_random64(r) >> 30 : rng_next(r);
        box->row = rng_next(r);
        box->slice = rng_next(r);
    } else if (aim == AIM_GOOD && box->width <= 8 && box->rows > 1 && box->slices == 1 && rng_one_in(r, 3)) {
        uint32_t stripe = 16 * rng_below(r, 60) + 8 * b->engine;
        box->row = 16 * (1 + rng_below(r, 3));
        box->slice = rng_next(r);
        box->at = (b->paging ? STRIPES : VA_STRIPES) + stripe + rng_below(r, 9 - (uint32_t)box->width);
    } else {
        uint64_t bytes = draw_pitches(r, box, may_meet);
        box->at = stream_pick(b, r, bytes, rng_one_in(r, 3) ? 64 : 1, use, aim);
        if (box->wraps && !b->paging && box->slices == 1 && rng_one_in(r, 5)) { /* from the last row to the first */
            box->at += (box->rows - 1) * (uint64_t)box->row;
            box->row = 0u - box->row;
        }
    }
}

static int draw_copy(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    struct box src = draw_shape(b, r), dst;
    src.wraps = true;
    dst = src;
    bool wild_src = rng_one_in(r, 2);
    place(b, r, &src, USE_READ, true, wild_src ? aim : AIM_GOOD);
    place(b, r, &dst, USE_WRITE, false, wild_src ? AIM_GOOD : aim);
    p->box[0] = src;
    p->box[1] = dst;
    p->boxes = 2;
    return tern_pkt_copy_pack(&(struct tern_pkt_copy){
        .src_lo = (uint32_t)src.at, .src_hi = (uint32_t)(src.at >> 32), .dst_lo = (uint32_t)dst.at,
        .dst_hi = (uint32_t)(dst.at >> 32), .width = (uint32_t)src.width, .rows = src.rows, .slices = src.slices,
        .src_row = src.row, .src_slice = src.slice, .dst_row = dst.row, .dst_slice = dst.slice}, p->w);
}

static int draw_fill(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    struct box dst = draw_shape(b, r);
    place(b, r, &dst, USE_WRITE, false, aim);
    struct tern_pkt_fill f = {.dst_lo = (uint32_t)dst.at, .dst_hi = (uint32_t)(dst.at >> 32),
                              .width = (uint32_t)dst.width, .rows = dst.rows, .slices = dst.slices, .dst_row = dst.row,
                              .dst_slice = dst.slice};
    for (uint32_t i = 0; i < 16; i++) {
        f.pattern[i] = rng_next(r);
    }
    p->box[0] = dst;
    p->boxes = 1;
    return tern_pkt_fill_pack(&f, p->w);
}

/* -------------------------------------------------------------------- fences */

static struct box eight(uint64_t at, unsigned use)
{
    return (struct box){.at = at, .width = 8, .rows = 1, .slices = 1, .use = use};
}

/** The item's line of the fences, or data. */
static uint64_t fence_place(const struct buffer *b, struct rng *r, uint32_t item, unsigned use, enum aim aim)
{
    return aim == AIM_GOOD && rng_one_in(r, 2) ? (b->paging ? FENCES : VA_FENCES) + item * LINE + 8 * rng_below(r, 7)
                                               : stream_pick(b, r, 8, 8, use, aim);
}

static int draw_signal(const struct buffer *b, struct rng *r, uint32_t item, enum aim aim, struct packet *p)
{
    uint64_t at = fence_place(b, r, item, USE_WRITE, aim), v = value64(r);
    p->box[0] = eight(at, USE_WRITE);
    p->boxes = 1;
    return tern_pkt_fence_signal_pack(&(struct tern_pkt_fence_signal){
        .address_lo = (uint32_t)at, .address_hi = (uint32_t)(at >> 32), .value_lo = (uint32_t)v,
        .value_hi = (uint32_t)(v >> 32)}, p->w);
}

/** A satisfied wait: for a constant, or for zero, anywhere. */
static int draw_wait(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    uint32_t i = rng_below(r, PAGE / 8);
    uint64_t at = (b->paging ? CONSTANTS : VA_CONSTANTS) + 8 * i, there = b->st->constant[i], v = value64(r);
    v = rng_one_in(r, 3) ? there : v <= there ? v : there - (there && rng_one_in(r, 2));
    if (aim == AIM_WILD || rng_one_in(r, 4)) {
        at = stream_pick(b, r, 8, 8, USE_READ, aim);
        v = 0;
    }
    p->box[0] = eight(at, USE_READ);
    p->boxes = 1;
    return tern_pkt_fence_wait_pack(&(struct tern_pkt_fence_wait){
        .address_lo = (uint32_t)at, .address_hi = (uint32_t)(at >> 32), .value_lo = (uint32_t)v,
        .value_hi = (uint32_t)(v >> 32)}, p->w);
}

static int draw_timestamp(const struct buffer *b, struct rng *r, uint32_t item, enum aim aim, struct packet *p)
{
    uint64_t at = fence_place(b, r, item, USE_WRITE, aim), pa;
    bool zero;
    p->box[0] = eight(at, USE_WRITE);
    p->boxes = 1;
    if (stream_translate(b, at, USE_WRITE, &pa, &zero)) {
        p->open_first = pa;
        p->open_bytes = 8;
        p->reason = OPEN_TIME;
    }
    return tern_pkt_timestamp_pack(&(struct tern_pkt_timestamp){.address_lo = (uint32_t)at,
                                                                .address_hi = (uint32_t)(at >> 32)}, p->w);
}

/* ------------------------------------------------------------------ the rest */

static int draw_user_call(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    uint32_t n = stream_edge(r, rng_one_in(r, 8) ? 400 : 40);
    bool wild_x = rng_one_in(r, 2), same = rng_one_in(r, 6);
    uint64_t y = stream_pick(b, r, 4ull * n, 4, USE_READ | USE_WRITE, wild_x && !same ? AIM_GOOD : aim);
    uint64_t x = same ? y : stream_pick(b, r, 4ull * n, 4, USE_READ, wild_x ? aim : AIM_GOOD);
    x = x >> 32 ? b->st->g->mem_bytes : x; /* the packet has 32-bit addresses */
    y = y >> 32 ? b->st->g->mem_bytes : y;
    struct tern_pkt_user_call c = {TERN_EXECUTOR_ID_SAXPY, {n, rng_next(r), (uint32_t)x, (uint32_t)y}};
    for (uint32_t i = 4; i < 16; i++) {
        c.payload[i] = rng_next(r);
    }
    p->box[0] = (struct box){.at = y, .width = 4ull * n, .rows = 1, .slices = 1, .use = USE_READ | USE_WRITE};
    p->box[1] = (struct box){.at = x, .width = 4ull * n, .rows = 1, .slices = 1, .use = USE_READ};
    p->boxes = same ? 1 : 2;
    return tern_pkt_user_call_pack(&c, p->w);
}

/** Entries in data, which no translation uses. */
static struct box entries(const struct buffer *b, struct rng *r, uint32_t count, unsigned use, enum aim aim)
{
    uint64_t at = stream_pick(b, r, PAGE, PAGE, use, aim) & ~(uint64_t)(PAGE - 1);
    if (aim == AIM_WILD && at < b->st->g->mem_bytes) {
        at = b->st->g->mem_bytes;
    }
    at += 4 * rng_below(r, 1024 - count + 1);
    return (struct box){.at = at, .width = 4ull * count, .rows = 1, .slices = 1, .use = use};
}

static uint32_t draw_count(struct rng *r)
{
    uint32_t n = stream_edge(r, rng_one_in(r, 8) ? 1024 : 40);
    return n ? n : 1;
}

static int draw_pte_update(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    uint32_t count = draw_count(r);
    p->box[0] = entries(b, r, count, USE_WRITE, aim);
    p->boxes = 1;
    return tern_pkt_pte_update_pack(&(struct tern_pkt_pte_update){
        .table_lo = (uint32_t)p->box[0].at, .table_hi = (uint32_t)(p->box[0].at >> 32), .count = count,
        .pte = rng_next(r), .step = rng_one_in(r, 3) ? 0 : rng_one_in(r, 2) ? 1024 : rng_next(r)}, p->w);
}

static int draw_pte_copy(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    uint32_t count = draw_count(r);
    bool wild_src = rng_one_in(r, 2);
    p->box[0] = entries(b, r, count, USE_READ, wild_src ? aim : AIM_GOOD);
    p->box[1] = entries(b, r, count, USE_WRITE, wild_src ? AIM_GOOD : aim);
    p->boxes = 2;
    return tern_pkt_pte_copy_pack(&(struct tern_pkt_pte_copy){
        .src_lo = (uint32_t)p->box[0].at, .src_hi = (uint32_t)(p->box[0].at >> 32), .dst_lo = (uint32_t)p->box[1].at,
        .dst_hi = (uint32_t)(p->box[1].at >> 32), .count = count}, p->w);
}

/** A flush of any translations does no harm. */
static int draw_flush(const struct buffer *b, struct rng *r, struct packet *p)
{
    const struct table *t = &b->st->table[b->engine][rng_below(r, SPACES)][TABLE_ROOT];
    struct tern_pkt_tlb_flush f = {.all = rng_one_in(r, 4)};
    if (!f.all) {
        f.root = rng_one_in(r, 4) ? rng_next(r) >> 10 : (uint32_t)(t->pa / PAGE);
        f.first = rng_one_in(r, 2) ? VA_WINDOW / PAGE + rng_below(r, WINDOW) : stream_edge(r, 0xfffff);
        f.count = rng_one_in(r, 2) ? rng_below(r, 40) : stream_edge(r, 0x1fffff);
    }
    return tern_pkt_tlb_flush_pack(&f, p->w);
}

static int draw_context_init(const struct buffer *b, struct rng *r, enum aim aim, struct packet *p)
{
    uint32_t beyond = (uint32_t)(b->st->g->mem_bytes / PAGE);
    uint32_t page = aim == AIM_WILD ? beyond + (rng_one_in(r, 2) ? 0 : rng_below(r, (1u << 22) - beyond))
                                    : (uint32_t)(stream_pick(b, r, PAGE, PAGE, USE_WRITE, aim) / PAGE);
    p->box[0] = (struct box){.at = (uint64_t)page * PAGE, .width = LINE, .rows = 1, .slices = 1, .use = USE_WRITE};
    p->boxes = 1;
    return tern_pkt_context_init_pack(&(struct tern_pkt_context_init){.save = page}, p->w);
}

void stream_draw(const struct buffer *b, struct rng *r, uint32_t item, uint32_t opcode, enum aim aim, struct packet *p)
{
    struct tern_pkt_dispatch dispatch;
    int bad = 0;
    *p = (struct packet){.lines = tern_pkt_lines(opcode)};
    switch (opcode) {
    case TERN_PKT_NOP:
        bad = tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, p->w);
        break;
    case TERN_PKT_BARRIER:
        bad = tern_pkt_barrier_pack(&(struct tern_pkt_barrier){0}, p->w);
        break;
    case TERN_PKT_DISPATCH:
        stream_dispatch(b, r, item, aim, &dispatch, p);
        break;
    case TERN_PKT_COPY:
        bad = draw_copy(b, r, aim, p);
        break;
    case TERN_PKT_FILL:
        bad = draw_fill(b, r, aim, p);
        break;
    case TERN_PKT_FENCE_SIGNAL:
        bad = draw_signal(b, r, item, aim, p);
        break;
    case TERN_PKT_FENCE_WAIT:
        bad = draw_wait(b, r, aim, p);
        break;
    case TERN_PKT_TIMESTAMP:
        bad = draw_timestamp(b, r, item, aim, p);
        break;
    case TERN_PKT_USER_CALL:
        bad = draw_user_call(b, r, aim, p);
        break;
    case TERN_PKT_PTE_UPDATE:
        bad = draw_pte_update(b, r, aim, p);
        break;
    case TERN_PKT_PTE_COPY:
        bad = draw_pte_copy(b, r, aim, p);
        break;
    case TERN_PKT_TLB_FLUSH:
        bad = draw_flush(b, r, p);
        break;
    default:
        bad = draw_context_init(b, r, aim, p);
        break;
    }
    b->st->error = b->st->error ? b->st->error : bad;
}

void stream_nop(struct buffer *b)
{
    struct packet p = {.lines = 1};
    struct rng none = {0};
    stream_draw(b, &none, 0, TERN_PKT_NOP, AIM_GOOD, &p);
    stream_admit(b, &p, false);
    stream_emit(b, p.w, p.lines);
}

void stream_put(struct buffer *b, struct rng *r, uint32_t item, uint32_t opcode, enum aim aim)
{
    if (opcode == TERN_PKT_USER_CALL && b->st->g->executors <= TERN_EXECUTOR_ID_SAXPY) {
        opcode = TERN_PKT_FILL; /* the call would end the buffer with a fault */
    }
    for (int tries = 0; tries < 12; tries++) {
        struct packet p;
        stream_draw(b, r, item, opcode, aim, &p);
        if (stream_admit(b, &p, aim == AIM_WILD)) {
            stream_emit(b, p.w, p.lines);
            return;
        }
    }
    stream_nop(b);
}
