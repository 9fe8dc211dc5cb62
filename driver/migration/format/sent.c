/* SPDX-License-Identifier: Apache-2.0 */
/** Hashes of the last sent contents of pages (internal.h). */
#include <stdlib.h>
#include <xxhash.h>

#include "migration/format/internal.h"

#define SPANS_INITIAL 64u
#define PAGES_PER_SPAN 64u

/** The hashes of pages number * PAGES_PER_SPAN to number * PAGES_PER_SPAN + PAGES_PER_SPAN - 1 of a memory. */
struct tern_sent_span {
    uint64_t memory, number;
    uint64_t known;          /* bit i: hash[i] is that of the last sent content */
    XXH128_hash_t hash[PAGES_PER_SPAN];
};

void tern_sent_init(struct tern_sent *t, uint64_t seed)
{
    *t = (struct tern_sent){.seed = seed};
}

void tern_sent_free(struct tern_sent *t)
{
    for (size_t i = 0; i < t->room; i++) {
        free(t->spans[i]);
    }
    free(t->spans);
    t->spans = NULL;
    t->room = t->used = 0;
}

/** The entry of the table that has the span, or is free for it. */
static struct tern_sent_span **find(const struct tern_sent *t, uint64_t memory, uint64_t number)
{
    const uint64_t key[2] = {memory, number};
    size_t at = (size_t)XXH3_64bits_withSeed(key, sizeof key, t->seed) & (t->room - 1);
    while (t->spans[at] && (t->spans[at]->number != number || t->spans[at]->memory != memory)) {
        at = (at + 1) & (t->room - 1);
    }
    return &t->spans[at];
}

/** Makes room for one more span. At most three quarters of the table are used. False: out of memory. */
static bool grow(struct tern_sent *t)
{
    if (t->used + 1 <= t->room / 4 * 3) {
        return true;
    }
    struct tern_sent larger = {.room = t->room ? t->room * 2 : SPANS_INITIAL, .used = t->used, .seed = t->seed};
    larger.spans = calloc(larger.room, sizeof *larger.spans);
    if (!larger.spans) {
        return false;
    }
    for (size_t i = 0; i < t->room; i++) {
        if (t->spans[i]) {
            *find(&larger, t->spans[i]->memory, t->spans[i]->number) = t->spans[i];
        }
    }
    free(t->spans);
    *t = larger;
    return true;
}

/** The page's span, which is made if it does not exist. NULL: out of memory. */
static struct tern_sent_span *span_of(struct tern_sent *t, uint64_t memory, uint64_t page)
{
    struct tern_sent_span **at = t->room ? find(t, memory, page / PAGES_PER_SPAN) : NULL;
    if (at && *at) {
        return *at;
    }
    struct tern_sent_span *n = grow(t) ? calloc(1, sizeof *n) : NULL;
    if (n) {
        n->memory = memory;
        n->number = page / PAGES_PER_SPAN;
        *find(t, memory, n->number) = n;
        t->used++;
    }
    return n;
}

bool tern_sent_same(struct tern_sent *t, uint64_t memory, uint64_t page, const void *data)
{
    const XXH128_hash_t hash = XXH3_128bits_withSeed(data, TERN_PAGE_BYTES, t->seed);
    struct tern_sent_span *s = span_of(t, memory, page);
    if (!s) {
        return false;
    }
    const uint64_t bit = 1ull << page % PAGES_PER_SPAN;
    const bool same = s->known & bit && XXH128_isEqual(s->hash[page % PAGES_PER_SPAN], hash);
    s->hash[page % PAGES_PER_SPAN] = hash;
    s->known |= bit;
    return same;
}

void tern_sent_forget(struct tern_sent *t, uint64_t memory, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; t->room && i < first + count; i++) {
        struct tern_sent_span *s = *find(t, memory, i / PAGES_PER_SPAN);
        if (s) {
            s->known &= ~(1ull << i % PAGES_PER_SPAN);
        }
    }
}
