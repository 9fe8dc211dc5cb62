/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device thread. A round runs the scheduler, delivers completions, and while an engine is busy lets device time
 * pass. With nothing in flight the thread sleeps, and device time stands still.
 *
 * No wake-up is lost. A thread that changes something on which a round depends sets dev->kick under dev->lock. The
 * device thread sleeps only if kick was not set since the round began.
 *
 * Kinds of devices (tern_kmd_concurrent). If device time passes only in tern_kmd_wait, as in a simulator, the thread
 * holds the hal lock meanwhile, and releases it after each step. If time passes by itself, as on a card, the thread
 * waits without the hal lock: other threads use the device meanwhile, and a kick ends the wait.
 *
 * A thread of ternd that has submitted work may run the rounds itself while the device thread sleeps
 * (tern_os_device_drive), so that a small dispatch ends without waking another thread.
 *
 * Locks: static functions require dev->lock, unless a comment says otherwise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/completions.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/thread.h"
#include "base/wait.h"
#include "os/device/device.h"
#include "os/device/tdr.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/observe/observe.h"
#include "os/proc/proc.h"
#include "os/service.h"

/* Size of a step in cycles. A step takes some milliseconds at any speed of the backend, because other threads wait
 * for it. */
#define STEP_MIN 1024u
#define STEP_MAX 65536u
#define STEP_NS_LOW 1000000u
#define STEP_NS_HIGH 5000000u
/* largest interval of looking for indications, in cycles, in case an interrupt is lost */
#define POLL_CYCLES_MAX (1u << 20)
#define DRIVE_NS 100000u       /* time after which a driving thread leaves the rest to the device thread, in ns */

/** Cycles to wait at once: a step, or on a concurrent device until a fence has to be read. */
static uint64_t at_once(const struct tern_device *dev, uint64_t left, uint64_t step_cycles)
{
    const uint64_t most = !tern_kmd_concurrent(&dev->kmd) ? step_cycles : dev->fence_waiters ? STEP_MAX : left;
    return tern_min_u64(left, most);
}

/**
 * Waits for the host time of a step in which nothing ran, because a cap withholds the engine. A simulator takes almost
 * no host time for such a step, so in host time, which programs and migrations see, a cap would have no effect.
 * Therefore the step takes as much host time as one in which work runs. A kick ends the wait, and the rest is added to
 * a later one.
 */
static void pace(struct tern_device *dev, uint64_t cycles)
{
    tern_assert_held(&dev->lock);
    const uint64_t since = tern_clock_ns();
    dev->owed_ns += cycles * dev->cycle_ps / 1000;
    const struct timespec until = tern_deadline((int64_t)(dev->owed_ns / 1000000));
    for (int r = 0; !r && !dev->kick && !dev->stop;) {
        r = pthread_cond_timedwait(&dev->wake, &dev->lock, &until);
    }
    const uint64_t passed = tern_clock_ns() - since;
    dev->owed_ns -= passed < dev->owed_ns ? passed : dev->owed_ns;
}

/** Lets at most `cycles` pass, and adapts the size of the next step. *ps: host time of a cycle in ps, if all have
 *  passed; else 0. Takes the hal lock; must not hold dev->lock. */
static int step(struct tern_device *dev, uint64_t cycles, uint64_t *step_cycles, uint64_t *ps)
{
    tern_ticket_lock(&dev->hal_lock);
    uint64_t begin = tern_clock_ns();
    int r = tern_kmd_wait(&dev->kmd, cycles);
    uint64_t took = tern_clock_ns() - begin;
    tern_ticket_unlock(&dev->hal_lock);
    *ps = r ? 0 : took * 1000 / cycles;
    if (took > STEP_NS_HIGH && *step_cycles > STEP_MIN) {
        *step_cycles /= 2;
    } else if (took < STEP_NS_LOW && *step_cycles < STEP_MAX) {
        *step_cycles *= 2;
    }
    return r;
}

