/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/polled.h"

#include <errno.h>

#include "base/error.h"
#include "base/wait.h"

void tern_polled_begin(struct tern_polled *p)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    p->woken = p->raised = false;
}

void tern_polled_end(struct tern_polled *p)
{
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

static void set(struct tern_polled *p, bool *which)
{
    pthread_mutex_lock(&p->lock);
    *which = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void tern_polled_wake(struct tern_polled *p)
{
    set(p, &p->woken);
}

void tern_polled_raise(struct tern_polled *p)
{
    set(p, &p->raised);
}

/** Sleeps until `woken` or `raised` is set, but for at most ns. True: wake was called. */
static bool slept(struct tern_polled *p, uint64_t ns)
{
    const uint64_t end = tern_clock_ns() + ns;
    const struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    pthread_mutex_lock(&p->lock);
    for (int r = 0; !p->woken && !p->raised && !r;) {
        r = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    }
    const bool woken = p->woken;
    p->woken = p->raised = false;
    pthread_mutex_unlock(&p->lock);
    return woken;
}

int tern_polled_wait(struct tern_polled *p, uint64_t cycles, uint64_t first, uint64_t most, tern_polled_look *look,
                     void *user)
{
    uint32_t now = 0, begin = 0;
    bool begun = false;
    for (uint64_t ns = first;; ns = ns * 2 < most ? ns * 2 : most) {
        const int r = look(user, !begun || ns == most, &now);
        if (r) {
            return r;
        }
        begin = begun ? begin : now;
        begun = true;
        const uint32_t passed = now - begin; /* time_lo wraps after 2^32 cycles, and a wait may then end early */
        if (passed >= cycles || passed >= 1u << 31) {
            return 0;
        }
        if (slept(p, ns)) {
            return 1;
        }
    }
}

int tern_polled_config(const struct tern_config *c, const char *what)
{
    if (c->memory || c->dram_latency || c->dram_bandwidth || c->dram_reads || c->dram_writes ||
        c->dram_refresh || c->dram_refresh_cycles || c->dram_stall || c->dram_error_bytes || c->trace[0]) {
        return tern_error(-EINVAL, "configuration '%s': a %s's memory is as fast as it is, and it records no "
                          "waveform: leave out memory, dram_ and trace", c->text, what);
    }
    return 0;
}
