/* SPDX-License-Identifier: Apache-2.0 */
/** Boxes of bytes (box.h). */
#include "runtime/core/box.h"

#include <stdint.h>

bool rt_side_make(const size_t origin[3], const size_t region[3], size_t row, size_t slice, struct rt_side *out)
{
    size_t rows; /* bytes of all rows of a slice, with their pitch */
    size_t y;
    size_t z;
    size_t start;
    if (row == 0) {
        row = region[0];
    } else if (row < region[0]) {
        return false;
    }
    if (__builtin_mul_overflow(region[1], row, &rows)) {
        return false;
    }
    if (slice == 0) {
        slice = rows;
    } else if (slice < rows || slice % row != 0) {
        return false;
    }
    if (__builtin_mul_overflow(origin[1], row, &y) || __builtin_mul_overflow(origin[2], slice, &z) ||
        __builtin_add_overflow(origin[0], y, &start) || __builtin_add_overflow(start, z, &start)) {
        return false;
    }
    *out = (struct rt_side){.start = start, .row = row, .slice = slice};
    return true;
}

size_t rt_side_end(const struct rt_side *s, const size_t region[3])
{
    size_t rows;
    size_t slices;
    size_t end;
    if (__builtin_mul_overflow(region[1] - 1, s->row, &rows) ||
        __builtin_mul_overflow(region[2] - 1, s->slice, &slices) || __builtin_add_overflow(s->start, rows, &end) ||
        __builtin_add_overflow(end, slices, &end) || __builtin_add_overflow(end, region[0], &end)) {
        return SIZE_MAX;
    }
    return end;
}

/** True: `n` rows of `width` bytes, `pitch` apart, share a byte with the same rows shifted by `distance`. Requires
 *  pitch >= width. The shift is skipped * pitch + within, so row i of the second box overlaps row i + skipped of the
 *  first if within < width, or row i + skipped + 1 if pitch - within < width. */
static bool rows_overlap(size_t distance, size_t width, size_t n, size_t pitch)
{
    const size_t skipped = distance / pitch;
    const size_t within = distance % pitch;
    /* row i of the second box against rows i + skipped and i + skipped + 1 of the first */
    return (skipped < n && within < width) || (skipped + 1 < n && pitch - within < width);
}

bool rt_boxes_overlap(const struct rt_side *a, const struct rt_side *b, const size_t region[3])
{
    const size_t distance = a->start < b->start ? b->start - a->start : a->start - b->start;
    const size_t skipped = distance / a->slice;
    const size_t within = distance % a->slice;
    /* slices likewise are at most as large as their pitch */
    return (skipped < region[2] && rows_overlap(within, region[0], region[1], a->row)) ||
           (skipped + 1 < region[2] && rows_overlap(a->slice - within, region[0], region[1], a->row));
}

void rt_box_join(size_t region[3], struct rt_side *a, struct rt_side *b)
{
    const size_t rows = region[1];
    if (rows == 1 || (a->row == region[0] && b->row == region[0])) {
        const size_t plane = region[0] * rows;
        if (region[2] == 1 || (a->slice == plane && b->slice == plane)) {
            region[0] = plane * region[2];
            region[1] = region[2] = 1;
        } else {
            region[0] = plane; /* each slice is one row */
            region[1] = region[2];
            region[2] = 1;
            a->row = a->slice;
            b->row = b->slice;
        }
        a->slice = a->row * region[1];
        b->slice = b->row * region[1];
    }
}
