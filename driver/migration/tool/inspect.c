/* SPDX-License-Identifier: Apache-2.0 */
/** tern migrate inspect: shows the records of a migration stream, and reports each place that is damaged. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/file.h"
#include "migration/tool/tool.h"

struct inspection {
    struct input in;
    const struct printer *to;
    struct sums sums;
    uint64_t next;     /* number of the next record */
    bool ended;
};

const char *type_name(unsigned type)
{
    static char text[16];
    const char *name = tern_record_name(type);
    snprintf(text, sizeof text, "type %u", type);
    return name ? name : text;
}

static void report(struct inspection *x, struct trouble t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void report(struct inspection *x, struct trouble t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(t.text, sizeof t.text, format, args);
    va_end(args);
    x->sums.troubles++;
    x->to->trouble(&t);
}

/** Reports the end of the input after `got` of `want` bytes. These begin `at` bytes after the input's position. */
static void cut_off(struct inspection *x, const char *where, size_t at, size_t got, size_t want)
{
    const struct trouble t = {.offset = input_offset(&x->in) + at + got};
    report(x, t, "the stream is cut off %s: %zu of %zu bytes are there", where, got, want);
}

static const struct tern_field *find_field(const struct shown *r, const char *name, enum tern_field_kind kind)
{
    for (unsigned i = 0; i < r->count; i++) {
        const struct tern_field *f = &r->fields[i];
        if (f->kind == kind && f->name_length == strlen(name) && memcmp(f->name, name, f->name_length) == 0) {
            return f;
        }
    }
    return NULL;
}

/** Number of ones in the field's bytes; NULL: 0. */
static uint64_t ones(const struct tern_field *f)
{
    uint64_t n = 0;
    for (size_t i = 0; f && i < f->size; i++) {
        n += (uint64_t)__builtin_popcount(f->data[i]);
    }
    return n;
}

static void count_pages(struct sums *s, const struct shown *r)
{
    const struct tern_field *count = find_field(r, "count", TERN_FIELD_U64);
    const struct tern_field *how = find_field(r, "encoding", TERN_FIELD_U64);
    const struct tern_field *content = find_field(r, "content", TERN_FIELD_BYTES);
    const bool zeros = how && how->value == TERN_PAGES_ZERO;
    const uint64_t all = count ? count->value : 0, zero = zeros ? all : ones(find_field(r, "zero", TERN_FIELD_BYTES));
    const uint64_t same = ones(find_field(r, "same", TERN_FIELD_BYTES));
    s->page_records++;
    s->zero += zero;
    s->same += same;
    s->sent += zero <= all && same <= all - zero ? all - zero - same : 0;
    s->content += content ? content->size : 0;
}

static void count(struct inspection *x, const struct shown *r)
{
    struct sums *s = &x->sums;
    const uint64_t bytes = TERN_HEAD_BYTES + r->head.length;
    unsigned i = 0;
    while (i < s->n && s->types[i].type != r->head.type) {
        i++;
    }
    if (i == s->n && s->n < sizeof s->types / sizeof s->types[0]) {
        s->types[s->n++] = (struct totals){.type = r->head.type};
    }
    if (i < s->n) {
        s->types[i].records++;
        s->types[i].bytes += bytes;
    }
    s->records++;
    s->bytes += bytes;
    if (r->head.type == TERN_RECORD_PAGES && r->fields) {
        count_pages(s, r);
    }
}

/** Shows a record whose head is valid. False: the input has ended. */
static bool show_record(struct inspection *x, const struct tern_record_head *h)
{
    static struct tern_field fields[TERN_RECORD_FIELDS];
    struct shown r = {.offset = input_offset(&x->in), .head = *h};
    size_t got;
    const unsigned char *all = input_peek(&x->in, TERN_HEAD_BYTES + h->length, &got), *own = all + TERN_HEAD_BYTES;
    if (h->number != x->next) {
        report(x, (struct trouble){.offset = r.offset}, "the record's number is %" PRIu64 ", after %" PRIu64 " records",
               h->number, x->next);
    }
    x->next = h->number + 1;
    if (got < TERN_HEAD_BYTES + h->length) {
        cut_off(x, "in a record's fields", TERN_HEAD_BYTES, got - TERN_HEAD_BYTES, h->length);
        input_advance(&x->in, got);
        return false;
    }
    const char *wrong = NULL;
    if (!tern_head_fits(h, own)) {
        const struct trouble t = {.offset = r.offset + TERN_HEAD_BYTES, .sums = true, .want = h->check,
                                  .found = XXH3_64bits(own, h->length)};
        report(x, t, "the fields of record %" PRIu64 " (%s) are damaged", h->number, type_name(h->type));
    } else {
        wrong = tern_fields_parse(own, h->length, fields, &r.count);
        r.fields = fields;
    }
    x->to->record(&r);
    if (wrong) {
        report(x, (struct trouble){.offset = r.offset + TERN_HEAD_BYTES}, "record %" PRIu64 " (%s): %s",
               h->number, type_name(h->type), wrong);
    }
    count(x, &r);
    if (h->type == TERN_RECORD_END && r.fields) {
        const struct tern_field *records = find_field(&r, "records", TERN_FIELD_U64);
        x->ended = true;
        if (!records || records->value != h->number) {
            report(x, (struct trouble){.offset = r.offset}, "the last record does not tell how many are before");
        }
    }
    input_advance(&x->in, got);
    return true;
}

/** Searches for the next valid head after a damaged one. False: there is none. */
static bool search(struct inspection *x)
{
    struct tern_record_head h;
    size_t got;
    const uint64_t from = input_offset(&x->in);
    for (;;) {
        input_advance(&x->in, 1);
        const unsigned char *bytes = input_peek(&x->in, TERN_HEAD_BYTES, &got);
        if (got < TERN_HEAD_BYTES) {
            input_advance(&x->in, got);
            return false;
        }
        if (!tern_head_unpack(bytes, &h) && h.number > 0 && h.number - x->next < input_offset(&x->in) - from) {
            report(x, (struct trouble){.offset = from}, "%" PRIu64 " bytes are not understood",
                   input_offset(&x->in) - from);
            x->next = h.number;
            return true;
        }
    }
}

static void inspect_records(struct inspection *x)
{
    for (bool more = true; more && !x->ended;) {
        struct tern_record_head h;
        size_t got;
        const unsigned char *bytes = input_peek(&x->in, TERN_HEAD_BYTES, &got);
        if (got < TERN_HEAD_BYTES) {
            cut_off(x, got ? "in a record's head" : "before its last record", 0, got, TERN_HEAD_BYTES);
            input_advance(&x->in, got);
            return;
        }
        const char *wrong = tern_head_unpack(bytes, &h);
        if (wrong) {
            report(x, (struct trouble){.offset = input_offset(&x->in)}, "record %" PRIu64 ": %s", x->next, wrong);
        }
        more = wrong ? search(x) : show_record(x, &h);
    }
}

static void inspect_stream(struct inspection *x)
{
    struct tern_stream_header h;
    size_t got;
    const unsigned char *bytes = input_peek(&x->in, TERN_HEADER_BYTES, &got);
    if (got < TERN_HEADER_BYTES) {
        cut_off(x, "in its header", 0, got, TERN_HEADER_BYTES);
        return;
    }
    const char *wrong = tern_header_unpack(bytes, &h);
    if (wrong) {
        report(x, (struct trouble){.offset = 0}, "%s", wrong);
        return;
    }
    x->to->header(&h);
    x->next = h.next;
    input_advance(&x->in, TERN_HEADER_BYTES);
    inspect_records(x);
    input_peek(&x->in, 1, &got);
    if (got) {
        report(x, (struct trouble){.offset = input_offset(&x->in)}, "there are bytes after the last record");
    }
}

static int inspect(const char *path, const struct printer *to)
{
    struct inspection x = {.to = to};
    x.in.fd = strcmp(path, "-") == 0 ? STDIN_FILENO : tern_file_open(path, UINT64_MAX);
    if (x.in.fd < 0) {
        fprintf(stderr, "tern migrate: %s\n", tern_error_sentence());
        return FAILED;
    }
    size_t got;
    input_peek(&x.in, 1, &got);
    if (!x.in.error) {
        inspect_stream(&x);
    }
    if (x.in.error) {
        fprintf(stderr, "tern migrate: %s: %s\n", path, strerror(x.in.error));
        x.sums.troubles++;
    }
    x.sums.whole = x.ended && !x.sums.troubles;
    to->end(&x.sums);
    free(x.in.data);
    if (x.in.fd != STDIN_FILENO) {
        close(x.in.fd);
    }
    return x.sums.whole ? DONE : FAILED;
}

int inspect_command(int argc, char **argv)
{
    const char *path = NULL;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if ((argv[i][0] == '-' && argv[i][1]) || path) {
            return usage_error(path ? "inspect takes one file" : "unknown option '%s'", argv[i]);
        } else {
            path = argv[i];
        }
    }
    return path ? inspect(path, json ? &print_json : &print_text) : usage_error("inspect needs a file");
}
