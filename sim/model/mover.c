/* SPDX-License-Identifier: Apache-2.0 */
/** The packets copy, fill and pte_copy, which is a copy of one row. */
#include "model.h"

static uint64_t wide(uint32_t lo, uint32_t hi)
{
    return lo | (uint64_t)hi << 32;
}

/* A box may be large, so it is done in pieces, between which it can be cut. */

/** Advances by `bytes` of a row, and at the end of the row to the next one. */
static void box_advance(const struct engine *e, struct box *b, uint32_t bytes)
{
    b->left -= bytes;
    if (b->left) {
        return;
    }
    b->left = b->width;
    b->src_row = space_wrap(&e->space, b->src_row + b->src_pitch);
    b->dst_row = space_wrap(&e->space, b->dst_row + b->dst_pitch);
    if (--b->rows_left == 0) {
        b->slices_left--;
        b->rows_left = b->rows;
        b->src_row = b->src_slice = space_wrap(&e->space, b->src_slice + b->src_slice_pitch);
        b->dst_row = b->dst_slice = space_wrap(&e->space, b->dst_slice + b->dst_slice_pitch);
    }
}

/** Copies bytes of a row that stay in one page on both sides, and returns their number. A destination line is written
 *  after its bytes were read. Therefore, if both sides fault, the read's fault counts if its byte belongs to the first
 *  line that cannot be written. */
static uint32_t copy_piece(struct engine *e, uint64_t dst, uint64_t src, uint64_t left, struct fault *f)
{
    struct memory *m = &e->dev->mem;
    uint32_t code = 0, part = least(left, least(PAGE - src % PAGE, PAGE - dst % PAGE));
    const struct tlb_entry *from = memory_page(m, &e->space, src, ACCESS_READ, &code);
    if (!from) {
        *f = (struct fault){.code = code, .access = ACCESS_READ, .va = (uint32_t)src};
        return 0;
    }
    const uint8_t *bytes = from->host + src % PAGE;
    const struct tlb_entry *to = memory_page(m, &e->space, dst, ACCESS_WRITE, &code);
    if (!to) {
        uint64_t over = space_wrap(&e->space, src + PAGE - src % PAGE);
        uint32_t read_code = 0;
        *f = (struct fault){.code = code, .access = ACCESS_WRITE, .va = (uint32_t)dst};
        if (src % PAGE + least(left, LINE - dst % LINE) > PAGE &&
            !memory_page(m, &e->space, over, ACCESS_READ, &read_code)) {
            *f = (struct fault){.code = read_code, .access = ACCESS_READ, .va = (uint32_t)over};
        }
        return 0;
    }
    memmove(to->host + dst % PAGE, bytes, part);
    memory_written(m, to->page * PAGE + dst % PAGE, part);
    return part;
}

/** Fills bytes of a row that stay in one page, and returns their number. */
static uint32_t fill_piece(struct engine *e, const struct box *b, uint64_t dst, struct fault *f)
{
    uint8_t row[PAGE + LINE];
    uint32_t part = least(b->left, PAGE - dst % PAGE);
    for (uint32_t i = 0; i < sizeof row; i += LINE) {
        memcpy(row + i, &e->packet[16], LINE);
    }
    return memory_write(&e->dev->mem, &e->space, dst, row + (b->width - b->left) % LINE, part, f) ? part : 0;
}

static bool is_fill(const struct engine *e)
{
    return (e->packet[0] & 0xffu) == TERN_PKT_FILL;
}