/** Lets at most `cycles` pass; releases dev->lock meanwhile. 1: there is something to do; 0: they have passed. */
static TERN_LOCK_HANDED int wait_for(struct tern_device *dev, uint64_t cycles, uint64_t *step_cycles)
{
    tern_assert_held(&dev->lock);
    const bool concurrent = tern_kmd_concurrent(&dev->kmd), held = tern_sched_held(&dev->sched);
    uint64_t idle_step = cycles, ps = 0;
    dev->waiting = concurrent;
    pthread_mutex_unlock(&dev->lock);
    int r = concurrent ? tern_kmd_wait(&dev->kmd, cycles) : step(dev, cycles, held ? &idle_step : step_cycles, &ps);
    pthread_mutex_lock(&dev->lock);
    dev->waiting = false;
    if (!concurrent && held) {
        pace(dev, cycles);
    } else if (ps && cycles >= STEP_MIN) {
        dev->cycle_ps = dev->cycle_ps ? (7 * dev->cycle_ps + ps) / 8 : ps;
    }
    return r < 0 ? tern_error(r, "waiting for the device failed: %s", strerror(-r)) : r;
}

/** Cycles until the pager has to check whether a lease has ended. */
static uint64_t until_look(const struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    const uint64_t at = dev->pager.look_at, now = dev->sched.now;
    return at > now && at - now > STEP_MIN ? at - now : STEP_MIN;
}

/**
 * Lets device time pass until an interrupt, the scheduler's deadline or a kick. Steps only let other threads use the
 * device between them, and do not change what it does. Only the time at which work that is submitted meanwhile arrives
 * depends on the speed of the host (docs/driver.md). until: host time after which the call may return; 0: no limit.
 */
static int pass(struct tern_device *dev, uint64_t *step_cycles, uint64_t until)
{
    tern_assert_held(&dev->lock);
    uint64_t left = tern_sched_deadline(&dev->sched), limit = tern_tdr_limit(dev);
    uint64_t now = dev->sched.now;
    int r = 0;
    left = left < limit ? left : limit;
    left = left < until_look(dev) ? left : until_look(dev);
    left = left < POLL_CYCLES_MAX ? left : POLL_CYCLES_MAX;
    limit = tern_hold_left(dev, now);
    left = left < limit ? left : limit;
    left = left ? left : 1;
    for (uint64_t n; !r && left && !dev->kick; left -= n) {
        n = at_once(dev, left, *step_cycles);
        r = wait_for(dev, n, step_cycles);
        if (!r) {
            tern_device_saw(dev, now += n);
        }
        dev->progress++;
        if (dev->fence_waiters) {
            pthread_cond_broadcast(&dev->changed);
        }
        tern_observer_look(dev);
        if (until && tern_clock_ns() >= until) {
            break;
        }
    }
    return r < 0 ? r : 0;
}

/** Sleeps until a kick. Publishes statistics that become due meanwhile. */
static void sleep_idle(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    dev->idle = true;
    pthread_cond_broadcast(&dev->changed);
    while (dev->driven || (!dev->kick && !dev->stop)) {
        if (tern_observer_stale(dev)) {
            const struct timespec until = tern_deadline(TERN_PUBLISH_NS / 1000000 + 1);
            pthread_cond_timedwait(&dev->wake, &dev->lock, &until);
        } else {
            pthread_cond_wait(&dev->wake, &dev->lock);
        }
        if (!dev->driven) {
            tern_observer_look(dev);
        }
    }
    dev->idle = false;
}

/** Reports a completion. dev->lock is released during the callback; the context exists, because its `ended` advances
 *  only after that. */
static TERN_LOCK_HANDED void deliver_user(struct tern_device *dev, struct tern_job *job)
{
    tern_assert_held(&dev->lock);
    struct tern_context *c = TERN_CONTEXT_OF(job->context);
    tern_list_remove(&job->live);
    tern_retire_look(c->proc);
    struct tern_completion told = {
        .size = sizeof told,
        .fence = job->fence,
        .result = job->result,
        .engine = job->engine,
        .submitted = job->submitted + c->proc->shift,
        .begin = job->begun ? job->begin + c->proc->shift : 0,
        .end = job->begun ? job->end + c->proc->shift : 0,
        .user = c->user,
    };
    if (job->result == TERN_COMPLETED) {
        dev->completed_on[job->engine]++;
    } else {
        c->first_bad = c->first_bad ? c->first_bad : job->fence;
    }
    if (c->completions) {
        tern_completions_put(c->completions, job->user, &told);
    } else if (c->completed) {
        pthread_mutex_unlock(&dev->lock);
        c->completed(c->user, &told);
        pthread_mutex_lock(&dev->lock);
    }
    c->ended = told.fence;
    pthread_cond_broadcast(&dev->changed);
    tern_job_free(job);
}

