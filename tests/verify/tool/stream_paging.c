/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mapping changes: a paging buffer writes or copies page-table entries and flushes the old translations.
 *
 * A change and its flush are one item, because between the two it is open which of both a translation follows. The
 * flush is of everything, of the space, or of a range of pages that includes the changed ones.
 */
#include "stream.h"

#define RW (TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK)
#define RO (TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK)
#define NEXT (1u << TERN_PTE_PPN_SHIFT)

/** The changed pages of a space, a virtual range. */
struct span {
    uint32_t space, first, count;
};

static void put(struct buffer *b, const uint32_t *w, int bad)
{
    struct packet p = {.lines = 1};
    stream_admit(b, &p, false);
    stream_emit(b, w, 1);
    b->st->error = b->st->error ? b->st->error : bad;
}

static void update(struct buffer *b, struct table *t, uint32_t first, uint32_t count, uint32_t pte, uint32_t step)
{
    uint32_t w[16];
    put(b, w, tern_pkt_pte_update_pack(&(struct tern_pkt_pte_update){
        .table_lo = (uint32_t)t->pa + 4 * first, .count = count, .pte = pte, .step = step}, w));
    for (uint32_t i = 0; i < count && stream_live(b); i++) {
        t->entry[first + i] = pte + i * step;
    }
}

static void copy(struct buffer *b, struct table *t, uint32_t first, uint32_t count, uint32_t from,
                 const uint32_t *entries)
{
    uint32_t w[16];
    put(b, w, tern_pkt_pte_copy_pack(&(struct tern_pkt_pte_copy){
        .src_lo = from, .dst_lo = (uint32_t)t->pa + 4 * first, .count = count}, w));
    for (uint32_t i = 0; i < count && stream_live(b); i++) {
        t->entry[first + i] = entries[i];
    }
}

/** Draws a number below 4096 of any magnitude. */
static uint32_t most_small(struct rng *r)
{
    return rng_below(r, 1u << rng_below(r, 13));
}

static void flush(struct buffer *b, struct rng *r, struct span s)
{
    uint32_t w[16], before = most_small(r) % (s.first + 1), align = 1u << rng_below(r, 13);
    struct tern_pkt_tlb_flush f = {.root = (uint32_t)(b->st->table[b->engine][s.space][TABLE_ROOT].pa / PAGE)};
    switch (rng_below(r, 9)) {
    case 0:
        f = (struct tern_pkt_tlb_flush){.all = 1};
        break;
    case 1:
        break;
    case 2:
        f.first = s.first - before;
        f.count = s.count + before + (rng_one_in(r, 4) ? rng_below(r, 6000) : most_small(r));
        break;
    case 3: /* the changed pages are the last or the first ones of the range */
        f.first = s.first - before;
        f.count = s.count + before;
        break;
    case 4:
        f.first = s.first;
        f.count = s.count + before;
        break;
    case 5: /* blocks of aligned pages */
    case 6:
        f.first = s.first & ~(align - 1);
        f.count = ((s.first + s.count + align - 1) & ~(align - 1)) - f.first;
        break;
    default:
        f.first = s.first;
        f.count = s.count;
        break;
    }
    put(b, w, tern_pkt_tlb_flush_pack(&f, w));
}

/** Draws pages of the window within one table. Returns the table, and the first page's entry in *first. */
static struct table *draw_run(struct buffer *b, struct rng *r, struct span *s, uint32_t most, uint32_t *first)
{
    uint32_t page = rng_below(r, WINDOW), room = page < 16 ? 16 - page : WINDOW - page;
    *first = page < 16 ? 1008 + page : page - 16;
    s->first = VA_WINDOW / PAGE + page;
    s->count = 1 + rng_below(r, room < most ? room : most);
    return &b->st->table[b->engine][s->space][page < 16 ? TABLE_LOW : TABLE_HIGH];
}

static uint32_t data(const struct buffer *b, uint32_t page)
{
    return (DATA(b->engine) / PAGE + page) << TERN_PTE_PPN_SHIFT;
}

/** Remaps several pages at once, to rising, falling or equal pages. */
static void put_run(struct buffer *b, struct rng *r, const struct span *s, struct table *t, uint32_t first)
{
    uint32_t flags = rng_one_in(r, 3) ? RO : RW;
    uint32_t page = 8 + rng_below(r, POOL - 16), step = rng_one_in(r, 4) ? 0 : rng_one_in(r, 3) ? 0u - NEXT : NEXT;
    update(b, t, first, s->count, data(b, page) | flags, step);
}

static void change_run(struct buffer *b, struct rng *r, struct span *s)
{
    uint32_t first;
    struct table *t = draw_run(b, r, s, 8, &first);
    put_run(b, r, s, t, first);
}

void stream_remap(struct buffer *b, struct rng *r, uint32_t space, uint32_t page, uint32_t count)
{
    struct span s = {.space = space, .first = VA_WINDOW / PAGE + page, .count = count};
    struct table *t = b->st->table[b->engine][space];
    put_run(b, r, &s, page < 16 ? &t[TABLE_LOW] : &t[TABLE_HIGH], page < 16 ? 1008 + page : page - 16);
    flush(b, r, s);
}