/** Reads the box of a packet. Returns a fault code. */
static uint32_t box_of(const struct engine *e, struct box *b)
{
    union {
        struct tern_pkt_copy copy;
        struct tern_pkt_fill fill;
        struct tern_pkt_pte_copy ptes;
    } p;
    bool virtual = !e->space.physical, ok = true;
    uint32_t reserved = 0;
    switch (e->packet[0] & 0xffu) {
    case TERN_PKT_COPY:
        reserved = tern_pkt_copy_unpack(&p.copy, e->packet) != 0;
        ok = !(virtual && (p.copy.src_hi || p.copy.dst_hi));
        *b = (struct box){.width = p.copy.width, .rows = p.copy.rows, .slices_left = p.copy.slices,
                          .src_pitch = p.copy.src_row, .src_slice_pitch = p.copy.src_slice, .dst_pitch = p.copy.dst_row,
                          .dst_slice_pitch = p.copy.dst_slice, .src_slice = wide(p.copy.src_lo, p.copy.src_hi),
                          .dst_slice = wide(p.copy.dst_lo, p.copy.dst_hi)};
        break;
    case TERN_PKT_FILL:
        reserved = tern_pkt_fill_unpack(&p.fill, e->packet) != 0;
        ok = !(virtual && p.fill.dst_hi);
        *b = (struct box){.width = p.fill.width, .rows = p.fill.rows, .slices_left = p.fill.slices,
                          .dst_pitch = p.fill.dst_row, .dst_slice_pitch = p.fill.dst_slice,
                          .dst_slice = wide(p.fill.dst_lo, p.fill.dst_hi)};
        break;
    default:
        reserved = tern_pkt_pte_copy_unpack(&p.ptes, e->packet) != 0;
        *b = (struct box){.width = 4 * p.ptes.count, .rows = 1, .slices_left = 1,
                          .src_slice = wide(p.ptes.src_lo, p.ptes.src_hi),
                          .dst_slice = wide(p.ptes.dst_lo, p.ptes.dst_hi)};
        ok = table_holds(b->src_slice, p.ptes.count) && table_holds(b->dst_slice, p.ptes.count);
        break;
    }
    return reserved ? TERN_FAULT_PACKET_RESERVED : ok ? TERN_FAULT_NONE : TERN_FAULT_PACKET_BOUNDS;
}

/** Restores the position at which the box of this packet was cut. Returns false if the state is invalid. */
static bool box_restore(struct engine *e, struct box *b, const uint32_t *line)
{
    struct tern_ctx_mover_state s;
    if (tern_ctx_mover_state_unpack(&s, line) || s.left > b->width || s.rows_left > b->rows ||
        s.slices_left > b->slices_left || (s.slices_left && !s.rows_left)) {
        return false;
    }
    b->left = s.left;
    b->rows_left = s.rows_left;
    b->slices_left = s.slices_left;
    b->src_row = space_wrap(&e->space, wide(s.src_row_lo, s.src_row_hi));
    b->src_slice = space_wrap(&e->space, wide(s.src_slice_lo, s.src_slice_hi));
    b->dst_row = space_wrap(&e->space, wide(s.dst_row_lo, s.dst_row_hi));
    b->dst_slice = space_wrap(&e->space, wide(s.dst_slice_lo, s.dst_slice_hi));
    if (b->slices_left && !b->left) {
        box_advance(e, b, 0);
    }
    return true;
}

void mover_start(struct engine *e, struct lines *state, struct fault *f)
{
    struct box *b = &e->box;
    uint32_t line[16];
    f->code = box_of(e, b);
    if (f->code) {
        return;
    }
    b->left = b->width;
    b->rows_left = b->rows;
    b->src_row = b->src_slice;
    b->dst_row = b->dst_slice;
    if (!b->width || !b->rows) {
        b->slices_left = 0;
    }
    if (state) {
        lines_get(state, line);
        if (!f->code && !box_restore(e, b, line)) {
            f->code = TERN_FAULT_CONTEXT_INVALID;
        }
    }
}

uint64_t mover_run(struct engine *e, uint64_t budget, bool *done, struct fault *f)
{
    struct box *b = &e->box;
    bool fills = is_fill(e);
    uint64_t lines = 0;
    while (!(*done = !b->slices_left) && lines < budget && !f->code) {
        uint32_t at = b->width - b->left;
        uint64_t src = space_wrap(&e->space, b->src_row + at), dst = space_wrap(&e->space, b->dst_row + at);
        uint32_t part = fills ? fill_piece(e, b, dst, f) : copy_piece(e, dst, src, b->left, f);
        if (part) {
            box_advance(e, b, part);
        }
        lines += part / LINE + 1;
    }
    e->count.rd_lines += fills ? 0 : lines;
    e->count.wr_lines += lines;
    return lines;
}

void mover_save(const struct engine *e, struct lines *state)
{
    const struct box *b = &e->box;
    uint32_t line[16];
    tern_ctx_mover_state_pack(
        &(struct tern_ctx_mover_state){
            .slices_left = b->slices_left, .rows_left = b->rows_left, .left = b->left,
            .src_row_lo = (uint32_t)b->src_row, .src_row_hi = (uint32_t)(b->src_row >> 32),
            .src_slice_lo = (uint32_t)b->src_slice, .src_slice_hi = (uint32_t)(b->src_slice >> 32),
            .dst_row_lo = (uint32_t)b->dst_row, .dst_row_hi = (uint32_t)(b->dst_row >> 32),
            .dst_slice_lo = (uint32_t)b->dst_slice, .dst_slice_hi = (uint32_t)(b->dst_slice >> 32)},
        line);
    lines_put(state, line);
}
