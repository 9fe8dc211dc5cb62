/* SPDX-License-Identifier: Apache-2.0 */
/** Accounts of users: what all programs of each have together. An account stays: there are few users. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "ternd/server.h"

#define HEARING_MAX 16u

struct ternd_user *ternd_user_get(struct ternd *t, uid_t uid)
{
    struct ternd_user *u = NULL;
    pthread_mutex_lock(&t->lock);
    TERN_LIST_EACH(node, &t->users)
    {
        struct ternd_user *at = TERN_LIST_ENTRY(node, struct ternd_user, node);
        u = at->uid == uid ? at : u;
    }
    if (!u && (u = calloc(1, sizeof *u))) {
        u->uid = uid;
        ternd_limits_of(t->limits, uid, &u->limits);
        tern_list_append(&t->users, &u->node);
    }
    pthread_mutex_unlock(&t->lock);
    return u;
}

int ternd_user_take(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections)
{
    const struct ternd_limits *l = &u->limits;
    int r = 0;
    pthread_mutex_lock(&t->lock);
    if (memory > l->memory - u->memory) {
        r = tern_error(-ENOSPC, "%llu KiB of device memory would be more than user %u may have: %llu of %llu KiB are "
                       "in use", (unsigned long long)memory >> 10, (unsigned)u->uid,
                       (unsigned long long)u->memory >> 10, (unsigned long long)l->memory >> 10);
    } else if (contexts > l->contexts - u->contexts) {
        r = tern_error(-ENOSPC, "user %u has %u contexts, and may have no more", (unsigned)u->uid, u->contexts);
    } else if (connections > l->connections - u->connections) {
        r = tern_error(-EAGAIN, "user %u has %u connections, and may have no more", (unsigned)u->uid, u->connections);
    } else {
        u->memory += memory;
        u->contexts += contexts;
        u->connections += connections;
    }
    pthread_mutex_unlock(&t->lock);
    return r;
}

void ternd_user_give(struct ternd *t, struct ternd_user *u, uint64_t memory, uint32_t contexts, uint32_t connections)
{
    pthread_mutex_lock(&t->lock);
    u->memory -= memory;
    u->contexts -= contexts;
    u->connections -= connections;
    pthread_mutex_unlock(&t->lock);
}

bool ternd_user_may_hear(struct ternd *t, struct ternd_user *u)
{
    pthread_mutex_lock(&t->lock);
    const bool may = u->hearing < HEARING_MAX;
    u->hearing += may;
    pthread_mutex_unlock(&t->lock);
    return may;
}

void ternd_user_heard(struct ternd *t, struct ternd_user *u)
{
    pthread_mutex_lock(&t->lock);
    u->hearing--;
    pthread_mutex_unlock(&t->lock);
}
