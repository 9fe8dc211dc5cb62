/* SPDX-License-Identifier: Apache-2.0 */
/** Migration streams: the input bytes, and the same bytes with valid lengths and checksums. */
#include <stdlib.h>
#include <string.h>

#include "migration/format/internal.h"
#include "tern/tern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

static void use(const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sink ^= ((const unsigned char *)data)[i];
    }
}

/** Gets a field by the function of its kind, and sometimes by that of another kind. */
static void get(struct tern_stream *s, const struct tern_field *f)
{
    char name[TERN_FIELD_NAME + 1] = {0};
    size_t n;
    memcpy(name, f->name, f->name_length);
    if (!tern_has(s, name)) {
        abort();
    }
    switch (f->size % 17 == 16 ? (enum tern_field_kind)(f->size % 5) : f->kind) {
    case TERN_FIELD_U64:
        tern_get_u64(s, name, 0, UINT64_MAX);
        break;
    case TERN_FIELD_TEXT: {
        const char *text = tern_get_text(s, name, 1000);
        use(text, strlen(text));
        break;
    }
    case TERN_FIELD_BYTES: {
        const void *bytes = tern_get_bytes(s, name, TERN_RECORD_BYTES, &n);
        use(bytes, n);
        break;
    }
    case TERN_FIELD_U64S: {
        const uint64_t *values = tern_get_u64s(s, name, 100000, &n);
        use(values, n * sizeof *values);
        break;
    }
    case TERN_FIELD_OTHER:
        break;
    }
}

static void get_pages(struct tern_stream *s)
{
    struct tern_pages p;
    struct tern_page_run run;
    if (tern_get_pages(s, UINT64_MAX, UINT64_MAX, &p)) {
        return;
    }
    uint64_t at = p.first;
    while (tern_pages_next(&p, &run)) {
        if (run.first < at || run.count == 0 || run.count > p.count - (run.first - p.first)) {
            abort(); /* runs must be in order and within the range */
        }
        at = run.first + run.count;
        use(run.data, run.data ? run.count * TERN_PAGE_BYTES : 0);
    }
}

/** Reads all records and all fields. A stream that fails has a sentence, and stays failed. */
static void read_all(const void *data, size_t size)
{
    struct tern_stream *s;
    enum tern_record_type type;
    int r;
    if (tern_stream_read_memory(data, size, &s)) {
        abort();
    }
    while ((r = tern_record_next(s, &type)) == 1) {
        if (!tern_record_name(type)) {
            abort();
        }
        for (unsigned i = 0; i < s->fields && !tern_record_bad(s); i++) {
            get(s, &s->field[i]);
        }
        if (type == TERN_RECORD_PAGES) {
            get_pages(s);
        }
    }
    if (r > 0 || (r && memcmp(tern_last_error(), "migration stream: ", 18) != 0) || tern_record_next(s, &type) != r ||
        tern_stream_counts(s).bytes > size) {
        abort();
    }
    tern_stream_close(s);
}

/** Makes heads valid: numbers in order, lengths within the stream, no reserved bits, checksums. */
static void seal(unsigned char *data, size_t size)
{
    struct tern_stream_header h = {.major = TERN_FORMAT_MAJOR, .links = 1};
    size_t at = TERN_HEADER_BYTES;
    if (size < at) {
        return;
    }
    tern_header_pack(&h, data);
    for (uint64_t number = 0; size - at >= TERN_HEAD_BYTES; number++) {
        struct tern_record_head head;
        (void)tern_head_unpack(data + at, &head); /* the values are used even if the head is invalid */
        const size_t left = size - at - TERN_HEAD_BYTES;
        head.flags &= TERN_HEAD_SKIPPABLE;
        head.number = number;
        head.length = head.length <= left ? head.length : (uint32_t)left;
        tern_head_pack(&head, data + at + TERN_HEAD_BYTES, data + at);
        at += TERN_HEAD_BYTES + head.length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *own = malloc(size ? size : 1);
    if (!own || size > TERN_RECORD_BYTES) {
        free(own);
        return 0;
    }
    memcpy(own, data, size);
    read_all(own, size);
    seal(own, size);
    read_all(own, size);
    free(own);
    return 0;
}
