/* SPDX-License-Identifier: Apache-2.0 */
/** Reading of records. No field of a record is used before all of the record was checked. */
#include "migration/format/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BODY_BYTES_INITIAL 65536u /* bytes of the first allocation for fields; it grows only as bytes arrive */

/** Reads n bytes of the current link. *got is the number read, also on failure. */
static int over_link(struct tern_stream *s, void *to, size_t n, size_t *got)
{
    const char *why = "";
    const int r = tern_link_read(&s->links[s->current].bytes, &s->wait, to, n, got, &why);
    if (r) {
        return tern_stream_fail(s, true, r, "cannot be read: %s", why);
    }
    return *got == n ? 0 : tern_stream_fail(s, true, -EIO, "the stream is cut off here, after %" PRIu64 " bytes",
                                            s->links[s->current].bytes.bytes);
}

/** Reads the header from a descriptor. The header says which of the links the descriptor is. */
static int read_header(struct tern_stream *s, unsigned link, struct tern_stream_header *h)
{
    unsigned char bytes[TERN_HEADER_BYTES];
    size_t got;
    s->current = link;
    int r = over_link(s, bytes, sizeof bytes, &got);
    if (r) {
        return r;
    }
    const char *wrong = tern_header_unpack(bytes, h);
    if (wrong) {
        return tern_stream_fail(s, false, -EPROTO, "%s", wrong);
    }
    return h->links == s->n
        ? 0 : tern_stream_fail(s, false, -EPROTO, "it has %u links, and %u are here", h->links, s->n);
}

/** Reads all headers, and puts the links into the order of their numbers, whatever the order of the descriptors is. */
static int read_headers(struct tern_stream *s)
{
    struct tern_link bytes[TERN_STREAM_LINKS];
    bool there[TERN_STREAM_LINKS] = {0};
    int r = 0;
    for (unsigned i = 0; i < s->n && !r; i++) {
        struct tern_stream_header h = {0};
        r = read_header(s, i, &h);
        if (r) {
            return r;
        }
        const bool known = s->known || i > 0;
        const char *wrong = there[h.link] ? "a link is there twice"
            : known && (h.id != s->header.id || h.spec != s->header.spec) ? "the links are not of one migration"
            : h.next != s->links[h.link].next ? "a link does not begin with the record that comes next"
                                              : NULL;
        if (wrong) {
            return tern_stream_fail(s, false, -EPROTO, "%s", wrong);
        }
        there[h.link] = true;
        bytes[h.link] = s->links[i].bytes;
        s->header = h;
    }
    for (unsigned i = 0; i < s->n; i++) {
        s->links[i].bytes = bytes[i];
        s->links[i].begun = true;
    }
    s->known = true;
    return 0;
}

/** Reads the fields into a buffer that grows as bytes arrive. */
static int read_fields(struct tern_stream *s)
{
    int r = 0;
    for (s->size = 0; s->size < s->head.length && !r;) {
        size_t got, room = s->size * 2 > BODY_BYTES_INITIAL ? s->size * 2 : BODY_BYTES_INITIAL;
        room = room < s->head.length ? room : s->head.length;
        if (room > s->room) {
            unsigned char *grown = realloc(s->body, room);
            if (!grown) {
                return tern_stream_fail(s, true, -ENOMEM, "the host is out of memory for its fields");
            }
            s->body = grown;
            s->room = room;
        }
        room = s->room < s->head.length ? s->room : s->head.length;
        r = over_link(s, s->body + s->size, room - s->size, &got);
        s->size += got;
    }
    return r;
}

/** Reads a record of the current link and checks all of its bytes. */
static int read_record(struct tern_stream *s)
{
    struct tern_stream_link *l = &s->links[s->current];
    unsigned char bytes[TERN_HEAD_BYTES];
    size_t got;
    s->head.type = 0;
    int r = over_link(s, bytes, sizeof bytes, &got);
    if (r) {
        return r;
    }
    const char *wrong = tern_head_unpack(bytes, &s->head);
    if (wrong) {
        s->head.type = 0;
        return tern_stream_fail(s, true, -EPROTO, "%s", wrong);
    }
    if (s->head.number != l->next) {
        return tern_stream_fail(s, true, -EPROTO, "its number is %" PRIu64 ": records are missing or repeated",
                                s->head.number);
    }
    if (!tern_record_name(s->head.type) && !(s->head.flags & TERN_HEAD_SKIPPABLE)) {
        return tern_stream_fail(s, true, -EPROTO, "type %u is unknown, and the record may not be left out",
                                s->head.type);
    }
    r = read_fields(s);
    if (r) {
        return r;
    }
    if (!tern_head_fits(&s->head, s->body)) {
        return tern_stream_fail(s, true, -EPROTO, "the fields are damaged: their checksum is wrong");
    }
    wrong = tern_fields_parse(s->body, s->size, s->field, &s->fields);
    return wrong ? tern_stream_fail(s, true, -EPROTO, "%s", wrong) : 0;
}