static bool deliver(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    struct tern_job *job;
    bool any = false;
    while ((job = tern_sched_ended(&dev->sched))) {
        any = true;
        if ((int64_t)job->end > 0) { /* otherwise the job ended before time 0, on another device */
            tern_device_saw(dev, job->end);
        }
        tern_observer_ended(dev, job);
        if (job->done) {
            job->done(job);
        } else {
            deliver_user(dev, job);
        }
    }
    return any;
}

/** Runs the scheduler, with the hal lock. dev->lock is released before, because no thread may wait for the hal lock,
 *  behind long copies, while it holds dev->lock. */
static TERN_LOCK_HANDED void run_sched(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    int r = 0;
    pthread_mutex_unlock(&dev->lock);
    tern_ticket_lock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    if (!dev->lost) {
        r = tern_sched_run(&dev->sched);
    }
    tern_ticket_unlock(&dev->hal_lock);
    dev->progress++; /* a process may be in error now */
    if (dev->fence_waiters) {
        pthread_cond_broadcast(&dev->changed);
    }
    tern_tdr_judge(dev, r);
    tern_tdr_write(dev);
    tern_device_saw(dev, dev->sched.now);
}

/** Does everything of a round except letting time pass. True: there is more to do. */
static bool look(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    dev->kick = false;
    tern_hold_look(dev);
    if (!dev->lost && tern_sched_pending(&dev->sched)) {
        run_sched(dev);
    }
    tern_hold_look(dev); /* the buffer for which it waits may have begun */
    const bool more = deliver(dev) || dev->kick;
    if (dev->frees_waiters) {
        pthread_cond_broadcast(&dev->changed);
    }
    tern_observer_look(dev);
    return more;
}

static void *pump(void *arg)
{
    struct tern_device *dev = arg;
    uint64_t step_cycles = STEP_MIN;
    bool again = false;
    pthread_mutex_lock(&dev->lock);
    for (;;) {
        const bool more = look(dev);
        /* delivers completions first, but not twice in a row while an engine is busy */
        again = more && !(again && tern_sched_busy(&dev->sched));
        if (again) {
            continue;
        }
        if (!dev->lost && tern_sched_busy(&dev->sched)) {
            if (pass(dev, &step_cycles, 0)) {
                tern_device_lose(dev, tern_last_error());
            }
            continue;
        }
        if (dev->stop && !more) {
            break;
        }
        sleep_idle(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    return NULL;
}

/** Runs rounds for DRIVE_NS at most. True: all work has ended. */
static bool drive(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    const uint64_t until = tern_clock_ns() + DRIVE_NS;
    uint64_t step_cycles = STEP_MIN;
    do {
        const bool more = look(dev);
        if (!dev->lost && tern_sched_busy(&dev->sched) && !tern_sched_held(&dev->sched)) {
            if (pass(dev, &step_cycles, until)) {
                tern_device_lose(dev, tern_last_error());
            }
        } else if (!more) {
            return dev->lost || !tern_sched_busy(&dev->sched);
        }
    } while (tern_clock_ns() < until);
    return false;
}

void tern_os_device_drive(struct tern_device *dev, bool here)
{
    pthread_mutex_lock(&dev->lock);
    bool done = false;
    if (here && dev->kick && dev->idle && !dev->driven && !tern_kmd_concurrent(&dev->kmd)) {
        dev->driven = true;
        dev->idle = false;
        done = drive(dev);
        dev->driven = false;
        dev->idle = true;
        dev->kick = dev->kick || !done;
        pthread_cond_broadcast(&dev->changed);
    }
    if (dev->kick || dev->stop) {
        pthread_cond_signal(&dev->wake);
    }
    pthread_mutex_unlock(&dev->lock);
}

int tern_device_thread_start(struct tern_device *dev)
{
    tern_kmd_guard(&dev->kmd, &dev->hal_lock);
    const int r = tern_thread_start(&dev->thread, pump, dev);
    if (r) {
        tern_kmd_guard(&dev->kmd, NULL);
    }
    return r ? tern_error(r, "the device thread cannot be started: %s", strerror(-r)) : 0;
}

void tern_device_thread_stop(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->lock);
    dev->stop = true;
    pthread_cond_signal(&dev->wake);
    pthread_mutex_unlock(&dev->lock);
    pthread_join(dev->thread, NULL);
    tern_kmd_guard(&dev->kmd, NULL);
}
