/* SPDX-License-Identifier: Apache-2.0 */
/** Memory bases, and the distribution of the plane's bits to them (memory_basis.h). */
#include "kmd/memory_basis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/minmax.h"
#include "hal/hal.h"
#include "kmd/bits.h"
#include "kmd/kmd.h"

/** A range of pages. Their bits begin at bit `at` of their basis. */
struct piece {
    uint32_t first, count, at;
};

struct tern_basis {
    struct tern_basis *next;
    uint64_t id, starts;
    uint32_t n, pages;  /**< Numbers of ranges, and of pages of all ranges. */
    struct piece *piece, *sorted; /**< The ranges in the order of creation, and by address. */
    uint32_t *bits;     /**< Dirty bits of all pages, valid while the basis is started. */
};

static uint64_t page_bytes(const struct tern_kmd *kmd)
{
    return 1ull << kmd->dirty_page_log2;
}

/** Number of pages of the device. The last one need not be whole. */
static uint64_t device_pages(const struct tern_kmd *kmd)
{
    return ((uint64_t)kmd->mem_pages * TERN_PAGE + page_bytes(kmd) - 1) >> kmd->dirty_page_log2;
}

void tern_kmd_dirty_caps(const struct tern_kmd *kmd, struct tern_dirty_caps *out)
{
    *out = (struct tern_dirty_caps){.supported = true, .performant = true, .segments = 1};
    out->segment[0].bytes = device_pages(kmd) << kmd->dirty_page_log2;
    out->segment[0].page_bytes = page_bytes(kmd);
}

/* ------------------------------------------------------------- to every basis */

/** Index in `sorted` of the first piece that ends behind the page. */
static uint32_t find_piece(const struct tern_basis *b, uint32_t page)
{
    uint32_t low = 0, high = b->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (b->sorted[middle].first + b->sorted[middle].count > page) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/** Adds written pages of the device to every started basis: those of the range whose bits are set, or all of the range
 *  if written is NULL. */
static void tell_all(struct tern_kmd *kmd, uint32_t first, uint32_t count, const uint32_t *written)
{
    for (struct tern_basis *b = kmd->bases.first; b; b = b->next) {
        if (!b->starts) {
            continue;
        }
        for (uint32_t i = find_piece(b, first); i < b->n && b->sorted[i].first < first + count; i++) {
            const struct piece *p = &b->sorted[i];
            const uint32_t from = tern_max_u32(first, p->first), to = tern_min_u32(first + count, p->first + p->count);
            if (written) {
                tern_bits_add(b->bits, p->at + (from - p->first), written, from - first, to - from);
            } else {
                tern_bits_set(b->bits, p->at + (from - p->first), to - from);
            }
        }
    }
}

void tern_bases_wrote(struct tern_kmd *kmd, uint64_t address, size_t size)
{
    tern_hal_assert_held(kmd->hal);
    const uint64_t pages = device_pages(kmd), first = address >> kmd->dirty_page_log2;
    if (size && first < pages) {
        const uint64_t last = (address + size - 1) >> kmd->dirty_page_log2;
        tell_all(kmd, (uint32_t)first, (uint32_t)((last < pages ? last : pages - 1) - first + 1), NULL);
    }
}

/** Takes the bits of `count` pages, at most kmd->bases.taken_pages, out of the plane into all started bases. */
static int take(struct tern_kmd *kmd, uint32_t first, uint32_t count)
{
    uint32_t *const taken = kmd->bases.taken;
    const int r = tern_kmd_dirty(kmd, first, count, true, taken);
    if (r) { /* the plane may have cleared any of the bits */
        tell_all(kmd, first, count, NULL);
    } else if (tern_bits_any(taken, count)) {
        tell_all(kmd, first, count, taken);
    }
    return r;
}

/** Does the same for pages of a basis, which are given by their bits in it. */
static int take_of(struct tern_kmd *kmd, const struct tern_basis *b, uint32_t at, uint32_t count)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < b->n; i++) {
        const struct piece *p = &b->piece[i];
        const uint32_t from = tern_max_u32(at, p->at), to = tern_min_u32(at + count, p->at + p->count);
        if (from < to) {
            r = take(kmd, p->first + (from - p->at), to - from);
        }
    }
    return r;
}

/* ------------------------------------------------------------------ creation */

static void free_base(struct tern_basis *b)
{
    if (b) {
        free(b->piece);
        free(b->sorted);
        free(b->bits);
        free(b);
    }
}

