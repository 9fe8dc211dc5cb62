/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Physical pages of a device, 4 KiB each: a binary buddy allocator (Knowlton 1965; as Linux's page allocator and
 * drm_buddy), with blocks of 1 to 1024 pages (4 MiB, a superpage). A free block's buddy is never free: blocks merge
 * whenever they can. Of the blocks that are just large enough the lowest is taken, clean ones first, so that small runs
 * do not break large blocks, and what lives long gathers at the low end.
 *
 * Each free page is clean (reads zero) or dirty (old data): the process that takes a dirty page scrubs it before use
 * (A7), so that pages which are not taken again cost nothing. Blocks merge whatever their pages hold; a bit a page
 * keeps what each holds.
 *
 * The free blocks of an order are a bitmap with summaries of 64 bits each (first block: one step a level, at most
 * four), not a list: the lowest address is found without a tree, and pages need no descriptors. Cost: O(log n), 5 bits
 * a page.
 * No locks: the owner serialises.
 */
#ifndef TERN_OS_PAGES_H
#define TERN_OS_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct tern_pages;

#define TERN_PAGES_SPAN 1024u /**< The longest run of pages. */
#define TERN_PAGES_ORDERS 11u /**< Blocks of 2^0 to 2^10 pages. */

/** Pages that lie side by side within 4 MiB, aligned; dirty: some of them may not read zero. */
struct tern_run {
    uint32_t page, count;
    bool dirty;
};

/** `count` pages from 0 on, of which the first `reserved` are never given out. clean: memory reads zero. -ENOMEM. */
int tern_pages_create(uint32_t count, uint32_t reserved, bool clean, struct tern_pages **out);
void tern_pages_destroy(struct tern_pages *p);
uint32_t tern_pages_free_count(const struct tern_pages *p);
/** How many free blocks of 2^order pages there are that are not part of larger ones. */
uint32_t tern_pages_free_blocks(const struct tern_pages *p, uint32_t order);
/** 4 MiB, aligned; dirty if any of its pages is. -ENOSPC. */
int tern_pages_take_large(struct tern_pages *p, struct tern_run *out);
/** 1 to `want` pages, all clean or all dirty: as many as lie side by side where they fit best. -ENOSPC. */
int tern_pages_take(struct tern_pages *p, uint32_t want, struct tern_run *out);
/** Gives a run, or a part of one, back, dirty as run->dirty says. */
void tern_pages_give(struct tern_pages *p, const struct tern_run *run);

#endif
