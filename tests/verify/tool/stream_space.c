/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of a stream case, its address spaces, and the admission of packets.
 *
 * Each space maps its window of data pages in its own order: private pages of the space, pages shared with the engine's
 * other spaces, some twice, some read-only, and zero pages. Behind it are pages that cannot be used. The tables are in
 * the scene at the start; st->table tracks them as paging buffers change them.
 */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define R TERN_PTE_READ_MASK
#define W TERN_PTE_WRITE_MASK
#define X TERN_PTE_EXEC_MASK
#define V TERN_PTE_VALID_MASK
#define Z TERN_PTE_ZERO_MASK
#define RESERVED (~TERN_PTE_KNOWN | TERN_PTE_ABSENT_MASK) /* bits that must be 0 in valid entries */
#define MOST_PIECES 256u

static uint32_t pte(uint64_t pa, uint32_t flags)
{
    return (uint32_t)(pa / PAGE) << TERN_PTE_PPN_SHIFT | flags | V;
}

uint32_t stream_bad_pte(struct stream *st, struct rng *r, bool first)
{
    uint32_t beyond = (uint32_t)(st->g->mem_bytes / PAGE) + rng_below(r, 4);
    uint32_t good = pte(DATA(0), R | W); /* 4 MiB aligned: valid in both levels */
    switch (rng_below(r, 9)) {
    case 0:
        return rng_next(r) & ~V; /* absent too: the scene has no page for it */
    case 1:
        return pte(DATA(0), W | (rng_one_in(r, 2) ? X : 0));
    case 2:
        return good | 1u << (4 + rng_below(r, 4)) | rng_below(r, 2) << 9;
    case 3:
        return (first ? beyond | 1023u : beyond) << TERN_PTE_PPN_SHIFT | R | W | V;
    case 4:
        return first ? pte(DATA(0) + PAGE * (1 + rng_below(r, 1023)), R | W) : pte(DATA(0), 0);
    case 5:
        return good | Z;
    case 6:
        return Z | V;
    case 7:
        return first ? beyond << TERN_PTE_PPN_SHIFT | V : pte(DATA(0), X);
    default:
        return first ? pte(TABLE_PAGES, 0x10) : 0;
    }
}

/** Maps the pages that every space has at the same addresses, and its buffers. */
static void fill_system(struct stream *st, uint32_t engine, uint32_t space)
{
    uint32_t *entry = st->table[engine][space][TABLE_SYSTEM].entry;
    for (uint32_t i = 0; i < 4 * BUFFERS; i++) {
        entry[i] = pte(BUFFER_PAGES + i * PAGE, R);
    }
    for (uint32_t i = 0; i < 8; i++) {
        entry[192 + i] = pte(ARGS + i * PAGE, R);
        entry[208 + i] = pte(FENCES + i * PAGE, R | W);
    }
    entry[216] = pte(CONSTANTS, R);
    entry[224] = pte(CODE + space % 2 * PAGE, R | X);
    entry[225] = pte(CODE + (2 + engine) * PAGE, R | W | X);
    entry[226] = pte(CODE + space % 2 * PAGE, X);
    for (uint32_t i = 0; i < STACK_BYTES / PAGE; i++) {
        entry[240 + i] = pte(STACKS + engine * STACK_BYTES + i * PAGE, R | W);
    }
    for (uint32_t i = 0; i < MAILS + 2; i++) { /* with stripes and counters */
        entry[256 + i] = pte(MAIL + i * PAGE, R | W);
    }
}

/** Returns the entry of a page of the data window, and of the bad pages behind it. */
static uint32_t *window_entry(struct stream *st, uint32_t engine, uint32_t space, uint32_t page)
{
    struct table *t = st->table[engine][space];
    return page < 16 ? &t[TABLE_LOW].entry[1008 + page] : &t[TABLE_HIGH].entry[page - 16];
}

/** Maps every page of two tables, so that ranges of many pages include many that are used. */
static void fill_far(struct stream *st, uint32_t engine, uint32_t space, struct rng *r)
{
    for (uint32_t i = 0; i < FAR; i++) {
        uint32_t *entry = st->table[engine][space][i < FAR / 2 ? TABLE_LOW : TABLE_HIGH].entry;
        entry[i % (FAR / 2)] = pte(
            DATA(engine) + (rng_one_in(r, 4) ? rng_below(r, 32) : 32 + 32 * space + rng_below(r, 32)) * PAGE, R | W);
    }
}

