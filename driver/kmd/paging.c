/* SPDX-License-Identifier: Apache-2.0 */
#include "kmd/paging.h"

#include <stdlib.h>

#include "kmd/kmd.h"

#define LIST_FIRST (TERN_PKT_LINE_BYTES / 4) /* word of a save area's first page at which the list of pages begins */
#define SCRUB_PAGES_MAX 128u /* pages of a packet, which cannot be cut: at most about 8,000 cycles to its end */

/** Room for one packet of `lines` lines. NULL: the buffer has failed, now or before. */
static uint32_t *room(struct tern_paging *p, uint32_t lines)
{
    uint32_t bytes = lines * TERN_PKT_LINE_BYTES;
    if (!p->error && p->size + bytes > p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity * 2 : 16 * TERN_PKT_LINE_BYTES;
        uint32_t *words = realloc(p->words, capacity);
        if (words) {
            p->words = words;
            p->capacity = capacity;
        } else {
            p->error = -ENOMEM;
        }
    }
    return p->error ? NULL : p->words + p->size / 4;
}

static void added(struct tern_paging *p, int r, uint32_t lines)
{
    if (r) {
        p->error = r;
    } else {
        p->size += lines * TERN_PKT_LINE_BYTES;
    }
}

void tern_paging_free(struct tern_paging *p)
{
    free(p->words);
    *p = (struct tern_paging){0};
}

int tern_paging_error(const struct tern_paging *p)
{
    return p->error;
}

void tern_paging_scrub(struct tern_paging *p, uint32_t page, uint32_t count)
{
    for (uint32_t n; count; page += n, count -= n) {
        uint32_t *w = room(p, TERN_PKT_FILL_LINES);
        n = count < SCRUB_PAGES_MAX ? count : SCRUB_PAGES_MAX;
        struct tern_pkt_fill f = {.dst_lo = page << 12, .dst_hi = page >> 20, .width = n * TERN_PAGE, .rows = 1,
                                  .slices = 1};
        if (w) {
            added(p, tern_pkt_fill_pack(&f, w), TERN_PKT_FILL_LINES);
        }
    }
}

void tern_paging_entries(struct tern_paging *p, uint32_t table, uint32_t first, uint32_t count, uint32_t pte,
                         uint32_t step)
{
    uint32_t *w = room(p, TERN_PKT_PTE_UPDATE_LINES);
    struct tern_pkt_pte_update u = {
        .table_lo = (table << 12) + first * 4, .table_hi = table >> 20, .count = count, .pte = pte, .step = step};
    if (w) {
        added(p, tern_pkt_pte_update_pack(&u, w), TERN_PKT_PTE_UPDATE_LINES);
    }
}

void tern_paging_flush(struct tern_paging *p, uint32_t root, uint32_t first, uint32_t count)
{
    uint32_t *w = room(p, TERN_PKT_TLB_FLUSH_LINES);
    struct tern_pkt_tlb_flush f = {.root = root, .first = first, .count = count};
    if (w) {
        added(p, tern_pkt_tlb_flush_pack(&f, w), TERN_PKT_TLB_FLUSH_LINES);
    }
}

void tern_paging_flush_all(struct tern_paging *p)
{
    uint32_t *w = room(p, TERN_PKT_TLB_FLUSH_LINES);
    struct tern_pkt_tlb_flush f = {.all = 1};
    if (w) {
        added(p, tern_pkt_tlb_flush_pack(&f, w), TERN_PKT_TLB_FLUSH_LINES);
    }
}

void tern_paging_nop(struct tern_paging *p)
{
    uint32_t *w = room(p, TERN_PKT_NOP_LINES);
    if (w) {
        added(p, tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, w), TERN_PKT_NOP_LINES);
    }
}

void tern_paging_context_init(struct tern_paging *p, uint32_t save)
{
    uint32_t *w = room(p, TERN_PKT_CONTEXT_INIT_LINES);
    struct tern_pkt_context_init c = {.save = save};
    if (w) {
        added(p, tern_pkt_context_init_pack(&c, w), TERN_PKT_CONTEXT_INIT_LINES);
    }
}

void tern_paging_context_pages(struct tern_paging *p, uint32_t save, uint32_t at, uint32_t page, uint32_t count)
{
    const uint32_t before = at ? 0 : 1; /* the list omits the first page */
    if (count > before) {
        tern_paging_entries(p, save, LIST_FIRST + at + before - 1, count - before,
                            (page + before) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK |
                                TERN_PTE_WRITE_MASK,
                            1u << TERN_PTE_PPN_SHIFT);
    }
}
