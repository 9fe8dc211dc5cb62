/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Physical pages of a device, 4 KiB each, in chunks of 4 MiB (a superpage). Each free page is clean (reads zero) or
 * dirty (somebody's data): whoever takes a dirty page scrubs it before use (A7), so that pages which nobody takes again
 * cost nothing.
 *
 * Two bitmaps a chunk and a count of used pages; small runs prefer chunks already broken, so that whole ones last. A
 * buddy tree was dropped: two sizes are all that the page tables know.
 * No locks: the owner serialises.
 */
#ifndef TERN_OS_PAGES_H
#define TERN_OS_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct tern_pages;

#define TERN_PAGES_SPAN 1024u /**< The longest row of pages: a chunk. */

/** Pages that lie side by side within one chunk; dirty: some of them may not read zero. */
struct tern_run {
    uint32_t page, count;
    bool dirty;
};

/** `count` pages from 0 on, of which the first `reserved` are never given out. clean: memory reads zero. -ENOMEM. */
int tern_pages_create(uint32_t count, uint32_t reserved, bool clean, struct tern_pages **out);
void tern_pages_destroy(struct tern_pages *p);
uint32_t tern_pages_free_count(const struct tern_pages *p);
/** A whole chunk, 4 MiB aligned; dirty if any of its pages is. -ENOSPC. */
int tern_pages_take_large(struct tern_pages *p, struct tern_run *out);
/** 1 to `want` pages: as long a run as is found at once. -ENOSPC. */
int tern_pages_take(struct tern_pages *p, uint32_t want, struct tern_run *out);
/** Exactly `count` pages in a row, 1 to TERN_PAGES_SPAN; dirty if any of them is. -ENOSPC: no such row is free. */
int tern_pages_take_span(struct tern_pages *p, uint32_t count, struct tern_run *out);
/** Gives a run back, dirty as run->dirty says. */
void tern_pages_give(struct tern_pages *p, const struct tern_run *run);

#endif
