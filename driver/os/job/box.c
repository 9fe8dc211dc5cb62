/* SPDX-License-Identifier: Apache-2.0 */
/** Boxes of copy and fill packets, and their parts (job.h). */
#include "os/job/job.h"

#include <string.h>

#include "tern/tern_spec.h"

#define ALL_ADDRESSES (1ull << 32)

bool tern_boxes_of(uint32_t opcode, const uint32_t *packet, struct tern_boxes *out)
{
    struct tern_pkt_copy c;
    struct tern_pkt_fill f;
    if (opcode == TERN_PKT_COPY && !tern_pkt_copy_unpack(&c, packet)) {
        *out = (struct tern_boxes){
            .side = {{c.src_lo, c.src_row, c.src_slice}, {c.dst_lo, c.dst_row, c.dst_slice}},
            .sides = 2, .size = {c.width, c.rows, c.slices}};
    } else if (opcode == TERN_PKT_FILL && !tern_pkt_fill_unpack(&f, packet)) {
        *out = (struct tern_boxes){
            .side = {{f.dst_lo, f.dst_row, f.dst_slice}}, .sides = 1, .size = {f.width, f.rows, f.slices}};
    } else {
        return false;
    }
    return out->size[0] && out->size[1] && out->size[2];
}

struct tern_box tern_box_all(const struct tern_boxes *b)
{
    return (struct tern_box){.size = {b->size[0], b->size[1], b->size[2]}};
}

/** Address of a byte of a side. */
static uint32_t address(const struct tern_side *side, const uint32_t from[3])
{
    return side->at + from[2] * side->slice + from[1] * side->row + from[0];
}

/** Extends [*low, *high) by n strides. A stride is unsigned if the extended range stays within 2^32 bytes, and else
 *  signed. */
static void stretch(uint32_t stride, uint32_t n, int64_t *low, int64_t *high)
{
    if (n * (uint64_t)stride < ALL_ADDRESSES) {
        *high += (int64_t)(n * (uint64_t)stride);
    } else {
        const int64_t by = (int64_t)(int32_t)stride * n, all = -(int64_t)ALL_ADDRESSES;
        /* a range of 2^32 bytes or more stands for one that wraps, as does a positive stride here */
        *low += by < all || by >= 0 ? all : by;
    }
}

bool tern_box_span(const struct tern_side *side, const struct tern_box *part, uint64_t *first, uint64_t *end)
{
    int64_t low = address(side, part->from), high = low + part->size[0];
    stretch(side->row, part->size[1] - 1, &low, &high);
    stretch(side->slice, part->size[2] - 1, &low, &high);
    if (low < 0 || high > (int64_t)ALL_ADDRESSES) {
        return false;
    }
    *first = (uint64_t)low;
    *end = (uint64_t)high;
    return true;
}

bool tern_box_behind(const struct tern_boxes *b, const struct tern_box *part, uint32_t from[3])
{
    bool carry = true;
    for (int d = 0; d < 3; d++) {
        /* next position in dimension d: past the part if all lower dimensions are complete, else unchanged */
        const uint64_t next = (uint64_t)part->from[d] + (carry ? part->size[d] : 0);
        carry = carry && next >= b->size[d];
        from[d] = carry ? 0 : (uint32_t)next;
    }
    return !carry;
}

uint32_t tern_box_row_piece(const struct tern_boxes *b, const uint32_t from[3], uint32_t unit)
{
    uint32_t n = b->size[0] - from[0];
    for (uint32_t i = 0; i < b->sides; i++) {
        const uint32_t left = unit - address(&b->side[i], from) % unit;
        n = n < left ? n : left;
    }
    return n;
}

/** Rotates the fill pattern, which begins at the first byte of each row: a part that starts within a row needs it
 *  shifted. */
static void turn_pattern(struct tern_pkt_fill *f, uint32_t by)
{
    uint8_t was[sizeof f->pattern], now[sizeof f->pattern];
    memcpy(was, f->pattern, sizeof was);
    for (size_t i = 0; i < sizeof now; i++) {
        now[i] = was[(i + by) % sizeof was];
    }
    memcpy(f->pattern, now, sizeof now);
}

void tern_box_apply(const struct tern_box *part, uint32_t opcode, uint32_t *packet)
{
    struct tern_boxes b;
    struct tern_pkt_copy c;
    struct tern_pkt_fill f;
    int r = tern_boxes_of(opcode, packet, &b) ? 0 : -1;
    if (!r && opcode == TERN_PKT_COPY && !tern_pkt_copy_unpack(&c, packet)) {
        c.src_lo = address(&b.side[0], part->from);
        c.dst_lo = address(&b.side[1], part->from);
        c.width = part->size[0];
        c.rows = part->size[1];
        c.slices = part->size[2];
        r = tern_pkt_copy_pack(&c, packet);
    } else if (!r && !tern_pkt_fill_unpack(&f, packet)) {
        f.dst_lo = address(&b.side[0], part->from);
        f.width = part->size[0];
        f.rows = part->size[1];
        f.slices = part->size[2];
        turn_pattern(&f, part->from[0]);
        r = tern_pkt_fill_pack(&f, packet);
    }
    (void)r; /* a packet that could be unpacked can be packed */
}
