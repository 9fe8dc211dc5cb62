/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of tern-migrate. */
#ifndef TERN_STREAM_TOOL_H
#define TERN_STREAM_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "migration/format/fields.h"
#include "migration/format/format.h"

enum { DONE = 0, FAILED = 1, USAGE = 2, UNTOLD = 3 /* done, but its report could not be written */ };

/** Prints to standard error what is wrong with the arguments. Returns USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** tern migrate inspect */
int inspect_command(int argc, char **argv);

/** tern migrate relay */
int relay_command(int argc, char **argv);
/** Passes bytes between standard input and output and a connection, which it takes over, until both directions have
 *  ended. DONE or FAILED. */
struct ssl_st;
int relay_run(struct ssl_st *ssl, const char *peer);

/** A file or a pipe that is read from its beginning to its end. */
struct input {
    int fd;
    uint64_t offset;          /* offset of data[0] in the file */
    unsigned char *data;      /* a buffer of `room` bytes */
    size_t start, size, room; /* data[start] to data[size - 1] were read and not taken */
    int error;                /* errno of a failed read, or ENOMEM */
};

/** Returns the next bytes without taking them. *got is at least n, and less only at the end or after an error. */
const unsigned char *input_peek(struct input *in, size_t n, size_t *got);
void input_advance(struct input *in, size_t n);
uint64_t input_offset(const struct input *in);

/** An error in a stream, and its place. */
struct trouble {
    uint64_t offset;         /* bytes from the beginning of the stream */
    char text[200];
    bool sums;               /* want and found are checksums */
    uint64_t want, found;
};

/** A record to be shown. */
struct shown {
    uint64_t offset;                 /* bytes from the beginning of the stream */
    struct tern_record_head head;
    const struct tern_field *fields; /* NULL: they could not be decoded */
    unsigned count;
};

/** Totals of the records of a type. */
struct totals {
    uint64_t records, bytes;
    unsigned type;
};

struct sums {
    uint64_t records, bytes, troubles;
    struct totals types[64];
    unsigned n;
    uint64_t page_records, sent, zero, same, content;
    bool whole;
};

/** A format in which a stream is printed to standard output: text or JSON. */
struct printer {
    void (*header)(const struct tern_stream_header *h);
    void (*record)(const struct shown *r);
    void (*trouble)(const struct trouble *t);
    void (*end)(const struct sums *s);
};

extern const struct printer print_text, print_json;

/** The name of a type, or "type 99" for an unknown one. The string is valid until the next call. */
const char *type_name(unsigned type);
/** Prints a text in quotes, in ASCII: other characters are JSON's \u escapes. False: it is no UTF-8, and nothing was
 *  printed. */
bool print_quoted(const unsigned char *text, size_t n);
void print_hex(const unsigned char *data, size_t n);

#endif
