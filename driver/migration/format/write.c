/* SPDX-License-Identifier: Apache-2.0 */
/** Writing of records. Fields are gathered in memory and then written to a link in one piece. */
#include "migration/format/internal.h"

#include <cbor.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_HEAD_BYTES 9u /* largest number of bytes of a CBOR item's head */
/* room for the head and the map's head, which are written last */
#define HEADROOM_BYTES (TERN_HEAD_BYTES + ITEM_HEAD_BYTES)

/** True: the stream has failed and cannot be resumed. */
static bool dead(const struct tern_stream *s)
{
    return s->failed && !tern_stream_lost(s);
}

/** Room for n more bytes of the record; NULL: the stream has failed. */
static unsigned char *reserve(struct tern_stream *s, size_t n)
{
    if (n > TERN_RECORD_BYTES - ITEM_HEAD_BYTES || s->size - HEADROOM_BYTES > TERN_RECORD_BYTES - ITEM_HEAD_BYTES - n) {
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

/** Puts the name of a field, whose value must follow. False: the stream has failed. */
static bool name(struct tern_stream *s, const char *text)
{
    const size_t n = strnlen(text, TERN_FIELD_NAME + 1);
    if (dead(s)) {
        return false;
    }
    if (!s->open || n < 1 || n > TERN_FIELD_NAME || s->fields == TERN_RECORD_FIELDS) {
        tern_stream_fail(s, true, -EINVAL, "field %.40s has no record, is one too many, or has no good name", text);
        return false;
    }
    unsigned char *to = reserve(s, ITEM_HEAD_BYTES + n);
    if (to) {
        const size_t head = cbor_encode_string_start(n, to, ITEM_HEAD_BYTES);
        memcpy(to + head, text, n);
        s->size += head + n;
        s->fields++;
    }
    return to;
}

/** Puts an item: a head, made by one of libcbor's functions, and n bytes. */
static void put(struct tern_stream *s, size_t (*encode)(size_t, unsigned char *, size_t), const void *data, size_t n)
{
    unsigned char *to = reserve(s, ITEM_HEAD_BYTES + (n > TERN_RECORD_BYTES ? TERN_RECORD_BYTES : n));
    if (to) {
        const size_t head = encode(n, to, ITEM_HEAD_BYTES);
        if (n) {
            memcpy(to + head, data, n);
        }
        s->size += head + n;
    }
}

static void put_number(struct tern_stream *s, uint64_t value)
{
    unsigned char *to = reserve(s, ITEM_HEAD_BYTES);
    if (to) {
        s->size += cbor_encode_uint(value, to, ITEM_HEAD_BYTES);
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
    unsigned char *to = name(s, field) ? reserve(s, ITEM_HEAD_BYTES) : NULL;
    if (to) {
        s->size += cbor_encode_array_start(count, to, ITEM_HEAD_BYTES);
    }
    for (size_t i = 0; to && i < count && !dead(s); i++) {
        put_number(s, values[i]);
    }
}

int tern_stream_write_link(struct tern_stream *s, unsigned link, const void *data, size_t n)
{
    const char *why = "";
    const int r = tern_link_write(&s->links[link].bytes, &s->wait, data, n, &why);
    s->current = link;
    return r ? tern_stream_fail(s, true, r, "cannot be written: %s", why) : 0;
}

int tern_stream_write_headers(struct tern_stream *s)
{
    int r = 0;
    for (unsigned i = 0; i < s->n && !r; i++) {
        struct tern_stream_link *l = &s->links[i];
        unsigned char header[TERN_HEADER_BYTES];
        if (!l->begun) {
            s->header.link = (uint16_t)i;
            s->header.next = l->next;
            tern_header_pack(&s->header, header);
            r = tern_stream_write_link(s, i, header, sizeof header);
            l->begun = !r;
        }
    }
    return r;
}

/** Begins a record, which has no fields yet. */
static int open_record(struct tern_stream *s, unsigned type, unsigned flags)
{
    s->head = (struct tern_record_head){.type = (uint16_t)type, .flags = (uint16_t)flags};
    s->fields = 0;
    s->size = 0;
    if (s->room < 2 * HEADROOM_BYTES) {
        unsigned char *first = realloc(s->body, 4096);
        if (!first) {
            return tern_stream_fail(s, true, -ENOMEM, "the host is out of memory for its fields");
        }
        s->body = first;
        s->room = 4096;
    }
    s->size = HEADROOM_BYTES;
    s->open = true;
    return 0;
}

/** Sends the open record over a link. A copy is kept even if the link is lost. */
static int send_record(struct tern_stream *s, unsigned link)
{
    unsigned char map[ITEM_HEAD_BYTES];
    const size_t map_bytes = cbor_encode_map_start(s->fields, map, sizeof map);
    unsigned char *fields = s->body + HEADROOM_BYTES - map_bytes, *head = fields - TERN_HEAD_BYTES;
    s->current = link;
    memcpy(fields, map, map_bytes);
    s->head.length = (uint32_t)(s->size - HEADROOM_BYTES + map_bytes);
    s->head.number = s->links[link].next;
    tern_head_pack(&s->head, fields, head);
    tern_stream_keep_record(s, head, TERN_HEAD_BYTES + s->head.length);
    if (!s->failed && !tern_stream_write_headers(s)) {
        tern_stream_write_link(s, link, head, TERN_HEAD_BYTES + s->head.length);
    }
    s->links[link].next++;
    s->counts.records++;
    return tern_stream_mend(s);
}

/** Sends a record of the stream's own (end, barrier), with one field, over each link. */
static int over_all(struct tern_stream *s, enum tern_record_type type)
{
    for (unsigned i = 0; i < s->n && !dead(s); i++) {
        struct tern_stream_link *l = &s->links[i];
        s->current = i;
        if (!open_record(s, type, 0)) {
            tern_put_u64(s, type == TERN_RECORD_END ? "records" : "count",
                         type == TERN_RECORD_END ? l->next : l->barriers++);
            s->open = false;
            if (!dead(s)) {
                send_record(s, i);
            }
        }
    }
    s->current = 0;
    return tern_stream_failed(s);
}

static int begin(struct tern_stream *s, unsigned type, unsigned flags)
{
    if (dead(s)) {
        return tern_stream_failed(s);
    }
    if (!s->writes || s->open || s->ended) {
        return tern_stream_fail(s, false, -EINVAL, "a record begins where none can: %s",
                                !s->writes ? "the stream is read" : s->open ? "the one before has not ended"
                                                                            : "the stream has ended");
    }
    const bool pages = type == TERN_RECORD_PAGES;
    if (s->n > 1 && s->in_pages != pages) {
        over_all(s, TERN_RECORD_BARRIER);
    }
    s->in_pages = pages;
    return dead(s) ? tern_stream_failed(s) : open_record(s, type, flags);
}

int tern_record_begin(struct tern_stream *s, enum tern_record_type type)
{
    return begin(s, type, 0);
}

int tern_record_begin_skippable(struct tern_stream *s, unsigned type)
{
    return begin(s, type, TERN_HEAD_SKIPPABLE);
}

/** Chooses the link for the open record. Pages go over the next link that is ready, other records over link 0. */
static unsigned choose(struct tern_stream *s)
{
    struct tern_link *links[TERN_STREAM_LINKS];
    const char *why = "";
    if (!s->in_pages || s->n == 1 || s->failed) {
        return 0;
    }
    for (unsigned i = 0; i < s->n; i++) {
        links[i] = &s->links[i].bytes;
    }
    const int r = tern_link_any(links, s->n, POLLOUT, s->current, &s->wait, &why);
    if (r < 0) {
        tern_stream_fail(s, true, r, "cannot be written: %s", why);
    }
    return r < 0 ? 0 : (unsigned)r;
}

int tern_record_end(struct tern_stream *s)
{
    if (!dead(s) && !s->open) {
        tern_stream_fail(s, false, -EINVAL, "a record ends that has not begun");
    }
    s->open = false;
    return dead(s) ? tern_stream_failed(s) : send_record(s, choose(s));
}

int tern_stream_end(struct tern_stream *s)
{
    if (dead(s)) {
        return tern_stream_failed(s);
    }
    if (!s->writes || s->open || s->ended) {
        return tern_stream_fail(s, false, -EINVAL, "the stream cannot end here");
    }
    const int r = over_all(s, TERN_RECORD_END);
    s->ended = !dead(s);
    return r;
}
