/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parts of tern-migrate: its commands (--from: migrate.c, remote.c; serve: remote.c; inspect.c; relay.c), and what they
 * share.
 */
#ifndef TERN_MIGRATION_TOOL_H
#define TERN_MIGRATION_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "migration/format/stream.h"
#include "wire/wire.h"

struct ssl_st; /* SSL of OpenSSL, and SSL_CTX */
struct ssl_ctx_st;

enum { DONE = 0, FAILED = 1, USAGE = 2, UNTOLD = 3 /* done, but its report could not be written */ };

/** Prints to standard error what is wrong with the arguments. Returns USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** tern migrate inspect */
int inspect_command(int argc, char **argv);

/** tern migrate relay */
int relay_command(int argc, char **argv);
/** Passes bytes between standard input and output and a connection, which it takes over, until both directions have
 *  ended. DONE or FAILED. */
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

/* ---------------------------------------------------------------------- TLS: tls.c, tls_listen.c */

/* TLS 1.3 connections in which both sides have a certificate. A call that fails says why on standard error. */

struct tls_options {
    const char *cert, *key, *ca; /* PEM files: this side's certificates and key, and the trusted authorities */
    const char *name;            /* required name of the other side's certificate; NULL, if it listens: any name */
    const char *address;         /* HOST:PORT */
    bool listens;                /* this side accepts connections, and does not connect */
};

/** Loads the files. NULL: a file is missing or invalid. */
struct ssl_ctx_st *tls_context(const struct tls_options *o);
/** Connects, or listens until it has accepted one connection. The socket does not block. NULL: it failed. */
struct ssl_st *tls_open(struct ssl_ctx_st *context, const struct tls_options *o);

/** Returns a socket that is connected to HOST:PORT or listens there, and the host of it. Negative: it failed. */
int tls_reach(const struct tls_options *o, char host[256]);
/** Prepares a handshake over a connected socket, which it takes over and makes non-blocking. NULL: out of memory. */
struct ssl_st *tls_begin(struct ssl_ctx_st *context, int s, const char *name, const char *peer);
/** Continues a handshake without waiting. 1: it has succeeded; 0: it waits for *events (as in poll()); negative: it has
 *  failed. */
int tls_go_on(struct ssl_st *ssl, bool listens, const char *peer, short *events);
/** Milliseconds of the monotonic clock: the present time, and the time at which a handshake that begins now is given
 *  up, after 10 s or TERND_PATIENCE, which must be valid. */
int64_t tls_now(void);
int64_t tls_deadline(void);
/** Prints that a handshake was given up for its time. */
void tls_say_late(const char *peer);
__attribute__((format(printf, 2, 3))) void tls_tell(const char *peer, const char *format, ...);

/* tls_listen.c */
struct tls_listener;
/** Begins to listen, and prints the address. NULL: it failed. */
struct tls_listener *tls_listen(struct ssl_ctx_st *context, const struct tls_options *o);
/** Waits until a handshake has succeeded. Handshakes of other connections continue meanwhile, and during the next call.
 *  One that fails is reported, and does not keep others out. NULL: no connection can be accepted any more. */
struct ssl_st *tls_accept(struct tls_listener *l);
/** Frees the listener and its handshakes. In a child of a fork the parent's handshakes are not affected. */
void tls_listener_free(struct tls_listener *l);

/** Prints the error of the last call on the connection. */
void tls_say(struct ssl_st *ssl, const char *peer, int result);
void tls_free(struct ssl_st *ssl);

/* ---------------------------------------------------------------------- the report: report.c, report_html.c */

/* The report of a migration between two ternd, printed as JSON or as a page of HTML. */

#define MIGRATE_PAGE_BYTES 4096.0 /* bytes of a page */

/** The report. The caller owns all texts, which must live as long as the report. */
struct migrate_report {
    const char *from, *to, *partition;
    uint64_t downtime_ns;              /**< Allowed downtime, in ns. */
    struct tern_wire_progress *rounds; /**< Array of n rounds, in order; freed by migrate_report_free. */
    size_t n;
    uint32_t mended;                   /**< Number of times that lost links were replaced. */
    bool moved;
    struct tern_wire_progress end;     /**< The last message of the source. */
    const char *why;                   /**< The reason if `moved` is false, never NULL then. */
};

/** Adds a round. False: no memory. */
bool migrate_report_round(struct migrate_report *r, const struct tern_wire_progress *round);
void migrate_report_free(struct migrate_report *r);

/** Rate at which the programs wrote to new pages during the round, in bytes a second. */
double migrate_report_rate(const struct tern_wire_progress *round);
/** Bytes of the stream that were sent during the downtime; 0: the programs have not moved. */
uint64_t migrate_report_last_bytes(const struct migrate_report *r);

/** Prints one JSON object and a newline. False: no memory, or f has an error. */
bool migrate_report_json(const struct migrate_report *r, FILE *f);
/** Prints one page of HTML that needs no other file. False: f has an error. */
bool migrate_report_html(const struct migrate_report *r, FILE *f);

/* ---------------------------------------------------------------------- migrate --from, serve: migrate.c, remote.c */

struct migrate_options {
    const char *from, *to, *partition;
    const char *report; /* name of the report's file; NULL: none */
    bool json, foreground;
    struct tls_options tls;
    struct tern_wire_migrate how;
};

/** tern migrate --from, which is the first argument. */
int migrate_command(int argc, char **argv);
/** tern migrate serve */
int serve_command(int argc, char **argv);

/** Prints an error with its place. Returns FAILED. */
int migrate_say(const char *where, const char *why);
/** Adds a round to the report, and prints it if `show`. */
void migrate_round(struct migrate_report *report, const struct tern_wire_progress *p, bool show);

/** True: the address is that of another machine. */
bool migrate_is_remote(const char *to);
/** Checks that the options for another machine are complete. DONE or USAGE. */
int migrate_remote_check(const struct migrate_options *o);
struct proxy_source;
/** Migrates to another machine, and completes the report. DONE: the caller serves *out with migrate_remote_stay; or
 *  FAILED. */
int migrate_remote(const struct migrate_options *o, struct migrate_report *report, struct proxy_source **out);
/** Serves the programs that have moved, in the background unless the options say otherwise. Returns the exit status. */
int migrate_remote_stay(const struct migrate_options *o, struct proxy_source *s);
/** Where the value of a TLS option is stored; NULL: it is no TLS option. */
const char **migrate_tls_option(struct tls_options *o, const char *name);

#endif
