/* SPDX-License-Identifier: Apache-2.0 */
/** The link between two ternd, and the connection of the tool that asked for the migration (session.h). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "migration/session/internal.h"
#include "wire/socket.h"

/** Receives one message with a descriptor. */
static int receive_link(struct ternd_move *m, struct tern_wire_migrate *how, int *link)
{
    int kind = 0;
    socklen_t size = sizeof kind;
    struct pollfd p = {.fd = m->control, .events = POLLIN};
    *link = -1;
    int came;
    do {
        came = poll(&p, 1, m->t->patience_ms);
    } while (came < 0 && errno == EINTR);
    const ssize_t n = came > 0 ? tern_socket_receive(m->control, how, sizeof *how, link) : 0;
    if (came > 0 && n == (ssize_t)sizeof *how && *link >= 0 &&
        getsockopt(*link, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_STREAM) {
        return 0;
    }
    if (*link >= 0) {
        close(*link);
    }
    return came <= 0 ? tern_error(-ETIMEDOUT, "no link came for %d s", m->t->patience_ms / 1000)
        : n == (ssize_t)sizeof *how ? tern_error(*link < 0 ? -EPIPE : -EPROTO, *link < 0 ? "there is no other link"
                                                                                         : "that is no link")
        : tern_error(n > 1 ? -EPROTO : -ECANCELED, n > 1 ? "that is no link" : "the migration was cancelled");
}

int ternd_move_receive_links(struct ternd_move *m, struct tern_wire_migrate *how)
{
    uint32_t n = 0, want = 1;
    int r = 0;
    while (!r && n < want) {
        r = receive_link(m, how, &m->links[n]);
        n += !r;
        want = how->links ? how->links : 1;
        if (r == 0 && want > TERN_STREAM_LINKS) {
            r = tern_error(-EPROTO, "a migration has 1 to %u links, not %u",
                           TERN_STREAM_LINKS, want);
        }
    }
    m->link_count = n;
    m->link = r || !n ? -1 : m->links[0];
    if (r) {
        ternd_move_close_links(m);
    }
    return r;
}

void ternd_move_close_links(struct ternd_move *m)
{
    for (uint32_t i = 0; i < m->link_count; i++) {
        close(m->links[i]);
    }
    m->link_count = 0;
    m->link = -1;
}

int ternd_move_begin(struct ternd_move *m, struct tern_wire_migrate *how)
{
    const int r = ternd_move_receive_links(m, how);
    m->again = !r && how->again;
    return r == -EPROTO ? tern_error(r, "that is no request for a migration: %s", tern_last_error()) : r;
}

int ternd_move_stream(const struct ternd_move *m, bool writes, struct tern_stream **out)
{
    const int r = writes ? tern_stream_write_fd(m->link, out) : tern_stream_read_fd(m->link, out);
    if (!r) {
        tern_stream_timeout(*out, m->t->patience_ms);
        tern_stream_cancel_fd(*out, m->control);
    }
    return r;
}

/** Waits until the link is ready. -ECANCELED: the tool has cancelled; -ETIMEDOUT. */
static int wait_for(const struct ternd_move *m, short events)
{
    struct pollfd p[2] = {{.fd = m->link, .events = events}, {.fd = m->control, .events = POLLIN}};
    int n;
    do {
        n = poll(p, 2, m->t->patience_ms);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        return tern_error(-ETIMEDOUT, "the other ternd takes longer than %d s", m->t->patience_ms / 1000);
    }
    return p[0].revents ? 0 : tern_error(-ECANCELED, "the migration was cancelled");
}

static int broken(int error)
{
    return tern_error(error == -ECANCELED || error == -ETIMEDOUT ? error : -EPIPE, "the other ternd has given up");
}

int ternd_move_send_fd(const struct ternd_move *m, int fd, const struct tern_wire_descriptor *what)
{
    int r;
    do {
        r = wait_for(m, POLLOUT);
        /* a message of this size is sent whole or not at all */
        if (r == 0) {
            r = tern_socket_send(m->link, what, sizeof *what, fd, false);
        }
    } while (r == -EAGAIN);
    return r == -ECANCELED || r == -ETIMEDOUT || !r ? r : broken(r);
}

int ternd_move_receive_fd(const struct ternd_move *m, const struct tern_wire_descriptor *what, int *fd)
{
    struct tern_wire_descriptor got = {0};
    size_t done = 0;
    int r = 0, first = -1;
    while (!r && done < sizeof got) {
        int came = -1;
        r = wait_for(m, POLLIN);
        const ssize_t n = r ? 0 : tern_socket_receive(m->link, (uint8_t *)&got + done, sizeof got - done, &came);
        if (r == 0 && n <= 0) {
            r = broken(-EPIPE);
        }
        done += n > 0 ? (size_t)n : 0;
        if (came >= 0 && first >= 0) {
            close(came);
        } else if (came >= 0) {
            first = came;
        }
    }
    if (!r && (first < 0 || memcmp(&got, what, sizeof got))) {
        r = tern_error(-EPROTO, "a descriptor is missing, or another one than what was announced");
    }
    if (r && first >= 0) {
        close(first);
    }
    *fd = r ? -1 : first;
    return r;
}

int ternd_move_await(const struct ternd_move *m, enum tern_wire_step step)
{
    char byte = 0;
    int r = wait_for(m, POLLIN);
    if (r) {
        shutdown(m->link, SHUT_RD); /* the step can come no more from here on, but may have come */
    }
    ssize_t n;
    do {
        n = recv(m->link, &byte, sizeof byte, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n == 1 && byte != (char)step) {
        return tern_error(-EPROTO, "the other ternd says %d, where %d is expected", byte, (int)step);
    }
    return n == 1 ? 0 : r ? r : broken(-EPIPE);
}

int ternd_move_step(const struct ternd_move *m, enum tern_wire_step step)
{
    const char byte = (char)step;
    const int r = tern_socket_send(m->link, &byte, sizeof byte, -1, false);
    return r ? broken(r) : 0;
}

void ternd_move_end(struct ternd_move *m, int status)
{
    struct tern_wire_progress p = {.kind = TERN_WIRE_ENDED, .status = status, .stopped_ns = m->stopped_ns,
                                   .pages = m->counts.pages_sent + m->counts.pages_zero + m->counts.pages_same,
                                   .zero = m->counts.pages_zero, .same = m->counts.pages_same,
                                   .content = m->counts.page_bytes, .bytes = m->counts.bytes, .programs = m->n,
                                   .processes = m->proc_count};
    snprintf(p.text, sizeof p.text, "%s", status ? tern_last_error() : "");
    tern_socket_send(m->control, &p, sizeof p, -1, false);
    ternd_move_close_links(m);
}
