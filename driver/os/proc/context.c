/* SPDX-License-Identifier: Apache-2.0 */
/** Contexts and submission. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/completions.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/submission.h"
#include "base/wait.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/observe/observe.h"
#include "os/proc/proc.h"
#include "os/service.h"

static int check_weight(uint32_t weight)
{
    return weight > TERN_WEIGHT_MAX ? tern_error(-EINVAL, "weight %u: 1 to %u, or 0 for %u", weight, TERN_WEIGHT_MAX,
                                                 TERN_WEIGHT_NORMAL)
                                    : 0;
}

static void give_save(struct tern_context *c)
{
    for (uint32_t i = 0; i < c->save_runs; i++) {
        c->save[i].dirty = true;
        tern_pages_give(c->proc->partition->pages, &c->save[i]);
    }
    c->save_runs = 0;
}

/** Allocates the context-save area, in any free pages, and lets an engine initialise it. Requires
 *  dev->lock. */
static int make_save(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    const uint32_t pages = c->proc->dev->kmd.save_pages;
    struct tern_paging p = {0};
    int r = tern_process_check(c->proc);
    if (r) {
        return r;
    }
    c->save = calloc(pages, sizeof *c->save);
    if (!c->save) {
        return tern_error_memory("a context-save area");
    }
    r = tern_retire_take(c->proc, pages, "a context-save area", c->save, &c->save_runs);
    if (r) {
        return r;
    }
    for (uint32_t i = 0; i < c->save_runs; i++) {
        if (c->save[i].dirty) {
            tern_paging_scrub(&p, c->save[i].page, c->save[i].count);
        }
    }
    tern_paging_context_init(&p, c->save[0].page);
    for (uint32_t i = 0, at = 0; i < c->save_runs; at += c->save[i++].count) {
        tern_paging_context_pages(&p, c->save[0].page, at, c->save[i].page, c->save[i].count);
    }
    r = tern_paging_run(c->proc, &p, "context");
    tern_paging_free(&p);
    if (r) {
        give_save(c);
    }
    return r;
}

void tern_context_save_pages(const struct tern_context *c, uint32_t *page)
{
    for (uint32_t i = 0; i < c->save_runs; i++) {
        for (uint32_t k = 0; k < c->save[i].count; k++) {
            *page++ = c->save[i].page + k;
        }
    }
}

int tern_os_context_create(struct tern_process *proc, const struct tern_context_desc *desc, struct tern_context **out)
{
    return tern_context_make(proc, desc, 0, out);
}

