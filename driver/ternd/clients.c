/* SPDX-License-Identifier: Apache-2.0 */
/** Connections, each with a thread, and the end of all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "ternd/server.h"

/** A connection. Fields are constant, except where a comment says otherwise. */
struct client {
    struct tern_list node; /* Node of ternd->clients. Guarded by `ternd->lock`. */
    struct ternd *ternd;
    int fd;                /* Closed only once the client is in no list, because shutdown needs it. */
    struct ucred who;
    struct ternd_session *session; /* Session of a connection that came from another ternd, else NULL. */
    bool calls;            /* The connection is one for calls of `session`, in `slot`, not its first one. */
    uint32_t slot;
    bool moves;            /* A migration uses the connection. Guarded by `ternd->lock`. */
    bool others;           /* Another ternd owns the connection, which is not ended here. Guarded by `ternd->lock`. */
};

static void *serve(void *user)
{
    struct client *c = user;
    struct ternd *t = c->ternd;
    if (!c->session) {
        ternd_connection(t, c->fd, &c->who);
    } else {
        struct ternd_user *u = c->session->user;
        if (c->calls) {
            ternd_calls_resume(c->session, c->fd, c->slot);
        } else {
            ternd_session_resume(c->session, c->fd);
        }
        ternd_user_give(t, u, 0, 0, 1);
    }
    pthread_mutex_lock(&t->lock);
    tern_list_remove(&c->node);
    t->connections--;
    close(c->fd);
    pthread_cond_broadcast(&t->left);
    pthread_mutex_unlock(&t->lock);
    free(c);
    return NULL;
}

/** Serves a connection as `as` describes, in a new thread. 0 or -errno. */
static int begin(const struct client *as)
{
    struct client *c = malloc(sizeof *c);
    struct ternd *t = as->ternd;
    socklen_t size = sizeof c->who;
    pthread_t thread;
    if (!c) {
        return -ENOMEM;
    }
    *c = *as;
    int r = getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &c->who, &size) ? -errno : 0;
    if (!r) {
        pthread_mutex_lock(&t->lock);
        tern_list_append(&t->clients, &c->node);
        t->connections++;
        pthread_mutex_unlock(&t->lock);
        r = tern_thread_start(&thread, serve, c);
        if (!r) {
            pthread_detach(thread);
            return 0;
        }
        pthread_mutex_lock(&t->lock);
        tern_list_remove(&c->node);
        t->connections--;
        pthread_mutex_unlock(&t->lock);
    }
    free(c);
    return r;
}

void ternd_client_begin(struct ternd *t, int fd)
{
    const int r = begin(&(struct client){.ternd = t, .fd = fd});
    if (r) {
        ternd_log(TERND_WARNING, "a connection cannot be served: %s", strerror(-r));
        close(fd);
    }
}

bool ternd_clients_full(struct ternd *t)
{
    pthread_mutex_lock(&t->lock);
    const bool full = t->connections >= t->places + t->spare;
    pthread_mutex_unlock(&t->lock);
    return full;
}

int ternd_client_resume(struct ternd_session *s, int fd, bool calls, uint32_t slot)
{
    const int r = begin(&(struct client){.ternd = s->ternd, .fd = fd, .session = s, .calls = calls, .slot = slot,
                                         .others = true});
    return r ? tern_error(r, "a connection cannot be served: %s", strerror(-r)) : 0;
}

/** True: the socket is one of the session. Requires session->lock. */
static bool is_of(const struct ternd_session *s, int fd)
{
    tern_assert_held(&s->lock);
    bool of = fd == s->connection;
    for (uint32_t i = 0; i < s->limits.calls; i++) {
        of = of || (s->call[i] >= 0 && s->call[i] == fd);
    }
    return of;
}

void ternd_clients_own(struct ternd_session *s, bool own)
{
    struct ternd *t = s->ternd;
    pthread_mutex_lock(&t->lock);
    pthread_mutex_lock(&s->lock);
    TERN_LIST_EACH(node, &t->clients)
    {
        struct client *c = TERN_LIST_ENTRY(node, struct client, node);
        c->others = is_of(s, c->fd) ? !own : c->others;
    }
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&t->lock);
}

int ternd_client_moves(struct ternd *t, int fd)
{
    pthread_mutex_lock(&t->lock);
    TERN_LIST_EACH(node, &t->clients)
    {
        struct client *c = TERN_LIST_ENTRY(node, struct client, node);
        c->moves = c->moves || c->fd == fd;
    }
    t->migrations += !t->ending;
    const int r = t->ending ? tern_error(-ESHUTDOWN, "ternd is ending") : 0;
    pthread_mutex_unlock(&t->lock);
    return r;
}

void ternd_client_moved(struct ternd *t)
{
    pthread_mutex_lock(&t->lock);
    t->migrations--;
    pthread_cond_broadcast(&t->left);
    pthread_mutex_unlock(&t->lock);
}

void ternd_clients_end(struct ternd *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    while (t->connections) {
        TERN_LIST_EACH(node, &t->clients)
        {
            const struct client *c = TERN_LIST_ENTRY(node, struct client, node);
            if (!c->others && (c->moves || !t->migrations)) {
                shutdown(c->fd, SHUT_RDWR);
            }
        }
        pthread_cond_wait(&t->left, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}
