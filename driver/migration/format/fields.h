/* SPDX-License-Identifier: Apache-2.0 */
/** The fields of a record: a CBOR map (RFC 8949) of names to numbers, texts, bytes and arrays of numbers. */
#ifndef TERN_STREAM_FIELDS_H
#define TERN_STREAM_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "migration/format/stream.h"

enum tern_field_kind { TERN_FIELD_U64, TERN_FIELD_TEXT, TERN_FIELD_BYTES, TERN_FIELD_U64S, TERN_FIELD_OTHER };

/** A field. Pointers are into the bytes of the record. */
struct tern_field {
    const char *name;           /* without a NUL */
    size_t name_length;
    enum tern_field_kind kind;  /* OTHER: a well-formed item of a kind that this version does not know */
    uint64_t value;             /* the value of U64 */
    const unsigned char *data;  /* TEXT, BYTES: the content; U64S: the first element, in CBOR; OTHER: the item */
    size_t size;                /* TEXT, BYTES: bytes; U64S: number of elements; OTHER: bytes of the item */
};

/** Parses n bytes, which must be one map, into fields. NULL, or a sentence that says what is wrong. */
const char *tern_fields_parse(const unsigned char *bytes, size_t n, struct tern_field fields[TERN_RECORD_FIELDS],
                              unsigned *count);
/** Decodes the elements of a field of the kind U64S; values has room for f->size of them. */
void tern_field_u64s(const struct tern_field *f, uint64_t *values);

#endif
