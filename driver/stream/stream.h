/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The migration stream: the state of processes as records of fields, over file descriptors or in memory
 * (docs/migration-stream.md says what each byte is). This part knows records and bytes, nothing of devices.
 *
 * A stream goes one way. Whoever writes begins a record, puts its fields, ends it; whoever reads takes the next record
 * and gets the fields that it knows, each with the bounds that it allows:
 *
 *     tern_record_begin(s, TERN_RECORD_CONTEXT);      while ((r = tern_record_next(s, &type)) == 1) {
 *     tern_put_u64(s, "engine", 1);                       engine = tern_get_u64(s, "engine", 0, engines - 1);
 *     tern_put_bytes(s, "area", area, n);                 area = tern_get_bytes(s, "area", most, &n);
 *     r = tern_record_end(s);                             if ((r = tern_record_bad(s))) ...
 *
 * Errors are sticky: after the first one all calls return it, and tern_last_error() says the sentence that belongs to
 * it after each call that returns it, as "record 17 (context): field engine is 9, at most 1". -EIO: bytes could not be
 * read or written, or the stream is cut off; -EPIPE: nobody reads any more; -ETIMEDOUT, -ECANCELED; -EPROTO: what was
 * read is damaged or not what it may be; -ENOMEM; -EMSGSIZE: a record is too large.
 *
 * One thread at a time uses a stream; two streams over one socket, one for each direction, may be used at the same
 * time. Descriptors stay the caller's and must outlive the stream; no call raises SIGPIPE. A reader never reads beyond
 * the stream's last byte. Memory grows with the bytes that have arrived, never with a length that they state.
 */
#ifndef TERN_STREAM_STREAM_H
#define TERN_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_STREAM_LINKS 16u                /* descriptors of one stream */
#define TERN_RECORD_BYTES (16u << 20)        /* of a record's fields, encoded */
#define TERN_RECORD_FIELDS 128u              /* of a record */
#define TERN_FIELD_NAME 40u                  /* characters of a field's name: a-z, 0-9 and _ */
#define TERN_PAGE_BYTES 4096u                /* of `pages` */
#define TERN_PAGES_OF_RECORD 64u             /* whose content one `pages` record has */

/** Types of records, and what inspection calls them. The first group is the stream's own. */
#define TERN_RECORD_TYPES(X) \
    X(END, 1, "end") \
    X(BARRIER, 2, "barrier") \
    X(PAGES, 3, "pages") \
    X(READY, 4, "ready") \
    X(ACKNOWLEDGED, 5, "acknowledged") \
    X(REFUSED, 6, "refused") \
    X(DEVICE, 16, "device") \
    X(PARTITION, 17, "partition") \
    X(PROCESS, 18, "process") \
    X(MEMORY, 19, "memory") \
    X(MAPPING, 20, "mapping") \
    X(CONTEXT, 21, "context") \
    X(JOB, 22, "job") \
    X(FENCE, 23, "fence") \
    X(ROUND, 24, "round") \
    X(STATE, 25, "state") \
    X(SESSION, 26, "session") \
    X(OBJECT, 27, "object") \
    X(CALL, 28, "call")

enum tern_record_type {
#define X(name, number, text) TERN_RECORD_##name = number,
    TERN_RECORD_TYPES(X)
#undef X
};

/** NULL if there is no such type. */
const char *tern_record_name(unsigned type);

struct tern_stream;

/** What went over a stream so far. Bytes are those of the stream: headers and records. */
struct tern_stream_counts {
    uint64_t bytes, records;
    uint64_t pages_sent; /* with content */
    uint64_t pages_zero, pages_same; /* of zeros; left out, because they are as they were sent before (the writer's) */
    uint64_t page_bytes;             /* of content, as it is in the stream (the writer's) */
};

/** A stream over n descriptors, 1 to TERN_STREAM_LINKS: files, pipes, sockets. Nothing is written or read yet. */
int tern_stream_write_fds(const int *fds, unsigned n, struct tern_stream **out);
int tern_stream_read_fds(const int *fds, unsigned n, struct tern_stream **out);
int tern_stream_write_fd(int fd, struct tern_stream **out);
int tern_stream_read_fd(int fd, struct tern_stream **out);
/** A stream in memory: what is written, until the stream is closed; or read from bytes that outlive the stream. */
int tern_stream_write_memory(struct tern_stream **out);
const void *tern_stream_memory(const struct tern_stream *s, size_t *bytes);
int tern_stream_read_memory(const void *data, size_t bytes, struct tern_stream **out);

/**
 * Writes the last record: only a stream that has it is whole. Not for one that fails or is given up: close it, and the
 * reader sees that it is cut off.
 */
int tern_stream_end(struct tern_stream *s);
/** Frees the stream; NULL is allowed. */
void tern_stream_close(struct tern_stream *s);

/** From now on no byte is waited for longer than this; negative, the default: without limit. -ETIMEDOUT */
void tern_stream_timeout(struct tern_stream *s, int milliseconds);
/** As soon as this descriptor (an eventfd) can be read, all calls end with -ECANCELED. */
void tern_stream_cancel_fd(struct tern_stream *s, int fd);
struct tern_stream_counts tern_stream_counts(const struct tern_stream *s);
/**
 * The number by which both sides know this migration. A writer's is random unless it is set before the first record;
 * a reader's is known once the first record was read. The interface (TERN_SPEC_HASH) of the writer likewise.
 */
void tern_stream_identify(struct tern_stream *s, uint64_t id);
uint64_t tern_stream_id(const struct tern_stream *s);
uint32_t tern_stream_spec(const struct tern_stream *s);

/* --- several links, and links that are lost */

/**
 * Over several links, records keep their order, but for pages: those between two other records go over whichever link
 * takes them, and may be read in another order. The descriptors of both sides need not be in the same order.
 *
 * A writer that keeps records can go on when its links are lost (-EIO, -EPIPE, -ETIMEDOUT): tern_stream_resume takes
 * new descriptors, and for each link the number of the record that the reader wants next. A record whose
 * tern_record_end failed so is kept and sent then; of tern_put_pages, the whole call is to be made again. Of what is
 * kept the oldest goes when it is more than `bytes`. 0: nothing is kept, the default.
 */
void tern_stream_keep(struct tern_stream *s, size_t bytes);
/** Numbers of the records that come next, of all links: what a reader tells its writer. */
void tern_stream_numbers(const struct tern_stream *s, uint64_t *next);
/**
 * These numbers as a record of another stream, that of the answers: `ready` on a connection that is made again,
 * `acknowledged` now and then. The reader of answers gets them from the record; those of another migration, or of
 * records that the writer has not sent, make it bad.
 */
int tern_put_numbers(struct tern_stream *answers, enum tern_record_type type, const struct tern_stream *reader);
int tern_get_numbers(struct tern_stream *answers, const struct tern_stream *writer, uint64_t *next);
/** The reader has all records before these: they need not be kept. */
void tern_stream_acknowledged(struct tern_stream *s, const uint64_t *next);
/**
 * The same stream over as many new descriptors. A reader's `next` is NULL; it goes on with the record after the last
 * that it returned, and takes only links of its migration. -ESTALE: records that the reader lacks are not kept: the
 * migration must start anew; -EPROTO: the reader cannot have these. Both leave the stream as it was.
 */
int tern_stream_resume(struct tern_stream *s, const int *fds, const uint64_t *next);
/**
 * What is done when links are lost, of a stream that is read, or that keeps records. `again`, called by the call that
 * found it, makes new links and calls tern_stream_resume; 0: that call goes on, as if nothing had been; else the stream
 * ends with this error, and *why in its sentence. It is called as often as links are lost: how often is its to say.
 */
void tern_stream_again(struct tern_stream *s, int (*again)(void *user, struct tern_stream *s, const char **why),
                       void *user);

/* --- writing */

int tern_record_begin(struct tern_stream *s, enum tern_record_type type);
/** The same for one that a reader which does not know its type may leave out. */
int tern_record_begin_skippable(struct tern_stream *s, unsigned type);
/** Fields of the record that was begun. A name is at most TERN_FIELD_NAME characters and comes once. */
void tern_put_u64(struct tern_stream *s, const char *name, uint64_t value);
void tern_put_text(struct tern_stream *s, const char *name, const char *text);
void tern_put_bytes(struct tern_stream *s, const char *name, const void *data, size_t bytes);
void tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count);
/** Sends the record. 0, or the first error since the stream began. */
int tern_record_end(struct tern_stream *s);

