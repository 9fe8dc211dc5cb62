/* SPDX-License-Identifier: Apache-2.0 */
/** Reading of pages (pages.c says how they are written). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "migration/format/internal.h"

/** The field `name`, a bitmap of the record's pages; bits behind the last page must be 0. NULL: no page. */
static const unsigned char *bitmap(struct tern_stream *s, const char *name, uint64_t count)
{
    if (!tern_has(s, name)) {
        return NULL;
    }
    const size_t want = (size_t)(count + 7) / 8;
    size_t n;
    const unsigned char *bits = tern_get_bytes(s, name, want, &n);
    if (s->failed) {
        return NULL;
    }
    if (n != want || (count % 8 && bits[n - 1] >> count % 8)) {
        tern_record_refuse(s, "field %s is no bitmap of %" PRIu64 " pages", name, count);
        return NULL;
    }
    return bits;
}

static bool bit(const unsigned char *bits, uint64_t i)
{
    return bits && bits[i / 8] >> i % 8 & 1;
}

/** The content of the record's pages, decompressed, which must have `bytes` bytes. NULL: the stream has failed. */
static const unsigned char *content(struct tern_stream *s, bool packed, size_t bytes)
{
    size_t n;
    const unsigned char *data = tern_get_bytes(s, "content", bytes, &n);
    if (s->failed) {
        return NULL;
    }
    if (packed) {
        s->pages = s->pages ? s->pages : calloc(1, sizeof *s->pages);
        if (s->pages && !s->pages->decompress) {
            s->pages->decompress = ZSTD_createDCtx();
        }
        void *to = s->pages && s->pages->decompress ? tern_stream_piece(s, bytes) : NULL;
        if (!to) {
            tern_stream_fail(s, true, -ENOMEM, "the host is out of memory to decompress pages");
            return NULL;
        }
        const size_t got = ZSTD_decompressDCtx(s->pages->decompress, to, bytes, data, n);
        if (ZSTD_isError(got)) {
            tern_record_refuse(s, "field content cannot be decompressed: %s", ZSTD_getErrorName(got));
            return NULL;
        }
        data = to;
        n = got;
    }
    if (n != bytes) {
        tern_record_refuse(s, "field content has %zu bytes, its pages %zu", n, bytes);
        return NULL;
    }
    return data;
}

int tern_get_pages(struct tern_stream *s, uint64_t most_memory, uint64_t most_page, struct tern_pages *out)
{
    struct tern_pages p = {.memory = tern_get_u64(s, "memory", 0, most_memory),
                           .first = tern_get_u64(s, "first", 0, most_page)};
    const uint64_t encoding = tern_get_u64(s, "encoding", TERN_PAGES_RAW, TERN_PAGES_ZERO);
    uint64_t most = most_page - p.first;
    most = encoding != TERN_PAGES_ZERO && most > TERN_PAGES_OF_RECORD - 1 ? TERN_PAGES_OF_RECORD - 1 : most;
    p.count = tern_get_u64(s, "count", 1, most == UINT64_MAX ? most : most + 1);
    size_t others = 0;
    if (!s->failed && encoding != TERN_PAGES_ZERO) {
        p.zero = bitmap(s, "zero", p.count);
        p.same = bitmap(s, "same", p.count);
        for (uint64_t i = 0; i < p.count && !s->failed; i++) {
            if (bit(p.zero, i) && bit(p.same, i)) {
                tern_record_refuse(s, "page %" PRIu64 " is zero and as it was before", p.first + i);
            }
            others += !bit(p.zero, i) && !bit(p.same, i);
        }
        p.content = s->failed ? NULL : content(s, encoding == TERN_PAGES_ZSTD, others * TERN_PAGE_BYTES);
    }
    const int r = tern_record_bad(s);
    if (!r) {
        s->counts.pages_sent += others;
        *out = p;
    }
    return r;
}

bool tern_pages_next(struct tern_pages *p, struct tern_page_run *run)
{
    while (p->at < p->count && bit(p->same, p->at)) {
        p->at++;
    }
    if (p->at == p->count) {
        return false;
    }
    const bool zero = !p->content || bit(p->zero, p->at);
    *run = (struct tern_page_run){.first = p->first + p->at, .data = zero ? NULL : p->content};
    while (p->at < p->count && !bit(p->same, p->at) && (!p->content || bit(p->zero, p->at)) == zero) {
        p->at++;
        run->count++;
        if (!zero) {
            p->content += TERN_PAGE_BYTES;
        }
    }
    return true;
}
