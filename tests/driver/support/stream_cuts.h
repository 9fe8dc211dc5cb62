/* SPDX-License-Identifier: Apache-2.0 */
/** Links between a stream's writer and its reader that are cut after a number of bytes. For programs that have ok(). */
#ifndef STREAM_CUTS_H
#define STREAM_CUTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "migration/format/stream.h"

struct ends {
    int to[TERN_STREAM_LINKS], from[TERN_STREAM_LINKS];
    unsigned n;
};

/** Makes n links. The reader has them in the opposite order. */
static inline struct ends connect_all(unsigned n, bool sockets)
{
    struct ends e = {.n = n};
    for (unsigned i = 0; i < n; i++) {
        int fds[2];
        ok(sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) : pipe(fds));
        e.from[n - 1 - i] = fds[0];
        e.to[i] = fds[1];
    }
    return e;
}

static inline void close_all(const int *fds, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        close(fds[i]);
    }
}

/** Links between writer and reader, with a thread each. All are cut once a number of bytes went over them. */
struct relay {
    struct ends in, out; /* from the writer, and to the reader */
    unsigned n;
    atomic_size_t left;  /* bytes until the cut */
    pthread_t threads[TERN_STREAM_LINKS];
    atomic_uint started;
};

static inline void relay_cut(struct relay *y)
{
    for (unsigned i = 0; i < y->n; i++) {
        shutdown(y->in.from[i], SHUT_RDWR);
        shutdown(y->out.to[i], SHUT_RDWR);
    }
}

static inline bool relay_pass(int to, const char *data, size_t n)
{
    ssize_t r = 0;
    for (; n && r >= 0; n -= (size_t)(r > 0 ? r : 0), data += r > 0 ? r : 0) {
        r = send(to, data, n, MSG_NOSIGNAL);
    }
    return r >= 0;
}

static inline void *relay_thread(void *arg)
{
    struct relay *y = arg;
    const unsigned i = atomic_fetch_add(&y->started, 1);
    char buffer[10000];
    ssize_t n;
    while ((n = recv(y->in.from[i], buffer, sizeof buffer, 0)) > 0) {
        size_t left = atomic_load(&y->left), take;
        do {
            take = (size_t)n < left ? (size_t)n : left;
        } while (!atomic_compare_exchange_weak(&y->left, &left, left - take));
        if (!relay_pass(y->out.to[i], buffer, take) || take < (size_t)n) {
            relay_cut(y);
            return NULL;
        }
    }
    shutdown(y->out.to[i], SHUT_WR);
    return NULL;
}

static inline void relay_start(struct relay *y, unsigned n, size_t bytes)
{
    *y = (struct relay){.in = connect_all(n, true), .out = connect_all(n, true), .n = n, .left = bytes};
    for (unsigned i = 0; i < n; i++) {
        ok(pthread_create(&y->threads[i], NULL, relay_thread, y));
    }
}

static inline void relay_stop(struct relay *y)
{
    for (unsigned i = 0; i < y->n; i++) {
        ok(pthread_join(y->threads[i], NULL));
    }
    close_all(y->in.from, y->n);
    close_all(y->out.to, y->n);
}

/** Passes the reader's answer to the writer: the numbers of the records that it has. */
static inline void answered(const struct tern_stream *r, const struct tern_stream *w, uint64_t *next)
{
    struct tern_stream *to, *answers;
    enum tern_record_type type;
    size_t n;
    ok(tern_stream_write_memory(&to));
    ok(tern_put_numbers(to, TERN_RECORD_READY, r));
    const void *bytes = tern_stream_memory(to, &n);
    ok(tern_stream_read_memory(bytes, n, &answers));
    assert_int_equal(tern_record_next(answers, &type), 1);
    assert_int_equal(type, TERN_RECORD_READY);
    ok(tern_get_numbers(answers, w, next));
    tern_stream_close(answers);
    tern_stream_close(to);
}

#endif
