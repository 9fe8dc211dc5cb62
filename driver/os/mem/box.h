/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The boxes of copy and fill packets. A box is three-dimensional: bytes of a row, rows of a slice, slices. A *part* of
 * it is also a box: some bytes of one row, some whole rows of one slice, or some whole slices. Several packets, one for
 * each part, have the same effect as the whole packet. Parts follow each other in the order of slice, row, byte.
 * Addresses wrap at 2^32, so a stride may be negative.
 *
 * Example: a copy of 100 bytes x 8 rows x 2 slices is cut after 3 rows. The parts, as (byte, row, slice):
 *
 *     part   begins at   size
 *     1      0, 0, 0     100 x 3 x 1
 *     2      0, 3, 0     100 x 5 x 1
 *     3      0, 0, 1     100 x 8 x 1
 */
#ifndef TERN_OS_BOX_H
#define TERN_OS_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "os/sched/sched.h"

/** The source or destination of a packet. */
struct tern_side {
    uint32_t at, row, slice; /**< Address of the first byte, and strides in bytes between rows and between slices. */
};

/** The bytes that a copy or fill packet accesses. */
struct tern_boxes {
    struct tern_side side[2];
    uint32_t sides;
    uint32_t size[3]; /**< Bytes of a row, rows of a slice, slices. */
};

/** Reads the boxes of a packet. False: the packet is no copy or fill, is malformed, or has a size of 0. */
bool tern_boxes_of(uint32_t opcode, const uint32_t *packet, struct tern_boxes *out);
/** The part that is the whole box. */
struct tern_box tern_box_all(const struct tern_boxes *b);
/** The addresses [*first, *end) that enclose a part of a side. False: the addresses wrap, so the part may be
 *  anywhere. */
bool tern_box_span(const struct tern_side *side, const struct tern_box *part, uint64_t *first, uint64_t *end);
/** Begin of the part that follows this one. False: this part is the last. */
bool tern_box_behind(const struct tern_boxes *b, const struct tern_box *part, uint32_t from[3]);
/** Number of bytes from `from` on up to the end of the row, or to the next address that is a multiple of `unit` on
 *  any side, whichever comes first. */
uint32_t tern_box_row_piece(const struct tern_boxes *b, const uint32_t from[3], uint32_t unit);
/** Changes the packet so that it executes the part only. */
void tern_box_apply(const struct tern_box *part, uint32_t opcode, uint32_t *packet);

#endif
