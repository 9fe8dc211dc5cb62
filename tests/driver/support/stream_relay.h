/* SPDX-License-Identifier: Apache-2.0 */
/** Links between a stream's writer and its reader, which are cut after a number of bytes. */
#ifndef SUPPORT_STREAM_RELAY_H
#define SUPPORT_STREAM_RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "migration/format/stream.h"

struct links {
    int to[TERN_STREAM_LINKS], from[TERN_STREAM_LINKS];
    unsigned n;
};

/** Makes n links. The reader has them in the opposite order. */
struct links links_open(unsigned n, bool sockets);
void links_close(const int *fds, unsigned n);

/** Links between writer and reader, with a thread each. All are cut once a number of bytes went over them. */
struct relay {
    struct links in, out; /* from the writer, and to the reader */
    unsigned n;
    atomic_size_t left;  /* bytes until the cut */
    pthread_t threads[TERN_STREAM_LINKS];
    atomic_uint started;
};

/** Starts the threads of n links that are cut after so many bytes. */
void relay_start(struct relay *y, unsigned n, size_t bytes);
/** Waits for the threads to end. */
void relay_stop(struct relay *y);
/** Passes the reader's answer to the writer: the numbers of the records that it has. */
void relay_answer(const struct tern_stream *r, const struct tern_stream *w, uint64_t *next);

#endif
