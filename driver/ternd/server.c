/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and destruction of struct ternd. */
#include <stdlib.h>

#include "base/patience.h"
#include "os/service.h"
#include "ternd/server.h"

int ternd_create(struct ternd *t, struct tern_device *dev, const struct ternd_limits_file *limits,
                 const struct ternd_moves *moves)
{
    const int seconds = tern_patience(TERN_PATIENCE_MOVE);
    if (seconds < 0) {
        return seconds;
    }
    t->patience_ms = seconds * 1000;
    t->hello_ms = tern_patience(TERN_PATIENCE_CLIENT) * 1000;
    ternd_places(t);
    tern_list_init(&t->silent);
    t->dev = dev;
    t->moves = moves;
    t->limits = limits;
    t->info.size = sizeof t->info;
    tern_list_init(&t->sessions);
    tern_list_init(&t->clients);
    tern_list_init(&t->users);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->left, NULL);
    tern_os_device_serve(dev);
    return tern_os_device_query(dev, &t->info);
}

void ternd_destroy(struct ternd *t)
{
    while (!tern_list_empty(&t->users)) {
        struct ternd_user *u = TERN_LIST_ENTRY(t->users.next, struct ternd_user, node);
        tern_list_remove(&u->node);
        free(u);
    }
    pthread_cond_destroy(&t->left);
    pthread_mutex_destroy(&t->lock);
}
