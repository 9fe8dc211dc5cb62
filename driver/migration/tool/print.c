/* SPDX-License-Identifier: Apache-2.0 */
/** A stream as text (tool.h): a line for each record, a line for each error, and totals. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "migration/tool/tool.h"

#define BYTES_SHOWN 16u   /* largest number of bytes shown of a field of bytes, or of an unknown kind */
#define NUMBERS_SHOWN 8u

void print_hex(const unsigned char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("%02x", data[i]);
    }
}

/** Decodes a character of UTF-8. Returns the bytes that it takes; 0: it is malformed. */
static size_t character(const unsigned char *p, size_t n, uint32_t *c)
{
    const size_t size = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    static const uint32_t first[] = {0, 0x7f, 0x1f, 0x0f, 0x07}, least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!size || size > n) {
        return 0;
    }
    *c = p[0] & first[size];
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        *c = *c << 6 | (p[i] & 0x3f);
    }
    return *c < least[size] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : size;
}

bool print_quoted(const unsigned char *text, size_t n)
{
    uint32_t c;
    for (size_t i = 0, size; i < n; i += size) {
        size = character(text + i, n - i, &c);
        if (!size) {
            return false;
        }
    }
    putchar('"');
    for (size_t i = 0; i < n;) {
        i += character(text + i, n - i, &c);
        if (c == '"' || c == '\\') {
            printf("\\%c", (char)c);
        } else if (c >= ' ' && c < 0x7f) {
            putchar((char)c);
        } else if (c < 0x10000) {
            printf("\\u%04x", c);
        } else {
            printf("\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
        }
    }
    putchar('"');
    return true;
}

static void text_header(const struct tern_stream_header *h)
{
    printf("migration stream %u.%u   interface 0x%08x   migration %016" PRIx64 "   link %u of %u", h->major, h->minor,
           h->spec, h->id, h->link, h->links);
    printf(h->next ? "   from record %" PRIu64 "\n" : "\n", h->next);
    printf("%10s %8s %-12s %8s  %s\n", "offset", "record", "type", "bytes", "fields");
}

static void text_numbers(const struct tern_field *f)
{
    uint64_t *values = malloc(f->size * sizeof *values + 1);
    printf("%zu [", f->size);
    if (values) {
        tern_field_u64s(f, values);
    }
    for (size_t i = 0; values && i < f->size && i < NUMBERS_SHOWN; i++) {
        printf(i ? " %" PRIu64 : "%" PRIu64, values[i]);
    }
    printf(f->size > NUMBERS_SHOWN || !values ? " ...]" : "]");
    free(values);
}

static void text_bytes(const struct tern_field *f)
{
    printf(f->kind == TERN_FIELD_OTHER ? "? %zu <" : "%zu <", f->size);
    print_hex(f->data, f->size < BYTES_SHOWN ? f->size : BYTES_SHOWN);
    printf(f->size > BYTES_SHOWN ? "...>" : ">");
}

static void text_record(const struct shown *r)
{
    printf("%10" PRIu64 " %8" PRIu64 " %-12s %8" PRIu32 " ", r->offset, r->head.number, type_name(r->head.type),
           TERN_HEAD_BYTES + r->head.length);
    for (unsigned i = 0; i < r->count; i++) {
        const struct tern_field *f = &r->fields[i];
        printf(" %.*s=", (int)f->name_length, f->name);
        if (f->kind == TERN_FIELD_U64) {
            printf("%" PRIu64, f->value);
        } else if (f->kind == TERN_FIELD_U64S) {
            text_numbers(f);
        } else if (f->kind != TERN_FIELD_TEXT || !print_quoted(f->data, f->size)) {
            text_bytes(f);
        }
    }
    printf(r->fields ? "\n" : " (damaged)\n");
}

static void text_trouble(const struct trouble *t)
{
    printf("%10" PRIu64 " WRONG: %s", t->offset, t->text);
    if (t->sums) {
        printf(": checksum %016" PRIx64 " expected, %016" PRIx64 " found", t->want, t->found);
    }
    putchar('\n');
}

static void text_end(const struct sums *s)
{
    if (s->records) {
        printf("\n%-12s %10s %14s\n", "type", "records", "bytes");
    }
    for (unsigned i = 0; i < s->n; i++) {
        printf("%-12s %10" PRIu64 " %14" PRIu64 "\n", type_name(s->types[i].type), s->types[i].records,
               s->types[i].bytes);
    }
    if (s->records) {
        printf("%-12s %10" PRIu64 " %14" PRIu64 "\n", "all", s->records, s->bytes);
    }
    if (s->page_records) {
        printf("pages        %" PRIu64 " with content, in %" PRIu64 " bytes; %" PRIu64 " of zeros, %" PRIu64
               " as before\n", s->sent, s->content, s->zero, s->same);
    }
    printf(s->whole ? "whole        all checksums are right\n" : "NOT WHOLE    %" PRIu64 " things are wrong\n",
           s->troubles);
}

const struct printer print_text = {text_header, text_record, text_trouble, text_end};
