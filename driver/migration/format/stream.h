/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The migration stream: the state of processes as records of fields, over file descriptors or in memory
 * (docs/migration-stream.md says what each byte is). This part knows records and bytes, and no devices.
 *
 * A stream goes in one direction. The writer begins a record, puts its fields, and ends it. The reader takes the next
 * record and gets the fields that it knows, each with its bounds:
 *
 *     tern_record_begin(s, TERN_RECORD_CONTEXT);      while ((r = tern_record_next(s, &type)) == 1) {
 *     tern_put_u64(s, "engine", 1);                       engine = tern_get_u64(s, "engine", 0, engines - 1);
 *     tern_put_bytes(s, "area", area, n);                 area = tern_get_bytes(s, "area", most, &n);
 *     r = tern_record_end(s);                             if ((r = tern_record_bad(s))) ...
 *
 * Errors are sticky. After the first one all calls return it, and after each such call tern_last_error() returns its
 * sentence, for example "record 17 (context): field engine is 9, at most 1".
 *   -EIO        bytes could not be read or written, or the stream is cut off;
 *   -EPIPE      the other side does not read any more;
 *   -ETIMEDOUT  see tern_stream_timeout;
 *   -ECANCELED  see tern_stream_cancel_fd;
 *   -EPROTO     the bytes read are damaged, or their values are not allowed;
 *   -EMSGSIZE   a record is too large;
 *   -ENOMEM     the host is out of memory.
 *
 * The caller serialises all calls for a stream. Two streams over one socket, one for each direction, may be used at the
 * same time. Descriptors stay the caller's and must outlive the stream. No call raises SIGPIPE. A reader never reads
 * beyond the stream's last byte. Memory grows with the bytes that have arrived, never with a length that they state.
 */
#ifndef TERN_STREAM_STREAM_H
#define TERN_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_STREAM_LINKS 16u                /* largest number of descriptors of one stream */
#define TERN_RECORD_BYTES (16u << 20)        /* largest size of a record's encoded fields, in bytes */
#define TERN_RECORD_FIELDS 128u              /* largest number of fields of a record */
#define TERN_FIELD_NAME 40u                  /* largest number of characters of a field's name: a-z, 0-9 and _ */
#define TERN_PAGE_BYTES 4096u                /* bytes of a page of a `pages` record */
#define TERN_PAGES_OF_RECORD 64u             /* largest number of pages in a `pages` record with content */

/** Types of records, and their names. Numbers below 16 are the stream's own. */
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

/** The name of a type; NULL: there is no such type. */
const char *tern_record_name(unsigned type);

struct tern_stream;

/** Numbers of a stream so far. The last three are counted by a writer only. */
struct tern_stream_counts {
    uint64_t bytes, records;         /* bytes of headers and records; records */
    uint64_t pages_sent;             /* pages sent with content */
    uint64_t pages_zero, pages_same; /* pages of zeros; pages left out, because they are as they were sent before */
    uint64_t page_bytes;             /* bytes of pages' content in the stream, compressed or not */
};

/** Makes a stream over n descriptors (files, pipes, sockets), 1 to TERN_STREAM_LINKS. No byte is read or written. */
int tern_stream_write_fds(const int *fds, unsigned n, struct tern_stream **out);
int tern_stream_read_fds(const int *fds, unsigned n, struct tern_stream **out);
int tern_stream_write_fd(int fd, struct tern_stream **out);
int tern_stream_read_fd(int fd, struct tern_stream **out);
/** Makes a stream in memory. The bytes of a written one (tern_stream_memory) are valid until the next record or the
 *  close; the bytes of a read one must outlive the stream. */
int tern_stream_write_memory(struct tern_stream **out);
const void *tern_stream_memory(const struct tern_stream *s, size_t *bytes);
int tern_stream_read_memory(const void *data, size_t bytes, struct tern_stream **out);

/**
 * Writes the last record; only a stream with a last record is whole. A stream that has failed or is given up is closed
 * without: the reader then sees that it is cut off.
 */
int tern_stream_end(struct tern_stream *s);
/** Frees the stream; NULL is allowed. */
void tern_stream_close(struct tern_stream *s);

/** Sets the longest time without a byte, after which calls fail with -ETIMEDOUT; negative, the default: no limit. */
void tern_stream_timeout(struct tern_stream *s, int milliseconds);
/** Sets a descriptor (an eventfd). As soon as it can be read, all calls that wait fail with -ECANCELED. */
void tern_stream_cancel_fd(struct tern_stream *s, int fd);
struct tern_stream_counts tern_stream_counts(const struct tern_stream *s);
/**
 * The number of the migration, which is the same on both sides. A writer's is random, unless it is set before the first
 * record. A reader knows the writer's number, and the writer's TERN_SPEC_HASH, after it has read the first record.
 */
void tern_stream_identify(struct tern_stream *s, uint64_t id);
uint64_t tern_stream_id(const struct tern_stream *s);
uint32_t tern_stream_spec(const struct tern_stream *s);

/* --- several links, and links that are lost */

/**
 * Several links. Records keep their order, except pages: the pages between two other records go over any link, and the
 * reader may see them in another order. The descriptors of both sides need not be in the same order.
 *
 * Lost links. A writer that keeps copies of its records can go on after -EIO, -EPIPE and -ETIMEDOUT: tern_stream_resume
 * takes new descriptors, and for each link the number of the record that the reader wants next. A record whose
 * tern_record_end failed with such an error was kept, and is sent then. A failed tern_put_pages must be repeated.
 *
 * tern_stream_keep sets how many bytes of records a writer keeps; beyond that the oldest are dropped. 0, the default:
 * none.
 */
void tern_stream_keep(struct tern_stream *s, size_t bytes);
/** Returns for each link the number of the record that comes next. A reader tells these numbers to its writer. */
void tern_stream_numbers(const struct tern_stream *s, uint64_t *next);
/**
 * Write and read these numbers as a record of another stream, that of the answers. The type is `ready` on a new
 * connection, and `acknowledged` at intervals. Reading makes the record bad if it is of another migration, or if it
 * names records that the writer has not sent.
 */
int tern_put_numbers(struct tern_stream *answers, enum tern_record_type type, const struct tern_stream *reader);
int tern_get_numbers(struct tern_stream *answers, const struct tern_stream *writer, uint64_t *next);
/** Frees the copies of the records before these numbers, which the reader has acknowledged. */
void tern_stream_acknowledged(struct tern_stream *s, const uint64_t *next);
/**
 * Continues the stream over as many new descriptors. next: the numbers that the reader wants; NULL for a stream that is
 * read. A reader goes on with the record after the last that it returned, and accepts only links of its migration.
 * The following errors leave the stream as it was:
 *   -ESTALE  records that the reader wants are not kept any more; the migration must start again
 *   -EPROTO  the reader has records that were not sent
 */
int tern_stream_resume(struct tern_stream *s, const int *fds, const uint64_t *next);
/**
 * Sets a function that reconnects lost links, for a stream that is read or that keeps records. The call that found the
 * loss calls `again`, which makes new links and calls tern_stream_resume. If `again` returns 0, the call goes on as if
 * nothing had happened; otherwise the stream fails with the returned error, and *why is in the sentence. `again` is
 * called at every loss, and limits the number of attempts itself.
 */
void tern_stream_again(struct tern_stream *s, int (*again)(void *user, struct tern_stream *s, const char **why),
                       void *user);

/* --- writing */

int tern_record_begin(struct tern_stream *s, enum tern_record_type type);
/** Begins a record that a reader skips if it does not know the type. */
int tern_record_begin_skippable(struct tern_stream *s, unsigned type);
/** Put fields into the record that was begun. A name has at most TERN_FIELD_NAME characters and occurs once. */
void tern_put_u64(struct tern_stream *s, const char *name, uint64_t value);
void tern_put_text(struct tern_stream *s, const char *name, const char *text);
void tern_put_bytes(struct tern_stream *s, const char *name, const void *data, size_t bytes);
void tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count);
/** Sends the record. 0, or the first error since the stream began. */
int tern_record_end(struct tern_stream *s);

