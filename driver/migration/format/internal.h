/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of a stream. The caller serialises all calls for a stream, so no field has a lock. */
#ifndef TERN_STREAM_INTERNAL_H
#define TERN_STREAM_INTERNAL_H

#include <zstd.h>

#include "migration/format/stream.h"

/* --- link.c: bytes over one file descriptor, or in memory */

/** Limits of waiting, the same for all links of a stream. */
struct tern_link_wait {
    int timeout; /* milliseconds without a byte; negative: no limit */
    int cancel;  /* descriptor that ends a wait as soon as it can be read; negative: none */
};

struct tern_link {
    int fd;                       /* descriptor; negative: the link is in memory */
    bool socket, fifo;            /* kind of the descriptor */
    uint64_t bytes;               /* number of bytes that were written or read */
    const unsigned char *from;    /* memory that is read, of `size` bytes */
    unsigned char *to;            /* memory that is written, the link's own, of `room` bytes */
    size_t size, room;            /* size: bytes of `from`, or bytes of `to` in use */
};

/** Begins a link over an open descriptor, which stays the caller's. */
int tern_link_open(struct tern_link *l, int fd);
void tern_link_free(struct tern_link *l);
/** Writes all n bytes. -EIO, -EPIPE, -ETIMEDOUT, -ECANCELED, -ENOMEM, with the system's words in *why. */
int tern_link_write(struct tern_link *l, const struct tern_link_wait *w, const void *data, size_t n, const char **why);
/** Reads n bytes. *got is the number read; it is less than n only at the end of the stream. Errors as of a write. */
int tern_link_read(struct tern_link *l, const struct tern_link_wait *w, void *data, size_t n, size_t *got,
                   const char **why);
/** Waits until one of n links can go on without waiting (events: POLLIN or POLLOUT). NULL entries are ignored. Links
 *  behind `after` come first, so that all get their turn. Returns the link's index, or an error. */
int tern_link_any(struct tern_link *const *links, unsigned n, short events, unsigned after,
                  const struct tern_link_wait *w, const char **why);

/* --- pages.c, sent.c: state of a stream for its pages */

/** A hash of the last sent content of each page: a hash table, with open addressing, of spans of 64 pages. */
struct tern_sent {
    struct tern_sent_span **spans;
    size_t room, used; /* entries of spans, a power of two or 0; entries in use */
    uint64_t seed;
};

void tern_sent_init(struct tern_sent *t, uint64_t seed);
void tern_sent_free(struct tern_sent *t);
/** True: the page is as it was sent last. False: the caller sends it, and its hash is remembered if memory allows. */
bool tern_sent_same(struct tern_sent *t, uint64_t memory, uint64_t page, const void *data);

/** Forgets the hashes of pages, because sending them has failed. */
void tern_sent_forget(struct tern_sent *t, uint64_t memory, uint64_t first, uint64_t count);

struct tern_stream_pages {
    int level;                        /* level of compression, as of tern_stream_compress */
    bool remember;                    /* tern_stream_remember was called */
    struct tern_sent sent;
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    unsigned char *packed, *gathered; /* buffers for the content of a record: compressed; of the pages with content */
};

/* --- a stream */

/** One of a stream's links, and its position in its records. */
struct tern_stream_link {
    struct tern_link bytes;
    bool begun, ended;   /* the header, the last record of the link was written or read */
    bool held;           /* reading: it has reached a barrier that other links have not reached */
    uint64_t next;       /* number of its next record */
    uint64_t barriers;   /* number of barriers written or read */
};

/** A copy of a written record, for writing it again. */
struct tern_stream_kept {
    struct tern_stream_kept *next;
    unsigned link;
    uint64_t number;
    size_t size;            /* bytes of data: the head and the fields */
    unsigned char data[];
};

/** Memory that belongs to the record that was read, and is freed at the next one. */
struct tern_stream_piece {
    struct tern_stream_piece *next;
    uint64_t data[];
};

struct tern_stream {
    bool writes, ended;           /* the stream is written, not read; its last record was written or read */
    int failed;                   /* the first error, -errno; 0: none */
    char sentence[512];           /* the sentence of the error */
    struct tern_stream_header header;
    struct tern_stream_link links[TERN_STREAM_LINKS];
    unsigned n, current;          /* number of links; link of the current record */
    struct tern_link_wait wait;
    int (*again)(void *user, struct tern_stream *s, const char **why); /* reconnects lost links; NULL: nobody does */
    void *again_user;
    struct tern_stream_counts counts;

    /* the record that is being written or was read */
    bool open;
    struct tern_record_head head;
    unsigned char *body;          /* reading: the fields; writing: room for the head, then the fields */
    size_t size, room;            /* bytes of body that are used; its size */
    unsigned fields;              /* number of fields */

    /* a stream that is written */
    bool in_pages;                /* the last record was one of pages */
    struct tern_stream_kept *kept, **kept_end; /* copies of written records, oldest first */
    size_t keep, kept_bytes;      /* bytes of copies: at most; in use */

    /* a stream that is read */
    bool known;                   /* a header was read */
    struct tern_field field[TERN_RECORD_FIELDS];
    struct tern_stream_piece *pieces;

    struct tern_stream_pages *pages; /* pages.c */
};

/** Makes the stream fail with a sentence, if it has not failed before, and returns the stream's error. of_record: the
 *  sentence begins with the current record. */
int tern_stream_fail(struct tern_stream *s, bool of_record, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Returns the stream's error and sets its sentence for this thread; 0 if it has not failed. */
int tern_stream_failed(const struct tern_stream *s);
/** True: the links of a stream that keeps records are lost, so it can be resumed. */
bool tern_stream_lost(const struct tern_stream *s);
/** True: the error is one of a link, after which a stream can be resumed. */
bool tern_stream_error_of_link(int error);
/** Reconnects lost links by s->again, if that is set. 0, or the stream's error. */
int tern_stream_mend(struct tern_stream *s);
/** Keeps a copy of a record that is written over the current link, and drops the oldest copies beyond s->keep. */
void tern_stream_keep_record(struct tern_stream *s, const void *data, size_t n);
/** Frees the copies for which drop(k, next) is true; drop NULL: all. */
void tern_stream_drop_kept(struct tern_stream *s, bool (*drop)(const struct tern_stream_kept *k, const uint64_t *next),
                           const uint64_t *next);
int tern_stream_write_link(struct tern_stream *s, unsigned link, const void *data, size_t n);
/** Writes the headers of links that have none yet. */
int tern_stream_write_headers(struct tern_stream *s);
int tern_stream_new(const int *fds, unsigned n, bool writes, struct tern_stream **out);
void tern_stream_pages_free(struct tern_stream_pages *p);
/** Allocates bytes, 8-byte aligned, that are freed at the next record. NULL: the stream has failed. */
void *tern_stream_piece(struct tern_stream *s, size_t bytes);
const struct tern_field *tern_stream_field(const struct tern_stream *s, const char *name);

#endif
