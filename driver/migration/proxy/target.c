/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The proxy at the target (proxy.h). For the target's ternd it is the other ternd of a migration, with sockets and
 * memories of its own for each program. Bytes that come over the link are written into these.
 */
#include "migration/proxy/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "tern/tern_spec.h"
#include "wire/hello.h"
#include "wire/socket.h"

#define TICK_MS 1000

/* ------------------------------------------------------------------ the target's ternd */

static void close_ternd(struct proxy_target *b)
{
    if (b->ternd >= 0) {
        close(b->ternd);
        b->ternd = -1;
    }
    if (b->descriptor >= 0) {
        close(b->descriptor);
        b->descriptor = -1;
    }
    b->stream.start = b->stream.end;
}

/** Called when the target's ternd reads no more; ternd gives the reason on the other connection. */
static void end_ternd(struct proxy_target *b)
{
    close_ternd(b);
    if (!b->gone) {
        proxy_send(&b->link, (struct proxy_frame){.type = PROXY_STREAM_END}, NULL, 0, NULL, 0);
    }
}

/** Writes queued bytes to ternd. The descriptor goes with the last bytes that are queued. */
static void write_ternd(struct proxy_target *b)
{
    struct proxy_bytes *w = &b->stream;
    while (b->ternd >= 0 && proxy_bytes_left(w)) {
        if (b->descriptor >= 0) {
            const int r = tern_socket_send(b->ternd, w->data + w->start, proxy_bytes_left(w), b->descriptor, false);
            if (r == -EAGAIN) {
                return;
            }
            close(b->descriptor);
            b->descriptor = -1;
            w->start = w->end;
            if (r) {
                end_ternd(b);
            }
            return;
        }
        const ssize_t n = send(b->ternd, w->data + w->start, proxy_bytes_left(w), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n < 0 && errno != EINTR) {
            end_ternd(b);
            return;
        }
        w->start += n > 0 ? (size_t)n : 0;
    }
}

static void queue_ternd(struct proxy_target *b, const void *bytes, size_t n)
{
    if (!proxy_bytes_room(&b->stream, n)) {
        proxy_lose(&b->link, "there is no memory for what comes over it");
        return;
    }
    memcpy(b->stream.data + b->stream.end, bytes, n);
    b->stream.end += n;
    write_ternd(b);
}

static void receive_ternd(struct proxy_target *b)
{
    uint8_t piece[256];
    const ssize_t n = recv(b->ternd, piece, sizeof piece, MSG_DONTWAIT);
    if (n <= 0) {
        end_ternd(b);
    } else if (!b->gone) { /* TOLD is meant for this proxy; the source's proxy makes its own */
        proxy_send(&b->link, (struct proxy_frame){.type = PROXY_STREAM}, piece, (size_t)n, NULL, 0);
    }
}

static void receive_control(struct proxy_target *b)
{
    struct tern_wire_progress p = {0};
    const ssize_t n = tern_socket_receive(b->control, &p, sizeof p, NULL);
    if (n == (ssize_t)sizeof p && p.kind != TERN_WIRE_ENDED) {
        return;
    }
    if (n != (ssize_t)sizeof p) {
        p = (struct tern_wire_progress){.kind = TERN_WIRE_ENDED, .status = -EIO, .text = "ternd has ended"};
    }
    b->ended = true;
    if (p.status) {
        snprintf(b->refused, sizeof b->refused, "%.*s", (int)sizeof p.text - 1, p.text);
    }
    close(b->control);
    b->control = -1;
    proxy_send(&b->link, (struct proxy_frame){.type = PROXY_RESULT}, &p, sizeof p, NULL, 0);
}

/** Asks the target's ternd to receive the partition. */
static int greet_ternd(struct proxy_target *b, const char partition[64])
{
    const struct tern_wire_migrate how = {0};
    struct tern_wire_hello h = tern_hello(TERN_WIRE_RECEIVE);
    struct tern_wire_welcome w;
    int pair[2];
    memcpy(h.partition, partition, sizeof h.partition);
    const int seconds = tern_patience(TERN_PATIENCE_HELLO);
    b->control = seconds < 0 ? seconds : tern_hello_open(b->to, &h, &w, NULL, (unsigned)seconds, -1);
    int r = b->control < 0 ? b->control : 0;
    if (!r && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        r = tern_error(-errno, "sockets cannot be made: %s", strerror(errno));
    }
    if (r) {
        return r;
    }
    b->ternd = pair[0];
    r = tern_socket_send(b->control, &how, sizeof how, pair[1], true);
    close(pair[1]);
    return r ? tern_error(r, "ternd at %s has ended", b->to) : 0;
}

/* ------------------------------------------------------------------ the link */

static void receive_hello(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_hello h = {0}, answer = {.magic = PROXY_MAGIC, .version = PROXY_VERSION, .wire = TERN_WIRE_VERSION,
                                          .spec = TERN_SPEC_HASH, .side = PROXY_TARGET};
    int r = f->type == PROXY_HELLO && f->length == sizeof h ? 0 : -EPROTO;
    if (!r) {
        memcpy(&h, bytes, sizeof h);
        r = h.magic == PROXY_MAGIC && h.side == PROXY_SOURCE ? 0 : -EPROTO;
    }
    if (r) {
        proxy_lose(&b->link, "what comes over it is not from tern migrate");
        return;
    }
    if (h.version != PROXY_VERSION || h.wire != TERN_WIRE_VERSION || h.spec != TERN_SPEC_HASH) {
        r = tern_error(-EPROTO, "it is of another version: both sides must have the same");
    }
    if (r == 0) {
        r = greet_ternd(b, h.partition);
    }
    answer.status = r;
    snprintf(answer.text, sizeof answer.text, "%s", r ? tern_last_error() : "");
    proxy_send(&b->link, (struct proxy_frame){.type = PROXY_HELLO}, &answer, sizeof answer, NULL, 0);
    snprintf(b->refused, sizeof b->refused, "%s", answer.text);
    b->greeted = true;
    b->ended = r != 0;
}

