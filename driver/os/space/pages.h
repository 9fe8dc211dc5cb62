/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Physical pages of a device, 4 KiB each: a binary buddy allocator (Knowlton 1965), as Linux's page allocator and
 * drm_buddy, with blocks of 1 to 1024 pages (4 MiB, a superpage). A block is merged with its buddy as soon as both are
 * free. A request takes the smallest block that is large enough; among equals it takes clean blocks first, then the
 * lowest address. Thus small runs do not split large blocks, and long-lived pages gather at the low end.
 *
 * Clean and dirty. A free page is clean (reads zero) or dirty (may hold old data). The process that takes a dirty page
 * scrubs it before use (A7), so pages that are never taken again cost nothing. A bitmap has one dirty bit a page.
 * Blocks merge whatever their pages hold.
 *
 * Data structure. The free blocks of one order are a bitmap with summary levels of 64 bits a word, not a list. The
 * lowest free block is found in one step a level, at most four, and pages need no descriptors. Time is O(log n), memory
 * is about 5 bits a page.
 *
 * Locks: none; the caller serialises.
 */
#ifndef TERN_OS_SPACE_PAGES_H
#define TERN_OS_SPACE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct tern_pages;

#define TERN_PAGES_SPAN 1024u /**< Pages of the largest block. */
#define TERN_PAGES_ORDERS 11u /**< Number of orders: blocks have 2^0 to 2^10 pages. */

/** Contiguous pages within one aligned 4 MiB. dirty: some of them may not read zero. */
struct tern_run {
    uint32_t page, count;
    bool dirty;
};

/** Makes an allocator of pages [0, count), of which the first `reserved` are never taken. clean: memory reads zero.
 *  -ENOMEM. */
int tern_pages_create(uint32_t count, uint32_t reserved, bool clean, struct tern_pages **out);
void tern_pages_destroy(struct tern_pages *p);
uint32_t tern_pages_free_count(const struct tern_pages *p);
/** Number of free blocks of 2^order pages, not counting those that are part of a larger free block. */
uint32_t tern_pages_free_blocks(const struct tern_pages *p, uint32_t order);
/** Takes an aligned block of 4 MiB, which is dirty if any of its pages is. -ENOSPC. */
int tern_pages_take_large(struct tern_pages *p, struct tern_run *out);
/** Takes a run of 1 to `want` pages, all clean or all dirty, from the block that fits best. -ENOSPC. */
int tern_pages_take(struct tern_pages *p, uint32_t want, struct tern_run *out);
/** Gives a run, or a part of one, back; run->dirty says whether its pages are dirty. */
void tern_pages_give(struct tern_pages *p, const struct tern_run *run);

#endif
