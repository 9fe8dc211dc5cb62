/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/xrt/interrupts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"
#include "base/wait.h"

#define WAIT_MS 100u /* time of one wait; the thread sees `stop` after at most so long */

struct tern_interrupts {
    const struct tern_xrt_api *api; /* Constant, as are the fields up to `thread`. */
    struct tern_xrt *xrt;
    void (*told)(void *user, int r);
    void *user;
    pthread_t thread;
    bool stop;            /* The thread is to end. Atomic. */
    pthread_mutex_t lock; /* No other lock is taken while it is held. */
    pthread_cond_t ended; /* Signalled when `over` is set. */
    bool over;            /* The thread has ended. Guarded by `lock`. */
};

static void *run(void *arg)
{
    struct tern_interrupts *i = arg;
    char why[TERN_XRT_WHY];
    for (int r = 0; r >= 0 && !__atomic_load_n(&i->stop, __ATOMIC_ACQUIRE);) {
        r = i->api->interrupt(i->xrt, WAIT_MS, why);
        if (!__atomic_load_n(&i->stop, __ATOMIC_ACQUIRE)) {
            i->told(i->user, r);
        }
    }
    pthread_mutex_lock(&i->lock);
    i->over = true;
    pthread_cond_signal(&i->ended);
    pthread_mutex_unlock(&i->lock);
    return NULL;
}

static void release(struct tern_interrupts *i)
{
    pthread_cond_destroy(&i->ended);
    pthread_mutex_destroy(&i->lock);
    free(i);
}

int tern_interrupts_start(const struct tern_xrt_api *api, struct tern_xrt *xrt, void (*told)(void *user, int r),
                          void *user, struct tern_interrupts **out)
{
    struct tern_interrupts *i = calloc(1, sizeof *i);
    if (!i) {
        return -ENOMEM;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&i->lock, NULL);
    pthread_cond_init(&i->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    i->api = api;
    i->xrt = xrt;
    i->told = told;
    i->user = user;
    const int r = tern_thread_start(&i->thread, run, i);
    if (r) {
        release(i);
        return r;
    }
    *out = i;
    return 0;
}

bool tern_interrupts_stop(struct tern_interrupts *i, int64_t ms)
{
    const struct timespec until = tern_deadline(ms);
    __atomic_store_n(&i->stop, true, __ATOMIC_RELEASE);
    pthread_mutex_lock(&i->lock);
    for (int r = 0; !i->over && !r;) {
        r = tern_wait_changed(&i->ended, &i->lock, ms, &until);
    }
    const bool over = i->over;
    pthread_mutex_unlock(&i->lock);
    if (!over) { /* the thread uses i for ever */
        pthread_detach(i->thread);
        return false;
    }
    pthread_join(i->thread, NULL);
    release(i);
    return true;
}
