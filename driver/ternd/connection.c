/* SPDX-License-Identifier: Apache-2.0 */
/** A connection: its hello and welcome, then what it is for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "tern/tern_spec.h"
#include "ternd/server.h"
#include "wire/socket.h"

#define HELLO_SECONDS 5 /* without a message */

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
    return size == sizeof *h && (h->kind == TERN_WIRE_SESSION || h->kind == TERN_WIRE_CALLS)
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

static void run_calls(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                      struct tern_wire_welcome *w)
{
    struct tern_wire_request request;
    struct tern_wire_reply reply;
    struct ternd_session *s = ternd_session_attach(t, hello->token, who->uid, fd, &w->slot);
    if (!s) {
        tern_error(-EAGAIN, "the session has ended, or has all the connections that it may have");
        refuse(fd, w, -EAGAIN);
        return;
    }
    void *slot = (uint8_t *)s->shared + TERN_WIRE_SLOT_OFFSET + (size_t)w->slot * TERN_WIRE_SLOT;
    w->connections = s->limits.calls;
    ssize_t n = tern_socket_send(fd, w, sizeof *w, -1, false) ? 0 : 1;
    while (n > 0 && !atomic_load(&s->broken)) {
        n = tern_socket_receive(fd, &request, sizeof request, NULL);
        if (n == -EMSGSIZE) {
            ternd_session_break(s, "a request is too long");
        }
        if (n > 0) {
            ternd_serve(s, &request, (size_t)n, slot, &reply);
            n = tern_socket_send(fd, &reply, reply.length, -1, false) ? 0 : 1; /* a client that takes no replies ends */
        }
    }
    ternd_session_detach(s, w->slot);
}

void ternd_connection(struct ternd *t, int fd, const struct ucred *who)
{
    const struct timeval patience = {.tv_sec = HELLO_SECONDS}, none = {0};
    struct tern_wire_welcome w = {
        .magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH};
    struct tern_wire_hello hello = {0};
    struct ternd_user *u = ternd_user_get(t, who->uid);
    const int full = u ? ternd_user_take(t, u, 0, 0, 1) : tern_error_memory("a user");
    if (full && (!u || !ternd_user_refusal_begin(t, u))) {
        close(fd);
        return;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const ssize_t n = tern_socket_receive(fd, &hello, sizeof hello, NULL); /* else the refusal may be lost */
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    if (full) {
        ternd_user_refusal_end(t, u);
        refuse(fd, &w, full);
        close(fd);
        return;
    }
    int r = n > 0 || n == -EMSGSIZE ? check_hello(&hello, n == -EMSGSIZE ? (ssize_t)sizeof hello + 1 : n) : -EIO;
    if (r && n) {
        refuse(fd, &w, r);
    } else if (!r && hello.kind == TERN_WIRE_SESSION) {
        run_session(t, fd, who, &hello, &w);
    } else if (!r) {
        run_calls(t, fd, who, &hello, &w);
    }
    close(fd);
    ternd_user_give(t, u, 0, 0, 1);
}