/** Places the tables. Tables of one kind of an engine's spaces have page numbers that differ in one bit. */
static void place_tables(struct stream *st)
{
    struct rng r = rng_of(st->seed, RNG_SPACE - 1);
    bool taken[SPACE_PAGES + (1u << SPACE_BITS)] = {false};
    for (uint32_t i = 0; i < ENGINES * TABLES; i++) {
        uint32_t page[SPACES], first, second, turn = rng_below(&r, SPACES);
        do {
            page[0] = SPACE_PAGES + rng_below(&r, 256);
            first = rng_below(&r, SPACE_BITS);
            second = (first + 1 + rng_below(&r, SPACE_BITS - 1)) % SPACE_BITS;
            page[1] = page[0] ^ 1u << first;
            page[2] = page[0] ^ 1u << second;
        } while (taken[page[0]] || taken[page[1]] || taken[page[2]]);
        for (uint32_t space = 0; space < SPACES; space++) {
            taken[page[space]] = true;
            st->table[i / TABLES][(space + turn) % SPACES][i % TABLES].pa = (uint64_t)page[space] * PAGE;
        }
    }
}

static void fill_window(struct stream *st, uint32_t engine, uint32_t space, struct rng *r)
{
    uint32_t turn = rng_below(r, 32);
    for (uint32_t page = 0; page < WINDOW; page++) {
        uint64_t own = DATA(engine) + (32 + 32 * space + (7 * page + turn) % 32) * PAGE;
        uint64_t shared = DATA(engine) + rng_below(r, 32) * PAGE;
        uint32_t kind = rng_below(r, 16);
        *window_entry(st, engine, space, page) = kind == 0   ? pte(own, R)
                                                 : kind == 1 ? R | V | Z | (rng_one_in(r, 2) ? W : 0)
                                                 : kind <= 5 ? pte(shared, R | W)
                                                 : kind == 6 ? pte(shared, R)
                                                             : pte(own, R | W);
    }
    for (uint32_t page = 0; page < BAD; page++) {
        uint32_t kind = rng_below(r, 8);
        *window_entry(st, engine, space, WINDOW + page) = kind == 0   ? pte(DATA(engine), R)
                                                          : kind == 1 ? R | V | Z | (rng_one_in(r, 2) ? W : 0)
                                                          : kind <= 3 ? 0
                                                                      : stream_bad_pte(st, r, false);
    }
}

static void fill_space(struct stream *st, uint32_t engine, uint32_t space)
{
    struct table *t = st->table[engine][space];
    struct rng r = rng_of(st->seed, RNG_SPACE + engine * SPACES + space);
    uint32_t *root = t[TABLE_ROOT].entry;
    root[SYSTEM_VA / REGION] = pte(t[TABLE_SYSTEM].pa, 0);
    root[VA_WINDOW / REGION] = pte(t[TABLE_LOW].pa, 0);
    root[VA_WINDOW / REGION + 1] = pte(t[TABLE_HIGH].pa, 0);
    for (uint32_t i = 0; i < BAD_REGIONS; i++) {
        root[VA_BAD_REGIONS / REGION + i] = stream_bad_pte(st, &r, true);
    }
    root[VA_SUPER / REGION] = pte(DATA(engine), R | W);
    root[VA_SUPER / REGION + 1] = R | V | Z;
    root[VA_SUPER / REGION + 2] = pte(DATA(engine), R);
    fill_system(st, engine, space);
    fill_far(st, engine, space, &r);
    fill_window(st, engine, space, &r);
    for (uint32_t i = 0; i < TABLES; i++) {
        scene_put(st->scene, t[i].pa, t[i].entry, PAGE);
    }
}

/** Entries for pte_copy: pages of data. */
static void fill_template(struct stream *st, uint32_t engine)
{
    uint32_t entry[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        entry[i] = stream_template(engine, i);
    }
    scene_put(st->scene, TEMPLATES + engine * PAGE, entry, PAGE);
}

uint32_t stream_template(uint32_t engine, uint32_t i)
{
    return pte(DATA(engine) + i * 37 % POOL * PAGE, i % 11 ? R | W : R);
}

void stream_space_init(struct stream *st)
{
    place_tables(st);
    for (uint32_t e = 0; e < ENGINES; e++) {
        for (uint32_t i = 0; i < SPACES; i++) {
            fill_space(st, e, i);
        }
        fill_template(st, e);
        for (uint32_t page = 0; page < POOL; page++) {
            struct rng r = rng_of(st->seed, RNG_PAGE + e * POOL + page);
            uint32_t words[PAGE / 4];
            for (uint32_t i = 0; i < PAGE / 4; i++) {
                words[i] = rng_next(&r);
            }
            if (page % 2) { /* the others stay zero, where writes are easy to see */
                scene_put(st->scene, DATA(e) + page * PAGE, words, PAGE);
            }
        }
    }
    struct rng r = rng_of(st->seed, RNG_PAGE - 1);
    for (uint32_t i = 0; i < PAGE / 8; i++) {
        st->constant[i] = i % 4 ? stream_random64(&r) : stream_random64(&r) >> i / 4 % 64;
    }
    scene_put(st->scene, CONSTANTS, st->constant, PAGE);
}

