/* SPDX-License-Identifier: Apache-2.0 */
/** Pages of a stream: what their writer and their reader keep. */
#ifndef TERN_STREAM_PAGES_H
#define TERN_STREAM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

enum tern_pages_encoding { TERN_PAGES_RAW, TERN_PAGES_ZSTD, TERN_PAGES_ZERO };

/** What was sent last of each page, 64 pages beside each other: a hash table with open addressing. */
struct tern_sent {
    struct tern_sent_span **spans;
    size_t room, used; /* room: a power of two, or 0 */
    uint64_t seed;
};

void tern_sent_init(struct tern_sent *t, uint64_t seed);
void tern_sent_free(struct tern_sent *t);
/** Whether the page is as it was sent last. Otherwise it is sent now, and remembered if there is memory for that. */
bool tern_sent_same(struct tern_sent *t, uint64_t memory, uint64_t page, const void *data);

/** The pages were not sent after all. */
void tern_sent_forget(struct tern_sent *t, uint64_t memory, uint64_t first, uint64_t count);

struct tern_stream_pages {
    int level;
    bool remember;
    struct tern_sent sent;
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    unsigned char *packed, *gathered; /* of a record's content: compressed; without the pages that are left out */
};

#endif
