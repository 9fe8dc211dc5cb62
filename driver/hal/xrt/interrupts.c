/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/xrt/interrupts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/thread.h"

#define WAIT_MS 100u /* so long the end of the thread may take */

struct tern_interrupts {
    const struct tern_xrt_api *api;
    struct tern_xrt *xrt;
    void (*told)(void *user, int r);
    void *user;
    pthread_t thread;
    bool stop; /* atomic */
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
    return NULL;
}

int tern_interrupts_start(const struct tern_xrt_api *api, struct tern_xrt *xrt, void (*told)(void *user, int r),
                          void *user, struct tern_interrupts **out)
{
    struct tern_interrupts *i = calloc(1, sizeof *i);
    if (!i) {
        return -ENOMEM;
    }
    i->api = api;
    i->xrt = xrt;
    i->told = told;
    i->user = user;
    const int r = tern_thread_start(&i->thread, run, i);
    if (r) {
        free(i);
        return r;
    }
    *out = i;
    return 0;
}

bool tern_interrupts_stop(struct tern_interrupts *i, long ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    __atomic_store_n(&i->stop, true, __ATOMIC_RELEASE);
    if (pthread_clockjoin_np(i->thread, NULL, CLOCK_MONOTONIC, &until)) {
        pthread_detach(i->thread);
        return false;
    }
    free(i);
    return true;
}