int tern_context_make(struct tern_process *proc, const struct tern_context_desc *desc, uint32_t arena_address,
                      struct tern_context **out)
{
    struct tern_device *dev = proc->dev;
    struct tern_context_desc d;
    int r = tern_sized_take(&d, sizeof d, desc);
    if (r) {
        return r;
    }
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    desc = &d;
    if (desc->completions && (desc->completed || desc->completions->dev != dev)) {
        return tern_error(-EINVAL, desc->completed ? "a context has a callback or a completion queue, not both"
                                                   : "the completion queue is of another device");
    }
    if (desc->flags & ~(uint64_t)TERN_CONTEXT_ANY_THREAD) {
        return tern_error(-EINVAL, "a context has no flags 0x%" PRIx64, desc->flags);
    }
    if (desc->engine < -1 || desc->engine >= (int32_t)dev->kmd.engines) {
        return tern_error(-EINVAL, "engine %d: the device has 0 to %u, or -1 for any", desc->engine,
                          dev->kmd.engines - 1);
    }
    r = check_weight(desc->weight);
    if (r) {
        return r;
    }
    struct tern_context *c = calloc(1, sizeof *c);
    if (!c) {
        return tern_error_memory("a context");
    }
    c->api = dev->api;
    c->proc = proc;
    c->completed = desc->completed;
    c->user = desc->user;
    c->completions = desc->completions;
    tern_list_init(&c->absent);
    snprintf(c->name, sizeof c->name, "%s", desc->name ? desc->name : "unnamed");
    struct tern_allocation_want arena = {
        .size = 2ull * TERN_SLOT_PAGES * TERN_PAGE, .flags = TERN_MEM_READ, .address = arena_address,
        .internal = true};
    pthread_mutex_lock(&dev->lock);
    r = tern_process_enter(proc);
    pthread_mutex_unlock(&dev->lock);
    if (r) {
        free(c);
        return r;
    }
    r = tern_allocation_make(proc, &arena, &c->arena);
    pthread_mutex_lock(&dev->lock);
    if (r == 0) {
        r = make_save(c);
    }
    if (r) {
        if (c->arena) {
            tern_retire(c->arena);
        }
        free(c->save);
        free(c);
    } else {
        tern_sched_context_init(&dev->sched, &c->sched, &proc->sched, desc->engine < 0 ? TERN_ENGINE_ANY : desc->engine,
                                TERN_BAND_NORMAL, desc->weight ? desc->weight : TERN_WEIGHT_NORMAL);
        tern_list_append(&proc->contexts, &c->node);
        tern_suspend_new(c);
        if (c->completions) {
            c->completions->users++;
        }
        c->id = ++dev->next_context;
        proc->children++;
        tern_observer_changed(dev);
        *out = c;
    }
    tern_process_leave(proc);
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_os_context_take_data(struct tern_context *c)
{
    return tern_context_make_data(c, 0);
}

int tern_context_make_data(struct tern_context *c, uint32_t address)
{
    struct tern_device *dev = c->proc->dev;
    const struct tern_allocation_want want = {.size = 2ull * TERN_DATA_PAGES * TERN_PAGE, .flags = TERN_MEM_READ,
                                              .address = address, .internal = true, .low = true};
    struct tern_allocation *data = NULL;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    const bool has = c->data != NULL;
    int r = has ? 0 : tern_process_enter(c->proc);
    pthread_mutex_unlock(&dev->lock);
    if (has || r) {
        return r;
    }
    r = tern_allocation_make(c->proc, &want, &data);
    pthread_mutex_lock(&dev->lock);
    if (!r && c->data) { /* another thread has allocated the data meanwhile */
        tern_retire(data);
    } else if (!r) {
        c->data = data;
    }
    tern_process_leave(c->proc);
    pthread_mutex_unlock(&dev->lock);
    return r;
}

void tern_context_give_pages(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    if (!c->gone) {
        c->gone = true;
        tern_list_remove(&c->absent);
        give_save(c);
        if (c->data) {
            tern_retire(c->data);
        }
        tern_retire(c->arena);
        c->data = c->arena = NULL;
    }
}

void tern_context_free(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    tern_list_remove(&c->node);
    tern_list_remove(&c->absent);
    tern_set_release(c->set);
    c->proc->children--;
    if (c->completions) {
        c->completions->users--;
    }
    free(c->save);
    free(c);
}

void tern_os_context_destroy(struct tern_context *c)
{
    if (c->proc->dev->fork.inherited) {
        return;
    }
    struct tern_device *dev = c->proc->dev;
    pthread_mutex_lock(&dev->lock);
    while (c->ended != c->submitted) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    tern_context_give_pages(c);
    tern_context_free(c);
    tern_observer_changed(dev);
    pthread_mutex_unlock(&dev->lock);
}

/** Queues a job. job NULL: its allocation has failed. quiet: as TERN_SUBMISSION_QUIET. */
static int queue_job(struct tern_context *c, struct tern_job *job, bool quiet, uint64_t *fence)
{
    struct tern_device *dev = c->proc->dev;
    if (tern_device_check_fork(dev)) {
        tern_job_free(job);
        return -ENODEV;
    }
    if (!job || !tern_job_make_room(job)) {
        tern_job_free(job);
        return tern_error_memory("a DMA buffer");
    }
    pthread_mutex_lock(&dev->lock);
    int r = tern_process_check(c->proc);
    if (r == 0 && !job->null && c->proc->sparse) {
        r = tern_demand_begin(job);
    }
    if (r == 0 && !job->null && !quiet) {
        r = tern_residency_check(c, job);
    }
    if (!r && job->data_size && !c->data) {
        r = tern_error(-EINVAL, "context '%s' takes no data before tern_context_take_data", c->name);
    }
    if (!r && c->completions) {
        job->user = tern_completion_reserve(c->proc->id);
        r = job->user ? 0 : tern_error_memory("a completion");
    }
    if (!r) {
        job->fence = ++c->submitted;
        job->seq = ++c->proc->seq;
        job->set = c->set;
        if (c->set) {
            c->set->refs++;
        }
        job->submitted = atomic_load(&dev->now);
        tern_list_append(&c->proc->jobs, &job->live);
        if (fence) {
            *fence = job->fence;
        }
        tern_hold_submitted(dev, c, job);
        tern_sched_submit(&dev->sched, &c->sched, job);
        tern_device_note(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    if (r) {
        tern_job_free(job);
    } else if (!quiet) {
        pthread_cond_signal(&dev->wake);
    }
    return r;
}

int tern_os_submit(struct tern_context *c, const struct tern_submission *given, uint64_t *fence)
{
    uint32_t nop[TERN_PKT_LINE_BYTES / 4];
    struct tern_submission s;
    int r = tern_submission_take(&s, given,
                                 TERN_SUBMISSION_NULL | (c->proc->dev->policy.quiet ? TERN_SUBMISSION_QUIET : 0));
    const bool null = !r && s.flags & TERN_SUBMISSION_NULL;
    if (null) {
        s.packets = nop;
        s.packet_bytes = sizeof nop;
        r = tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, nop);
    }
    if (r) {
        return r;
    }
    struct tern_job *job = tern_job_create_data(s.packets, (uint32_t)s.packet_bytes, s.data, (uint32_t)s.data_bytes,
                                                s.label);
    if (job) {
        job->null = null;
    }
    return queue_job(c, job, s.flags & TERN_SUBMISSION_QUIET, fence);
}

int tern_os_wait(struct tern_context *c, uint64_t fence, int64_t timeout_ms)
{
    if (tern_device_check_fork(c->proc->dev)) {
        return -ENODEV;
    }
    struct tern_device *dev = c->proc->dev;
    struct timespec until = tern_deadline(timeout_ms);
    int r = 0;
    pthread_mutex_lock(&dev->lock);
    if (fence > c->submitted) {
        r = tern_error(-EINVAL, "context '%s': fence %" PRIu64 " was never submitted, %" PRIu64 " is the last", c->name,
                       fence, c->submitted);
    }
    while (!r && c->ended < fence) {
        r = tern_wait_changed(&dev->changed, &dev->lock, timeout_ms, &until);
    }
    if (r == -ETIMEDOUT) {
        tern_error(r, "context '%s': fence %" PRIu64 " has not ended after %lld ms", c->name, fence,
                   (long long)timeout_ms);
    } else if (!r && c->first_bad && fence >= c->first_bad) {
        r = tern_error(-EIO, "%s", c->proc->fault.message);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

uint64_t tern_os_context_ended(struct tern_context *c)
{
    if (c->proc->dev->fork.inherited) {
        return c->ended;
    }
    pthread_mutex_lock(&c->proc->dev->lock);
    uint64_t ended = c->ended;
    pthread_mutex_unlock(&c->proc->dev->lock);
    return ended;
}

uint32_t tern_os_context_number(const struct tern_context *c)
{
    return c->id;
}

bool tern_os_process_absent(const struct tern_process *proc)
{
    pthread_mutex_lock(&proc->dev->lock);
    const bool absent = proc->absent != 0;
    pthread_mutex_unlock(&proc->dev->lock);
    return absent;
}

void tern_os_device_serve(struct tern_device *dev)
{
    dev->policy.realtime = dev->policy.quiet = true;
}

/** True: the calling thread has CAP_SYS_NICE, which Linux requires for raised priorities. */
static bool may_go_first(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capget, &head, data) == 0 && data[CAP_TO_INDEX(CAP_SYS_NICE)].effective &
        CAP_TO_MASK(CAP_SYS_NICE);
}

int tern_os_context_set_priority(struct tern_context *c, enum tern_band band, uint32_t weight)
{
    if (tern_device_check_fork(c->proc->dev)) {
        return -ENODEV;
    }
    struct tern_device *dev = c->proc->dev;
    if ((int)band < TERN_BAND_IDLE || band > TERN_BAND_REALTIME) {
        return tern_error(-EINVAL, "context '%s': there is no band %d", c->name, (int)band);
    }
    int r = check_weight(weight);
    if (r) {
        return r;
    }
    if (band == TERN_BAND_REALTIME && !dev->policy.realtime && !may_go_first()) {
        return tern_error(-EPERM,
                          "context '%s': the band REALTIME keeps all others from an engine: it needs CAP_SYS_NICE, "
                          "or a device opened with realtime=1",
                          c->name);
    }
    pthread_mutex_lock(&dev->lock);
    r = c->proc->killed ? tern_process_check(c->proc) : 0;
    if (!r) {
        tern_sched_context_set(&dev->sched, &c->sched, (uint32_t)band, weight ? weight : TERN_WEIGHT_NORMAL);
        tern_observer_changed(dev);
        tern_device_kick(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_os_context_query(struct tern_context *c, struct tern_context_stats *out)
{
    struct tern_context_stats own = {0};
    if (c->proc->dev->fork.inherited) {
        return tern_sized_give(out, &own, sizeof own);
    }
    pthread_mutex_lock(&c->proc->dev->lock);
    const struct tern_sched_stats *s = &c->sched.stats;
    own = (struct tern_context_stats){
        .submitted = s->submitted,
        .completed = s->completed,
        .aborted = s->aborted,
        .preempted = s->preempted,
        .moved = s->moved,
        .cycles = s->cycles,
        .waited = s->waited,
        .longest_wait = s->longest_wait,
        .engine = c->sched.engine,
        .weight = c->sched.weight,
        .band = (enum tern_band)c->sched.base_band,
        .page_requests = s->page_requests,
    };
    memcpy(own.engine_cycles, s->engine_cycles, sizeof own.engine_cycles);
    pthread_mutex_unlock(&c->proc->dev->lock);
    return tern_sized_give(out, &own, sizeof own);
}
