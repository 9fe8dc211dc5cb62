/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes over one file descriptor, or in memory. */
#ifndef TERN_STREAM_LINK_H
#define TERN_STREAM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
