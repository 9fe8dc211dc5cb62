/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parsing of fields from CBOR (stream.h). This uses libcbor's streaming decoder, which allocates nothing. libcbor's
 * tree of items would allocate as much as a length field claims.
 */
#include "migration/format/stream.h"

#include <cbor.h>
#include <stdbool.h>
#include <string.h>

#define NESTING_MAX 8 /* largest depth of nested items in a field of the kind OTHER */

enum kind { NUMBER, TEXT, BYTES, ARRAY, MAP, TAG, LEAF, INDEFINITE };

/** One item without the items that it contains. */
struct item {
    enum kind kind;
    uint64_t value; /* NUMBER: its value; ARRAY: number of elements; MAP: number of pairs */
    const unsigned char *data;
    size_t size;
};

static void on_8(void *i, uint8_t v)
{
    *(struct item *)i = (struct item){.kind = NUMBER, .value = v};
}

static void on_16(void *i, uint16_t v)
{
    *(struct item *)i = (struct item){.kind = NUMBER, .value = v};
}

static void on_32(void *i, uint32_t v)
{
    *(struct item *)i = (struct item){.kind = NUMBER, .value = v};
}

static void on_64(void *i, uint64_t v)
{
    *(struct item *)i = (struct item){.kind = NUMBER, .value = v};
}

static void on_text(void *i, cbor_data data, size_t n)
{
    *(struct item *)i = (struct item){.kind = TEXT, .data = data, .size = n};
}

static void on_bytes(void *i, cbor_data data, size_t n)
{
    *(struct item *)i = (struct item){.kind = BYTES, .data = data, .size = n};
}

static void on_array(void *i, size_t n)
{
    *(struct item *)i = (struct item){.kind = ARRAY, .value = n};
}

static void on_map(void *i, size_t n)
{
    *(struct item *)i = (struct item){.kind = MAP, .value = n};
}

static void on_tag(void *i, uint64_t tag)
{
    (void)tag;
    ((struct item *)i)->kind = TAG;
}

static void on_indefinite(void *i)
{
    ((struct item *)i)->kind = INDEFINITE;
}

static const struct cbor_callbacks callbacks = {
    .uint8 = on_8, .uint16 = on_16, .uint32 = on_32, .uint64 = on_64,
    .string = on_text, .byte_string = on_bytes, .array_start = on_array, .map_start = on_map, .tag = on_tag,
    .string_start = on_indefinite, .byte_string_start = on_indefinite, .indef_array_start = on_indefinite,
    .indef_map_start = on_indefinite, .indef_break = on_indefinite,
    /* items that stay a LEAF */
    .negint8 = cbor_null_negint8_callback, .negint16 = cbor_null_negint16_callback,
    .negint32 = cbor_null_negint32_callback, .negint64 = cbor_null_negint64_callback,
    .float2 = cbor_null_float2_callback, .float4 = cbor_null_float4_callback, .float8 = cbor_null_float8_callback,
    .undefined = cbor_null_undefined_callback, .null = cbor_null_null_callback, .boolean = cbor_null_boolean_callback,
};

/** Decodes the item at the beginning of n bytes. Returns the bytes that it takes, or 0 if there is none. */
static size_t take(const unsigned char *bytes, size_t n, struct item *i)
{
    *i = (struct item){.kind = LEAF};
    if (!n) {
        return 0;
    }
    const struct cbor_decoder_result r = cbor_stream_decode(bytes, n, &callbacks, i);
    return r.status == CBOR_DECODER_FINISHED && i->kind != INDEFINITE ? r.read : 0;
}

/** The bytes of an item with all items in it; 0 if it is not well-formed or too deep. */
static size_t skip(const unsigned char *bytes, size_t n, int depth)
{
    struct item i;
    size_t at = take(bytes, n, &i);
    const uint64_t inner = i.kind == ARRAY || i.kind == MAP ? i.value : i.kind == TAG ? 1 : 0;
    if (!at || (inner && depth == 0)) {
        return 0;
    }
    for (uint64_t k = 0; k < inner; k++) { /* an item takes at least a byte, so a false count fails at the end */
        for (int pair = 0; pair <= (i.kind == MAP); pair++) {
            const size_t taken = skip(bytes + at, n - at, depth - 1);
            if (!taken) {
                return 0;
            }
            at += taken;
        }
    }
    return at;
}

