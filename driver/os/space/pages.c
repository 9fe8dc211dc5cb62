/* SPDX-License-Identifier: Apache-2.0 */
#include "os/space/space.h"

#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"

#define BITMAP_LEVELS 4u /* 64^4 pages of 4 KiB are 64 GiB */
#define INDEX_NONE UINT32_MAX
#define ORDER_MAX (TERN_PAGES_ORDERS - 1)

/** A set of block numbers. Bit i of level l + 1 is set if word i of level l is not 0. */
struct set {
    uint64_t *level[BITMAP_LEVELS];
    uint32_t levels;
};

struct block {
    uint32_t page, order;
};

struct tern_pages {
    uint32_t count, free;
    uint32_t blocks[TERN_PAGES_ORDERS];
    /** Free blocks by order; `mixed`: at least one page is dirty. */
    struct set clean[TERN_PAGES_ORDERS], mixed[TERN_PAGES_ORDERS];
    uint64_t *dirty; /**< Dirty bits, one a page. */
    uint64_t words[];
};

/* ------------------------------------------------------------------ sets */

static uint32_t words_of(uint32_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

/** Assigns the set its words, from *words on, and advances *words. words NULL: assigns nothing. Returns the number
 *  of words. */
static size_t set_init(struct set *s, uint32_t bits, uint64_t **words)
{
    size_t all = 0;
    s->levels = 0;
    do {
        bits = words_of(bits);
        if (words) {
            s->level[s->levels] = *words + all;
        }
        s->levels++;
        all += bits;
    } while (bits > 1);
    if (words) {
        *words += all;
    }
    return all;
}

static bool set_has(const struct set *s, uint32_t i)
{
    return s->level[0][i / 64] >> i % 64 & 1;
}

static void set_put(struct set *s, uint32_t i, bool in)
{
    for (uint32_t l = 0; l < s->levels; l++, i /= 64) {
        uint64_t *w = &s->level[l][i / 64], was = *w, bit = 1ull << i % 64;
        *w = in ? was | bit : was & ~bit;
        if (in ? was : *w) {
            return; /* the levels above do not change */
        }
    }
}

static uint32_t set_first(const struct set *s)
{
    uint32_t i = 0;
    if (!s->level[s->levels - 1][0]) {
        return INDEX_NONE;
    }
    for (uint32_t l = s->levels; l-- > 0;) {
        i = i * 64 + (uint32_t)__builtin_ctzll(s->level[l][i]);
    }
    return i;
}

/* --------------------------------------------------------------- blocks */

static bool is_dirty(const struct tern_pages *p, uint32_t page)
{
    return p->dirty[page / 64] >> page % 64 & 1;
}

/** The bits of a word that stand for pages in [page, end). */
static uint64_t mask(uint32_t word, uint32_t page, uint32_t end)
{
    const uint32_t from = page > word * 64 ? page - word * 64 : 0, to = end < word * 64 + 64 ? end - word * 64 : 64;
    return (to == 64 ? UINT64_MAX : (1ull << to) - 1) & ~((1ull << from) - 1);
}

static bool any_dirty(const struct tern_pages *p, uint32_t page, uint32_t count)
{
    uint64_t any = 0;
    for (uint32_t w = page / 64; w * 64 < page + count; w++) {
        any |= p->dirty[w] & mask(w, page, page + count);
    }
    return any != 0;
}

static bool is_free(const struct tern_pages *p, struct block b)
{
    const uint32_t i = b.page >> b.order;
    return b.page < p->count && (set_has(&p->clean[b.order], i) || set_has(&p->mixed[b.order], i));
}

static void remove_block(struct tern_pages *p, struct block b)
{
    set_put(&p->clean[b.order], b.page >> b.order, false);
    set_put(&p->mixed[b.order], b.page >> b.order, false);
    p->blocks[b.order]--;
}

/** Makes a block free, and merges it with its buddy as long as the buddy is free. */
static void insert_block(struct tern_pages *p, struct block b)
{
    for (; b.order < ORDER_MAX; b.order++) {
        const struct block buddy = {b.page ^ 1u << b.order, b.order};
        if (!is_free(p, buddy)) {
            break;
        }
        remove_block(p, buddy);
        b.page &= ~(1u << b.order);
    }
    set_put(any_dirty(p, b.page, 1u << b.order) ? &p->mixed[b.order] : &p->clean[b.order], b.page >> b.order, true);
    p->blocks[b.order]++;
}

/** The order of the largest block of at most `count` pages. */
static uint32_t order_within(uint32_t count)
{
    return tern_min_u32(31u - (uint32_t)__builtin_clz(count), ORDER_MAX);
}

static void insert_range(struct tern_pages *p, uint32_t page, uint32_t count)
{
    for (uint32_t n; count; page += n, count -= n) {
        const uint32_t fits = order_within(count), aligned = page ? (uint32_t)__builtin_ctz(page) : ORDER_MAX;
        const struct block b = {page, fits < aligned ? fits : aligned};
        n = 1u << b.order;
        insert_block(p, b);
    }
}

/** Takes [page, page + count) out of a free block that contains it; the rest of the block stays free. */
static void carve(struct tern_pages *p, struct block b, uint32_t page, uint32_t count)
{
    const uint32_t end = b.page + (1u << b.order);
    remove_block(p, b);
    if (page > b.page) {
        insert_range(p, b.page, page - b.page);
    }
    if (page + count < end) {
        insert_range(p, page + count, end - page - count);
    }
}

/** The lowest free block of the order, a clean one if there is any. False: there is none. */
static bool lowest(const struct tern_pages *p, uint32_t order, struct block *out)
{
    uint32_t i = set_first(&p->clean[order]);
    i = i == INDEX_NONE ? set_first(&p->mixed[order]) : i;
    *out = (struct block){i << order, order};
    return i != INDEX_NONE;
}

/* ---------------------------------------------------------------- calls */

int tern_pages_create(uint32_t count, uint32_t reserved, bool clean, struct tern_pages **out)
{
    struct set unused = {{0}, 0};
    size_t words = words_of(count);
    if (count > 1u << 6 * BITMAP_LEVELS) {
        return -ENOMEM;
    }
    for (uint32_t o = 0; o < TERN_PAGES_ORDERS; o++) {
        words += 2 * set_init(&unused, (count >> o) + 1, NULL);
    }
    struct tern_pages *p = calloc(1, sizeof *p + words * sizeof p->words[0]);
    if (!p) {
        return -ENOMEM;
    }
    uint64_t *next = p->words;
    for (uint32_t o = 0; o < TERN_PAGES_ORDERS; o++) {
        set_init(&p->clean[o], (count >> o) + 1, &next);
        set_init(&p->mixed[o], (count >> o) + 1, &next);
    }
    p->dirty = next;
    p->count = count;
    for (uint32_t w = 0; w < words_of(count); w++) {
        p->dirty[w] = clean ? 0 : UINT64_MAX;
    }
    if (reserved < count) {
        insert_range(p, reserved, count - reserved);
        p->free = count - reserved;
    }
    *out = p;
    return 0;
}

void tern_pages_destroy(struct tern_pages *p)
{
    free(p);
}

uint32_t tern_pages_free_count(const struct tern_pages *p)
{
    return p->free;
}

uint32_t tern_pages_free_blocks(const struct tern_pages *p, uint32_t order)
{
    return p->blocks[order];
}

int tern_pages_take_large(struct tern_pages *p, struct tern_run *out)
{
    struct block b;
    if (!lowest(p, ORDER_MAX, &b)) {
        return -ENOSPC;
    }
    remove_block(p, b);
    p->free -= TERN_PAGES_SPAN;
    *out = (struct tern_run){b.page, TERN_PAGES_SPAN, any_dirty(p, b.page, TERN_PAGES_SPAN)};
    return 0;
}

/** The block from which up to `want` pages are taken. First choice is the least order above which nothing is split
 *  needlessly, then smaller orders in descending order, then a block of 4 MiB. False: no page is free. */
static bool best(const struct tern_pages *p, uint32_t want, struct block *out)
{
    const uint32_t fits = order_within(want);
    for (uint32_t o = fits; o < ORDER_MAX; o++) {
        if (lowest(p, o, out)) {
            return true;
        }
    }
    for (uint32_t o = fits < ORDER_MAX ? fits : ORDER_MAX; o-- > 0;) {
        if (lowest(p, o, out)) {
            return true;
        }
    }
    return lowest(p, ORDER_MAX, out);
}

int tern_pages_take(struct tern_pages *p, uint32_t want, struct tern_run *out)
{
    struct tern_run run = {0};
    struct block b;
    while (run.count < want && best(p, want - run.count, &b)) {
        const uint32_t size = 1u << b.order, most = size < want - run.count ? size : want - run.count;
        const bool dirty = is_dirty(p, b.page);
        uint32_t n = 1;
        if (run.count && (b.page != run.page + run.count || b.page % TERN_PAGES_SPAN == 0 || dirty != run.dirty)) {
            break;
        }
        while (n < most && is_dirty(p, b.page + n) == dirty) {
            n++;
        }
        carve(p, b, b.page, n);
        run = (struct tern_run){run.count ? run.page : b.page, run.count + n, dirty};
    }
    if (!run.count) {
        return -ENOSPC;
    }
    p->free -= run.count;
    *out = run;
    return 0;
}

void tern_pages_give(struct tern_pages *p, const struct tern_run *run)
{
    for (uint32_t w = run->page / 64; w * 64 < run->page + run->count; w++) {
        const uint64_t m = mask(w, run->page, run->page + run->count);
        p->dirty[w] = run->dirty ? p->dirty[w] | m : p->dirty[w] & ~m;
    }
    insert_range(p, run->page, run->count);
    p->free += run->count;
}