/* --- reading */

/**
 * The next record: 1 and its type; 0 after the stream's last one; or an error. What was got from the record before is
 * gone. Records of the stream's own (end, barrier) and unknown ones that may be left out are not returned.
 */
int tern_record_next(struct tern_stream *s, enum tern_record_type *type);
bool tern_has(const struct tern_stream *s, const char *name);
/**
 * Fields of the record. One that is not there, is of another type, or out of bounds makes the record bad, and the call
 * returns the least value, "", no bytes. Pointers, 8-byte aligned for u64s, hold until the next record.
 */
uint64_t tern_get_u64(struct tern_stream *s, const char *name, uint64_t least, uint64_t most);
/** Ends with NUL and has no other; UTF-8; at most `most` bytes without the NUL. */
const char *tern_get_text(struct tern_stream *s, const char *name, size_t most);
const void *tern_get_bytes(struct tern_stream *s, const char *name, size_t most, size_t *bytes);
const uint64_t *tern_get_u64s(struct tern_stream *s, const char *name, size_t most, size_t *count);
/** 0 if all that was got of the stream was good, or -EPROTO (-ENOMEM) with the sentence of the first that was not. */
int tern_record_bad(struct tern_stream *s);
/** Makes the record bad with a sentence of the caller's: what bounds of single fields do not tell. */
int tern_record_refuse(struct tern_stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- pages */

/**
 * Sends pages of a memory in as many records as it takes: none may be open. Pages of zeros are sent as such; pages as
 * they were sent before not at all, if tern_stream_remember was called. Over several links the reader may see them in
 * another order than they were sent, up to the next record of another type.
 */
int tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data);
/** zstd's level for what pages hold, 1 to 19; 0, the default: nothing is compressed. Content that does not become
 * smaller by an eighth is sent as it is. -EINVAL */
int tern_stream_compress(struct tern_stream *s, int level);
/** From now on the stream knows of each page what was sent last, by a hash of 128 bits with a random seed; a page takes
 * 17 bytes, 64 pages together. The numbers of memories must stay theirs. */
int tern_stream_remember(struct tern_stream *s);

/** What a `pages` record has. The pages that tern_pages_next gives are to be written; others of the range stay. */
struct tern_pages {
    uint64_t memory, first, count;
    const unsigned char *zero, *same, *content; /* for tern_pages_next */
    uint64_t at;
};

/** Pages that follow each other: count * TERN_PAGE_BYTES bytes, or data NULL: zeros. */
struct tern_page_run {
    uint64_t first, count;
    const void *data;
};

/** The pages of the record, decompressed; what the runs point to holds until the next record. most_memory, most_page:
 * bounds, as those of tern_get_u64. 0, or the stream's error. */
int tern_get_pages(struct tern_stream *s, uint64_t most_memory, uint64_t most_page, struct tern_pages *out);
bool tern_pages_next(struct tern_pages *p, struct tern_page_run *run);

#endif
