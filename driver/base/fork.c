/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fork.h"

#include <errno.h>
#include <pthread.h>

#include "base/error.h"
#include "base/lock.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* result of watch_forks: 0 or an errno */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tern_list watched = {&watched, &watched};

TERN_LOCK_HANDED void tern_fork_lock(void)
{
    pthread_mutex_lock(&lock);
}

TERN_LOCK_HANDED void tern_fork_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/** Runs in the child, with the lock held. Only async-signal-safe functions may be called: the parent may have had other
 *  threads. */
static TERN_LOCK_HANDED void in_child(void)
{
    TERN_LIST_EACH(node, &watched)
    {
        struct tern_fork *f = TERN_LIST_ENTRY(node, struct tern_fork, node);
        if (!f->inherited) {
            f->inherited = true;
            f->in_child(f);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    registered = pthread_atfork(tern_fork_lock, tern_fork_unlock, in_child);
}

int tern_fork_watch(struct tern_fork *f, void (*in_child_of)(struct tern_fork *f))
{
    pthread_once(&once, watch_forks);
    if (registered) {
        return tern_error_memory("the handlers of fork");
    }
    f->in_child = in_child_of;
    tern_fork_lock();
    tern_list_append(&watched, &f->node);
    tern_fork_unlock();
    return 0;
}

void tern_fork_forget(struct tern_fork *f)
{
    tern_fork_lock();
    tern_list_remove(&f->node);
    tern_fork_unlock();
}

int tern_fork_check(const struct tern_fork *f)
{
    return f->inherited ? tern_error(-ENODEV, "this process was forked from the one that opened the device, which "
                                              "stayed there: open a device after the fork")
                        : 0;
}
