/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Ranges of partitions (ranges.h). Only free pages are moved. Runs are taken from one allocator, then the lists of
 * ranges are enlarged, and at last, when nothing can fail any more, the runs are given to the other allocator.
 */
#include "os/part/ranges.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/part/part.h"

/* -------------------------------------------------------------------- lists */

/** Makes room for `more` ranges. */
static int reserve(struct tern_partition *p, uint32_t more)
{
    if (p->range_count + more > p->range_room) {
        const uint32_t room = p->range_count + more;
        struct tern_run *ranges = realloc(p->ranges, room * sizeof *ranges);
        if (!ranges) {
            return -ENOMEM;
        }
        p->ranges = ranges;
        p->range_room = room;
    }
    return 0;
}

/** Index of the first range that does not end before the page. */
static uint32_t place_of(const struct tern_partition *p, uint32_t page)
{
    uint32_t low = 0, high = p->range_count;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (p->ranges[mid].page + p->ranges[mid].count < page) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

/** Replaces `was` ranges, from index i on, by n others. */
static void splice(struct tern_partition *p, uint32_t i, uint32_t was, const struct tern_run *by, uint32_t n)
{
    memmove(&p->ranges[i + n], &p->ranges[i + was], (p->range_count - i - was) * sizeof *p->ranges);
    memcpy(&p->ranges[i], by, n * sizeof *by);
    p->range_count += n - was;
}

/** Adds a run to the ranges, and merges it with adjacent ones. */
static void add(struct tern_partition *p, const struct tern_run *run)
{
    const uint32_t i = place_of(p, run->page);
    struct tern_run all = {.page = run->page, .count = run->count};
    uint32_t was = 0;
    if (i < p->range_count && p->ranges[i].page + p->ranges[i].count == run->page) {
        all.page = p->ranges[i].page;
        all.count += p->ranges[i].count;
        was++;
    }
    if (i + was < p->range_count && p->ranges[i + was].page == run->page + run->count) {
        all.count += p->ranges[i + was].count;
        was++;
    }
    splice(p, i, was, &all, 1);
}

/** Removes a run from the range that has it. */
static void cut(struct tern_partition *p, const struct tern_run *run)
{
    uint32_t i = place_of(p, run->page), n = 0;
    i += p->ranges[i].page + p->ranges[i].count == run->page; /* skips a range that ends at the run */
    const uint32_t first = p->ranges[i].page, end = first + p->ranges[i].count, after = run->page + run->count;
    struct tern_run left[2];
    if (run->page > first) {
        left[n++] = (struct tern_run){.page = first, .count = run->page - first};
    }
    if (after < end) {
        left[n++] = (struct tern_run){.page = after, .count = end - after};
    }
    splice(p, i, 1, left, n);
}

/* --------------------------------------------------------------------- runs */

struct runs {
    struct tern_run *run;
    uint32_t count, room;
};

static void give_all(struct tern_pages *to, const struct runs *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        tern_pages_give(to, &r->run[i]);
    }
}

/** Takes free pages from the allocator, superpages first. -ENOMEM: none are taken. */
static int take(struct tern_pages *from, uint32_t pages, struct runs *out)
{
    *out = (struct runs){0};
    while (pages) {
        if (out->count == out->room) {
            struct tern_run *more = realloc(out->run, (out->room * 2 + 64) * sizeof *more);
            if (!more) {
                give_all(from, out);
                free(out->run);
                return -ENOMEM;
            }
            out->run = more;
            out->room = out->room * 2 + 64;
        }
        struct tern_run *run = &out->run[out->count++];
        if (pages < TERN_PAGES_SPAN || tern_pages_take_large(from, run)) {
            tern_pages_take(from, pages, run); /* cannot fail: the caller has checked the number of free pages */
        }
        pages -= run->count;
    }
    return 0;
}

static int move(struct tern_partition *from, struct tern_partition *to, uint32_t pages, uint32_t host)
{
    struct runs runs;
    int r = take(from->pages, pages, &runs);
    if (r) {
        return tern_error_memory("ranges of a partition");
    }
    r = reserve(to, runs.count);
    if (r == 0) {
        r = reserve(from, runs.count);
    }
    if (r) {
        give_all(from->pages, &runs);
        free(runs.run);
        return tern_error_memory("ranges of a partition");
    }
    for (uint32_t i = 0; i < runs.count; i++) {
        cut(from, &runs.run[i]);
        add(to, &runs.run[i]);
    }
    give_all(to->pages, &runs);
    free(runs.run);
    from->count -= pages;
    from->host -= host;
    to->count += pages;
    to->host += host;
    return 0;
}

/* -------------------------------------------------------------------- calls */

/** A process whose work may be refused, or fail, if the partition loses so many pages. NULL: there is none. */
static const struct tern_process *needing(const struct tern_partition *p, uint32_t pages)
{
    const uint64_t most = (uint64_t)tern_pages_free_count(p->pages) + p->movable;
    TERN_LIST_EACH(node, &p->processes)
    {
        const struct tern_process *proc = TERN_LIST_ENTRY(node, struct tern_process, member);
        if (proc->movable > most - pages) {
            return proc;
        }
    }
    return NULL;
}

int tern_ranges_grow(struct tern_device *dev, struct tern_partition *p, uint32_t pages, uint32_t host)
{
    tern_assert_held(&dev->lock);
    struct tern_partition *from = &dev->partition;
    const uint32_t free_pages = tern_pages_free_count(from->pages);
    if (pages > free_pages) {
        return tern_error(-ENOSPC, "%" PRIu64 " KiB of memory: the partition '%s' has %" PRIu64 " KiB, of which "
                          "%" PRIu64 " are free", tern_pages_kib(pages), from->name, tern_pages_kib(from->count),
                          tern_pages_kib(free_pages));
    }
    if (host > from->host) {
        return tern_error(-ENOSPC, "%" PRIu64 " KiB of host memory: the partition '%s' has %" PRIu64 " KiB",
                          tern_pages_kib(host), from->name, tern_pages_kib(from->host));
    }
    if (from->committed > (uint64_t)from->count - pages + from->host - host) {
        return tern_error(-ENOSPC, "the partition '%s' would have %" PRIu64 " KiB on the device and %" PRIu64 " on the "
                          "host, and has promised %" PRIu64, from->name, tern_pages_kib(from->count - pages),
                          tern_pages_kib(from->host - host), tern_pages_kib(from->committed));
    }
    const struct tern_process *proc = needing(from, pages);
    if (proc) {
        return tern_error(-ENOSPC, "process '%s' of the partition '%s' has %" PRIu64 " KiB that its work may use at "
                          "once, and %" PRIu64 " KiB would be left for them", proc->shown, from->name,
                          tern_pages_kib(proc->movable), tern_pages_kib(free_pages + from->movable - pages));
    }
    return move(from, p, pages, host);
}

int tern_ranges_shrink(struct tern_device *dev, struct tern_partition *p, uint32_t pages, uint32_t host)
{
    tern_assert_held(&dev->lock);
    const uint32_t free_pages = tern_pages_free_count(p->pages);
    if (pages > free_pages) {
        return tern_error(-EBUSY, "the partition '%s' has %" PRIu64 " KiB free, fewer than %" PRIu64, p->name,
                          tern_pages_kib(free_pages), tern_pages_kib(pages));
    }
    return move(p, &dev->partition, pages, host);
}
