/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Builds paging buffers: the only way in which page tables, TLBs and context-save areas change (A3), and how pages are
 * scrubbed (A7). It grows as needed (A4). An allocation failure is kept for tern_paging_error, so that callers
 * check once at the end.
 */
#ifndef TERN_KMD_PAGING_H
#define TERN_KMD_PAGING_H

#include <stdint.h>

struct tern_paging {
    uint32_t *words;
    uint32_t size, capacity; /**< Bytes. */
    int error;
};

void tern_paging_free(struct tern_paging *p);
/** 0, or the first failure: -ENOMEM, or -EINVAL for a value that no packet can hold. */
int tern_paging_error(const struct tern_paging *p);

/** Zeroes pages [page, page + count). */
void tern_paging_scrub(struct tern_paging *p, uint32_t page, uint32_t count);
/** Entries [first, first + count) of the table in page `table`: pte, pte + step, ... */
void tern_paging_entries(struct tern_paging *p, uint32_t table, uint32_t first, uint32_t count, uint32_t pte,
                         uint32_t step);
/** Forgets virtual pages [first, first + count) of one address space; count 0: all of it. */
void tern_paging_flush(struct tern_paging *p, uint32_t root, uint32_t first, uint32_t count);
void tern_paging_flush_all(struct tern_paging *p);
/** Nothing, in a line. */
void tern_paging_nop(struct tern_paging *p);
/** Makes the context-save area whose first page is `save` empty. */
void tern_paging_context_init(struct tern_paging *p, uint32_t save);
/** Pages [page, page + count) are the area's at-th and those behind it (its list of pages: docs/spec/context.yaml). */
void tern_paging_context_pages(struct tern_paging *p, uint32_t save, uint32_t at, uint32_t page, uint32_t count);

#endif
