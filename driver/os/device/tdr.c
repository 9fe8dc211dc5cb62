/* SPDX-License-Identifier: Apache-2.0 */
#include "os/device/tdr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/device/device.h"
#include "os/job/job.h"
#include "os/observe/observe.h"
#include "os/proc/proc.h"

#define RESET_STEP 1024u /* cycles between two checks whether a reset is over */

/* ------------------------------------------------------------------- resets */

void tern_tdr_blame(struct tern_device *dev, uint32_t engine, struct tern_process *proc, const struct tern_job *job)
{
    tern_assert_held(&dev->lock);
    tern_offence_note(proc);
    tern_fault_say(proc, job, TERN_FAULT_TIMEOUT, &proc->fault, "did not let engine %u stop within %" PRIu64 " cycles, "
                   "so that the engine was reset; %s", engine, dev->sched.config.timeout, dev->tdr.dump[engine].said);
}

bool tern_tdr_stuck(void *user, uint32_t engine, struct tern_job *front)
{
    struct tern_device *dev = user;
    struct tern_tdr_dump *d = &dev->tdr.dump[engine];
    const uint64_t stop = dev->sched.engine[engine].preempt_since + 1;
    char why[160];
    (void)front; /* the scheduler still has the whole HW queue */
    if (d->stop == stop) {
        return false;
    }
    snprintf(why, sizeof why, "Engine %u was asked to stop and has not answered within %" PRIu64 " cycles.", engine,
             dev->sched.config.timeout);
    d->stop = stop;
    d->text = tern_crash_compose(dev, engine, why);
    if (!d->text) {
        snprintf(d->said, sizeof d->said, "no crash dump: out of memory");
        return false;
    }
    tern_device_kick(dev);
    return true;
}

void tern_tdr_write(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        struct tern_tdr_dump *d = &dev->tdr.dump[e];
        if (d->text) {
            pthread_mutex_unlock(&dev->lock);
            tern_crash_write(d->text, d->said, sizeof d->said);
            pthread_mutex_lock(&dev->lock);
            free(d->text);
            d->text = NULL;
        }
    }
}

static void cleaned(struct tern_job *job)
{
    struct tern_device *dev = job->user;
    if (job->result != TERN_COMPLETED && !dev->lost) {
        tern_device_lose(dev, "its engines could not be made ready again after a reset of all of them");
    }
    free(job);
}

/** Cleans all engines, as at the opening of the device: they forget translations, and their context-save areas are
 *  valid. */
static void clean_engines(struct tern_device *dev)
{
    for (uint32_t e = 0; e < dev->kmd.engines && !dev->lost; e++) {
        struct tern_job *job = tern_job_clean(dev, e);
        if (!job) {
            tern_device_lose(dev, "the host is out of memory for making its engines ready after a reset "
                             "of all of them");
            return;
        }
        job->done = cleaned;
        job->user = dev;
        tern_paging_submit(dev, e, job);
    }
}

/** Lets RESET_STEP cycles pass. Releases the hal lock, for other threads, before or (where time passes by itself)
 *  meanwhile. */
static TERN_LOCK_HANDED int pass_step(struct tern_device *dev)
{
    tern_assert_held(&dev->hal_lock);
    const bool concurrent = tern_kmd_concurrent(&dev->kmd);
    tern_ticket_unlock(&dev->hal_lock);
    const int r = concurrent ? tern_kmd_wait(&dev->kmd, RESET_STEP) : 0;
    tern_ticket_lock(&dev->hal_lock);
    return concurrent ? r : tern_kmd_wait(&dev->kmd, RESET_STEP);
}

