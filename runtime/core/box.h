/* SPDX-License-Identifier: Apache-2.0 */
/** Boxes of bytes in linear memory: what the ...BufferRect commands speak of. A plain range is a box of one row. */
#ifndef RT_BOX_H
#define RT_BOX_H

#include <stdbool.h>
#include <stddef.h>

/** One side: where the box begins and how far it is from row to row and from slice to slice, in bytes. */
struct rt_side {
    size_t start;
    size_t row;
    size_t slice;
};

/** Fills in zero pitches by the rules of the specification. False: a pitch breaks them, or the place of the first byte
 *  is no size_t (CL_INVALID_VALUE). No size of the region is 0. */
bool rt_side_make(const size_t origin[3], const size_t region[3], size_t row, size_t slice, struct rt_side *out);
/** The byte after the last, or SIZE_MAX if that overflows. */
size_t rt_side_end(const struct rt_side *s, const size_t region[3]);
/** Do two boxes of the same region and the same pitches share a byte? */
bool rt_boxes_overlap(const struct rt_side *a, const struct rt_side *b, const size_t region[3]);

#endif