void stream_remap_far(struct buffer *b, struct rng *r, uint32_t space, uint32_t page, uint32_t count, uint32_t stride)
{
    struct span s = {.space = space};
    struct table *t = b->st->table[b->engine][space];
    uint32_t which = 1u + rng_below(r, (1u << count) - 1); /* some or all */
    /* A whole table becomes that of another space. The flush ends in another line of the first level. */
    if (rng_one_in(r, 3)) {
        uint32_t high = rng_one_in(r, 4) ? 0 : 1, other = (space + 1 + rng_below(r, SPACES - 1)) % SPACES;
        uint64_t pa = b->st->table[b->engine][other][high ? TABLE_HIGH : TABLE_LOW].pa;
        s.first = VA_FAR / PAGE;
        s.count = FAR;
        update(b, &t[TABLE_ROOT], VA_FAR / REGION + high, 1,
               (uint32_t)(pa / PAGE) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK, 0);
        flush(b, r, s);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = page + i * stride;
        if (which >> i & 1u) {
            update(b, &t[at < FAR / 2 ? TABLE_LOW : TABLE_HIGH], at % (FAR / 2), 1,
                   data(b, 8 + rng_below(r, POOL - 8)) | RW, 0);
            s.first = s.count ? s.first : VA_FAR / PAGE + at;
            s.count = VA_FAR / PAGE + at + 1 - s.first;
        }
    }
    flush(b, r, s);
}

static void change_by_copy(struct buffer *b, struct rng *r, struct span *s)
{
    uint32_t first, entries[16], from = rng_below(r, 1000), space = rng_below(r, SPACES);
    struct table *t = draw_run(b, r, s, 16, &first);
    const struct table *other = t + ((int)space - (int)s->space) * (int)TABLES;
    for (uint32_t i = 0; i < s->count; i++) {
        entries[i] = space == s->space ? stream_template(b->engine, from + i) : other->entry[first + i];
    }
    copy(b, t, first, s->count,
         space == s->space ? TEMPLATES + b->engine * PAGE + 4 * from : (uint32_t)other->pa + 4 * first, entries);
}

static void change_rights(struct buffer *b, struct rng *r, struct span *s)
{
    uint32_t first, kind = rng_below(r, 4);
    struct table *t = draw_run(b, r, s, 1, &first);
    uint32_t now = t->entry[first];
    update(b, t, first, 1, kind == 0   ? 0
                           : kind == 1 ? RW | TERN_PTE_ZERO_MASK
                           : kind == 2 ? now ^ TERN_PTE_WRITE_MASK
                                       : stream_bad_pte(b->st, r, false), 0);
}

static void swap(struct buffer *b, struct rng *r, struct span *s)
{
    uint32_t first;
    struct table *t = draw_run(b, r, s, 16, &first);
    uint32_t last = first + s->count - 1, a = t->entry[first], z = t->entry[last];
    update(b, t, first, 1, z, rng_next(r));
    update(b, t, last, 1, a, rng_next(r));
}

/** The space gets the other page of programs. */
static void change_code(struct buffer *b, struct rng *r, struct span *s)
{
    struct table *t = &b->st->table[b->engine][s->space][TABLE_SYSTEM];
    s->first = VA_CODE / PAGE;
    s->count = 3;
    uint32_t page = CODE / PAGE + rng_below(r, 2),
        code = TERN_PTE_VALID_MASK | TERN_PTE_EXEC_MASK | page << TERN_PTE_PPN_SHIFT;
    update(b, t, s->first % 1024, 1, code | TERN_PTE_READ_MASK, 0);
    update(b, t, s->first % 1024 + 2, 1, code, 0);
}

/** Changes the first level: the 4 MiB page gets other rights or becomes a table; a part of the window is removed or
 * restored. */
static void change_region(struct buffer *b, struct rng *r, struct span *s)
{
    struct table *t = b->st->table[b->engine][s->space], *root = &t[TABLE_ROOT];
    uint32_t high = (uint32_t)(t[TABLE_HIGH].pa / PAGE) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK;
    bool window = rng_one_in(r, 4);
    uint32_t index = window ? VA_WINDOW / REGION + 1 : VA_SUPER / REGION, kind = rng_below(r, 8), pte;
    if (window) {
        pte = kind < 2 ? 0 : kind == 2 ? stream_bad_pte(b->st, r, true) : high;
    } else {
        pte = kind < 4    ? data(b, 0) | RW
              : kind == 4 ? data(b, 0) | RO
              : kind == 5 ? high
              : kind == 6 ? stream_bad_pte(b->st, r, true)
                          : RO | TERN_PTE_ZERO_MASK;
    }
    s->first = index * 1024;
    s->count = 1024;
    update(b, root, index, 1, pte, 0);
}

void stream_mapping(struct buffer *b, struct rng *r)
{
    struct span s = {.space = stream_space(r)};
    switch (rng_below(r, 10)) {
    case 0:
        change_region(b, r, &s);
        break;
    case 1:
        change_code(b, r, &s);
        break;
    case 2:
    case 3:
        swap(b, r, &s);
        break;
    case 4:
        change_rights(b, r, &s);
        break;
    case 5:
    case 6:
        change_by_copy(b, r, &s);
        break;
    default:
        change_run(b, r, &s);
        break;
    }
    flush(b, r, s);
}
