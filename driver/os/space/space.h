/* SPDX-License-Identifier: Apache-2.0 */
/** The spaces that memory is taken from: physical pages of a device, virtual addresses of a process. */
#ifndef TERN_OS_SPACE_SPACE_H
#define TERN_OS_SPACE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* -------------------------------------------------------------------- pages.c */

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

/* ------------------------------------------------------------------ vaspace.c */

/**
 * Virtual address ranges of one process, in pages, within [64 KiB, 3.5 GiB - 64 KiB). The guard below catches a null
 * pointer with a small offset. The guard above catches negative indices into local memory, which with the other windows
 * of kernels begins at 3.5 GiB. The ranges in use are a sorted array: a range is found by bisection, a gap by one pass.
 * Locks: none; the caller serialises.
 */

#define TERN_VA_FIRST 0x10u     /**< The first page that may be used. */
#define TERN_VA_END 0xdfff0u    /**< The page after the last one that may be used. */

struct tern_range {
    uint32_t first, count; /**< First page and number of pages. */
    void *owner;
};

struct tern_vaspace {
    struct tern_range *range;
    uint32_t n, capacity;
};

enum tern_place { TERN_PLACE_LOW, TERN_PLACE_HIGH };

void tern_vaspace_free(struct tern_vaspace *v);
/** Takes `count` pages at the lowest or highest address that is a multiple of `align` pages, a power of two.
 *  -ENOSPC, -ENOMEM. */
int tern_vaspace_take(struct tern_vaspace *v, uint32_t count, uint32_t align, enum tern_place place, void *owner,
                      uint32_t *first);
/** As tern_vaspace_take with TERN_PLACE_LOW, but the first page is `offset` pages above a multiple of `align`. */
int tern_vaspace_take_offset(struct tern_vaspace *v, uint32_t count, uint32_t align, uint32_t offset, void *owner,
                             uint32_t *first);
/** Takes exactly [first, first + count). -EEXIST: some page is taken; -ENOSPC: outside of the space; -ENOMEM. */
int tern_vaspace_take_at(struct tern_vaspace *v, uint32_t first, uint32_t count, void *owner);
void tern_vaspace_give(struct tern_vaspace *v, uint32_t first);
/** The range that holds the page, else the nearest one below it, else NULL. */
const struct tern_range *tern_vaspace_find(const struct tern_vaspace *v, uint32_t page);

#endif
