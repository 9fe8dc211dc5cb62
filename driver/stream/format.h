/* SPDX-License-Identifier: Apache-2.0 */
/** The bytes in front of a link and of each record (docs/migration-stream.md). All numbers are little-endian. */
#ifndef TERN_STREAM_FORMAT_H
#define TERN_STREAM_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_FORMAT_MAJOR 1u
#define TERN_FORMAT_MINOR 0u
#define TERN_HEADER_BYTES 40u
#define TERN_HEAD_BYTES 32u
#define TERN_HEAD_SKIPPABLE 1u

/** In front of what goes over one link. */
struct tern_stream_header {
    uint16_t major, minor;
    uint32_t spec;        /* TERN_SPEC_HASH of the writer */
    uint64_t id;          /* of the migration: the same on all links */
    uint64_t next;        /* number of the record that follows: 0, more after a reconnection */
    uint16_t link, links;
};

/** In front of each record's fields. */
struct tern_record_head {
    uint16_t type, flags;
    uint32_t length;      /* bytes of the fields */
    uint64_t number;      /* counts a link's records, from 0 */
    uint64_t check;       /* XXH3-64 of the fields */
};

void tern_header_pack(const struct tern_stream_header *h, unsigned char to[TERN_HEADER_BYTES]);
/** NULL, or what is wrong with it. */
const char *tern_header_unpack(const unsigned char from[TERN_HEADER_BYTES], struct tern_stream_header *h);
/** Makes the checksum of the fields too. */
void tern_head_pack(struct tern_record_head *h, const void *fields, unsigned char to[TERN_HEAD_BYTES]);
const char *tern_head_unpack(const unsigned char from[TERN_HEAD_BYTES], struct tern_record_head *h);
bool tern_head_fits(const struct tern_record_head *h, const void *fields);

#endif
