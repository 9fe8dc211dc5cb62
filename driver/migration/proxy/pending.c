/* SPDX-License-Identifier: Apache-2.0 */
/**
 * New connections of programs that another machine serves: connections for calls, with the same rules as in
 * connection.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wait.h"
#include "migration/proxy/internal.h"
#include "wire/hello.h"
#include "wire/socket.h"

#define HELLO_TIMEOUT_NS 5000000000u

static uint32_t silent_of(const struct proxy_source *a, uid_t uid)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < PROXY_PENDING_MAX; i++) {
        n += a->pending[i].fd >= 0 && !a->pending[i].asked && a->pending[i].uid == uid;
    }
    return n;
}

/** The new connection that is closed for another one if all entries are in use: the oldest without a hello, of the
 *  user that has most of these. NULL: there is none. */
static struct proxy_pending *victim(struct proxy_source *a)
{
    struct proxy_pending *out = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < PROXY_PENDING_MAX; i++) {
        struct proxy_pending *g = &a->pending[i];
        const uint32_t n = g->fd < 0 || g->asked ? 0 : silent_of(a, g->uid);
        if (n > most || (n && n == most && g->since < out->since)) {
            out = g;
            most = n;
        }
    }
    return out;
}

void proxy_pending_watch(struct proxy_source *a)
{
    bool room = false;
    for (uint32_t i = 0; a->gone && i < PROXY_PENDING_MAX; i++) {
        room = room || a->pending[i].fd < 0 || !a->pending[i].asked;
        proxy_watch_add(&a->watch, a->pending[i].asked ? -1 : a->pending[i].fd, POLLIN, PROXY_PENDING, 0, i);
    }
    proxy_watch_add(&a->watch, room ? a->listener.fd : -1, POLLIN, PROXY_LISTENER, 0, 0);
}

static struct tern_wire_welcome welcome(void)
{
    const struct tern_wire_hello h = tern_hello(TERN_WIRE_CALLS);
    return (struct tern_wire_welcome){.magic = h.magic, .version = h.version, .spec = h.spec};
}

static void leave(struct proxy_pending *g)
{
    close(g->fd);
    g->fd = -1;
}

static void refuse(struct proxy_pending *g, int status, const char *why)
{
    struct tern_wire_welcome w = welcome();
    w.status = status;
    snprintf(w.text, sizeof w.text, "%s", why);
    tern_socket_send(g->fd, &w, offsetof(struct tern_wire_welcome, token), -1, false);
    leave(g);
}

/** Finds a session of this user, with this token unless it is NULL. -errno: there is none. */
static int find(const struct proxy_source *a, const uint8_t *token, uid_t uid, uint32_t *session)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const struct proxy_session *s = a->session[i];
        if (s->there && s->uid == uid && (!token || !memcmp(s->token, token, sizeof s->token))) {
            *session = i;
            return 0;
        }
    }
    return -EAGAIN;
}

/** True: the peer is a user of one of the programs. Other users are refused at once. */
static bool knows(const struct proxy_source *a, int fd, const uint8_t *token, uint32_t *session, uid_t *uid)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    const bool known = !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) && !find(a, token, who.uid, session);
    *uid = who.uid;
    return known;
}

void proxy_pending_accept(struct proxy_source *a)
{
    struct proxy_pending *g = NULL;
    for (uint32_t i = 0; !g && i < PROXY_PENDING_MAX; i++) {
        g = a->pending[i].fd < 0 ? &a->pending[i] : NULL;
    }
    const int fd = accept4(a->listener.fd, NULL, NULL, SOCK_CLOEXEC);
    const bool scarce = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (!g || scarce) {
        struct proxy_pending *old = victim(a);
        if (old) {
            leave(old);
        }
        g = g ? g : old;
    }
    if (fd < 0 || !g) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    *g = (struct proxy_pending){.fd = fd, .since = tern_clock_ns()};
    if (!knows(a, g->fd, NULL, &g->session, &g->uid)) {
        refuse(g, -EPERM, "this proxy serves users whose programs have moved to another machine");
    }
}

void proxy_pending_ready(struct proxy_source *a, uint32_t id, int fd)
{
    struct proxy_pending *g = &a->pending[id];
    const struct tern_wire_hello own = tern_hello(TERN_WIRE_CALLS);
    struct tern_wire_hello h = {0};
    if (g->fd != fd || g->asked) {
        return;
    }
    const ssize_t n = tern_socket_receive(fd, &h, sizeof h, NULL);
    if (n == 0) {
        leave(g);
    } else if (n < (ssize_t)(3 * sizeof h.magic) || h.magic != own.magic || h.version != own.version ||
               h.spec != own.spec) {
        refuse(g, -EPROTO, "this proxy of programs that have moved to another machine is of another installation");
    } else if (n != sizeof h || h.kind != TERN_WIRE_CALLS || !knows(a, fd, h.token, &g->session, &g->uid)) {
        refuse(g, -EAGAIN, "this proxy serves calls of programs that have moved to another machine, and knows no such "
               "program");
    } else {
        g->asked = true;
        g->since = tern_clock_ns();
        proxy_send(&a->link, (struct proxy_frame){.type = PROXY_OPEN, .session = g->session, .slot = id,
                                                  .head = a->session[g->session]->seen}, NULL, 0, NULL, 0);
    }
}

void proxy_pending_opened(struct proxy_source *a, const struct proxy_frame *f, const struct proxy_opened *o)
{
    struct proxy_pending *g = o->id < PROXY_PENDING_MAX ? &a->pending[o->id] : NULL;
    struct proxy_session *s = a->session[f->session];
    struct tern_wire_welcome w = welcome();
    if (!g || g->fd < 0 || !g->asked || g->session != f->session ||
        (!o->status && (f->slot >= s->calls || s->call[f->slot].fd >= 0))) {
        proxy_lose(&a->link, "what comes over it cannot be: a connection that was not asked for");
        return;
    }
    if (o->status) {
        char text[sizeof o->text];
        memcpy(text, o->text, sizeof text);
        text[sizeof text - 1] = '\0';
        refuse(g, o->status < 0 ? o->status : -EPROTO, text);
        return;
    }
    w.slot = f->slot;
    w.connections = s->calls;
    tern_socket_send(g->fd, &w, sizeof w, -1, false); /* a failure shows when the socket is read next */
    s->call[f->slot].fd = g->fd;
    s->call[f->slot].busy = false;
    g->fd = -1;
}

void proxy_pending_end(struct proxy_source *a, uint32_t session)
{
    for (uint32_t i = 0; i < PROXY_PENDING_MAX; i++) {
        struct proxy_pending *g = &a->pending[i];
        if (g->fd >= 0 && g->asked && g->session == session) {
            refuse(g, -EAGAIN, "the session has ended");
        }
    }
}

void proxy_pending_tick(struct proxy_source *a)
{
    const uint64_t now = tern_clock_ns();
    for (uint32_t i = 0; i < PROXY_PENDING_MAX; i++) {
        struct proxy_pending *g = &a->pending[i];
        if (g->fd >= 0 && !g->asked && now - g->since > HELLO_TIMEOUT_NS) {
            leave(g);
        }
    }
}