/** The bytes of `count` numbers; 0 if there are none or one of the items is not a number. */
static size_t numbers(const unsigned char *bytes, size_t n, uint64_t count)
{
    size_t at = 0;
    for (uint64_t k = 0; k < count; k++) {
        struct item i;
        const size_t taken = take(bytes + at, n - at, &i);
        if (!taken || i.kind != NUMBER) {
            return 0;
        }
        at += taken;
    }
    return at;
}

static bool good_name(const struct item *i)
{
    if (i->kind != TEXT || i->size < 1 || i->size > TERN_FIELD_NAME) {
        return false;
    }
    for (size_t k = 0; k < i->size; k++) {
        const unsigned char c = i->data[k];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) {
            return false;
        }
    }
    return true;
}

static bool is_name_of(const struct tern_field *f, const struct item *i)
{
    return f->name_length == i->size && memcmp(f->name, i->data, i->size) == 0;
}

/** Parses the value of a field at the beginning of n bytes. Returns the bytes that it takes; 0: it is malformed. */
static size_t value(const unsigned char *bytes, size_t n, struct tern_field *f)
{
    struct item i;
    const size_t head = take(bytes, n, &i);
    const size_t elements = head && i.kind == ARRAY ? numbers(bytes + head, n - head, i.value) : 0;
    if (!head) {
        return 0;
    }
    if (i.kind == NUMBER) {
        f->kind = TERN_FIELD_U64;
        f->value = i.value;
        return head;
    }
    if (i.kind == TEXT || i.kind == BYTES) {
        f->kind = i.kind == TEXT ? TERN_FIELD_TEXT : TERN_FIELD_BYTES;
        f->data = i.data;
        f->size = i.size;
        return head;
    }
    if (elements || (i.kind == ARRAY && i.value == 0)) {
        f->kind = TERN_FIELD_U64S;
        f->data = bytes + head;
        f->size = (size_t)i.value;
        return head + elements;
    }
    f->kind = TERN_FIELD_OTHER;
    f->data = bytes;
    f->size = skip(bytes, n, NESTING_MAX);
    return f->size;
}

const char *tern_fields_parse(const unsigned char *bytes, size_t n, struct tern_field fields[TERN_RECORD_FIELDS],
                              unsigned *count)
{
    struct item i;
    size_t at = take(bytes, n, &i);
    *count = 0;
    if (!at || i.kind != MAP) {
        return "the fields are no CBOR map";
    }
    if (i.value > TERN_RECORD_FIELDS) {
        return "there are more than 128 fields";
    }
    for (const uint64_t all = i.value; *count < all;) {
        struct tern_field *f = &fields[*count];
        const size_t head = take(bytes + at, n - at, &i);
        if (!head || !good_name(&i)) {
            return "a field's name is none of 1 to 40 characters a-z, 0-9 and _";
        }
        for (unsigned k = 0; k < *count; k++) {
            if (is_name_of(&fields[k], &i)) {
                return "a field is there twice";
            }
        }
        *f = (struct tern_field){.name = (const char *)i.data, .name_length = i.size};
        at += head;
        const size_t taken = value(bytes + at, n - at, f);
        if (!taken) {
            return "a field's value is no CBOR item of definite length, or ends after the record";
        }
        at += taken;
        ++*count;
    }
    return at == n ? NULL : "there are bytes after the last field";
}

void tern_field_u64s(const struct tern_field *f, uint64_t *values)
{
    const unsigned char *at = f->data;
    for (size_t k = 0; k < f->size; k++) {
        struct item i;
        at += take(at, 9, &i); /* tern_fields_parse has checked that all elements are there; none is longer than 9 */
        values[k] = i.value;
    }
}
