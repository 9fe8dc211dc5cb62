/* SPDX-License-Identifier: Apache-2.0 */
/** The header of a link and the head of a record, in bytes (docs/migration-stream.md). Numbers are little-endian. */
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

/** The header, which precedes the records of a link. */
struct tern_stream_header {
    uint16_t major, minor; /* version of the format */
    uint32_t spec;        /* TERN_SPEC_HASH of the writer */
    uint64_t id;          /* number of the migration, the same on all links */
    uint64_t next;        /* number of the record that follows: 0, or more after a reconnection */
    uint16_t link, links; /* number of this link, from 0, and of all links */
};

/** The head, which precedes the fields of a record. */
struct tern_record_head {
    uint16_t type, flags;
    uint32_t length;      /* bytes of the fields */
    uint64_t number;      /* number of the record on its link, from 0 */
    uint64_t check;       /* XXH3-64 of the fields */
};

void tern_header_pack(const struct tern_stream_header *h, unsigned char to[TERN_HEADER_BYTES]);
/** NULL, or a sentence that says what is wrong. */
const char *tern_header_unpack(const unsigned char from[TERN_HEADER_BYTES], struct tern_stream_header *h);
/** Sets h->check, and encodes the head. */
void tern_head_pack(struct tern_record_head *h, const void *fields, unsigned char to[TERN_HEAD_BYTES]);
/** NULL, or a sentence that says what is wrong. */
const char *tern_head_unpack(const unsigned char from[TERN_HEAD_BYTES], struct tern_record_head *h);
/** True: the checksum of the fields is h->check. */
bool tern_head_fits(const struct tern_record_head *h, const void *fields);

#endif
