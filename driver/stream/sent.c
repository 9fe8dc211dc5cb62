/* SPDX-License-Identifier: Apache-2.0 */
/** Hashes of pages as they were sent last (pages.h). */
#include <stdlib.h>
#include <xxhash.h>

#include "stream/pages.h"
#include "stream/stream.h"

#define FIRST_ROOM 1024u

struct tern_sent_page {
    uint64_t memory;
    uint64_t page : 63; /* page + 1; 0: the entry is free */
    uint64_t known : 1; /* the hash is of what was sent */
    XXH128_hash_t hash;
};

void tern_sent_init(struct tern_sent *t, uint64_t seed)
{
    *t = (struct tern_sent){.seed = seed};
}

void tern_sent_free(struct tern_sent *t)
{
    free(t->pages);
    t->pages = NULL;
    t->room = t->used = 0;
}

/** The page's entry, or the free one where it would be. */
static struct tern_sent_page *find(const struct tern_sent *t, uint64_t memory, uint64_t page)
{
    const uint64_t key[2] = {memory, page};
    size_t at = (size_t)XXH3_64bits_withSeed(key, sizeof key, t->seed) & (t->room - 1);
    while (t->pages[at].page && (t->pages[at].page != page + 1 || t->pages[at].memory != memory)) {
        at = (at + 1) & (t->room - 1);
    }
    return &t->pages[at];
}

/** Room for one more, at most three quarters of the table being used. false: no memory. */
static bool grow(struct tern_sent *t)
{
    if (t->used + 1 <= t->room / 4 * 3) {
        return true;
    }
    struct tern_sent larger = {.room = t->room ? t->room * 2 : FIRST_ROOM, .used = t->used, .seed = t->seed};
    larger.pages = calloc(larger.room, sizeof *larger.pages);
    if (!larger.pages) {
        return false;
    }
    for (size_t i = 0; i < t->room; i++) {
        if (t->pages[i].page) {
            *find(&larger, t->pages[i].memory, t->pages[i].page - 1) = t->pages[i];
        }
    }
    free(t->pages);
    *t = larger;
    return true;
}

bool tern_sent_same(struct tern_sent *t, uint64_t memory, uint64_t page, const void *data)
{
    const XXH128_hash_t hash = XXH3_128bits_withSeed(data, TERN_PAGE_BYTES, t->seed);
    struct tern_sent_page *e = t->room ? find(t, memory, page) : NULL;
    if (e && e->page) {
        const bool same = e->known && XXH128_isEqual(e->hash, hash);
        e->hash = hash;
        e->known = 1;
        return same;
    }
    if (grow(t)) {
        t->used++;
        *find(t, memory, page) = (struct tern_sent_page){.memory = memory, .page = (page + 1) & INT64_MAX, .known = 1,
                                                         .hash = hash};
    }
    return false;
}

void tern_sent_forget(struct tern_sent *t, uint64_t memory, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; t->room && i < count; i++) {
        find(t, memory, first + i)->known = 0;
    }
}
