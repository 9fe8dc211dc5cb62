/* SPDX-License-Identifier: Apache-2.0 */
/** The waveforms of this process (waveforms.h). */
#include "hal/waveforms.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/thread.h"

/* Held, with all signals blocked, while a waveform begins or ends, so that the end of the process waits for that. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tern_list waveforms = {&waveforms, &waveforms}; /* The open waveforms. Guarded by `lock`. */
static int fork_error; /* 0, or the errno of pthread_atfork. Set once. */

static TERN_LOCK_HANDED void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static TERN_LOCK_HANDED void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static TERN_LOCK_HANDED void in_child(void)
{
    TERN_LIST_EACH(node, &waveforms)
    {
        TERN_LIST_ENTRY(node, struct tern_waveform, node)->inherited = true;
    }
    tern_list_init(&waveforms);
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    fork_error = pthread_atfork(before_fork, in_parent, in_child);
}

static TERN_LOCK_HANDED void begin_change(sigset_t *signals)
{
    tern_signals_block(signals);
    pthread_mutex_lock(&lock);
}

/** Takes a pending SIGXFSZ: a file beyond the limit of file sizes must end the waveform and not the process. */
static void drop_limit_signal(void)
{
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigtimedwait(&limit, NULL, &(struct timespec){0});
}

static TERN_LOCK_HANDED void end_change(const sigset_t *signals)
{
    pthread_mutex_unlock(&lock);
    if (!sigismember(signals, SIGXFSZ)) {
        drop_limit_signal();
    }
    tern_signals_restore(signals);
}

static const char *why_not(int r)
{
    return r == -ENOTSUP ? "this backend records no waveform; use rtl" : strerror(-r);
}

static bool regular(const char *path)
{
    struct stat s;
    return stat(path, &s) || S_ISREG(s.st_mode);
}

/** True: an open waveform has this path. Requires `lock`. */
static bool being_written(const char *path)
{
    tern_assert_held(&lock);
    TERN_LIST_EACH(node, &waveforms)
    {
        if (!strcmp(TERN_LIST_ENTRY(node, struct tern_waveform, node)->path, path)) {
            return true;
        }
    }
    return false;
}

int tern_waveform_begin(struct tern_waveform *w, const char *path, const struct tern_sim_api *api,
                        struct tern_sim *sim)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t signals;
    pthread_once(&once, watch_forks);
    if (fork_error) {
        return tern_error_memory("the handlers of fork");
    }
    if (!regular(path)) {
        return tern_error(-EINVAL, "trace '%s': a waveform needs a regular file, and this is none", path);
    }
    begin_change(&signals);
    int r;
    if (being_written(path)) {
        r = tern_error(-EINVAL, "trace '%s': another device of this process writes its waveform there; give each a "
                                "file of its own", path);
    } else {
        r = api->trace(sim, path);
        if (r) {
            r = tern_error(r == -ENOTSUP ? -EINVAL : r, "trace '%s': %s", path, why_not(r));
        } else {
            *w = (struct tern_waveform){.path = path, .api = api, .sim = sim};
            tern_list_append(&waveforms, &w->node);
        }
    }
    end_change(&signals);
    return r;
}

static const char *why_cut(int r)
{
    return r == -EDEADLK ? "a handler of a signal ended the process while it was written"
         : r == -EIO     ? "some of it could not be written"
                         : strerror(-r);
}

/** Ends a waveform. Requires `lock`. */
static void end(struct tern_waveform *w)
{
    tern_assert_held(&lock);
    const int r = w->api->trace(w->sim, NULL);
    if (r) {
        fprintf(stderr, "tern: the waveform %s is not whole: %s\n", w->path, why_cut(r));
    }
    tern_list_remove(&w->node);
}

void tern_waveform_end(struct tern_waveform *w)
{
    sigset_t signals;
    if (w->inherited) {
        return;
    }
    begin_change(&signals);
    end(w);
    end_change(&signals);
}

/** Ends the open waveforms. The priority makes this run after the destructors that close devices. Other threads may
 *  still run. */
__attribute__((destructor(101))) static void end_all(void)
{
    sigset_t signals;
    begin_change(&signals);
    while (!tern_list_empty(&waveforms)) {
        end(TERN_LIST_ENTRY(waveforms.next, struct tern_waveform, node));
    }
    end_change(&signals);
}
