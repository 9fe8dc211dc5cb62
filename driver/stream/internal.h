/* SPDX-License-Identifier: Apache-2.0 */
/** A stream's insides. What is written and what is read keep different parts of it. */
#ifndef TERN_STREAM_INTERNAL_H
#define TERN_STREAM_INTERNAL_H

#include "stream/fields.h"
#include "stream/format.h"
#include "stream/link.h"
#include "stream/stream.h"

/** One of a stream's links, and where it is in its records. */
struct tern_stream_link {
    struct tern_link bytes;
    bool begun, ended;   /* its header, its last record went over it */
    bool held;           /* reading: it has reached a barrier, and others have not */
    uint64_t next;       /* number of its next record */
    uint64_t barriers;   /* that went over it */
};

/** A record that was written and may have to be written again. */
struct tern_stream_kept {
    struct tern_stream_kept *next;
    unsigned link;
    uint64_t number;
    size_t size;
    unsigned char data[];
};

/** What is allocated for a record that was read, until the next one. */
struct tern_stream_piece {
    struct tern_stream_piece *next;
    uint64_t data[];
};

struct tern_stream {
    bool writes, ended;
    int failed;                   /* the first error, with its sentence */
    char sentence[512];
    struct tern_stream_header header;
    struct tern_stream_link links[TERN_STREAM_LINKS];
    unsigned n, current;          /* links; the one of the record */
    struct tern_link_wait wait;
    int (*again)(void *user, struct tern_stream *s, const char **why); /* makes lost links again; or NULL */
    void *again_user;
    struct tern_stream_counts counts;

    /* the record that is written or was read */
    bool open;
    struct tern_record_head head;
    unsigned char *body;          /* reading: the fields; writing: room for the head, then the fields */
    size_t size, room;
    unsigned fields;              /* written, or read */

    /* writing */
    bool in_pages;                /* the last record was one of pages */
    struct tern_stream_kept *kept, **kept_end;
    size_t keep, kept_bytes;      /* at most; in use */

    /* reading */
    bool known;                   /* a header was read */
    struct tern_field field[TERN_RECORD_FIELDS];
    struct tern_stream_piece *pieces;

    struct tern_stream_pages *pages; /* pages.c */
};

/** Makes the stream fail with a sentence, if it has not failed before; returns its error. `of` the record, or not. */
int tern_stream_fail(struct tern_stream *s, bool of_record, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** The stream's error again, its sentence being this thread's last; 0. */
int tern_stream_failed(const struct tern_stream *s);
/** The bytes did not reach the other side, and what was written is kept for when they do. */
bool tern_stream_lost(const struct tern_stream *s);
/** Whether such an error is one of the link. */
bool tern_stream_error_of_link(int error);
/** If links were lost, they are made again, as far as somebody does. 0, or the stream's error. */
int tern_stream_mend(struct tern_stream *s);
/** Keeps a record that is written over the current link, and drops the oldest ones. */
void tern_stream_keep_record(struct tern_stream *s, const void *data, size_t n);
void tern_stream_drop_kept(struct tern_stream *s, bool (*drop)(const struct tern_stream_kept *k, const uint64_t *next),
                           const uint64_t *next);
int tern_stream_write_link(struct tern_stream *s, unsigned link, const void *data, size_t n);
/** The headers of links that have none. */
int tern_stream_write_headers(struct tern_stream *s);
int tern_stream_new(const int *fds, unsigned n, bool writes, struct tern_stream **out);
void tern_stream_pages_free(struct tern_stream_pages *p);
/** Bytes that hold until the next record, 8-byte aligned; NULL: the stream has failed. */
void *tern_stream_piece(struct tern_stream *s, size_t bytes);
const struct tern_field *tern_stream_field(const struct tern_stream *s, const char *name);

#endif