static void receive_descriptor(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct tern_wire_descriptor what;
    int fd = -1;
    if (f->length != sizeof what || b->gone) {
        proxy_lose(&b->link, "what comes over it cannot be: a descriptor of %u bytes", f->length);
        return;
    }
    memcpy(&what, bytes, sizeof what);
    if (b->ternd < 0) {
        return; /* ternd has given up, and reports that itself */
    }
    if (proxy_session_add(b, &what, &fd)) {
        proxy_lose(&b->link, "%s", tern_last_error());
        return;
    }
    b->descriptor = fd;
    queue_ternd(b, &what, sizeof what);
}

static void receive_frame(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes)
{
    if (!b->greeted) {
        receive_hello(b, f, bytes);
    } else if (f->type == PROXY_STREAM && !b->gone) {
        b->gone = proxy_sessions_left(b) != 0; /* this STREAM is GO, because START has come */
        if (b->ternd >= 0) {
            queue_ternd(b, bytes, f->length);
        }
    } else if (f->type == PROXY_STREAM_END && !b->gone) {
        close_ternd(b);
    } else if (f->type == PROXY_DESCRIPTOR) {
        receive_descriptor(b, f, bytes);
    } else if (f->type >= PROXY_START) {
        proxy_session_frame(b, f, bytes);
    } else if (f->type != PROXY_ALIVE) {
        proxy_lose(&b->link, "what comes over it cannot be: type %u", f->type);
    }
}

/* ------------------------------------------------------------------ waiting */

static void ready(struct proxy_target *b, const struct proxy_tag *t, const struct pollfd *p)
{
    if (t->what == PROXY_LINK) {
        if (p->revents & ~POLLOUT) {
            proxy_fill(&b->link);
        }
    } else if (t->what == PROXY_CONTROL) {
        receive_control(b);
    } else if (t->what == PROXY_TERND) {
        if (p->revents & ~POLLOUT && p->fd == b->ternd) {
            receive_ternd(b);
        }
        write_ternd(b);
    } else {
        proxy_session_ready(b, t, p->fd);
    }
}

/** Waits once in poll(), and handles all input. While ternd does not read the stream, the link is not read. */
static int step(struct proxy_target *b)
{
    struct proxy_watch *w = &b->watch;
    struct proxy_frame f;
    const uint8_t *bytes;
    const bool sleeps = proxy_sessions_pump(b), reads = !proxy_bytes_left(&b->stream);
    proxy_tick(&b->link, reads);
    proxy_flush(&b->link);
    proxy_watch_begin(w);
    proxy_watch_link(w, &b->link, reads, PROXY_LINK);
    proxy_watch_add(w, b->control, POLLIN, PROXY_CONTROL, 0, 0);
    proxy_watch_add(w, b->ternd, (short)(POLLIN | (reads ? 0 : POLLOUT)), PROXY_TERND, 0, 0);
    proxy_sessions_watch(b);
    const int r = proxy_watch_wait(w, sleeps ? TICK_MS : 0);
    for (size_t i = 0; !r && i < w->n; i++) {
        if (w->fds[i].revents) {
            ready(b, &w->tags[i], &w->fds[i]);
        }
    }
    while (!b->link.lost && !proxy_bytes_left(&b->stream) && proxy_next(&b->link, &f, &bytes)) {
        receive_frame(b, &f, bytes);
    }
    return r;
}

static void free_target(struct proxy_target *b)
{
    close_ternd(b);
    if (b->control >= 0) {
        close(b->control);
    }
    for (uint32_t i = 0; i < PROXY_OPENS; i++) {
        if (b->open[i].fd >= 0) {
            close(b->open[i].fd);
        }
    }
    for (uint32_t i = 0; i < b->n; i++) {
        proxy_session_free(b->session[i]);
    }
    free(b->session);
    free(b->stream.data);
    proxy_watch_end(&b->watch);
    proxy_link_close(&b->link);
}

void proxy_target_as_user(const struct proxy_target *b)
{
    if (b->user != b->own && seteuid(b->user)) {
        abort(); /* proxy_target_run has checked that the change of user succeeds */
    }
}

void proxy_target_as_self(const struct proxy_target *b)
{
    if (b->user != b->own && seteuid(b->own)) {
        abort();
    }
}

int proxy_target_run(const char *to, uid_t user, int in, int out)
{
    struct proxy_target b = {.control = -1, .ternd = -1, .descriptor = -1, .user = user, .own = geteuid()};
    int r = strlen(to) < sizeof b.to ? 0 : tern_error(-ENAMETOOLONG, "%s: %s", to, strerror(ENAMETOOLONG));
    if (!r && user != b.own && (b.own || seteuid(user) || seteuid(b.own))) {
        r = tern_error(-EPERM, "only root may give programs to another user");
    }
    proxy_link_open(&b.link, in, out);
    for (uint32_t i = 0; i < PROXY_OPENS; i++) {
        b.open[i].fd = -1;
    }
    memcpy(b.to, to, r ? 0 : strlen(to));
    while (!r && !b.link.lost) { /* ends when the source closes the link */
        r = step(&b);
    }
    if (!r && (!b.gone || proxy_sessions_left(&b))) {
        r = *b.refused ? tern_error(-ECANCELED, "the programs stay where they are: %s", b.refused)
                       : tern_error(-EIO, "the link is lost: %s", b.link.why);
    }
    free_target(&b);
    return r;
}
