/* SPDX-License-Identifier: Apache-2.0 */
/** Virtual address ranges (space.h). Positions and counts are in pages. */
#include "os/space/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tern_vaspace_free(struct tern_vaspace *v)
{
    free(v->range);
    *v = (struct tern_vaspace){0};
}

/** Index of the first range that begins after the page. */
static uint32_t beyond(const struct tern_vaspace *v, uint32_t page)
{
    uint32_t low = 0, high = v->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (v->range[mid].first <= page) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static uint32_t end_of(const struct tern_vaspace *v, uint32_t i)
{
    return v->range[i].first + v->range[i].count;
}

/** The gap [*from, *to) before range i. */
static void gap(const struct tern_vaspace *v, uint32_t i, uint32_t *from, uint32_t *to)
{
    *from = i ? end_of(v, i - 1) : TERN_VA_FIRST;
    *to = i < v->n ? v->range[i].first : TERN_VA_END;
}

static int insert(struct tern_vaspace *v, uint32_t i, struct tern_range r)
{
    if (v->n == v->capacity) {
        uint32_t capacity = v->capacity ? v->capacity * 2 : 16;
        struct tern_range *range = realloc(v->range, capacity * sizeof *range);
        if (!range) {
            return -ENOMEM;
        }
        v->range = range;
        v->capacity = capacity;
    }
    memmove(&v->range[i + 1], &v->range[i], (v->n - i) * sizeof r);
    v->range[i] = r;
    v->n++;
    return 0;
}

/** Takes `count` pages, the first of which is `offset` above a multiple of `align`, a power of two. */
static int take(struct tern_vaspace *v, uint32_t count, uint32_t align, uint32_t offset, enum tern_place place,
                void *owner, uint32_t *first)
{
    for (uint32_t k = 0; k <= v->n; k++) {
        uint32_t i = place == TERN_PLACE_LOW ? k : v->n - k, from, to;
        gap(v, i, &from, &to);
        from += (offset - from) & (align - 1);
        if (from < to && count <= to - from) {
            uint32_t at = place == TERN_PLACE_LOW ? from : to - count - ((to - count - offset) & (align - 1));
            int r = insert(v, i, (struct tern_range){at, count, owner});
            if (!r) {
                *first = at;
            }
            return r;
        }
    }
    return -ENOSPC;
}

int tern_vaspace_take(struct tern_vaspace *v, uint32_t count, uint32_t align, enum tern_place place, void *owner,
                      uint32_t *first)
{
    return take(v, count, align, 0, place, owner, first);
}

int tern_vaspace_take_offset(struct tern_vaspace *v, uint32_t count, uint32_t align, uint32_t offset, void *owner,
                             uint32_t *first)
{
    return take(v, count, align, offset, TERN_PLACE_LOW, owner, first);
}

int tern_vaspace_take_at(struct tern_vaspace *v, uint32_t first, uint32_t count, void *owner)
{
    uint32_t i = beyond(v, first), from, to;
    if (first < TERN_VA_FIRST || first >= TERN_VA_END || count > TERN_VA_END - first) {
        return -ENOSPC;
    }
    gap(v, i, &from, &to);
    if (first < from || count > to - first) {
        return -EEXIST;
    }
    return insert(v, i, (struct tern_range){first, count, owner});
}

void tern_vaspace_give(struct tern_vaspace *v, uint32_t first)
{
    uint32_t i = beyond(v, first);
    if (i && v->range[i - 1].first == first) {
        memmove(&v->range[i - 1], &v->range[i], (v->n - i) * sizeof *v->range);
        v->n--;
    }
}

const struct tern_range *tern_vaspace_find(const struct tern_vaspace *v, uint32_t page)
{
    uint32_t i = beyond(v, page);
    return i ? &v->range[i - 1] : NULL;
}
