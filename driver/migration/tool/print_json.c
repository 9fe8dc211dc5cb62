/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stream as one JSON object (tool.h), written while the stream is read. Errors are found between records, so records
 * and errors are entries of one array.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "migration/tool/tool.h"

#define BYTES_SHOWN 64u

static bool begun, listed;

static void begin(void)
{
    printf(begun ? "" : "{");
    begun = true;
}

/** Writes what precedes an entry of "records". */
static void entry(void)
{
    begin();
    printf(listed ? ",\n" : "\"records\": [\n");
    listed = true;
}

static void json_header(const struct tern_stream_header *h)
{
    begin();
    printf("\"header\": {\"major\": %u, \"minor\": %u, \"interface\": \"0x%08x\", \"migration\": \"%016" PRIx64
           "\", \"link\": %u, \"links\": %u, \"next\": %" PRIu64 "},\n", h->major, h->minor, h->spec, h->id, h->link,
           h->links, h->next);
}

static void json_numbers(const struct tern_field *f)
{
    uint64_t *values = malloc(f->size * sizeof *values + 1);
    if (values) {
        tern_field_u64s(f, values);
    }
    printf(values ? "[" : "null");
    for (size_t i = 0; values && i < f->size; i++) {
        printf(i ? ", %" PRIu64 : "%" PRIu64, values[i]);
    }
    printf(values ? "]" : "");
    free(values);
}

static void json_field(const struct tern_field *f)
{
    if (f->kind == TERN_FIELD_U64) {
        printf("%" PRIu64, f->value);
    } else if (f->kind == TERN_FIELD_U64S) {
        json_numbers(f);
    } else if (f->kind != TERN_FIELD_TEXT || !print_quoted(f->data, f->size)) {
        printf("{\"%s\": %zu, \"hex\": \"", f->kind == TERN_FIELD_OTHER ? "unknown" : "bytes", f->size);
        print_hex(f->data, f->size < BYTES_SHOWN ? f->size : BYTES_SHOWN);
        printf("\"}");
    }
}

static void json_record(const struct shown *r)
{
    entry();
    printf("{\"offset\": %" PRIu64 ", \"number\": %" PRIu64 ", \"type\": \"%s\", \"skippable\": %s, \"bytes\": %" PRIu32
           ", \"fields\": ", r->offset, r->head.number, type_name(r->head.type),
           r->head.flags & TERN_HEAD_SKIPPABLE ? "true" : "false", TERN_HEAD_BYTES + r->head.length);
    printf(r->fields ? "{" : "null");
    for (unsigned i = 0; i < r->count; i++) {
        printf("%s\"%.*s\": ", i ? ", " : "", (int)r->fields[i].name_length, r->fields[i].name);
        json_field(&r->fields[i]);
    }
    printf(r->fields ? "}}" : "}");
}

static void json_trouble(const struct trouble *t)
{
    entry();
    printf("{\"offset\": %" PRIu64 ", \"wrong\": \"%s\"", t->offset, t->text); /* the tool's own: nothing to escape */
    if (t->sums) {
        printf(", \"expected\": \"%016" PRIx64 "\", \"found\": \"%016" PRIx64 "\"", t->want, t->found);
    }
    putchar('}');
}

static void json_end(const struct sums *s)
{
    begin();
    printf(listed ? "],\n\"types\": {" : "\"records\": [],\n\"types\": {");
    for (unsigned i = 0; i < s->n; i++) {
        printf("%s\"%s\": {\"records\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", i ? ", " : "",
               type_name(s->types[i].type), s->types[i].records, s->types[i].bytes);
    }
    printf("},\n\"pages\": {\"sent\": %" PRIu64 ", \"zero\": %" PRIu64 ", \"same\": %" PRIu64 ", \"content_bytes\": %"
           PRIu64 "},\n\"count\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"whole\": %s}\n",
           s->sent, s->zero, s->same, s->content, s->records, s->bytes, s->troubles, s->whole ? "true" : "false");
}

const struct printer print_json = {json_header, json_record, json_trouble, json_end};
