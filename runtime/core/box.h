/* SPDX-License-Identifier: Apache-2.0 */
/** Boxes of bytes in linear memory, as the ...BufferRect commands and images have them. A plain range is a box of one
 *  row. */
#ifndef RT_BOX_H
#define RT_BOX_H

#include <stdbool.h>
#include <stddef.h>

/** One side of a transfer, in bytes: offset of the first byte, distance between rows, distance between slices. */
struct rt_side {
    size_t start;
    size_t row;
    size_t slice;
};

/** Makes a side; pitches of 0 get their defaults by the rules of the specification. False (CL_INVALID_VALUE): a
 *  pitch is invalid, or the offset overflows size_t. No size of the region may be 0. */
bool rt_side_make(const size_t origin[3], const size_t region[3], size_t row, size_t slice, struct rt_side *out);
/** Offset of the byte after the last; SIZE_MAX on overflow. */
size_t rt_side_end(const struct rt_side *s, const size_t region[3]);
/** True: two boxes of the same region and the same pitches share a byte. */
bool rt_boxes_overlap(const struct rt_side *a, const struct rt_side *b, const size_t region[3]);
/** Describes the same bytes, in the same order, by fewer and longer rows where rows follow each other without a gap on
 *  both sides. */
void rt_box_join(size_t region[3], struct rt_side *a, struct rt_side *b);

#endif
