/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

#define STACK_LEAST ((size_t)2 << 20)

/** The default of the program (RLIMIT_STACK, unless it says otherwise), raised to what is needed. */
static int make_attributes(pthread_attr_t *attr)
{
    size_t size = 0;
    int r = pthread_getattr_default_np(attr);
    if (r) {
        return r;
    }
    r = pthread_attr_getstacksize(attr, &size);
    if (!r && size < STACK_LEAST) {
        r = pthread_attr_setstacksize(attr, STACK_LEAST);
    }
    if (r) {
        pthread_attr_destroy(attr);
    }
    return r;
}

int tern_thread_start(pthread_t *out, void *(*run)(void *), void *user)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int r = make_attributes(&attr);
    if (r) {
        return -r;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* a thread begins with the mask of its creator: no moment is left open */
    r = pthread_create(out, &attr, run, user);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return -r;
}