/* ----------------------------------------------------------------- admission */

static const struct table *table_at(const struct stream *st, uint32_t engine, uint64_t pa)
{
    const struct table *t = &st->table[engine][0][0];
    for (uint32_t i = 0; i < SPACES * TABLES; i++) {
        if (t[i].pa == pa) {
            return &t[i];
        }
    }
    return NULL;
}

static bool usable(const struct stream *st, uint32_t entry, bool first, unsigned use)
{
    uint64_t ppn = entry >> TERN_PTE_PPN_SHIFT, last = first ? ppn | 1023u : ppn;
    uint32_t need = V | (use & USE_READ ? R : 0) | (use & USE_WRITE ? R | W : 0);
    bool zero = entry & Z;
    return (entry & need) == need && !(entry & RESERVED) && !((entry & W) && !(entry & R)) &&
           (zero ? ppn == 0 && !(use & USE_WRITE) : last < st->g->mem_bytes / PAGE && !(first && ppn & 1023u));
}

bool stream_translate(const struct buffer *b, uint64_t va, unsigned use, uint64_t *pa, bool *zero)
{
    const struct stream *st = b->st;
    *zero = false;
    if (b->paging) {
        *pa = va;
        return va < st->g->mem_bytes;
    }
    uint32_t entry = st->table[b->engine][b->space][TABLE_ROOT].entry[va / REGION & 1023u];
    bool first = entry & (R | W | X);
    if (!first) {
        const struct table *t = table_at(st, b->engine, (uint64_t)(entry >> TERN_PTE_PPN_SHIFT) * PAGE);
        if (!t || !(entry & V) || entry & Z || entry & RESERVED) {
            return false;
        }
        entry = t->entry[va / PAGE & 1023u];
    }
    *zero = entry & Z;
    *pa = (uint64_t)(entry >> TERN_PTE_PPN_SHIFT) * PAGE + va % (first ? REGION : PAGE);
    return usable(st, entry, first, use);
}

/** Physical bytes that a packet accesses. */
struct piece {
    uint64_t pa;
    uint32_t bytes, box;
    unsigned use;
};

struct walk {
    struct piece piece[MOST_PIECES];
    uint32_t pieces, faulty; /* faulty: boxes that fault */
    bool refused;
};

static void walk_row(const struct buffer *b, const struct box *box, uint32_t index, uint64_t at, struct walk *w,
                     bool *fault)
{
    for (uint64_t left = box->width, n; left && !w->refused; left -= n, at += n) {
        uint64_t pa;
        bool zero;
        at = box->wraps && !b->paging ? (uint32_t)at : at;
        n = PAGE - at % PAGE < left ? PAGE - at % PAGE : left;
        if (!b->paging && (at + n - 1) >> 32) {
            w->refused = true; /* open: behind the last address */
        } else if (!stream_translate(b, at, box->use, &pa, &zero)) {
            *fault = true;
        } else if (!zero && w->pieces == MOST_PIECES) {
            w->refused = true;
        } else if (!zero) {
            w->piece[w->pieces++] = (struct piece){.pa = pa, .bytes = (uint32_t)n, .use = box->use, .box = index};
        }
    }
}

static void walk_box(const struct buffer *b, const struct box *box, uint32_t index, struct walk *w)
{
    bool fault = false;
    for (uint32_t z = 0; box->width && box->rows && z < box->slices && !w->refused; z++) {
        for (uint32_t y = 0; y < box->rows && !w->refused; y++) {
            walk_row(b, box, index, box->at + (uint64_t)z * box->slice + (uint64_t)y * box->row, w, &fault);
        }
    }
    w->faulty += fault;
}

static bool meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/** Returns true if no byte is written twice, or written by one box and read by another, and no open byte is read. */
static bool defined(const struct stream *st, const struct walk *w)
{
    for (uint32_t i = 0; i < w->pieces; i++) {
        const struct piece *p = &w->piece[i];
        for (uint32_t k = 0; k < i; k++) {
            if ((p->use | w->piece[k].use) & USE_WRITE && meet(p->pa, p->bytes, w->piece[k].pa, w->piece[k].bytes)) {
                return false;
            }
        }
        for (uint32_t k = 0; k < st->scene->opens && p->use & USE_READ; k++) {
            if (meet(p->pa, p->bytes, st->scene->open[k].first, st->scene->open[k].bytes)) {
                return false;
            }
        }
    }
    return true;
}

bool stream_live(const struct buffer *b)
{
    return !b->dead && !b->skipped && !b->closed;
}

