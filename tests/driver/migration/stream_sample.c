/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes a migration stream to standard output, the same bytes each time. `example` is that of
 * docs/migration-stream.md. `kinds` has fields of all kinds and many pages. `packed` has compressed pages.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "migration/format/internal.h"

static void example(struct tern_stream *s)
{
    static const unsigned char zeros[2][TERN_PAGE_BYTES];
    tern_record_begin(s, TERN_RECORD_DEVICE);
    tern_put_u64(s, "engines", 2);
    tern_put_text(s, "name", "small");
    tern_record_end(s);
    tern_put_pages(s, 7, 300, 2, zeros);
    tern_record_begin_skippable(s, 999);
    tern_put_u64s(s, "future", (const uint64_t[]){1, 1000}, 2);
    tern_put_bytes(s, "data", "\1\2\3", 3);
    tern_record_end(s);
}

/** Page i has the values i, i + 1, i + 2 ... Of every four pages, one is zero and one is the same as in the round
 * before. */
static void rounds(struct tern_stream *s)
{
    static unsigned char pages[100][TERN_PAGE_BYTES];
    tern_stream_remember(s);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 100; i++) {
            for (unsigned k = 0; k < TERN_PAGE_BYTES; k++) {
                pages[i][k] = i % 4 == 0 ? 0 : (unsigned char)(i + k + (i % 4 == 1 ? 0 : round));
            }
        }
        tern_put_pages(s, 1, 1000, 100, pages);
    }
}

static void kinds(struct tern_stream *s)
{
    static const uint64_t edges[] = {0, 23, 24, 255, 256, 65535, 65536, UINT32_MAX, UINT32_MAX + 1ull, UINT64_MAX};
    static unsigned char bytes[1000];
    char name[16];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 7);
    }
    for (size_t n = 0; n <= sizeof bytes; n = n * 3 / 2 + 1) { /* every length that the checksum treats differently */
        tern_record_begin(s, TERN_RECORD_STATE);
        tern_put_bytes(s, "area", bytes, n);
        tern_record_end(s);
    }
    tern_record_begin(s, TERN_RECORD_CONTEXT);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        snprintf(name, sizeof name, "number_%zu", i);
        tern_put_u64(s, name, edges[i]);
    }
    tern_put_u64s(s, "numbers", edges, sizeof edges / sizeof edges[0]);
    tern_put_u64s(s, "none", NULL, 0);
    tern_put_text(s, "text", "line\n\"quoted\" \xe2\x82\xac \xf0\x9f\x90\xa6 \x1b[31m");
    tern_put_text(s, "empty", "");
    tern_record_end(s);
    rounds(s);
}

/** Writes four compressed pages: two of zeros, and two with data, of which one is the same as before. */
static void packed(struct tern_stream *s)
{
    static unsigned char pages[4][TERN_PAGE_BYTES];
    tern_stream_remember(s);
    tern_stream_compress(s, 1);
    memset(pages[1], 1, sizeof pages[1]);
    memset(pages[3], 3, sizeof pages[3]);
    tern_put_pages(s, 1, 0, 4, pages);
    pages[3][7] = 4;
    tern_put_pages(s, 1, 0, 4, pages);
}

int main(int argc, char **argv)
{
    struct tern_stream *s;
    if (argc != 2 || tern_stream_write_memory(&s)) {
        return 2;
    }
    tern_stream_identify(s, 0x0123456789abcdef);
    s->header.spec = 0x12345678;
    void (*const write_sample)(struct tern_stream *) = strcmp(argv[1], "example") == 0 ? example
        : strcmp(argv[1], "packed") == 0 ? packed : kinds;
    write_sample(s);
    const int r = tern_stream_end(s);
    size_t n;
    const void *data = tern_stream_memory(s, &n);
    const ssize_t done = write(STDOUT_FILENO, data, n);
    tern_stream_close(s);
    return r || done < 0 || (size_t)done != n;
}
