/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of tern-migrate. */
#ifndef TERN_STREAM_TOOL_H
#define TERN_STREAM_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/fields.h"
#include "stream/format.h"

enum { DONE = 0, FAILED = 1, USAGE = 2, UNTOLD = 3 /* done, but what is to be told of it cannot be written */ };

/** Says on standard error what is wrong with the arguments; USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** tern migrate inspect */
int inspect_command(int argc, char **argv);

/** tern migrate --from; the first argument is that. Of ternd/tool/. */
int move_command(int argc, char **argv);

/** tern migrate serve. Of ternd/tool/. */
int serve_command(int argc, char **argv);

/** tern migrate relay */
int relay_command(int argc, char **argv);
/** Standard input and output to and from a connection, which it takes, until both have ended: DONE, FAILED. */
struct ssl_st;
int relay_run(struct ssl_st *ssl, const char *peer);

/** A file or a pipe that is looked at from its beginning to its end. */
struct input {
    int fd;
    uint64_t offset;         /* of data[0] in the file */
    unsigned char *data;
    size_t start, size, room; /* what is there: data[start] to data[size - 1] */
    int error;               /* of reading, an errno; ENOMEM */
};

/** At least n bytes that come next, fewer only at the end or after an error; *got of them are there. */
const unsigned char *input_peek(struct input *in, size_t n, size_t *got);
void input_advance(struct input *in, size_t n);
uint64_t input_offset(const struct input *in);

/** Something wrong, and where. */
struct trouble {
    uint64_t offset;
    char text[200];
    bool sums;               /* checksums are known */
    uint64_t want, found;
};

/** A record as it is shown: fields NULL if they could not be read. */
struct shown {
    uint64_t offset;
    struct tern_record_head head;
    const struct tern_field *fields;
    unsigned count;
};

struct totals {
    uint64_t records, bytes; /* of a type */
    unsigned type;
};

struct sums {
    uint64_t records, bytes, troubles;
    struct totals types[64];
    unsigned n;
    uint64_t page_records, sent, zero, same, content;
    bool whole;
};

/** How a stream is shown: as text or as JSON, on standard output. */
struct printer {
    void (*header)(const struct tern_stream_header *h);
    void (*record)(const struct shown *r);
    void (*trouble)(const struct trouble *t);
    void (*end)(const struct sums *s);
};

extern const struct printer print_text, print_json;

/** The type's name, or "type 99"; in a buffer of this function. */
const char *type_name(unsigned type);
/** A text in quotes, ASCII only: all else as JSON's \u escapes. false, and nothing printed: it is no UTF-8. */
bool print_quoted(const unsigned char *text, size_t n);
void print_hex(const unsigned char *data, size_t n);

#endif
