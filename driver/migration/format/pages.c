/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writing of pages. A record has up to 64 pages: a bitmap of the pages of zeros, a bitmap of the pages that are as they
 * were sent before, and the content of the others, raw or compressed together. A run of 64 or more pages of zeros is
 * one record without content.
 */
#include "migration/format/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zstd.h>

#include "base/error.h"

#define CONTENT_BYTES (TERN_PAGES_OF_RECORD * TERN_PAGE_BYTES)
#define BITMAP_BYTES (TERN_PAGES_OF_RECORD / 8)

static struct tern_stream_pages *state(struct tern_stream *s)
{
    s->pages = s->pages ? s->pages : calloc(1, sizeof *s->pages);
    if (!s->pages) {
        tern_stream_fail(s, false, -ENOMEM, "the host is out of memory for pages");
    }
    return s->pages;
}

void tern_stream_pages_free(struct tern_stream_pages *p)
{
    if (p) {
        ZSTD_freeCCtx(p->compress);
        ZSTD_freeDCtx(p->decompress);
        tern_sent_free(&p->sent);
        free(p->packed);
        free(p->gathered);
        free(p);
    }
}

int tern_stream_compress(struct tern_stream *s, int level)
{
    if (level < 0 || level > 19) {
        return tern_error(-EINVAL, "zstd's levels are 1 to 19, and 0 for none, not %d", level);
    }
    struct tern_stream_pages *p = state(s);
    if (!p) {
        return tern_stream_failed(s);
    }
    if (level && !p->compress) {
        p->compress = ZSTD_createCCtx();
        p->packed = malloc(ZSTD_compressBound(CONTENT_BYTES));
        if (!p->compress || !p->packed) {
            return tern_stream_fail(s, false, -ENOMEM, "the host is out of memory to compress pages");
        }
    }
    p->level = level;
    return 0;
}

int tern_stream_remember(struct tern_stream *s)
{
    struct tern_stream_pages *p = state(s);
    if (!p) {
        return tern_stream_failed(s);
    }
    uint64_t seed;
    while (getrandom(&seed, sizeof seed, 0) != sizeof seed) { /* a signal ended it */
    }
    if (!p->remember) {
        tern_sent_init(&p->sent, seed);
    }
    p->remember = true;
    return 0;
}

static bool is_zero(const unsigned char *page)
{
    return page[0] == 0 && memcmp(page, page + 1, TERN_PAGE_BYTES - 1) == 0;
}

static int send_zeros(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count)
{
    if (!count) {
        return 0;
    }
    tern_record_begin(s, TERN_RECORD_PAGES);
    tern_put_u64(s, "memory", memory);
    tern_put_u64(s, "first", first);
    tern_put_u64(s, "count", count);
    tern_put_u64(s, "encoding", TERN_PAGES_ZERO);
    s->counts.pages_zero += count;
    return tern_record_end(s);
}

/** The pages of a record by the way in which they are sent. */
struct sort {
    unsigned char zero[BITMAP_BYTES], same[BITMAP_BYTES];
    unsigned zeros, sames, others;
};

static struct sort sort(struct tern_stream_pages *p, uint64_t memory, uint64_t first, unsigned count,
                        const unsigned char *data)
{
    struct sort r = {0};
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *page = data + (size_t)i * TERN_PAGE_BYTES, bit = (unsigned char)(1u << i % 8);
        if (p->remember && tern_sent_same(&p->sent, memory, first + i, page)) {
            r.same[i / 8] |= bit;
            r.sames++;
        } else if (is_zero(page)) {
            r.zero[i / 8] |= bit;
            r.zeros++;
        } else {
            r.others++;
        }
    }
    return r;
}

/** The content of the pages that are neither zero nor the same, side by side. NULL: out of memory. */
static const unsigned char *content(struct tern_stream_pages *p, const struct sort *k, unsigned count,
                                    const unsigned char *data)
{
    if (k->others == count) {
        return data;
    }
    p->gathered = p->gathered ? p->gathered : malloc(CONTENT_BYTES);
    unsigned char *to = p->gathered;
    for (unsigned i = 0; to && i < count; i++) {
        if (!((k->zero[i / 8] | k->same[i / 8]) >> i % 8 & 1)) {
            memcpy(to, data + (size_t)i * TERN_PAGE_BYTES, TERN_PAGE_BYTES);
            to += TERN_PAGE_BYTES;
        }
    }
    return p->gathered;
}

static int send_mixed(struct tern_stream *s, uint64_t memory, uint64_t first, unsigned count,
                      const unsigned char *data, const struct sort *k)
{
    struct tern_stream_pages *p = s->pages;
    const unsigned char *from = content(p, k, count, data);
    size_t bytes = (size_t)k->others * TERN_PAGE_BYTES;
    enum tern_pages_encoding encoding = TERN_PAGES_RAW;
    if (!from) {
        return tern_stream_fail(s, false, -ENOMEM, "the host is out of memory for pages");
    }
    if (p->level && k->others) {
        const size_t packed = ZSTD_compressCCtx(p->compress, p->packed, ZSTD_compressBound(CONTENT_BYTES), from, bytes,
                                                p->level);
        if (!ZSTD_isError(packed) && packed <= bytes - bytes / 8) {
            encoding = TERN_PAGES_ZSTD;
            from = p->packed;
            bytes = packed;
        }
    }
    tern_record_begin(s, TERN_RECORD_PAGES);
    tern_put_u64(s, "memory", memory);
    tern_put_u64(s, "first", first);
    tern_put_u64(s, "count", count);
    tern_put_u64(s, "encoding", encoding);
    if (k->zeros) {
        tern_put_bytes(s, "zero", k->zero, (count + 7) / 8);
    }
    if (k->sames) {
        tern_put_bytes(s, "same", k->same, (count + 7) / 8);
    }
    tern_put_bytes(s, "content", from, bytes);
    s->counts.pages_zero += k->zeros;
    s->counts.pages_same += k->sames;
    s->counts.pages_sent += k->others;
    s->counts.page_bytes += bytes;
    return tern_record_end(s);
}

int tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data)
{
    const unsigned char *from = data;
    uint64_t zeros = 0; /* number of pages of zeros before `first` that are to be sent as one run */
    int r = tern_stream_failed(s);
    if (r == 0) {
        r = state(s) ? 0 : tern_stream_failed(s);
    }
    while (count && !r) {
        const unsigned n = count < TERN_PAGES_OF_RECORD ? (unsigned)count : TERN_PAGES_OF_RECORD;
        const struct sort k = sort(s->pages, memory, first, n, from);
        const uint64_t before = zeros;
        if (k.zeros == n) {
            zeros += n;
        } else {
            r = send_zeros(s, memory, first - zeros, zeros);
            zeros = 0;
            if (k.sames == n) {
                s->counts.pages_same += n;
            } else {
                if (r == 0) {
                    r = send_mixed(s, memory, first, n, from, &k);
                }
            }
        }
        if (r) { /* the reader may not have got the pages; the caller will call again */
            tern_sent_forget(&s->pages->sent, memory, first - before, before + n);
        }
        first += n;
        count -= n;
        from += (size_t)n * TERN_PAGE_BYTES;
    }
    if (r == 0) {
        r = send_zeros(s, memory, first - zeros, zeros);
    }
    if (r && zeros) {
        tern_sent_forget(&s->pages->sent, memory, first - zeros, zeros);
    }
    return r;
}
