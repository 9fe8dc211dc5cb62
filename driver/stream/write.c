/* SPDX-License-Identifier: Apache-2.0 */
/** Records that are written: fields are gathered in memory, then go over a link in one piece. */
#include "stream/internal.h"

#include <cbor.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_HEAD 9u                             /* bytes of a CBOR item's head, at most */
#define FRONT (TERN_HEAD_BYTES + ITEM_HEAD)      /* what is put in front of the fields when their number is known */

/** Room for n more bytes of the record; NULL: the stream has failed. */
static unsigned char *reserve(struct tern_stream *s, size_t n)
{
    if (n > TERN_RECORD_BYTES - ITEM_HEAD || s->size - FRONT > TERN_RECORD_BYTES - ITEM_HEAD - n) {
        tern_stream_fail(s, true, -EMSGSIZE, "the fields are longer than 16 MiB");
        return NULL;
    }
    if (s->room - s->size < n) {
        const size_t room = (s->size + n) * 2;
        unsigned char *grown = realloc(s->body, room);
        if (!grown) {
            tern_stream_fail(s, true, -ENOMEM, "the host is out of memory for its fields");
            return NULL;
        }
        s->body = grown;
        s->room = room;
    }
    return s->body + s->size;
}

/** The name of a field, whose value follows; false: there is none to put. */
static bool name(struct tern_stream *s, const char *text)
{
    const size_t n = strnlen(text, TERN_FIELD_NAME + 1);
    if (s->failed) {
        return false;
    }
    if (!s->open || n < 1 || n > TERN_FIELD_NAME || s->fields == TERN_RECORD_FIELDS) {
        tern_stream_fail(s, true, -EINVAL, "field %.40s has no record, is one too many, or has no good name", text);
        return false;
    }
    unsigned char *to = reserve(s, ITEM_HEAD + n);
    if (to) {
        const size_t head = cbor_encode_string_start(n, to, ITEM_HEAD);
        memcpy(to + head, text, n);
        s->size += head + n;
        s->fields++;
    }
    return to;
}

/** A head made by one of libcbor's functions, and n bytes after it. */
static void put(struct tern_stream *s, size_t (*encode)(size_t, unsigned char *, size_t), const void *data, size_t n)
{
    unsigned char *to = reserve(s, ITEM_HEAD + (n > TERN_RECORD_BYTES ? TERN_RECORD_BYTES : n));
    if (to) {
        const size_t head = encode(n, to, ITEM_HEAD);
        if (n) {
            memcpy(to + head, data, n);
        }
        s->size += head + n;
    }
}

static void put_number(struct tern_stream *s, uint64_t value)
{
    unsigned char *to = reserve(s, ITEM_HEAD);
    if (to) {
        s->size += cbor_encode_uint(value, to, ITEM_HEAD);
    }
}

void tern_put_u64(struct tern_stream *s, const char *field, uint64_t value)
{
    if (name(s, field)) {
        put_number(s, value);
    }
}

void tern_put_text(struct tern_stream *s, const char *field, const char *text)
{
    if (name(s, field)) {
        put(s, cbor_encode_string_start, text, strlen(text));
    }
}

void tern_put_bytes(struct tern_stream *s, const char *field, const void *data, size_t bytes)
{
    if (name(s, field)) {
        put(s, cbor_encode_bytestring_start, data, bytes);
    }
}

void tern_put_u64s(struct tern_stream *s, const char *field, const uint64_t *values, size_t count)
{
    unsigned char *to = name(s, field) ? reserve(s, ITEM_HEAD) : NULL;
    if (to) {
        s->size += cbor_encode_array_start(count, to, ITEM_HEAD);
    }
    for (size_t i = 0; to && i < count && !s->failed; i++) {
        put_number(s, values[i]);
    }
}

static int begin(struct tern_stream *s, unsigned type, unsigned flags)
{
    if (s->failed) {
        return tern_stream_failed(s);
    }
    if (!s->writes || s->open || s->ended) {
        return tern_stream_fail(s, false, -EINVAL, "a record begins where none can: %s",
                                !s->writes ? "the stream is read" : s->open ? "the one before has not ended"
                                                                            : "the stream has ended");
    }
    s->head = (struct tern_record_head){.type = (uint16_t)type, .flags = (uint16_t)flags};
    s->fields = 0;
    s->size = 0;
    if (s->room < 2 * FRONT) {
        unsigned char *first = realloc(s->body, 4096);
        if (!first) {
            return tern_stream_fail(s, true, -ENOMEM, "the host is out of memory for its fields");
        }
        s->body = first;
        s->room = 4096;
    }
    s->size = FRONT;
    s->open = true;
    return 0;
}

static int over_link(struct tern_stream *s, const void *data, size_t n)
{
    const char *why = "";
    const int r = tern_link_write(&s->links[s->current].bytes, &s->wait, data, n, &why);
    return r ? tern_stream_fail(s, true, r, "cannot be written: %s", why) : 0;
}

/** The open record goes over the current link. */
static int send_record(struct tern_stream *s)
{
    struct tern_stream_link *l = &s->links[s->current];
    unsigned char map[ITEM_HEAD], header[TERN_HEADER_BYTES];
    const size_t map_bytes = cbor_encode_map_start(s->fields, map, sizeof map);
    unsigned char *fields = s->body + FRONT - map_bytes;
    memcpy(fields, map, map_bytes);
    s->head.length = (uint32_t)(s->size - FRONT + map_bytes);
    s->head.number = l->next;
    tern_head_pack(&s->head, fields, fields - TERN_HEAD_BYTES);
    int r = 0;
    if (!l->begun) {
        s->header.link = (uint16_t)s->current;
        s->header.next = l->next;
        tern_header_pack(&s->header, header);
        r = over_link(s, header, sizeof header);
        l->begun = !r;
    }
    r = r ? r : over_link(s, fields - TERN_HEAD_BYTES, TERN_HEAD_BYTES + s->head.length);
    if (!r) {
        l->next++;
        s->counts.records++;
    }
    return r;
}

int tern_record_begin(struct tern_stream *s, enum tern_record_type type)
{
    return begin(s, type, 0);
}

int tern_record_begin_skippable(struct tern_stream *s, unsigned type)
{
    return begin(s, type, TERN_HEAD_SKIPPABLE);
}

int tern_record_end(struct tern_stream *s)
{
    if (!s->failed && !s->open) {
        tern_stream_fail(s, false, -EINVAL, "a record ends that has not begun");
    }
    s->open = false;
    return s->failed ? tern_stream_failed(s) : send_record(s);
}

int tern_stream_end(struct tern_stream *s)
{
    int r = 0;
    for (s->current = 0; s->current < s->n && !r; s->current++) {
        r = begin(s, TERN_RECORD_END, 0);
        if (!r) {
            tern_put_u64(s, "records", s->links[s->current].next);
            r = tern_record_end(s);
        }
    }
    s->current = 0;
    s->ended = !r;
    return r;
}
