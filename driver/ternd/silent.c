/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places of connections, which bound the descriptors of each user, and silent connections, whose hello has not come.
 *
 * Places. The limits file bounds a user's connections, but knows neither the number of users nor the limit of
 * descriptors. Therefore a user other than root and ternd's own gets a further connection only while the number of free
 * places exceeds the number that the user has: the dynamic threshold of shared-memory switches (Choudhury and Hahne,
 * 1998). If k users take all that they get, 1 / (k + 1) of the places stays free for a new user. Example: with 300
 * places, two such users have 100 each, and 100 are free.
 *
 * Silent connections. A connection that finds no place, although its user may have one, shuts down a silent connection
 * and takes its place. The victim is the oldest silent connection of the user that has the most of them, if these
 * outnumber all connections of the new connection's user, or if that user is root or ternd's own. Otherwise it is the
 * oldest silent connection of the same user.
 *
 * Locks: functions require ternd->lock, unless server.h says otherwise.
 */
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/minmax.h"
#include "base/wait.h"
#include "ternd/server.h"

#define DESCRIPTORS_PER_CONNECTION 3u /* the socket, and of a session its memory and an eventfd */
#define DESCRIPTORS_RESERVED 64u      /* those of the device, of ternd itself, and of refused connections */
#define REFUSALS_MAX 16u              /* refused connections of a user that wait for their hello at a time */
#define RETRY_MS 100

void ternd_places(struct ternd *t)
{
    struct rlimit files = {0};
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > UINT32_MAX) {
        files.rlim_cur = UINT32_MAX;
    }
    const uint32_t all = (uint32_t)files.rlim_cur, others = tern_min_u32(all / 4, DESCRIPTORS_RESERVED);
    t->places = (all - others) / DESCRIPTORS_PER_CONNECTION;
    t->spare = others / 4;
}

static bool privileged(const struct ternd_user *u)
{
    return u->uid == 0 || u->uid == geteuid();
}

bool ternd_places_left(const struct ternd *t, const struct ternd_user *u, uint32_t n)
{
    tern_assert_held(&t->lock);
    const uint32_t left = t->taken < t->places ? t->places - t->taken : 0;
    return !n || (n <= left && (privileged(u) || u->connections + n <= left));
}

/** True: data have come that the connection's thread has not read yet. */
static bool speaks(const struct ternd_silent *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/** The oldest silent connection of the user that has a place, or (refused) that has none. NULL: none. */
static struct ternd_silent *oldest(const struct ternd *t, const struct ternd_user *u, bool refused)
{
    tern_assert_held(&t->lock);
    TERN_LIST_EACH(a, &t->silent)
    {
        struct ternd_silent *s = TERN_LIST_ENTRY(a, struct ternd_silent, node);
        if (!s->ended && s->user == u && (refused || !s->refused) && !speaks(s)) {
            return s;
        }
    }
    return NULL;
}

/** The user with the most silent connections. NULL: there are none. */
static struct ternd_user *most_silent(const struct ternd *t, bool refused)
{
    tern_assert_held(&t->lock);
    struct ternd_user *most = NULL;
    uint32_t n = 0;
    TERN_LIST_EACH(a, &t->users)
    {
        struct ternd_user *u = TERN_LIST_ENTRY(a, struct ternd_user, node);
        const uint32_t has = u->silent + (refused ? u->refusals : 0);
        most = has > n ? u : most;
        n = has > n ? has : n;
    }
    return most;
}

/** The silent connection that is shut down for a new one of the user. NULL: none. */
static struct ternd_silent *victim_of(const struct ternd *t, const struct ternd_user *u)
{
    tern_assert_held(&t->lock);
    if (u->connections >= u->limits.connections) {
        return NULL; /* the user's own limit is reached, and silent connections count */
    }
    const struct ternd_user *most = most_silent(t, false);
    const bool other = most && (privileged(u) || most->silent > u->connections);
    struct ternd_silent *s = other ? oldest(t, most, false) : NULL;
    return s ? s : oldest(t, u, false);
}

/** Shuts the connection down. The connection's thread notices, and frees it. */
static void end(struct ternd *t, struct ternd_silent *s)
{
    tern_assert_held(&t->lock);
    s->ended = true;
    if (!s->refused) {
        s->user->silent--;
        s->user->connections--;
        t->taken--;
    }
    shutdown(s->fd, SHUT_RDWR);
}

int ternd_silent_begin(struct ternd *t, struct ternd_silent *s, int fd, struct ternd_user *u, bool *waits)
{
    struct ternd_silent *victim;
    int r;
    *s = (struct ternd_silent){.fd = fd, .user = u};
    pthread_mutex_lock(&t->lock);
    while ((r = ternd_user_take_held(t, u, 0, 0, 1)) && (victim = victim_of(t, u))) {
        end(t, victim);
    }
    *waits = !r || u->refusals < REFUSALS_MAX;
    if (*waits) {
        s->refused = r != 0;
        u->refusals += s->refused;
        u->silent += !s->refused;
        tern_list_append(&t->silent, &s->node);
    }
    pthread_mutex_unlock(&t->lock);
    return r;
}

bool ternd_silent_wait(struct ternd *t, struct ternd_silent *s)
{
    const uint64_t until = tern_clock_ns() + (uint64_t)t->hello_ms * 1000000;
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    int n;
    do {
        const uint64_t now = tern_clock_ns();
        n = poll(&p, 1, now < until ? (int)((until - now) / 1000000 + 1) : 0);
    } while (n < 0 && errno == EINTR);
    pthread_mutex_lock(&t->lock);
    const bool ended = s->ended;
    tern_list_remove(&s->node);
    s->user->refusals -= s->refused;
    if (!ended && !s->refused) {
        s->user->silent--;
        s->user->connections -= n <= 0;
        t->taken -= n <= 0;
    }
    pthread_mutex_unlock(&t->lock);
    return n > 0 && !ended;
}

void ternd_silent_make_room(struct ternd *t)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += RETRY_MS * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&t->lock);
    const struct ternd_user *most = most_silent(t, true);
    struct ternd_silent *s = most ? oldest(t, most, true) : NULL;
    if (s) {
        end(t, s);
    }
    pthread_cond_clockwait(&t->left, &t->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&t->lock);
}
