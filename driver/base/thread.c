/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <stddef.h>
#include <time.h>

#define STACK_BYTES_MIN ((size_t)2 << 20)

/** Attributes with the program's default stack size (RLIMIT_STACK, unless the program sets another one), but at least
 *  STACK_BYTES_MIN. */
static int make_attributes(pthread_attr_t *attr)
{
    size_t size = 0;
    int r = pthread_getattr_default_np(attr);
    if (r) {
        return r;
    }
    r = pthread_attr_getstacksize(attr, &size);
    if (!r && size < STACK_BYTES_MIN) {
        r = pthread_attr_setstacksize(attr, STACK_BYTES_MIN);
    }
    if (r) {
        pthread_attr_destroy(attr);
    }
    return r;
}

int tern_thread_start(pthread_t *out, void *(*run)(void *), void *user)
{
    pthread_attr_t attr;
    sigset_t old;
    int r = make_attributes(&attr);
    if (r) {
        return -r;
    }
    tern_signals_block(&old);
    r = pthread_create(out, &attr, run, user);
    tern_signals_restore(&old);
    pthread_attr_destroy(&attr);
    return -r;
}

void tern_signals_block(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void tern_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void only_limit(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGXFSZ);
}

void tern_file_limit_begin(struct tern_file_limit *l)
{
    sigset_t limit, pending;
    only_limit(&limit);
    pthread_sigmask(SIG_BLOCK, &limit, &l->before);
    sigpending(&pending);
    l->pending = sigismember(&pending, SIGXFSZ);
}

void tern_file_limit_end(const struct tern_file_limit *l)
{
    sigset_t limit;
    only_limit(&limit);
    while (!l->pending && sigtimedwait(&limit, NULL, &(struct timespec){0}) == SIGXFSZ) {
        /* the signal came from the writes */
    }
    pthread_sigmask(SIG_SETMASK, &l->before, NULL);
}
