/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions at the target: the proxy takes the place of their programs (proxy.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "migration/proxy/internal.h"
#include "wire/hello.h"
#include "wire/ring.h"
#include "wire/socket.h"

/* ------------------------------------------------------------------ sockets and memories */

/** Makes a pair of connected sockets with the credentials of the programs' user. */
static int make_pair(const struct proxy_target *b, int pair[2])
{
    proxy_target_as_user(b);
    const int r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ? -errno : 0;
    proxy_target_as_self(b);
    return r ? tern_error(r, "sockets cannot be made: %s", strerror(-r)) : 0;
}

static int add_session(struct proxy_target *b, const struct tern_wire_descriptor *what, int *fd)
{
    int pair[2];
    struct proxy_session **more = realloc(b->session, (b->n + 1) * sizeof *more);
    b->session = more ? more : b->session;
    struct proxy_session *s = more ? proxy_session_create() : NULL;
    const int r = s ? make_pair(b, pair) : tern_error_memory("a session");
    if (r) {
        free(s);
        return r;
    }
    s->calls = what->calls;
    s->connection = pair[0];
    memcpy(s->token, what->token, sizeof s->token);
    b->session[b->n++] = s;
    *fd = pair[1];
    return 0;
}

int proxy_session_add(struct proxy_target *b, const struct tern_wire_descriptor *what, int *fd)
{
    struct proxy_session *s = what->session < b->n ? b->session[what->session] : NULL;
    int pair[2];
    if (what->kind == TERN_WIRE_CONNECTION && what->session == b->n && b->n < PROXY_SESSIONS && what->calls &&
        what->calls <= TERN_WIRE_CONNECTIONS_MAX) {
        return add_session(b, what, fd);
    }
    if (what->kind == TERN_WIRE_MEMORY && s) {
        const int r = proxy_session_make_memory(s, what->calls);
        *fd = r ? -1 : dup(s->memory);
        return r || *fd >= 0 ? r : tern_error_memory("a session");
    }
    if (what->kind == TERN_WIRE_CALL && s && what->slot < s->calls && s->call[what->slot].fd < 0) {
        const int r = make_pair(b, pair);
        s->call[what->slot].fd = r ? -1 : pair[0];
        *fd = r ? -1 : pair[1];
        return r;
    }
    return tern_error(-EPROTO, "the other side sends a descriptor that cannot be");
}

/* ------------------------------------------------------------------ to the source */

/** A frame with the positions of the rings. */
static struct proxy_frame frame(const struct proxy_target *b, enum proxy_type type, uint32_t session, uint32_t slot)
{
    const struct proxy_session *s = b->session[session];
    return (struct proxy_frame){.type = type, .session = session, .slot = slot,
                                .head = s->shared ? atomic_load(&s->shared->submissions.head) : 0,
                                .now = s->shared ? atomic_load(&s->shared->now) : 0};
}

static void send_completions(struct proxy_target *b, uint32_t session)
{
    struct proxy_session *s = b->session[session];
    const uint64_t tail = atomic_load_explicit(&s->shared->completions.tail, memory_order_acquire), n = tail - s->done;
    if (n && n <= TERN_WIRE_COMPLETIONS) {
        const size_t at = s->done % TERN_WIRE_COMPLETIONS, end = TERN_WIRE_COMPLETIONS - at;
        const size_t first = n < end ? (size_t)n : end, size = sizeof *s->completions;
        proxy_send(&b->link, frame(b, PROXY_COMPLETIONS, session, 0), s->completions + at, first * size, s->completions,
                   ((size_t)n - first) * size);
        s->done = tail;
    }
}

bool proxy_sessions_pump(struct proxy_target *b)
{
    bool sleeps = true;
    for (uint32_t i = 0; i < b->n; i++) {
        struct proxy_session *s = b->session[i];
        if (s->there && proxy_bytes_left(&b->link.sending) < PROXY_QUEUE) {
            send_completions(b, i);
            sleeps = tern_ring_sleeps(&s->shared->completions, s->done, TERN_WIRE_MESSAGE) && sleeps;
        }
    }
    return sleeps;
}

static void end(struct proxy_target *b, uint32_t session)
{
    if (b->session[session]->there) {
        send_completions(b, session); /* completions that came before the end */
        proxy_send(&b->link, frame(b, PROXY_END, session, 0), NULL, 0, NULL, 0);
    }
    proxy_session_end(b->session[session]);
}

/** Receives a reply, and sends it after the completions that came before it. */
static void receive_reply(struct proxy_target *b, uint32_t session, uint32_t slot)
{
    struct proxy_session *s = b->session[session];
    struct proxy_call *c = &s->call[slot];
    struct tern_wire_reply a = {0};
    const ssize_t n = tern_socket_receive(c->fd, &a, sizeof a, NULL);
    if (n < (ssize_t)offsetof(struct tern_wire_reply, text) || a.length != (size_t)n) {
        end(b, session); /* ternd has ended the session, or is gone */
        return;
    }
    send_completions(b, session);
    proxy_send(&b->link, frame(b, PROXY_REPLY, session, slot), &a, (size_t)n, proxy_session_slot(s, slot),
               proxy_reply_data(&c->request, &a));
}

/* ------------------------------------------------------------------ new connections for calls */

static void opened(struct proxy_target *b, const struct proxy_open *o, uint32_t slot, int status)
{
    struct proxy_opened answer = {.id = o->id, .status = status};
    snprintf(answer.text, sizeof answer.text, "%s", status ? tern_last_error() : "");
    proxy_send(&b->link, frame(b, PROXY_OPENED, o->session, slot), &answer, sizeof answer, NULL, 0);
}

/** Connects to the ternd that serves the session now, which may be another one after a further migration. */
static int connect_calls(struct proxy_target *b, struct proxy_open *o)
{
    const struct proxy_session *s = b->session[o->session];
    struct tern_wire_hello h = tern_hello(TERN_WIRE_CALLS);
    char path[108];
    for (int tries = 0; !tern_hello_where(s->shared, path, &o->moves) && tries < 1000; tries++) {
        usleep(100);
    }
    memcpy(h.token, s->token, sizeof h.token);
    proxy_target_as_user(b);
    const int seconds = tern_patience(TERN_PATIENCE_HELLO);
    const int fd = seconds < 0 ? seconds : tern_hello_connect(o->moves ? path : b->to, (unsigned)seconds);
    proxy_target_as_self(b);
    const int r = fd < 0 ? fd : tern_hello_send(fd, &h);
    if (r && fd >= 0) {
        close(fd);
    }
    return r ? r : fd;
}

static void open_call(struct proxy_target *b, uint32_t session, uint32_t id)
{
    struct proxy_open all = {.fd = -1, .id = id, .session = session}, *o = NULL;
    for (uint32_t i = 0; i < PROXY_OPENS && !o; i++) {
        o = b->open[i].fd < 0 ? &b->open[i] : NULL;
    }
    if (!o) { /* the source never has more open requests */
        opened(b, &all, 0, tern_error(-EAGAIN, "too many connections are being made"));
        return;
    }
    *o = all;
    o->fd = connect_calls(b, o);
    if (o->fd < 0) {
        opened(b, o, 0, o->fd);
        o->fd = -1;
    }
}

static void receive_welcome(struct proxy_target *b, struct proxy_open *o)
{
    struct proxy_session *s = b->session[o->session];
    struct tern_wire_welcome w = {0};
    char path[108];
    uint32_t moves;
    int r = tern_hello_check(&w, tern_socket_receive(o->fd, &w, sizeof w, NULL), b->to);
    if (!s->there) {
        close(o->fd);
        o->fd = -1;
        return;
    }
    if (!r && (w.slot >= s->calls || s->call[w.slot].fd >= 0)) {
        r = tern_error(-EPROTO, "ternd gives a call a slot that is not free");
    }
    if (!r) {
        s->call[w.slot].fd = o->fd;
        opened(b, o, w.slot, 0);
        o->fd = -1;
        return;
    }
    close(o->fd);
    o->fd = tern_hello_where(s->shared, path, &moves) && moves == o->moves ? -1 : connect_calls(b, o);
    if (o->fd < 0) {
        opened(b, o, 0, r);
        o->fd = -1;
    }
}

/* ------------------------------------------------------------------ from the source */

static bool start(struct proxy_session *s, const uint8_t *bytes, size_t size)
{
    struct proxy_start at;
    if (s->there || !s->shared || size != sizeof at) {
        return false;
    }
    memcpy(&at, bytes, sizeof at);
    s->there = true;
    s->tail = at.submissions;
    s->seen = at.completions_head;
    s->done = at.completions_tail;
    atomic_store(&s->shared->submissions.head, s->tail);
    atomic_store(&s->shared->submissions.tail, s->tail);
    atomic_store(&s->shared->completions.head, s->seen);
    atomic_store(&s->shared->completions.tail, s->done);
    return true;
}

/** Writes submissions into the ring, which ternd checks. */
static bool put_submissions(struct proxy_session *s, const uint8_t *bytes, uint32_t n)
{
    if (n > TERN_WIRE_SUBMISSION_BYTES) {
        return false;
    }
    tern_ring_put(s->submissions, TERN_WIRE_SUBMISSION_BYTES, s->tail, bytes, n);
    s->tail += n;
    atomic_store_explicit(&s->shared->submissions.tail, s->tail, memory_order_release);
    if (tern_ring_wakes(&s->shared->submissions)) {
        tern_socket_wake(s->connection);
    }
    return true;
}

static bool give_request(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_session *s = b->session[f->session];
    const size_t least = offsetof(struct tern_wire_request, text);
    struct tern_wire_request q = {0};
    if (f->slot >= s->calls || f->length < least) {
        return false;
    }
    memcpy(&q, bytes, f->length < sizeof q ? f->length : sizeof q);
    if (q.length < least || q.length > sizeof q || q.length > f->length || f->length - q.length > TERN_WIRE_SLOT) {
        return false;
    }
    struct proxy_call *c = &s->call[f->slot];
    if (c->fd >= 0) {
        memcpy(proxy_session_slot(s, f->slot), bytes + q.length, f->length - q.length);
        c->request = q;
        if (tern_socket_send(c->fd, bytes, q.length, -1, false)) {
            end(b, f->session);
        }
    }
    return true;
}

static bool close_call(struct proxy_session *s, uint32_t slot)
{
    if (slot < s->calls && s->call[slot].fd >= 0) {
        close(s->call[slot].fd);
        s->call[slot].fd = -1;
    }
    return slot < s->calls;
}

/** Moves the head of the completion ring, because the program has taken completions. */
static bool move_head(struct proxy_session *s, uint64_t head)
{
    if (head - s->seen > s->done - s->seen) {
        return false;
    }
    if (head != s->seen) {
        s->seen = head;
        atomic_store(&s->shared->completions.head, head);
        if (atomic_load(&s->shared->backlog)) {
            atomic_store(&s->shared->backlog, 0);
            tern_socket_wake(s->connection);
        }
    }
    return true;
}

static bool serve(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_session *s = b->session[f->session];
    if (!move_head(s, f->head)) {
        return false;
    }
    switch (f->type) {
    case PROXY_SUBMISSIONS:
        return put_submissions(s, bytes, f->length);
    case PROXY_REQUEST:
        return give_request(b, f, bytes);
    case PROXY_CLOSE:
        return close_call(s, f->slot);
    case PROXY_OPEN:
        open_call(b, f->session, f->slot);
        return true;
    case PROXY_END:
        proxy_session_end(s);
        return true;
    default:
        return f->type == PROXY_HEAD;
    }
}

void proxy_session_frame(struct proxy_target *b, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_session *s = f->session < b->n ? b->session[f->session] : NULL;
    if (!s || (f->type == PROXY_START && (b->gone || !start(s, bytes, f->length)))) {
        proxy_lose(&b->link, "what comes over it cannot be: type %u of session %u", f->type, f->session);
    } else if (f->type != PROXY_START && s->there && !serve(b, f, bytes)) {
        end(b, f->session);
    }
}

/* ------------------------------------------------------------------ waiting */

void proxy_sessions_watch(struct proxy_target *b)
{
    const short events = proxy_bytes_left(&b->link.sending) < PROXY_QUEUE ? POLLIN : 0;
    for (uint32_t i = 0; i < PROXY_OPENS; i++) {
        proxy_watch_add(&b->watch, b->open[i].fd, POLLIN, PROXY_OPENING, 0, i);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        const struct proxy_session *s = b->session[i];
        proxy_watch_add(&b->watch, s->there ? s->connection : -1, POLLIN, PROXY_CONNECTION, i, 0);
        for (uint32_t k = 0; s->there && k < s->calls; k++) {
            proxy_watch_add(&b->watch, s->call[k].fd, events, PROXY_CALL, i, k);
        }
    }
}

void proxy_session_ready(struct proxy_target *b, const struct proxy_tag *t, int fd)
{
    if (t->what == PROXY_OPENING) {
        if (b->open[t->slot].fd == fd) {
            receive_welcome(b, &b->open[t->slot]);
        }
        return;
    }
    const struct proxy_session *s = b->session[t->session];
    if (t->what == PROXY_CALL && s->there && s->call[t->slot].fd == fd) {
        receive_reply(b, t->session, t->slot);
    } else if (t->what == PROXY_CONNECTION && s->there && s->connection == fd && !tern_socket_sleep(fd)) {
        end(b, t->session);
    }
}

uint32_t proxy_sessions_left(const struct proxy_target *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        n += b->session[i]->there;
    }
    return n;
}
