/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads of the runtime (thread.h). The driver makes its own threads in the same way, but has no interface for that.
 */
#include "runtime/core/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#define STACK_LEAST ((size_t)2 << 20)

/** Attributes of the program's threads (stack size from RLIMIT_STACK by default), with at least the needed stack,
 *  and detached. */
static bool make_attributes(pthread_attr_t *attr)
{
    size_t size = 0;
    if (pthread_getattr_default_np(attr) != 0) {
        return false;
    }
    if (pthread_attr_getstacksize(attr, &size) == 0 &&
        (size >= STACK_LEAST || pthread_attr_setstacksize(attr, STACK_LEAST) == 0) &&
        pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED) == 0) {
        return true;
    }
    pthread_attr_destroy(attr);
    return false;
}

bool rt_thread_start(void *(*run)(void *), void *user)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    sigset_t old;
    if (!make_attributes(&attr)) {
        return false;
    }
    sigfillset(&all);
    /* the thread inherits the mask, so that it never runs with signals enabled */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = pthread_create(&thread, &attr, run, user);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return error == 0;
}
