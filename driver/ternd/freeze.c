/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions that move to another ternd. A *held* session is served, but its processes neither begin nor end; requests
 * for that are postponed. From a *frozen* session nothing is taken: its threads park here, and what the client sends
 * stays in its sockets and its ring. At the end the session is thawed, or it has moved and its threads end without a
 * message to the client.
 *
 * A thread polls an eventfd beside its socket to notice a freeze. Alternative dropped: a signal would save that call,
 * but could arrive between the check of a flag and the receive, and would interrupt other waits of the thread.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/error.h"
#include "base/wait.h"
#include "ternd/server.h"
#include "wire/hello.h"

#define PATIENCE_MS 5000 /* for calls that are under way, in ms */

bool ternd_session_park(struct ternd_session *s, bool postponed)
{
    pthread_mutex_lock(&s->lock);
    s->parked++;
    pthread_cond_broadcast(&s->changed);
    while (!s->moved && !s->ending && (atomic_load(&s->frozen) || (postponed && s->held))) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    s->parked--;
    const bool stays = !s->moved && !s->ending;
    pthread_mutex_unlock(&s->lock);
    return stays;
}

bool ternd_session_wait(struct ternd_session *s, int fd)
{
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = s->freeze, .events = POLLIN}};
    do {
        const int n = poll(p, 2, -1);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0 && p[1].revents && !ternd_session_park(s, false)) {
            return false;
        }
        p[0].revents = n > 0 ? p[0].revents : 0;
    } while (!p[0].revents);
    return true;
}

bool ternd_session_change_begin(struct ternd_session *s)
{
    pthread_mutex_lock(&s->lock);
    const bool may = !s->held;
    s->changing += may;
    pthread_mutex_unlock(&s->lock);
    return may;
}

void ternd_session_change_end(struct ternd_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->changing--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/** Waits until no thread is `changing`, or (all) until all threads of the session are parked. Requires
 *  session->lock. */
static int wait_for(struct ternd_session *s, bool all)
{
    tern_assert_held(&s->lock);
    const struct timespec until = tern_deadline(PATIENCE_MS);
    int r = 0;
    while (!r && !s->ending && !atomic_load(&s->broken) && (all ? s->parked != s->calls + 1 : s->changing != 0)) {
        r = tern_wait_changed(&s->changed, &s->lock, PATIENCE_MS, &until);
    }
    if (s->ending || atomic_load(&s->broken)) {
        return tern_error(-EIO, "program %d (%s) ends", (int)s->pid, s->program);
    }
    return r ? tern_error(-EBUSY, "program %d (%s) is in a call that takes longer than %u s", (int)s->pid, s->program,
                          PATIENCE_MS / 1000)
             : 0;
}

int ternd_session_hold(struct ternd_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->held = true;
    const int r = wait_for(s, false);
    pthread_mutex_unlock(&s->lock);
    return r;
}

int ternd_session_freeze(struct ternd_session *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->frozen, true);
    eventfd_write(s->freeze, 1);
    const int r = wait_for(s, true);
    pthread_mutex_unlock(&s->lock);
    return r;
}

/** Ends holding, and freezing unless the session has moved. */
static void release(struct ternd_session *s)
{
    struct ternd *t = s->ternd;
    pthread_mutex_lock(&t->lock);
    pthread_mutex_lock(&s->lock);
    s->held = false;
    if (!s->moved) {
        eventfd_t n;
        atomic_store(&s->frozen, false);
        eventfd_read(s->freeze, &n);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    s->holding = false;
    pthread_cond_broadcast(&t->left); /* the session may be freed after this */
    pthread_mutex_unlock(&t->lock);
}

void ternd_session_thaw(struct ternd_session *s)
{
    release(s);
}

void ternd_session_leave(struct ternd_session *s)
{
    struct ternd *t = s->ternd;
    pthread_mutex_lock(&t->lock);
    pthread_mutex_lock(&s->lock);
    s->moved = true;
    t->leaving++;
    eventfd_write(s->freeze, 1);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&t->lock);
    release(s);
}

void ternd_session_publish(struct ternd_session *s)
{
    const struct ternd *t = s->ternd;
    if (*t->path) {
        tern_hello_publish(s->shared, t->path);
    }
}
