/* SPDX-License-Identifier: Apache-2.0 */
/** State of a stream for its pages. */
#ifndef TERN_STREAM_PAGES_H
#define TERN_STREAM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

enum tern_pages_encoding { TERN_PAGES_RAW, TERN_PAGES_ZSTD, TERN_PAGES_ZERO };

/** A hash of the last sent content of each page: a hash table, with open addressing, of spans of 64 pages. */
struct tern_sent {
    struct tern_sent_span **spans;
    size_t room, used; /* entries of spans, a power of two or 0; entries in use */
    uint64_t seed;
};

void tern_sent_init(struct tern_sent *t, uint64_t seed);
void tern_sent_free(struct tern_sent *t);
/** True: the page is as it was sent last. False: the caller sends it, and its hash is remembered if memory allows. */
bool tern_sent_same(struct tern_sent *t, uint64_t memory, uint64_t page, const void *data);

/** Forgets the hashes of pages, because sending them has failed. */
void tern_sent_forget(struct tern_sent *t, uint64_t memory, uint64_t first, uint64_t count);

struct tern_stream_pages {
    int level;                        /* level of compression, as of tern_stream_compress */
    bool remember;                    /* tern_stream_remember was called */
    struct tern_sent sent;
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    unsigned char *packed, *gathered; /* buffers for the content of a record: compressed; of the pages with content */
};

#endif