static int check_range(const struct tern_kmd *kmd, const struct tern_basis_range *range, uint32_t i)
{
    const uint64_t page = page_bytes(kmd), memory = device_pages(kmd) * page;
    const uint64_t address = range->address, bytes = range->bytes;
    if (!bytes) {
        return tern_error(-EINVAL, "range %u of a memory basis is empty", i);
    }
    if (address % page || bytes % page) {
        return tern_error(-EDOM, "range %u of a memory basis, %" PRIu64 " bytes at 0x%" PRIx64 ", is not of whole "
                          "pages of %" PRIu64, i, bytes, address, page);
    }
    if (address >= memory || bytes > memory - address) {
        return tern_error(-ERANGE, "range %u of a memory basis, %" PRIu64 " bytes at 0x%" PRIx64 ", is not in the %"
                          PRIu64 " bytes of the device", i, bytes, address, memory);
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const uint32_t x = ((const struct piece *)a)->first, y = ((const struct piece *)b)->first;
    return x < y ? -1 : x > y;
}

static int check_overlap(const struct tern_basis *b)
{
    for (uint32_t i = 1; i < b->n; i++) {
        const struct piece *p = &b->sorted[i - 1], *q = &b->sorted[i];
        if (q->first < p->first + p->count) {
            return tern_error(-EEXIST, "two ranges of a memory basis overlap: pages %u to %u, and page %u", p->first,
                              p->first + p->count - 1, q->first);
        }
    }
    return 0;
}

/** Fills in the pieces. -EEXIST: they overlap. Pieces that do not overlap have less than 2^32 pages. */
static int fill_base(struct tern_basis *b, const struct tern_kmd *kmd, const struct tern_basis_range *ranges)
{
    uint32_t pages = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        b->piece[i] = (struct piece){(uint32_t)(ranges[i].address >> kmd->dirty_page_log2),
                                     (uint32_t)(ranges[i].bytes >> kmd->dirty_page_log2), 0};
    }
    memcpy(b->sorted, b->piece, b->n * sizeof *b->piece);
    qsort(b->sorted, b->n, sizeof *b->sorted, by_address);
    const int r = check_overlap(b);
    for (uint32_t i = 0; !r && i < b->n; i++) {
        b->piece[i].at = pages;
        pages += b->piece[i].count;
    }
    memcpy(b->sorted, b->piece, b->n * sizeof *b->piece);
    qsort(b->sorted, b->n, sizeof *b->sorted, by_address);
    b->pages = pages;
    return r;
}

/** Makes `taken` large enough for each range of the basis. */
static int reserve(struct tern_bases *all, const struct tern_basis *b)
{
    uint32_t pages = all->taken_pages;
    for (uint32_t i = 0; i < b->n; i++) {
        pages = tern_max_u32(pages, b->piece[i].count);
    }
    uint32_t *const taken = pages > all->taken_pages ? realloc(all->taken, tern_bits_bytes(pages)) : all->taken;
    if (!taken) {
        return -ENOMEM;
    }
    all->taken = taken;
    all->taken_pages = pages;
    return 0;
}

int tern_basis_create(struct tern_kmd *kmd, const struct tern_basis_range *ranges, uint32_t n, uint64_t *id)
{
    tern_hal_assert_held(kmd->hal);
    if (!n) {
        return tern_error(-EINVAL, "a memory basis has at least one range");
    }
    int r = 0;
    for (uint32_t i = 0; !r && i < n; i++) {
        r = check_range(kmd, &ranges[i], i);
    }
    if (r) {
        return r;
    }
    struct tern_basis *b = calloc(1, sizeof *b);
    if (b) {
        b->n = n;
        b->piece = calloc(n, sizeof *b->piece);
        b->sorted = calloc(n, sizeof *b->sorted);
    }
    if (!b || !b->piece || !b->sorted) {
        r = tern_error_memory("a memory basis");
        goto fail;
    }
    r = fill_base(b, kmd, ranges);
    if (r) {
        goto fail;
    }
    b->bits = calloc(1, tern_bits_bytes(b->pages));
    if (!b->bits || reserve(&kmd->bases, b)) {
        r = tern_error_memory("the bits of a memory basis");
        goto fail;
    }
    b->id = ++kmd->bases.last_id;
    b->next = kmd->bases.first;
    kmd->bases.first = b;
    *id = b->id;
    return 0;
fail:
    free_base(b);
    return r;
}

/** Returns the basis. NULL, with the sentence for -EBADF: there is no such basis. */
static struct tern_basis *find(struct tern_kmd *kmd, uint64_t id)
{
    struct tern_basis *b = kmd->bases.first;
    while (b && b->id != id) {
        b = b->next;
    }
    if (!b) {
        const char *why = id && id <= kmd->bases.last_id ? "was destroyed" : "was never made";
        tern_error(-EBADF, "memory basis %" PRIu64 " %s", id, why);
    }
    return b;
}