/* --- reading */

/**
 * Reads the next record. 1: *type is its type; 0: the stream has ended; or an error. Pointers into the record before
 * become invalid. Records of the stream's own (end, barrier) and unknown ones that may be skipped are not returned.
 */
int tern_record_next(struct tern_stream *s, enum tern_record_type *type);
bool tern_has(const struct tern_stream *s, const char *name);
/**
 * Get fields of the record. If a field is missing, is of another type, or is out of bounds, the record is bad and the
 * call returns the least value, "", or no bytes. Pointers are valid until the next record; those to u64s are 8-byte
 * aligned.
 */
uint64_t tern_get_u64(struct tern_stream *s, const char *name, uint64_t least, uint64_t most);
/** A text in UTF-8, of at most `most` bytes without its NUL, and with no other NUL. */
const char *tern_get_text(struct tern_stream *s, const char *name, size_t most);
const void *tern_get_bytes(struct tern_stream *s, const char *name, size_t most, size_t *bytes);
const uint64_t *tern_get_u64s(struct tern_stream *s, const char *name, size_t most, size_t *count);
/** 0, or the error of the first field that was bad, -EPROTO or -ENOMEM, with its sentence. */
int tern_record_bad(struct tern_stream *s);
/** Makes the record bad, with a sentence of the caller, for conditions that bounds of single fields do not express. */
int tern_record_refuse(struct tern_stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- pages */

/**
 * Sends pages of a memory in as many records as needed. No record may be open. Pages of zeros are sent without content.
 * Pages that are as they were sent before are left out, if tern_stream_remember was called. Over several links the
 * reader may see the pages in another order, up to the next record of another type.
 */
int tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data);
/** Sets zstd's level for the content of pages, 1 to 19; 0, the default: no compression. Content that does not become
 *  smaller by at least an eighth is sent raw. -EINVAL */