static void forget_record(struct tern_stream *s)
{
    while (s->pieces) {
        struct tern_stream_piece *next = s->pieces->next;
        free(s->pieces);
        s->pieces = next;
    }
    if (s->open) {
        s->links[s->current].next++;
        s->counts.records++;
        s->open = false;
    }
}

/** Chooses the link of the next record: one that has bytes, has not ended, and is not held at a barrier. */
static int choose(struct tern_stream *s)
{
    struct tern_link *links[TERN_STREAM_LINKS];
    const char *why = "";
    unsigned left = 0, held = 0;
    for (unsigned i = 0; i < s->n; i++) {
        held += s->links[i].held;
        left += !s->links[i].ended;
    }
    if (held == s->n) { /* all links have reached the barrier */
        held = 0;
        for (unsigned i = 0; i < s->n; i++) {
            s->links[i].held = false;
        }
    }
    if (held == left) {
        return tern_stream_fail(s, false, -EPROTO, "some links end before a barrier that others have");
    }
    for (unsigned i = 0; i < s->n; i++) {
        links[i] = s->links[i].ended || s->links[i].held ? NULL : &s->links[i].bytes;
    }
    const int r = s->n == 1 ? 0 : tern_link_any(links, s->n, POLLIN, s->current, &s->wait, &why);
    if (r < 0) {
        return tern_stream_fail(s, false, r, "cannot be read: %s", why);
    }
    s->current = (unsigned)r;
    return 0;
}

/** Handles a record of the stream's own (end, barrier). True: the record is not for the caller, because it is one of
 *  these or of an unknown type. */
static bool own_record(struct tern_stream *s)
{
    struct tern_stream_link *l = &s->links[s->current];
    if (s->head.type == TERN_RECORD_END) {
        (void)tern_get_u64(s, "records", l->next, l->next);
        l->ended = true;
        s->ended = !s->failed;
        for (unsigned i = 0; i < s->n; i++) {
            s->ended = s->ended && s->links[i].ended;
        }
    } else if (s->head.type == TERN_RECORD_BARRIER) {
        (void)tern_get_u64(s, "count", l->barriers, l->barriers);
        l->barriers++;
        l->held = true;
    } else {
        if (s->current && s->head.type != TERN_RECORD_PAGES) {
            tern_stream_fail(s, true, -EPROTO, "only pages go over other links than link 0");
        }
        return !tern_record_name(s->head.type);
    }
    return true;
}

int tern_record_next(struct tern_stream *s, enum tern_record_type *type)
{
    if (!s->failed && s->writes) {
        tern_stream_fail(s, false, -EINVAL, "a stream that is written cannot be read");
    }
    if (!s->failed || tern_stream_error_of_link(s->failed)) {
        forget_record(s);
    }
    while (!s->failed && !s->ended) {
        if ((!s->links[0].begun && read_headers(s)) || choose(s) || read_record(s)) {
            if (tern_stream_mend(s)) {
                break;
            }
            continue;
        }
        s->open = true;
        if (!own_record(s)) {
            break;
        }
        forget_record(s);
    }
    if (!s->failed && s->open) {
        *type = (enum tern_record_type)s->head.type;
        return 1;
    }
    return tern_stream_failed(s);
}

const struct tern_field *tern_stream_field(const struct tern_stream *s, const char *name)
{
    const size_t n = strlen(name);
    for (unsigned i = 0; s->open && !s->failed && i < s->fields; i++) {
        if (s->field[i].name_length == n && memcmp(s->field[i].name, name, n) == 0) {
            return &s->field[i];
        }
    }
    return NULL;
}

bool tern_has(const struct tern_stream *s, const char *name)
{
    return tern_stream_field(s, name);
}

