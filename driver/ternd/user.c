/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Accounts of users: resources of all programs of a user together. An account is never freed, because users are few.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "ternd/server.h"

/** Finds the account of a user. Requires ternd->lock. */
static struct ternd_user *find(struct ternd *t, uid_t uid)
{
    tern_assert_held(&t->lock);
    TERN_LIST_EACH(node, &t->users)
    {
        struct ternd_user *u = TERN_LIST_ENTRY(node, struct ternd_user, node);
        if (u->uid == uid) {
            return u;
        }
    }
    return NULL;
}

struct ternd_user *ternd_user_get(struct ternd *t, uid_t uid)
{
    pthread_mutex_lock(&t->lock);
    struct ternd_user *u = find(t, uid), *made = NULL;
    pthread_mutex_unlock(&t->lock);
    if (!u && (made = calloc(1, sizeof *made))) {
        made->uid = uid;
        ternd_limits_of(t->limits, uid, &made->limits); /* may block on a name server, so the lock is not held */
        if (made->limits.pinned == TERND_PINNED_DEFAULT && uid) {
            made->limits.pinned = t->info.memory_bytes / 8;
        }
        pthread_mutex_lock(&t->lock);
        u = find(t, uid);
        if (!u) {
            u = made;
            made = NULL;
            tern_list_append(&t->users, &u->node);
        }
        pthread_mutex_unlock(&t->lock);
        free(made);
    }
    return u;
}

/** Counts bytes up to a limit; `what` names them in the sentence. -ENOSPC. */
static int take(const struct ternd_user *u, _Atomic uint64_t *count, uint64_t bytes, uint64_t limit, const char *what)
{
    uint64_t used = atomic_load(count);
    do {
        if (bytes > limit - used) {
            return tern_error(-ENOSPC, "%" PRIu64 " KiB of %s would be more than user %u may have: %" PRIu64 " of %"
                              PRIu64 " KiB are in use", bytes >> 10, what, (unsigned)u->uid, used >> 10, limit >> 10);
        }
    } while (!atomic_compare_exchange_weak(count, &used, used + bytes));
    return 0;
}

/** Counts committed sparse memory. Takes no lock, because the driver calls it with dev->lock held. */
static int take_memory(void *user, uint64_t bytes)
{
    struct ternd_user *u = user;
    return take(u, &u->memory, bytes, u->limits.memory, "device memory");
}

static void give_memory(void *user, uint64_t bytes)
{
    struct ternd_user *u = user;
    atomic_fetch_sub(&u->memory, bytes);
}

struct tern_account ternd_user_account(struct ternd_user *u)
{
    return (struct tern_account){.take = take_memory, .give = give_memory, .user = u};
}

int ternd_user_take_held(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts,
                         uint32_t connections)
{
    tern_assert_held(&t->lock);
    const struct ternd_limits *l = &u->limits;
    int r = 0;
    if (contexts > l->contexts - u->contexts) {
        r = tern_error(-ENOSPC, "user %u has %u contexts, and may have no more", (unsigned)u->uid, u->contexts);
    } else if (connections > l->connections - u->connections) {
        r = tern_error(-EAGAIN, "user %u has %u connections, and may have no more", (unsigned)u->uid, u->connections);
    } else if (!ternd_places_left(t, u, connections)) {
        r = tern_error(-EAGAIN, "user %u has %u connections, and ternd has descriptors for %u of all users",
                       (unsigned)u->uid, u->connections, t->places);
    } else {
        r = take_memory(u, memory);
    }
    if (!r) {
        u->contexts += contexts;
        u->connections += connections;
        t->taken += connections;
    }
    return r;
}

int ternd_user_take(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections)
{
    pthread_mutex_lock(&t->lock);
    const int r = ternd_user_take_held(t, u, memory, contexts, connections);
    pthread_mutex_unlock(&t->lock);
    return r;
}

void ternd_user_give(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections)
{
    pthread_mutex_lock(&t->lock);
    give_memory(u, memory);
    u->contexts -= contexts;
    u->connections -= connections;
    t->taken -= connections;
    pthread_mutex_unlock(&t->lock);
}

int ternd_user_pin(struct ternd_user *u, uint64_t bytes)
{
    return take(u, &u->pinned, bytes, u->limits.pinned, "memory that stays on the device");
}

void ternd_user_unpin(struct ternd_user *u, uint64_t bytes)
{
    atomic_fetch_sub(&u->pinned, bytes);
}

void ternd_user_name(uid_t uid, char *out, size_t size)
{
    struct passwd entry, *found = NULL;
    char text[1024];
    if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(out, size, "%s", entry.pw_name);
    } else {
        snprintf(out, size, "%u", (unsigned)uid);
    }
}
