/* SPDX-License-Identifier: Apache-2.0 */
#include "os/mem/pages.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK 1024u
#define WORDS (CHUNK / 64u)

struct chunk {
    uint64_t used[WORDS], dirty[WORDS];
    uint32_t taken; /**< Bits set in used. */
};

struct tern_pages {
    uint32_t chunks, free;
    struct chunk chunk[];
};

static bool get(const uint64_t *map, uint32_t i)
{
    return map[i / 64] >> i % 64 & 1;
}

static void put(uint64_t *map, uint32_t i, bool v)
{
    map[i / 64] = (map[i / 64] & ~(1ull << i % 64)) | (uint64_t)v << i % 64;
}

int tern_pages_create(uint32_t count, uint32_t reserved, bool clean, struct tern_pages **out)
{
    uint32_t chunks = (count + CHUNK - 1) / CHUNK;
    struct tern_pages *p = calloc(1, sizeof *p + chunks * sizeof p->chunk[0]);
    if (!p) {
        return -ENOMEM;
    }
    p->chunks = chunks;
    for (uint32_t i = 0; i < chunks * CHUNK; i++) {
        struct chunk *c = &p->chunk[i / CHUNK];
        bool used = i < reserved || i >= count;
        put(c->used, i % CHUNK, used);
        put(c->dirty, i % CHUNK, !clean);
        c->taken += used;
        p->free += !used;
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

static void take(struct tern_pages *p, uint32_t chunk, uint32_t first, uint32_t count)
{
    struct chunk *c = &p->chunk[chunk];
    for (uint32_t i = first; i < first + count; i++) {
        put(c->used, i, true);
    }
    c->taken += count;
    p->free -= count;
}

int tern_pages_take_large(struct tern_pages *p, struct tern_run *out)
{
    for (uint32_t k = 0; k < p->chunks; k++) {
        if (p->chunk[k].taken == 0) {
            *out = (struct tern_run){.page = k * CHUNK, .count = CHUNK};
            for (uint32_t w = 0; w < WORDS; w++) {
                out->dirty = out->dirty || p->chunk[k].dirty[w];
            }
            take(p, k, 0, CHUNK);
            return 0;
        }
    }
    return -ENOSPC;
}

/** The first free pages of a chunk: a run that ends where use or cleanness changes. */
static int take_from(struct tern_pages *p, uint32_t k, uint32_t want, struct tern_run *out)
{
    const struct chunk *c = &p->chunk[k];
    uint32_t first = 0, n = 1;
    while (c->used[first / 64] == UINT64_MAX) {
        first += 64;
    }
    while (get(c->used, first)) {
        first++;
    }
    bool dirty = get(c->dirty, first);
    while (n < want && first + n < CHUNK && !get(c->used, first + n) && get(c->dirty, first + n) == dirty) {
        n++;
    }
    *out = (struct tern_run){.page = k * CHUNK + first, .count = n, .dirty = dirty};
    take(p, k, first, n);
    return 0;
}

int tern_pages_take(struct tern_pages *p, uint32_t want, struct tern_run *out)
{
    uint32_t whole = p->chunks;
    for (uint32_t k = 0; k < p->chunks; k++) {
        if (p->chunk[k].taken && p->chunk[k].taken < CHUNK) {
            return take_from(p, k, want, out);
        }
        if (p->chunk[k].taken == 0 && whole == p->chunks) {
            whole = k;
        }
    }
    return whole < p->chunks ? take_from(p, whole, want, out) : -ENOSPC;
}

/** First page of `count` free ones in a row; CHUNK: there is none. */
static uint32_t find_span(const struct chunk *c, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < CHUNK; i++) {
        n = get(c->used, i) ? 0 : n + 1;
        if (n == count) {
            return i + 1 - count;
        }
    }
    return CHUNK;
}

int tern_pages_take_span(struct tern_pages *p, uint32_t count, struct tern_run *out)
{
    for (int whole = 0; whole < 2; whole++) { /* chunks that are broken already come first */
        for (uint32_t k = 0; k < p->chunks; k++) {
            struct chunk *c = &p->chunk[k];
            uint32_t first = (c->taken == 0) == whole && c->taken + count <= CHUNK ? find_span(c, count) : CHUNK;
            if (first == CHUNK) {
                continue;
            }
            *out = (struct tern_run){.page = k * CHUNK + first, .count = count};
            for (uint32_t i = first; i < first + count; i++) {
                out->dirty = out->dirty || get(c->dirty, i);
            }
            take(p, k, first, count);
            return 0;
        }
    }
    return -ENOSPC;
}

void tern_pages_give(struct tern_pages *p, const struct tern_run *run)
{
    struct chunk *c = &p->chunk[run->page / CHUNK];
    for (uint32_t i = run->page % CHUNK; i < run->page % CHUNK + run->count; i++) {
        put(c->used, i, false);
        put(c->dirty, i, run->dirty);
    }
    c->taken -= run->count;
    p->free += run->count;
}