/** The field with this name. NULL, and the stream has failed: it is missing, or not of this kind. */
static const struct tern_field *get(struct tern_stream *s, const char *name, enum tern_field_kind kind)
{
    static const char *const kinds[] = {"a number", "a text", "bytes", "an array of numbers", "something else"};
    const struct tern_field *f = tern_stream_field(s, name);
    if (!f) {
        tern_stream_fail(s, true, -EPROTO, "field %s is missing", name);
    } else if (f->kind != kind) {
        tern_stream_fail(s, true, -EPROTO, "field %s is %s, not %s", name, kinds[f->kind], kinds[kind]);
        f = NULL;
    }
    return f;
}

void *tern_stream_piece(struct tern_stream *s, size_t bytes)
{
    struct tern_stream_piece *p = malloc(sizeof *p + bytes);
    if (!p) {
        tern_stream_fail(s, true, -ENOMEM, "the host is out of memory for its fields");
        return NULL;
    }
    p->next = s->pieces;
    s->pieces = p;
    return p->data;
}

uint64_t tern_get_u64(struct tern_stream *s, const char *name, uint64_t least, uint64_t most)
{
    const struct tern_field *f = get(s, name, TERN_FIELD_U64);
    if (f && (f->value < least || f->value > most)) {
        const bool low = f->value < least;
        tern_stream_fail(s, true, -EPROTO, "field %s is %" PRIu64 ", at %s %" PRIu64, name, f->value,
                         low ? "least" : "most", low ? least : most);
        f = NULL;
    }
    return f ? f->value : least;
}

static int too_long(struct tern_stream *s, const char *name, size_t is, const char *of, size_t most)
{
    return tern_stream_fail(s, true, -EPROTO, "field %s has %zu %s, at most %zu", name, is, of, most);
}

/** True: n bytes are UTF-8 as RFC 3629 defines it (no overlong forms, no surrogates, nothing above U+10FFFF), without
 *  NUL. */
static bool is_utf8(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        const unsigned c = p[i++];
        const unsigned more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        if (c == 0 || (c >= 0x80 && c < 0xc2) || c > 0xf4 || more > n - i) {
            return false;
        }
        for (unsigned k = 0; k < more; k++) {
            const unsigned low = k ? 0x80 : c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
            const unsigned high = k ? 0xbf : c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
            if (p[i] < low || p[i] > high) {
                return false;
            }
            i++;
        }
    }
    return true;
}

const char *tern_get_text(struct tern_stream *s, const char *name, size_t most)
{
    const struct tern_field *f = get(s, name, TERN_FIELD_TEXT);
    if (f && f->size > most) {
        too_long(s, name, f->size, "bytes", most);
        return "";
    }
    if (f && !is_utf8(f->data, f->size)) {
        tern_stream_fail(s, true, -EPROTO, "field %s is no UTF-8 text without NUL", name);
        return "";
    }
    char *text = f ? tern_stream_piece(s, f->size + 1) : NULL;
    if (!text) {
        return "";
    }
    memcpy(text, f->data, f->size);
    text[f->size] = '\0';
    return text;
}

const void *tern_get_bytes(struct tern_stream *s, const char *name, size_t most, size_t *bytes)
{
    const struct tern_field *f = get(s, name, TERN_FIELD_BYTES);
    *bytes = 0;
    if (f && f->size > most) {
        too_long(s, name, f->size, "bytes", most);
        f = NULL;
    }
    if (!f) {
        return "";
    }
    *bytes = f->size;
    return f->data;
}

const uint64_t *tern_get_u64s(struct tern_stream *s, const char *name, size_t most, size_t *count)
{
    static const uint64_t none[1];
    const struct tern_field *f = get(s, name, TERN_FIELD_U64S);
    *count = 0;
    if (f && f->size > most) {
        too_long(s, name, f->size, "numbers", most);
        f = NULL;
    }
    uint64_t *values = f && f->size ? tern_stream_piece(s, f->size * sizeof *values) : NULL;
    if (!values) {
        return none;
    }
    tern_field_u64s(f, values);
    *count = f->size;
    return values;
}

int tern_record_bad(struct tern_stream *s)
{
    return tern_stream_failed(s);
}

int tern_record_refuse(struct tern_stream *s, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tern_stream_fail(s, true, -EPROTO, "%s", text);
}
