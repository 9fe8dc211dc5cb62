/* SPDX-License-Identifier: Apache-2.0 */
/** Encoding and decoding of headers and heads (stream.h). */
#include "migration/format/stream.h"

#include <string.h>
#include <xxhash.h>

/* The first byte is not text. A transport that converts ends of lines would change the last ones. */
static const unsigned char magic[8] = {0x89, 'T', 'E', 'R', 'N', '\r', '\n', 0x1a};

static void put(unsigned char *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(value >> (8 * i));
    }
}

static uint64_t get(const unsigned char *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)from[i] << (8 * i);
    }
    return value;
}

/** The checksum of the first n bytes of a header or head, which follows them in four bytes. */
static uint32_t check(const unsigned char *bytes, size_t n)
{
    return (uint32_t)XXH3_64bits(bytes, n);
}

void tern_header_pack(const struct tern_stream_header *h, unsigned char to[TERN_HEADER_BYTES])
{
    memcpy(to, magic, sizeof magic);
    put(to + 8, h->major, 2);
    put(to + 10, h->minor, 2);
    put(to + 12, h->spec, 4);
    put(to + 16, h->id, 8);
    put(to + 24, h->next, 8);
    put(to + 32, h->link, 2);
    put(to + 34, h->links, 2);
    put(to + 36, check(to, 36), 4);
}

const char *tern_header_unpack(const unsigned char from[TERN_HEADER_BYTES], struct tern_stream_header *h)
{
    if (memcmp(from, magic, sizeof magic) != 0) {
        return "this is no migration stream: it does not begin with the magic bytes";
    }
    h->major = (uint16_t)get(from + 8, 2);
    h->minor = (uint16_t)get(from + 10, 2);
    h->spec = (uint32_t)get(from + 12, 4);
    h->id = get(from + 16, 8);
    h->next = get(from + 24, 8);
    h->link = (uint16_t)get(from + 32, 2);
    h->links = (uint16_t)get(from + 34, 2);
    if (get(from + 36, 4) != check(from, 36)) {
        return "the header is damaged: its checksum is wrong";
    }
    if (h->major != TERN_FORMAT_MAJOR) {
        return "the stream's format is of another major version";
    }
    if (h->links < 1 || h->links > TERN_STREAM_LINKS || h->link >= h->links) {
        return "the header's link is none of 1 to 16 links";
    }
    return NULL;
}

void tern_head_pack(struct tern_record_head *h, const void *fields, unsigned char to[TERN_HEAD_BYTES])
{
    h->check = XXH3_64bits(fields, h->length);
    put(to, h->type, 2);
    put(to + 2, h->flags, 2);
    put(to + 4, h->length, 4);
    put(to + 8, h->number, 8);
    put(to + 16, h->check, 8);
    put(to + 24, 0, 4);
    put(to + 28, check(to, 28), 4);
}

const char *tern_head_unpack(const unsigned char from[TERN_HEAD_BYTES], struct tern_record_head *h)
{
    h->type = (uint16_t)get(from, 2);
    h->flags = (uint16_t)get(from + 2, 2);
    h->length = (uint32_t)get(from + 4, 4);
    h->number = get(from + 8, 8);
    h->check = get(from + 16, 8);
    if (get(from + 28, 4) != check(from, 28)) {
        return "the head is damaged: its checksum is wrong";
    }
    if (h->length > TERN_RECORD_BYTES) {
        return "the fields are longer than 16 MiB";
    }
    if (h->flags & ~TERN_HEAD_SKIPPABLE || get(from + 24, 4)) {
        return "the head has reserved bits set";
    }
    return NULL;
}

bool tern_head_fits(const struct tern_record_head *h, const void *fields)
{
    return XXH3_64bits(fields, h->length) == h->check;
}
