/* SPDX-License-Identifier: Apache-2.0 */
/** Boxes of bytes (box.h). */
#include "runtime/core/box.h"

#include <stdint.h>

bool rt_side_make(const size_t origin[3], const size_t region[3], size_t row, size_t slice, struct rt_side *out)
{
    if (row == 0) {
        row = region[0];
    } else if (row < region[0]) {
        return false;
    }
    if (slice == 0) {
        slice = region[1] * row;
    } else if (slice < region[1] * row || slice % row != 0) {
        return false;
    }
    *out = (struct rt_side){.start = origin[2] * slice + origin[1] * row + origin[0], .row = row, .slice = slice};
    return true;
}

size_t rt_side_end(const struct rt_side *s, const size_t region[3])
{
    size_t rows;
    size_t slices;
    size_t end;
    if (__builtin_mul_overflow(region[1] - 1, s->row, &rows) || __builtin_mul_overflow(region[2] - 1, s->slice, &slices) ||
        __builtin_add_overflow(s->start, rows, &end) || __builtin_add_overflow(end, slices, &end) ||
        __builtin_add_overflow(end, region[0], &end)) {
        return SIZE_MAX;
    }
    return end;
}

/** Do rows of `width` bytes, `n` of them `pitch` apart from a and from b, share a byte? pitch >= width. */
static bool rows_overlap(size_t a, size_t b, size_t width, size_t n, size_t pitch)
{
    const size_t low = a < b ? a : b;
    const size_t distance = (a < b ? b : a) - low;
    const size_t skipped = distance / pitch;
    const size_t within = distance % pitch;
    /* row i of the low one meets row i - skipped of the high one, or the row before that */
    return (skipped < n && within < width) || (skipped + 1 < n && pitch - within < width);
}

bool rt_boxes_overlap(const struct rt_side *a, const struct rt_side *b, const size_t region[3])
{
    for (size_t i = 0; i < region[2]; i++) {
        for (size_t j = 0; j < region[2]; j++) {
            if (rows_overlap(a->start + i * a->slice, b->start + j * b->slice, region[0], region[1], a->row)) {
                return true;
            }
        }
    }
    return false;
}
