/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writing files in a thread of the application: beyond the limit of file sizes (ulimit -f) a write raises SIGXFSZ,
 * which ends a process that knows nothing of it. It is blocked meanwhile, and what came is taken away; write says
 * EFBIG all the same. The application's disposition is not touched, since other threads live with it.
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
        /* ours */
    }
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}