int tern_basis_destroy(struct tern_kmd *kmd, uint64_t id)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_basis *const b = find(kmd, id);
    if (!b) {
        return -EBADF;
    }
    if (b->starts) {
        return tern_error(-EBUSY, "memory basis %" PRIu64 " is started: stop it before it is destroyed", id);
    }
    struct tern_basis **at = &kmd->bases.first;
    while (*at != b) {
        at = &(*at)->next;
    }
    *at = b->next;
    free_base(b);
    return 0;
}

void tern_bases_free(struct tern_kmd *kmd)
{
    for (struct tern_basis *b = kmd->bases.first, *next; b; b = next) {
        next = b->next;
        free_base(b);
    }
    free(kmd->bases.taken);
    kmd->bases = (struct tern_bases){0};
}

/* ------------------------------------------------------------------ tracking */

static void begin(struct tern_basis *b)
{
    memset(b->bits, 0, tern_bits_bytes(b->pages));
    b->starts = 1;
}

int tern_basis_start(struct tern_kmd *kmd, uint64_t id)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_basis *const b = find(kmd, id);
    if (!b) {
        return -EBADF;
    }
    if (b->starts) {
        b->starts++;
        return 0;
    }
    const int r = take_of(kmd, b, 0, b->pages); /* the other bases get earlier writes */
    if (!r) {
        begin(b);
    }
    return r;
}

int tern_basis_start_late(struct tern_kmd *kmd, uint64_t id)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_basis *const b = find(kmd, id);
    if (!b) {
        return -EBADF;
    }
    if (b->starts) {
        return tern_error(-EALREADY, "memory basis %" PRIu64 " is started already", id);
    }
    begin(b);
    return 0;
}

/** Finds a basis that must be started. *out is NULL on failure. */
static int find_started(struct tern_kmd *kmd, uint64_t id, struct tern_basis **out)
{
    struct tern_basis *const b = find(kmd, id);
    *out = b && b->starts ? b : NULL;
    if (!b) {
        return -EBADF;
    }
    return *out ? 0 : tern_error(-ENOENT, "memory basis %" PRIu64 " is not started", id);
}

int tern_basis_stop(struct tern_kmd *kmd, uint64_t id)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_basis *b;
    const int r = find_started(kmd, id, &b);
    if (b) {
        b->starts--;
    }
    return r;
}

/* ------------------------------------------------------------------- queries */

/** A part of a basis: `count` bits from bit `at` on. */
struct place {
    uint32_t at, count;
};

static int resolve(const struct tern_kmd *kmd, const struct tern_basis *b, const struct tern_basis_part *part,
                   struct place *out)
{
    const uint64_t page = page_bytes(kmd), offset = part->offset, bytes = part->bytes;
    const bool all = part->range == TERN_BASIS_ALL;
    if (!all && part->range >= b->n) {
        return tern_error(-ENXIO, "range %u of memory basis %" PRIu64 ", which has %u", part->range, b->id, b->n);
    }
    if (offset % page || bytes % page) {
        return tern_error(-EDOM, "a query of %" PRIu64 " bytes from offset %" PRIu64 " on is not of whole pages of %"
                          PRIu64 " bytes", bytes, offset, page);
    }
    const uint64_t size = (all ? b->pages : b->piece[part->range].count) * page;
    if (offset > size || bytes > size - offset || (!bytes && offset == size)) {
        return tern_error(-ERANGE, "a query of %" PRIu64 " bytes from offset %" PRIu64 " on ends beyond the %" PRIu64
                          " bytes that it is of", bytes, offset, size);
    }
    out->at = (all ? 0 : b->piece[part->range].at) + (uint32_t)(offset / page);
    out->count = (uint32_t)((bytes ? bytes : size - offset) / page);
    return 0;
}

/** Finds the bits of a query, and completes them from the plane. */
static int look(struct tern_kmd *kmd, uint64_t id, const struct tern_basis_part *part, struct tern_basis **b,
                struct place *p)
{
    int r = find_started(kmd, id, b);
    if (r == 0) {
        r = resolve(kmd, *b, part, p);
    }
    return r ? r : take_of(kmd, *b, p->at, p->count);
}

int tern_basis_query(struct tern_kmd *kmd, uint64_t id, const struct tern_basis_part *part, bool clear, void *bits,
                    uint64_t at)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_basis *b;
    struct place p = {0};
    const int r = look(kmd, id, part, &b, &p);
    if (!r) {
        tern_bits_give(b->bits, p.at, p.count, bits, at);
    }
    if (!r && clear) {
        tern_bits_clear(b->bits, p.at, p.count);
    }
    return r;
}

int tern_basis_count(struct tern_kmd *kmd, uint64_t id, const struct tern_basis_part *part, uint64_t *count)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_basis *b;
    struct place p = {0};
    const int r = look(kmd, id, part, &b, &p);
    if (!r) {
        *count = tern_bits_count(b->bits, p.at, p.count);
    }
    return r;
}
