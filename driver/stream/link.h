/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes over one file descriptor, or in memory. */
#ifndef TERN_STREAM_LINK_H
#define TERN_STREAM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How waiting ends, of all links of a stream. */
struct tern_link_wait {
    int timeout; /* milliseconds; negative: none */
    int cancel;  /* a descriptor; negative: none */
};

struct tern_link {
    int fd;                       /* negative: memory */
    bool socket, fifo;
    uint64_t bytes;               /* that went over it */
    const unsigned char *from;    /* memory that is read */
    unsigned char *to;            /* memory that is written, which is the link's */
    size_t size, room;
};

/** An open descriptor is all that it needs. */
int tern_link_open(struct tern_link *l, int fd);
void tern_link_free(struct tern_link *l);
/** All n bytes. -EIO, -EPIPE, -ETIMEDOUT, -ECANCELED, -ENOMEM, with the system's words in *why. */
int tern_link_write(struct tern_link *l, const struct tern_link_wait *w, const void *data, size_t n, const char **why);
/** Up to n bytes, *got of them; fewer than n only at the end of what there is. */
int tern_link_read(struct tern_link *l, const struct tern_link_wait *w, void *data, size_t n, size_t *got,
                   const char **why);
/** The first of n links that can go on without waiting (events: POLLIN or POLLOUT), after `after` if that is fair;
 * NULL entries are left out. Its index, or an error. */
int tern_link_any(struct tern_link *const *links, unsigned n, short events, unsigned after,
                  const struct tern_link_wait *w, const char **why);

#endif
