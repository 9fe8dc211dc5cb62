/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes of files in a thread of the application. A write beyond the limit of file sizes (ulimit -f) raises SIGXFSZ,
 * which ends a process that does not handle it. The signal is blocked during the write and a pending one is consumed;
 * the write still fails with EFBIG. The application's disposition is not changed, because other threads use it.
 */
#include "tc_internal.h"

#include <pthread.h>
#include <time.h>

void tc_limit_begin(struct tc_limit *limit)
{
    sigset_t mask, pending;
    sigemptyset(&mask);
    sigaddset(&mask, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &mask, &limit->before);
    sigpending(&pending);
    limit->pending = sigismember(&pending, SIGXFSZ);
}

void tc_limit_end(const struct tc_limit *limit)
{
    const struct timespec now = {0};
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGXFSZ);
    while (!limit->pending && sigtimedwait(&mask, NULL, &now) == SIGXFSZ) {
        /* the signal of this thread's write */
    }
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}
