/* SPDX-License-Identifier: Apache-2.0 */
#include "migration/state/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/mem/mem.h"

#define PAGES_PER_READ 64u /* pages read at once */

int tern_sender_begin(struct tern_device *dev, struct tern_stream *s, struct tern_sender **out)
{
    struct tern_sender *v = calloc(1, sizeof *v);
    void *buffer = malloc((size_t)PAGES_PER_READ * TERN_PAGE);
    if (!v || !buffer) {
        free(v);
        free(buffer);
        return tern_error_memory("a migration");
    }
    *v = (struct tern_sender){.dev = dev, .stream = s, .buffer = buffer};
    *out = v;
    return 0;
}

int tern_sender_follow(struct tern_sender *v)
{
    struct tern_kmd *kmd = &v->dev->kmd;
    const struct tern_basis_range all = {0, (uint64_t)kmd->mem_pages * TERN_PAGE};
    if (v->dev->info.dirty_page_bytes != TERN_PAGE) {
        return tern_error(-ENOTSUP, "a dirty bit of this device covers %u bytes: work cannot be migrated while it runs",
                          v->dev->info.dirty_page_bytes);
    }
    tern_ticket_lock(&v->dev->hal_lock);
    int r = tern_basis_create(kmd, &all, 1, &v->basis);
    if (!r) {
        r = tern_basis_start(kmd, v->basis);
        v->follows = !r;
        const int back = r ? tern_basis_destroy(kmd, v->basis) : 0;
        (void)back; /* cannot fail, because the basis was just made */
    }
    tern_ticket_unlock(&v->dev->hal_lock);
    return r;
}

int tern_sender_add(struct tern_sender *v, struct tern_memory *m)
{
    tern_assert_held(&v->dev->lock);
    struct tern_sender_memory *more = realloc(v->memories, (v->count + 1) * sizeof *more);
    uint64_t *changes = malloc(m->block_count * sizeof *changes);
    v->memories = more ? more : v->memories;
    if (!more || !changes) {
        free(changes);
        return tern_error_memory("a migration");
    }
    memset(changes, 0xff, m->block_count * sizeof *changes);
    m->refs++;
    more[v->count++] = (struct tern_sender_memory){m, changes};
    return 0;
}

/** Adds the dirty bits of the block's pages on the device to `bits`. take: clears them. Requires dev->hal_lock. */
static int query(const struct tern_sender *v, const struct tern_block *b, bool take, uint32_t *bits)
{
    tern_assert_held(&v->dev->hal_lock);
    int r = 0;
    for (uint32_t i = 0; !r && i < b->run_count; i++) {
        const struct tern_basis_part part = {0, (uint64_t)b->runs[i].page * TERN_PAGE,
                                            (uint64_t)b->runs[i].count * TERN_PAGE};
        r = tern_basis_query(&v->dev->kmd, v->basis, &part, take, bits, b->at[i]);
    }
    return r;
}

/** Sets the bits of pages of a block that have changed since they were sent. take: they count as sent. Takes
 *  dev->hal_lock and dev->lock. */
static int changed(struct tern_sender *v, struct tern_block *b, uint64_t *last, bool take, uint32_t *bits)
{
    int r = 0;
    memset(bits, 0, TERN_PAGES_SPAN / 8);
    tern_ticket_lock(&v->dev->hal_lock);
    pthread_mutex_lock(&v->dev->lock);
    const bool gone = tern_content_gone(b->m) || (b->m->sparse && !b->committed);
    pthread_mutex_unlock(&v->dev->lock);
    if (!gone && v->follows && !b->on_host) {
        r = query(v, b, take, bits);
    }
    if (!gone && (*last != b->changes || !v->follows)) {
        memset(bits, 0xff, TERN_PAGES_SPAN / 8);
    }
    *last = take && !gone ? b->changes : *last;
    tern_ticket_unlock(&v->dev->hal_lock);
    return r;
}

static bool is_set(const uint32_t *bits, uint32_t i)
{
    return bits[i / 32] >> i % 32 & 1;
}

int tern_sender_send(struct tern_sender *v, uint32_t slot, uint32_t block)
{
    struct tern_sender_memory *of = &v->memories[slot];
    struct tern_block *b = &of->m->blocks[block];
    uint32_t bits[TERN_PAGES_SPAN / 32];
    int r = changed(v, b, &of->changes[block], true, bits);
    for (uint32_t at = 0, n; !r && at < b->pages; at += n) {
        for (n = 0; n < PAGES_PER_READ && at + n < b->pages && is_set(bits, at + n); n++) {
        }
        if (n) {
            r = tern_content_read(of->m, b->first + at, n, v->buffer);
            if (r == -ESTALE) { /* the owner has freed the memory, and the target frees it with the next image */
                return 0;
            }
            if (r == 0) {
                r = tern_put_pages(v->stream, slot, b->first + at, n, v->buffer);
            }
            v->sent += n;
        }
        n = n ? n : 1;
    }
    return r;
}

static int count_left(struct tern_sender *v, struct tern_sender_memory *of, uint32_t block, uint64_t *pages)
{
    struct tern_block *b = &of->m->blocks[block];
    uint32_t bits[TERN_PAGES_SPAN / 32];
    const int r = changed(v, b, &of->changes[block], false, bits);
    for (uint32_t i = 0; !r && i < b->pages; i++) {
        *pages += is_set(bits, i);
    }
    return r;
}

int tern_sender_left(struct tern_sender *v, uint64_t *pages)
{
    int r = 0;
    *pages = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        for (uint32_t k = 0; !r && k < v->memories[i].m->block_count; k++) {
            r = count_left(v, &v->memories[i], k, pages);
        }
    }
    return r;
}

void tern_sender_end(struct tern_sender *v)
{
    if (!v) {
        return;
    }
    if (v->follows) {
        tern_ticket_lock(&v->dev->hal_lock);
        int r = tern_basis_stop(&v->dev->kmd, v->basis);
        if (r == 0) {
            r = tern_basis_destroy(&v->dev->kmd, v->basis);
        }
        (void)r; /* cannot fail, because the basis exists and is started */
        tern_ticket_unlock(&v->dev->hal_lock);
    }
    pthread_mutex_lock(&v->dev->lock);
    for (uint32_t i = 0; i < v->count; i++) {
        tern_memory_release(v->memories[i].m);
        free(v->memories[i].changes);
    }
    pthread_mutex_unlock(&v->dev->lock);
    free(v->memories);
    free(v->buffer);
    free(v);
}
