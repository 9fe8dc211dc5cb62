/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Builds paging buffers. Page tables, TLBs and context-save areas change only by paging buffers (A3), and pages are
 * scrubbed by them (A7). A buffer grows as needed (A4). The first failure is kept for tern_paging_error, so that a
 * caller checks once, at the end. The caller serialises all calls for one buffer.
 */
#ifndef TERN_KMD_PAGING_H
#define TERN_KMD_PAGING_H

#include <stdint.h>

struct tern_paging {
    uint32_t *words;
    uint32_t size, capacity; /**< Bytes. */
    int error;               /**< The first failure, -errno; 0: none. */
};

void tern_paging_free(struct tern_paging *p);
/** 0, or the first failure: -ENOMEM, or -EINVAL for a value that no packet can hold. */
int tern_paging_error(const struct tern_paging *p);

/** Zeroes pages [page, page + count). */
void tern_paging_scrub(struct tern_paging *p, uint32_t page, uint32_t count);
/** Sets the entries [first, first + count) of the table in page `table` to pte, pte + step, pte + 2 * step ... */
void tern_paging_entries(struct tern_paging *p, uint32_t table, uint32_t first, uint32_t count, uint32_t pte,
                         uint32_t step);
/** Drops virtual pages [first, first + count) of one address space from the TLBs; count 0: all of its pages. */
void tern_paging_flush(struct tern_paging *p, uint32_t root, uint32_t first, uint32_t count);
void tern_paging_flush_all(struct tern_paging *p);
/** Adds a nop packet, which takes a line. */
void tern_paging_nop(struct tern_paging *p);
/** Makes the context-save area whose first page is `save` empty. */
void tern_paging_context_init(struct tern_paging *p, uint32_t save);
/** Sets pages `at` to at + count - 1 of the area to [page, page + count), in its list of pages
 *  (docs/spec/context.yaml). */
void tern_paging_context_pages(struct tern_paging *p, uint32_t save, uint32_t at, uint32_t page, uint32_t count);

#endif
