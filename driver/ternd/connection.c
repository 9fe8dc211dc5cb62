/* SPDX-License-Identifier: Apache-2.0 */
/** A connection: hello, welcome, then its service. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "tern/tern_spec.h"
#include "ternd/server.h"
#include "wire/socket.h"

static void refuse(int fd, struct tern_wire_welcome *w, int status)
{
    w->status = status;
    snprintf(w->text, sizeof w->text, "%s", tern_last_error());
    tern_socket_send(fd, w, offsetof(struct tern_wire_welcome, token), -1, false);
}

static int check_hello(const struct tern_wire_hello *h, ssize_t size)
{
    const char *which = "the client is older than ternd, or newer: both must be of one installation";
    if (size < (ssize_t)(3 * sizeof h->magic) || h->magic != TERN_WIRE_MAGIC) {
        return tern_error(-EPROTO, "that is no hello");
    }
    if (h->version != TERN_WIRE_VERSION) {
        return tern_error(-EPROTO, "version %u of the protocol is needed, not %u: %s", TERN_WIRE_VERSION, h->version,
                          which);
    }
    if (h->spec != TERN_SPEC_HASH) {
        return tern_error(-EPROTO, "interface description 0x%08x is needed, not 0x%08x: %s", TERN_SPEC_HASH, h->spec,
                          which);
    }
    return size == sizeof *h && h->kind >= TERN_WIRE_SESSION && h->kind <= TERN_WIRE_RECEIVE
        ? 0
        : tern_error(-EPROTO, "the hello is not as this version has it");
}

static void run_session(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                        struct tern_wire_welcome *w)
{
    struct ternd_session *s;
    int r = ternd_session_create(t, fd, who, hello, &s);
    if (r) {
        refuse(fd, w, r);
        return;
    }
    memcpy(w->token, s->token, sizeof w->token);
    w->connections = s->limits.calls;
    w->queue = s->limits.queue;
    w->info = s->info;
    if (tern_socket_send(fd, w, sizeof *w, s->memory, false) == 0) {
        ternd_session_run(s);
    }
    ternd_session_end(s);
}

/** Serves requests until the client disconnects, or the session moves to another ternd. */
static void serve_calls(struct ternd_session *s, int fd, uint32_t slot)
{
    struct tern_wire_request request;
    struct tern_wire_reply reply;
    void *at = (uint8_t *)s->shared + TERN_WIRE_SLOT_OFFSET + (size_t)slot * TERN_WIRE_SLOT;
    bool there = true;
    while (there && !atomic_load(&s->broken)) {
        ssize_t n = 0;
        if (s->pending[slot]) { /* the request was postponed on the ternd that the session came from */
            n = (ssize_t)s->pending[slot]->length;
            memcpy(&request, s->pending[slot], (size_t)n);
            free(s->pending[slot]);
            s->pending[slot] = NULL;
        } else if (ternd_session_wait(s, fd)) {
            n = tern_socket_receive(fd, &request, sizeof request, NULL);
        }
        if (n == -EMSGSIZE) {
            ternd_session_break(s, "a request is too long");
        }
        there = n > 0;
        while (there && !ternd_serve(s, &request, (size_t)n, at, &reply)) {
            s->pending[slot] = &request; /* a migration copies the pending request */
            there = ternd_session_park(s, true);
            s->pending[slot] = NULL;
        }
        /* a client that does not receive is disconnected */
        there = there && !tern_socket_send(fd, &reply, reply.length, -1, false);
    }
    ternd_session_detach(s, slot);
}

void ternd_calls_resume(struct ternd_session *s, int fd, uint32_t slot)
{
    if (ternd_session_park(s, false)) {
        serve_calls(s, fd, slot);
    } else {
        free(s->pending[slot]);
        s->pending[slot] = NULL;
        ternd_session_detach(s, slot);
    }
}

void ternd_session_resume(struct ternd_session *s, int fd)
{
    (void)fd;
    if (ternd_session_park(s, false)) {
        ternd_session_run(s);
    }
    ternd_session_end(s);
}

static void run_calls(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                      struct tern_wire_welcome *w)
{
    struct ternd_session *s = ternd_session_attach(t, hello->token, who->uid, fd, &w->slot);
    if (!s) {
        tern_error(-EAGAIN, "the session has ended, or has all the connections that it may have");
        refuse(fd, w, -EAGAIN);
        return;
    }
    w->connections = s->limits.calls;
    if (tern_socket_send(fd, w, sizeof *w, -1, false) == 0) {
        serve_calls(s, fd, w->slot);
    } else {
        ternd_session_detach(s, w->slot);
    }
}

/** Serves a migration from or to this ternd. */
static void run_move(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                     struct tern_wire_welcome *w)
{
    char partition[sizeof hello->partition + 1] = {0};
    memcpy(partition, hello->partition, sizeof hello->partition);
    if (who->uid && who->uid != geteuid()) {
        refuse(fd, w, tern_error(-EPERM, "only root and ternd's own user may move programs"));
    } else if (tern_socket_send(fd, w, sizeof *w, -1, false) == 0) {
        (hello->kind == TERN_WIRE_SEND ? t->moves->send : t->moves->receive)(t, fd, partition);
    }
}

void ternd_connection(struct ternd *t, int fd, const struct ucred *who)
{
    struct tern_wire_welcome w = {
        .magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH};
    struct tern_wire_hello hello = {0};
    struct ternd_silent silent;
    struct ternd_user *u = ternd_user_get(t, who->uid);
    bool waits = false;
    const int full = u ? ternd_silent_begin(t, &silent, fd, u, &waits) : -ENOMEM;
    if (!waits || !ternd_silent_wait(t, &silent)) {
        return;
    }
    /* the hello is received even for a refusal: closing a socket with unread data may drop the reply */
    const ssize_t n = tern_socket_receive(fd, &hello, sizeof hello, NULL);
    if (full) {
        refuse(fd, &w, full);
        return;
    }
    int r = n > 0 || n == -EMSGSIZE ? check_hello(&hello, n == -EMSGSIZE ? (ssize_t)sizeof hello + 1 : n) : -EIO;
    if (r && n) {
        refuse(fd, &w, r);
    } else if (!r && hello.kind == TERN_WIRE_SESSION) {
        run_session(t, fd, who, &hello, &w);
    } else if (!r && hello.kind == TERN_WIRE_CALLS) {
        run_calls(t, fd, who, &hello, &w);
    } else if (!r) {
        run_move(t, fd, who, &hello, &w);
    }
    ternd_user_give(t, u, 0, 0, 1);
}