/** Lets device time pass until the engine has come out of reset. Takes the hal lock; must not hold dev->lock. */
static int reset_engine(struct tern_device *dev, uint32_t engine)
{
    uint64_t last;
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_kmd_reset(&dev->kmd, engine, true, &last);
    for (uint32_t waited = 0; r > 0; waited += RESET_STEP) {
        if (waited >= TERN_RESET_CYCLES) {
            r = tern_kmd_reset_failed(engine);
            break;
        }
        r = pass_step(dev);
        r = r < 0 ? tern_error(r, "waiting for a reset failed: %s", strerror(-r))
                  : tern_kmd_reset(&dev->kmd, engine, false, &last);
    }
    tern_ticket_unlock(&dev->hal_lock);
    return r;
}

static int reset_engines(struct tern_device *dev)
{
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_kmd_interrupts(&dev->kmd, false); /* no thread waits for an interrupt during the reset */
    tern_ticket_unlock(&dev->hal_lock);
    for (uint32_t e = 0; !r && e < dev->kmd.engines; e++) {
        r = reset_engine(dev, e);
    }
    tern_ticket_lock(&dev->hal_lock);
    if (r == 0) {
        r = tern_kmd_interrupts(&dev->kmd, true);
    }
    tern_kmd_forget(&dev->kmd);
    tern_ticket_unlock(&dev->hal_lock);
    return r;
}

/** Resets all engines. Releases dev->lock meanwhile; work that is submitted or begun then is lost like all other
 *  work. */
static TERN_LOCK_HANDED void reset_adapter(struct tern_device *dev, const char *why)
{
    tern_assert_held(&dev->lock);
    char reason[160];
    snprintf(reason, sizeof reason, "%s", why);
    pthread_mutex_unlock(&dev->lock);
    int r = reset_engines(dev);
    pthread_mutex_lock(&dev->lock);
    if (r) {
        tern_device_lose(dev, tern_last_error());
    }
    if (dev->lost) {
        return;
    }
    dev->tdr.adapter_resets++;
    dev->sched.paging_lost = 0;
    TERN_LIST_EACH(node, &dev->processes)
    {
        struct tern_process *p = TERN_LIST_ENTRY(node, struct tern_process, node);
        struct tern_fault f = {.code = TERN_FAULT_ADAPTER};
        snprintf(f.message, sizeof f.message, "process '%.40s': the whole device was reset: %s", p->name, reason);
        if (!p->sched.error) {
            p->fault = f;
            p->sched.error = true;
        }
    }
    tern_sched_abort_all(&dev->sched);
    clean_engines(dev);
    pthread_cond_broadcast(&dev->changed);
    tern_device_kick(dev);
}

void tern_tdr_judge(struct tern_device *dev, int r)
{
    tern_assert_held(&dev->lock);
    if (r == -ETIMEDOUT || r == -ENOTRECOVERABLE) {
        reset_adapter(dev, tern_last_error());
    } else if (r) {
        tern_device_lose(dev, tern_last_error());
    }
}

/* -------------------------------------------------------------------- limit */

uint64_t tern_tdr_limit(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    uint64_t next = UINT64_MAX;
    for (uint32_t e = 0; dev->policy.limit && e < dev->kmd.engines; e++) {
        const struct tern_sched_engine *engine = &dev->sched.engine[e];
        struct tern_job *job = engine->n ? engine->inflight[0].job : NULL;
        if (!job || job->context->process->system || job->context->process->error) {
            continue;
        }
        const uint64_t ran = job->cycles +
            (dev->sched.now > engine->front_since ? dev->sched.now - engine->front_since : 0);
        if (ran <= dev->policy.limit) {
            const uint64_t left = dev->policy.limit - ran + 1;
            next = left < next ? left : next;
            continue;
        }
        struct tern_process *proc = TERN_PROCESS_OF(job->context->process);
        struct tern_fault f;
        tern_fault_say(proc, job, TERN_FAULT_LIMIT, &f, "ran longer than %" PRIu64 " cycles; TERN_LIMIT_CYCLES or the "
                       "key limit of the configuration allows more", dev->policy.limit);
        job->result = TERN_FAULTED;
        tern_process_fail(proc, &f);
        next = 0;
    }
    return next;
}
