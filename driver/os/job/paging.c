/* SPDX-License-Identifier: Apache-2.0 */
/** Paging buffers of the driver itself: which engine runs them, and waiting for their ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/job/job.h"

struct tern_job *tern_job_clean(struct tern_device *dev, uint32_t engine)
{
    struct tern_paging p = {0};
    tern_paging_flush_all(&p);
    tern_paging_context_init(&p, tern_system_save(dev, engine));
    tern_paging_context_pages(&p, tern_system_save(dev, engine), 0, tern_system_save(dev, engine), dev->kmd.save_pages);
    struct tern_job *job = tern_paging_error(&p) ? NULL : tern_job_create(p.words, p.size, "start");
    tern_paging_free(&p);
    return job;
}

void tern_paging_submit(struct tern_device *dev, uint32_t engine, struct tern_job *job)
{
    tern_assert_held(&dev->lock);
    job->fence = ++dev->paging_fence[engine];
    job->submitted = atomic_load(&dev->now);
    tern_sched_submit(&dev->sched, &dev->paging[engine], job);
    tern_device_kick(dev);
}

uint32_t tern_paging_engine(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_device *dev = proc->dev;
    if (proc->paging_out) {
        return proc->paging_engine;
    }
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        uint32_t load = dev->sched.engine[e].n + (tern_list_empty(&dev->paging[e].jobs) ? 0u : 2u);
        if (load < least) {
            best = e;
            least = load;
        }
    }
    proc->paging_engine = best;
    return best;
}

struct sync {
    struct tern_device *dev;
    uint32_t pending;
    bool failed;
};

static void sync_done(struct tern_job *job)
{
    struct sync *s = job->user;
    s->failed = s->failed || job->result != TERN_COMPLETED;
    s->pending--;
    pthread_cond_broadcast(&s->dev->changed);
    free(job);
}

static int sync_wait(struct sync *s)
{
    tern_assert_held(&s->dev->lock);
    while (s->pending) {
        pthread_cond_wait(&s->dev->changed, &s->dev->lock);
    }
    if (!s->failed) {
        return 0;
    }
    return tern_error(-EIO, "%s", s->dev->lost ? s->dev->lost_why : "a paging buffer of the driver failed "
                      "on the device");
}

int tern_paging_run(struct tern_process *proc, struct tern_paging *p, const char *label)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_device *dev = proc->dev;
    if (tern_paging_error(p)) {
        return tern_error(tern_paging_error(p), "a paging buffer (%s) cannot be built: %s", label,
                          strerror(-tern_paging_error(p)));
    }
    if (dev->lost) {
        return tern_error(-EIO, "%s", dev->lost_why);
    }
    if (!p->size) {
        return 0;
    }
    struct tern_job *job = tern_job_create(p->words, p->size, label);
    if (!job) {
        return tern_error_memory("a paging buffer");
    }
    return tern_paging_run_job(proc, job);
}

int tern_paging_run_job(struct tern_process *proc, struct tern_job *job)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_device *dev = proc->dev;
    struct sync s = {.dev = dev, .pending = 1};
    if (dev->lost) {
        tern_job_free(job);
        return tern_error(-EIO, "%s", dev->lost_why);
    }
    job->done = sync_done;
    job->user = &s;
    uint32_t engine = tern_paging_engine(proc);
    proc->paging_out++;
    tern_paging_submit(dev, engine, job);
    int r = sync_wait(&s);
    proc->paging_out--;
    return r;
}

int tern_paging_run_all(struct tern_device *dev, struct tern_job **jobs)
{
    tern_assert_held(&dev->lock);
    struct sync s = {.dev = dev, .pending = dev->kmd.engines};
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        struct tern_job *job = jobs[e];
        jobs[e] = NULL;
        job->done = sync_done;
        job->user = &s;
        if (dev->lost) {
            job->result = TERN_ABORTED;
            sync_done(job);
        } else {
            tern_paging_submit(dev, e, job);
        }
    }
    return sync_wait(&s);
}
