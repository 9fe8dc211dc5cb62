/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/xrt/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/lock.h"

static const int signals[] = {SIGABRT, SIGSEGV, SIGFPE};
#define SIGNALS (sizeof signals / sizeof *signals)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* Held from tern_xrt_signals_keep to _restore. */
/* Earlier actions. Guarded by `lock`, except that the handler reads that of SIGABRT without it: the handler is
 * installed only after that is set. */
static struct sigaction kept[SIGNALS];
/* initial-exec: read in a signal handler, where nothing can be allocated */
static __thread bool caller __attribute__((tls_model("initial-exec")));

static void aborted(int number, siginfo_t *info, void *context)
{
    const bool own = info->si_code == SI_TKILL && info->si_pid == getpid();
    while (caller && own) {
        pause(); /* this call of XRT never returns */
    }
    if (kept[0].sa_flags & SA_SIGINFO) {
        kept[0].sa_sigaction(number, info, context);
    } else if (kept[0].sa_handler != SIG_DFL && kept[0].sa_handler != SIG_IGN) {
        kept[0].sa_handler(number);
    } else if (kept[0].sa_handler == SIG_DFL) {
        signal(number, SIG_DFL);
        raise(number); /* delivered as soon as this handler returns */
    }
}

TERN_LOCK_HANDED void tern_xrt_signals_keep(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (!sigaction(signals[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == aborted)) {
            kept[i] = now;
        }
    }
}

TERN_LOCK_HANDED void tern_xrt_signals_restore(void)
{
    tern_assert_held(&lock);
    struct sigaction own = {.sa_flags = SA_SIGINFO};
    own.sa_sigaction = aborted;
    sigemptyset(&own.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], signals[i] == SIGABRT ? &own : &kept[i], NULL);
    }
    pthread_mutex_unlock(&lock);
}

void tern_xrt_signals_caller(void)
{
    caller = true;
}
