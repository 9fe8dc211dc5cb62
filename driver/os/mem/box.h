/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The boxes of copy and fill packets: bytes of rows, rows of slices, slices. What such a packet does can be done in
 * parts by several: a part is a *box* within its box, either some bytes of one row, some rows of one slice, or some
 * slices. Parts come in order of slice, row, byte. Addresses wrap at 32 bits, so a stride may be negative.
 */
#ifndef TERN_OS_BOX_H
#define TERN_OS_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "os/sched/sched.h"

/** One side of a copy, or what a fill writes. */
struct tern_side {
    uint32_t at, row, slice; /**< Address; bytes from row to row, and from slice to slice. */
};

/** What a copy or fill packet reaches. */
struct tern_boxes {
    struct tern_side side[2];
    uint32_t sides;
    uint32_t size[3]; /**< Bytes of a row, rows of a slice, slices. */
};

/** False: the packet is none of them, is not well-formed, or does nothing. */
bool tern_boxes_of(uint32_t opcode, const uint32_t *packet, struct tern_boxes *out);
/** All of it. */
struct tern_box tern_box_all(const struct tern_boxes *b);
/** The bytes [*first, *end) that a part of a side lies in; false: they wrap, and it may lie anywhere. */
bool tern_box_span(const struct tern_side *side, const struct tern_box *part, uint64_t *first, uint64_t *end);
/** Where the part behind this one begins; false: nothing is behind it. */
bool tern_box_behind(const struct tern_boxes *b, const struct tern_box *part, uint32_t from[3]);
/** Bytes from this one of a row on, up to where one of the sides comes to the next multiple of `unit`, at most. */
uint32_t tern_box_row_piece(const struct tern_boxes *b, const uint32_t from[3], uint32_t unit);
/** Makes the packet do the part only. */
void tern_box_apply(const struct tern_box *part, uint32_t opcode, uint32_t *packet);

#endif
