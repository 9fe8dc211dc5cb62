/* SPDX-License-Identifier: Apache-2.0 */
/** Host memory below 4 GiB (low.h). */
#include "runtime/core/low.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_PAGE (RT_LOW_FIRST / RT_LOW_PAGE)
#define END_PAGE (RT_LOW_END / RT_LOW_PAGE)
#define STEP_PAGES (RT_LOW_STEP / RT_LOW_PAGE)
#define LARGE_PAGES 1024u /* pages of a superpage of the device, 4 MiB */

/** Address of a page: the same number on host and device. */
static void *address_of(uint32_t page)
{
    return (void *)((uintptr_t)page * RT_LOW_PAGE);
}

/** Maps a range. -EEXIST: it is in use, or Linux does not give the address. */
static int map_at(uint32_t first, uint32_t count)
{
    const size_t size = (size_t)count * RT_LOW_PAGE;
    void *wanted = address_of(first);
    void *p = mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED) {
        return errno == ENOMEM || errno == EAGAIN ? -ENOMEM : -EEXIST;
    }
    if (p != wanted) { /* Linux before 4.17 takes the address for a hint */
        munmap(p, size);
        return -EEXIST;
    }
    return 0;
}

static int insert(struct rt_low *low, size_t at, const struct rt_low_range *range)
{
    if (low->n == low->capacity) {
        const size_t capacity = low->capacity == 0 ? 16 : 2 * low->capacity;
        struct rt_low_range *more = realloc(low->range, capacity * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        low->range = more;
        low->capacity = capacity;
    }
    memmove(&low->range[at + 1], &low->range[at], (low->n - at) * sizeof low->range[0]);
    low->range[at] = *range;
    low->n++;
    return 0;
}

/** Maps `count` pages in [from, to), as high as possible. *met: an address is in use by other
 *  code of the process. */
static int map_in(uint32_t from, uint32_t to, uint32_t count, uint32_t *first, bool *met)
{
    const uint32_t align = count >= LARGE_PAGES ? LARGE_PAGES : 1;
    const uint32_t step = align > STEP_PAGES ? align : STEP_PAGES;
    while (to >= from && to - from >= count) {
        const uint32_t at = (to - count) & ~(align - 1);
        if (at < from) {
            break;
        }
        const int r = map_at(at, count);
        if (r != -EEXIST) {
            *first = at;
            return r;
        }
        *met = true;
        to = (at + count - 1) & ~(step - 1);
    }
    return -ENOSPC;
}

/** Maps `count` pages below page `end` in the highest gap between the ranges, and adds them as a range. -ENOSPC. */
static int take(struct rt_low *low, uint32_t count, uint32_t end, void *owner, uint32_t *first)
{
    for (size_t i = low->n + 1; i-- > 0;) {
        const uint32_t from = i == 0 ? FIRST_PAGE : low->range[i - 1].first + low->range[i - 1].count;
        const uint32_t to = i == low->n || low->range[i].first > end ? end : low->range[i].first;
        bool met = false;
        int r = map_in(from, to, count, first, &met);
        if (r == 0) {
            r = insert(low, i, &(struct rt_low_range){*first, count, owner});
            if (r != 0) {
                munmap(address_of(*first), (size_t)count * RT_LOW_PAGE);
            } else if (met && i + 1 == low->n) {
                low->top = *first + count;
            }
        }
        if (r != -ENOSPC) {
            return r;
        }
    }
    return -ENOSPC;
}

int rt_low_take(struct rt_low *low, uint64_t size, uint32_t below, void *owner, uint32_t *address)
{
    if (size > RT_LOW_END) {
        return -ENOSPC;
    }
    const uint32_t count = (uint32_t)((size + RT_LOW_PAGE - 1) / RT_LOW_PAGE);
    const uint32_t end = (below < RT_LOW_END ? below : RT_LOW_END) / RT_LOW_PAGE;
    uint32_t first = 0;
    int r = take(low, count, low->top != 0 && low->top < end ? low->top : end, owner, &first);
    if (r == -ENOSPC && low->top != 0 && low->top < end) {
        low->top = 0;
        r = take(low, count, end, owner, &first);
    }
    if (r == 0) {
        *address = first * RT_LOW_PAGE;
    }
    return r;
}

/** Index of the first range that begins after the page. */
static size_t beyond(const struct rt_low *low, uint32_t page)
{
    size_t from = 0, to = low->n;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (low->range[mid].first <= page) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from;
}

/** The range that contains the page, or NULL. */
static struct rt_low_range *holder(const struct rt_low *low, uint32_t page)
{
    const size_t i = beyond(low, page);
    struct rt_low_range *r = i == 0 ? NULL : &low->range[i - 1];
    return r != NULL && page - r->first < r->count ? r : NULL;
}

void rt_low_give(struct rt_low *low, uint32_t address)
{
    struct rt_low_range *r = holder(low, address / RT_LOW_PAGE);
    munmap(address_of(r->first), (size_t)r->count * RT_LOW_PAGE);
    low->n--;
    memmove(r, r + 1, (size_t)(&low->range[low->n] - r) * sizeof *r);
    if (low->n == 0) {
        free(low->range);
        *low = (struct rt_low){.top = low->top};
    }
}

void *rt_low_find(const struct rt_low *low, const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    const struct rt_low_range *r = at < RT_LOW_END ? holder(low, (uint32_t)(at / RT_LOW_PAGE)) : NULL;
    return r == NULL ? NULL : r->owner;
}
