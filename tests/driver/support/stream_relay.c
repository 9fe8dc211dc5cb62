/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

struct links links_open(unsigned n, bool sockets)
{
    struct links e = {.n = n};
    for (unsigned i = 0; i < n; i++) {
        int fds[2];
        ok(sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) : pipe(fds));
        e.from[n - 1 - i] = fds[0];
        e.to[i] = fds[1];
    }
    return e;
}

void links_close(const int *fds, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        close(fds[i]);
    }
}

static void relay_cut(struct relay *y)
{
    for (unsigned i = 0; i < y->n; i++) {
        shutdown(y->in.from[i], SHUT_RDWR);
        shutdown(y->out.to[i], SHUT_RDWR);
    }
}

static bool relay_pass(int to, const char *data, size_t n)
{
    ssize_t r = 0;
    for (; n && r >= 0; n -= (size_t)(r > 0 ? r : 0), data += r > 0 ? r : 0) {
        r = send(to, data, n, MSG_NOSIGNAL);
    }
    return r >= 0;
}

static void *relay_thread(void *arg)
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

void relay_start(struct relay *y, unsigned n, size_t bytes)
{
    *y = (struct relay){.in = links_open(n, true), .out = links_open(n, true), .n = n, .left = bytes};
    for (unsigned i = 0; i < n; i++) {
        ok(pthread_create(&y->threads[i], NULL, relay_thread, y));
    }
}

void relay_stop(struct relay *y)
{
    for (unsigned i = 0; i < y->n; i++) {
        ok(pthread_join(y->threads[i], NULL));
    }
    links_close(y->in.from, y->n);
    links_close(y->out.to, y->n);
}

void relay_answer(const struct tern_stream *r, const struct tern_stream *w, uint64_t *next)
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