int tern_stream_compress(struct tern_stream *s, int level);
/** Makes the stream remember a hash of the last sent content of each page: 128 bits with a random seed. A page takes 17
 *  bytes of memory, and memory is allocated for 64 pages at a time. A number of a memory must not be used for another
 *  one. */
int tern_stream_remember(struct tern_stream *s);

/** The pages of a `pages` record. tern_pages_next returns those that are to be written; the others do not change. */
struct tern_pages {
    uint64_t memory, first, count;
    const unsigned char *zero, *same, *content; /* state of tern_pages_next */
    uint64_t at;
};

/** Consecutive pages with count * TERN_PAGE_BYTES bytes of data; data NULL: pages of zeros. */
struct tern_page_run {
    uint64_t first, count;
    const void *data;
};

/** Gets the pages of the record, decompressed. The data are valid until the next record. most_memory and most_page are
 *  bounds as those of tern_get_u64. 0, or the stream's error. */
int tern_get_pages(struct tern_stream *s, uint64_t most_memory, uint64_t most_page, struct tern_pages *out);
bool tern_pages_next(struct tern_pages *p, struct tern_page_run *run);

/* --- the bytes of a link, for code that parses them itself (docs/migration-stream.md). Numbers are little-endian */

#define TERN_FORMAT_MAJOR 1u
#define TERN_FORMAT_MINOR 0u
#define TERN_HEADER_BYTES 40u
#define TERN_HEAD_BYTES 32u
#define TERN_HEAD_SKIPPABLE 1u

/** The header, which precedes the records of a link. */
struct tern_stream_header {
    uint16_t major, minor; /* version of the format */
    uint32_t spec;        /* TERN_SPEC_HASH of the writer */
    uint64_t id;          /* number of the migration, the same on all links */
    uint64_t next;        /* number of the record that follows: 0, or more after a reconnection */
    uint16_t link, links; /* number of this link, from 0, and of all links */
};

/** The head, which precedes the fields of a record. */
struct tern_record_head {
    uint16_t type, flags;
    uint32_t length;      /* bytes of the fields */
    uint64_t number;      /* number of the record on its link, from 0 */
    uint64_t check;       /* XXH3-64 of the fields */
};

void tern_header_pack(const struct tern_stream_header *h, unsigned char to[TERN_HEADER_BYTES]);
/** NULL, or a sentence that says what is wrong. */
const char *tern_header_unpack(const unsigned char from[TERN_HEADER_BYTES], struct tern_stream_header *h);
/** Sets h->check, and encodes the head. */
void tern_head_pack(struct tern_record_head *h, const void *fields, unsigned char to[TERN_HEAD_BYTES]);
/** NULL, or a sentence that says what is wrong. */
const char *tern_head_unpack(const unsigned char from[TERN_HEAD_BYTES], struct tern_record_head *h);
/** True: the checksum of the fields is h->check. */
bool tern_head_fits(const struct tern_record_head *h, const void *fields);

enum tern_field_kind { TERN_FIELD_U64, TERN_FIELD_TEXT, TERN_FIELD_BYTES, TERN_FIELD_U64S, TERN_FIELD_OTHER };

/** A field. Pointers are into the bytes of the record. */
struct tern_field {
    const char *name;           /* without a NUL */
    size_t name_length;
    enum tern_field_kind kind;  /* OTHER: a well-formed item of a kind that this version does not know */
    uint64_t value;             /* the value of U64 */
    const unsigned char *data;  /* TEXT, BYTES: the content; U64S: the first element, in CBOR; OTHER: the item */
    size_t size;                /* TEXT, BYTES: bytes; U64S: number of elements; OTHER: bytes of the item */
};

/** Parses n bytes, which must be one map, into fields. NULL, or a sentence that says what is wrong. */
const char *tern_fields_parse(const unsigned char *bytes, size_t n, struct tern_field fields[TERN_RECORD_FIELDS],
                              unsigned *count);
/** Decodes the elements of a field of the kind U64S; values has room for f->size of them. */
void tern_field_u64s(const struct tern_field *f, uint64_t *values);

/** How a `pages` record has the content of its pages. */
enum tern_pages_encoding { TERN_PAGES_RAW, TERN_PAGES_ZSTD, TERN_PAGES_ZERO };

#endif