bool stream_admit(struct buffer *b, const struct packet *p, bool may_fault)
{
    b->dead |= b->used * 4 + p->lines * LINE > b->fetch_limit;
    if (!stream_live(b)) {
        return true;
    }
    struct walk w = {0};
    for (uint32_t i = 0; i < p->boxes; i++) {
        walk_box(b, &p->box[i], i, &w);
    }
    if (w.refused || w.faulty > may_fault || !defined(b->st, &w)) {
        return false;
    }
    w.faulty += p->faults;
    int r = w.faulty || !p->open_bytes ? 0 : scene_open(b->st->scene, p->open_first, p->open_bytes, p->reason,
                                                        p->open_dirty);
    for (uint32_t i = 0; w.faulty && i < w.pieces && r == 0; i++) {
        const struct piece *k = &w.piece[i];
        r = k->use & USE_WRITE ? scene_open(b->st->scene, k->pa, k->bytes, OPEN_FAULTED, true) : 0;
    }
    b->st->error = b->st->error ? b->st->error : r;
    b->dead = w.faulty;
    return true;
}

void stream_emit(struct buffer *b, const uint32_t *w, uint32_t lines)
{
    if (!b->closed && b->used + 16 * lines <= b->room) {
        memcpy(&b->words[b->used], w, (size_t)lines * LINE);
        b->used += 16 * lines;
    }
}

/* -------------------------------------------------------------------- places */

uint32_t stream_space(struct rng *r)
{
    return rng_one_in(r, 3) ? 0 : rng_below(r, SPACES);
}

static uint64_t aligned(struct rng *r, uint64_t first, uint64_t room, uint64_t bytes, uint32_t align)
{
    uint64_t slack = room > bytes ? room - bytes : 0;
    return first + rng_below(r, (uint32_t)(slack / align) + 1) * (uint64_t)align;
}

/** Draws an address that the packet reaches and cannot use: beyond memory, unmapped, refused or malformed, or running
 * into such. */
static uint64_t wild(const struct buffer *b, struct rng *r, uint64_t bytes, uint32_t align)
{
    uint64_t mem = b->st->g->mem_bytes,
        before = rng_below(r, bytes < 2 * PAGE ? (uint32_t)bytes : 2 * PAGE) & ~(uint64_t)(align - 1);
    if (b->paging) {
        return rng_one_in(r, 3)   ? mem - before
               : rng_one_in(r, 2) ? mem + (rng_next(r) & (mem - 1) & ~(uint64_t)(align - 1))
                                  : ((uint64_t)(1 + rng_below(r, 3)) << 32 | rng_next(r)) & ~(uint64_t)(align - 1);
    }
    switch (rng_below(r, 9)) {
    case 0:
    case 5:
    case 6:
        return VA_BAD - before;
    case 1:
    case 7:
        return aligned(r, VA_BAD, BAD * PAGE, bytes, align);
    case 2:
        return aligned(r, VA_BAD_REGIONS, BAD_REGIONS * REGION, bytes, align);
    case 3:
        return VA_SUPER + (1 + rng_below(r, 3)) * REGION - before;
    case 4:
        return aligned(r, VA_SUPER + REGION, 3 * REGION, bytes, align);
    default: /* far from all mapped pages, and below the windows of kernels */
        return (0x80000000u | (rng_next(r) & 0x3fffffffu)) & ~(uint64_t)(align - 1);
    }
}

uint64_t stream_pick(const struct buffer *b, struct rng *r, uint64_t bytes, uint32_t align, unsigned use, enum aim aim)
{
    uint32_t where = rng_below(r, 16);
    if (aim == AIM_WILD) {
        return wild(b, r, bytes, align);
    }
    if (b->paging) {
        return aligned(r, DATA(b->engine), POOL * PAGE, bytes, align);
    }
    if (where == 0 && use == USE_READ) {
        return aligned(r, VA_CONSTANTS, PAGE, bytes, align);
    }
    if (where == 1 && use == USE_READ) {
        return aligned(r, VA_SUPER + (1 + rng_below(r, 2)) * REGION, POOL * PAGE, bytes, align);
    }
    if (where <= 3) {
        return aligned(r, VA_SUPER, POOL * PAGE, bytes, align);
    }
    if (where == 5) {
        return aligned(r, VA_FAR, FAR / 2 * PAGE, bytes, align);
    }
    if (where == 4) { /* across the 4 MiB boundary */
        return (VA_WINDOW + 16 * PAGE - rng_below(r, bytes < 16 * PAGE ? (uint32_t)bytes + 1 : 16 * PAGE)) &
               ~(uint64_t)(align - 1);
    }
    return aligned(r, VA_WINDOW, WINDOW * PAGE, bytes, align);
}
