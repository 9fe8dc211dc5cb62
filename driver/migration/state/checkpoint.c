/* SPDX-License-Identifier: Apache-2.0 */
/** Checkpoints (tern/tern_checkpoint.h): migration to a file, and from a file. */
#include "tern/tern_checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/sized.h"
#include "base/thread.h"
#include "base/wait.h"
#include "migration/state/internal.h"
#include "os/proc/proc.h"

#define ZSTD_LEVEL 3

/* ----------------------------------------------------------------------- saving */

static bool may_be_saved(const struct tern_process *proc)
{
    return proc->ready && !proc->killed;
}

/** Takes all processes of the device into a new saving. Waits until no other checkpoint is being saved. -ENOENT,
 *  -ENOMEM. */
static int hold_all(struct tern_device *dev, struct tern_saving **out)
{
    struct tern_saving *m = NULL;
    uint32_t n = 0;
    pthread_mutex_lock(&dev->lock);
    while (dev->saving) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    TERN_LIST_EACH(node, &dev->processes)
    {
        n += may_be_saved(TERN_LIST_ENTRY(node, struct tern_process, node));
    }
    int r = n ? 0 : tern_error(-ENOENT, "the device has no processes to save");
    if (!r) {
        m = calloc(1, sizeof *m + n * sizeof m->saved[0]);
        r = m ? 0 : tern_error_memory("a checkpoint");
    }
    if (!r) {
        m->dev = dev;
        dev->saving = true;
        TERN_LIST_EACH(node, &dev->processes)
        {
            struct tern_process *proc = TERN_LIST_ENTRY(node, struct tern_process, node);
            if (may_be_saved(proc)) {
                proc->making++;
                m->saved[m->n++] = (struct tern_saved){proc, proc->suspended && !proc->held};
            }
        }
    }
    if (r) {
        tern_hold_release(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    *out = m;
    return r;
}

static void let_go(struct tern_device *dev, struct tern_saving *m)
{
    tern_migrate_go_on(m);
    pthread_mutex_lock(&dev->lock);
    dev->saving = false;
    tern_hold_release(dev);
    pthread_cond_broadcast(&dev->changed);
    pthread_mutex_unlock(&dev->lock);
}

/** Number of submitted jobs of the processes that have not ended. */
static unsigned long long buffers_of(const struct tern_saving *m)
{
    unsigned long long n = 0;
    pthread_mutex_lock(&m->dev->lock);
    for (uint32_t i = 0; i < m->n; i++) {
        TERN_LIST_EACH(node, &m->saved[i].proc->contexts)
        {
            const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
            n += c->submitted - c->ended;
        }
    }
    pthread_mutex_unlock(&m->dev->lock);
    return n;
}

static int write_stream(struct tern_saving *m, int fd, struct tern_saved_file *out)
{
    struct tern_stream *s;
    int r = tern_stream_write_fd(fd, &s);
    if (r) {
        return r;
    }
    r = tern_stream_compress(s, ZSTD_LEVEL);
    if (r == 0) {
        r = tern_migrate_write(m, s);
    }
    out->bytes = tern_stream_counts(s).bytes;
    tern_stream_close(s);
    return r;
}

/** Writes to a file with the suffix .part, and renames it when it is complete. */
static int write_file(struct tern_saving *m, const char *file, struct tern_saved_file *out)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s.part", file) >= sizeof part) {
        return tern_error(-EINVAL, "the name of the file is too long");
    }
    const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
        const int error = errno;
        return tern_error(-error, "%s: %s", part, error == EEXIST ? "it is there already: another checkpoint is being "
                          "written to it, or one was cut off; then remove it" : strerror(error));
    }
    struct tern_file_limit limit;
    tern_file_limit_begin(&limit);
    int r = write_stream(m, fd, out);
    tern_file_limit_end(&limit);
    if (close(fd) && !r) { /* some file systems report a full disk only here */
        r = tern_error(-errno, "%s: %s", part, strerror(errno));
    }
    if (!r && rename(part, file)) {
        r = tern_error(-errno, "%s: %s", file, strerror(errno));
    }
    if (r) {
        unlink(part);
    }
    return r;
}

int tern_checkpoint_write(struct tern_device *dev, const char *file, bool stay, struct tern_saved_file *out)
{
    struct tern_saving *m;
    int r = hold_all(dev, &m);
    if (r) {
        return r;
    }
    *out = (struct tern_saved_file){.processes = m->n};
    r = tern_saving_suspend(m, true);
    out->buffers = buffers_of(m);
    if (r == 0) {
        r = write_file(m, file, out);
    }
    if (!r && stay) {
        return 0;
    }
    char why[512];
    snprintf(why, sizeof why, "%s", tern_last_error());
    let_go(dev, m);
    return r ? tern_error(r, "%s", why) : 0;
}

int tern_os_checkpoint_save(struct tern_device *dev, const char *file)
{
    struct tern_saved_file ignored;
    return tern_device_check_fork(dev) ? -ENODEV : tern_checkpoint_write(dev, file, false, &ignored);
}

/* ---------------------------------------------------------------------- loading */

struct loaded_memory {
    struct tern_checkpoint_memory info;
    struct tern_allocation *real;
};

struct loaded_context {
    struct tern_context *real;
    uint32_t number;
    uint64_t saved;
};

struct loaded {
    struct tern_process *real;
    uint32_t number, context_count, memory_count;
    struct loaded_context *contexts;
    struct loaded_memory *memories;
};

struct tern_checkpoint {
    struct tern_device *dev;
    struct tern_loading *loading; /* NULL once the checkpoint is started */
    bool started, stops;
    uint32_t count;
    struct loaded processes[];
};

static int list_contexts(struct tern_loading *l, uint32_t i, struct loaded *p)
{
    uint32_t number;
    while (tern_loading_context(l, i, p->context_count, &number)) {
        p->context_count++;
    }
    p->contexts = calloc(p->context_count + 1, sizeof *p->contexts);
    for (uint32_t k = 0; p->contexts && k < p->context_count; k++) {
        struct loaded_context *c = &p->contexts[k];
        c->real = tern_loading_context(l, i, k, &c->number);
        c->saved = tern_loading_jobs(l, i, k);
    }
    return p->contexts ? 0 : tern_error_memory("a checkpoint");
}

/** Lists the memory and fences of the user. The processes are suspended, and only this thread knows them. */
static int list_memories(struct loaded *p)
{
    struct tern_device *dev = p->real->dev;
    const struct tern_vaspace *va = &p->real->va;
    pthread_mutex_lock(&dev->lock);
    p->memories = calloc(va->n + 1, sizeof *p->memories);
    for (uint32_t i = 0; p->memories && i < va->n; i++) {
        struct tern_allocation *a = va->range[i].owner;
        if (a->internal || a->asked || tern_list_empty(&a->node)) {
            continue;
        }
        p->memories[p->memory_count++] = (struct loaded_memory){
            .info = {.size = sizeof p->memories->info, .address = a->va * TERN_PAGE,
                     .bytes = (uint64_t)a->pages * TERN_PAGE, .flags = a->flags},
            .real = a};
    }
    TERN_LIST_EACH(node, &p->real->fences)
    {
        const struct tern_fence *f = TERN_LIST_ENTRY(node, struct tern_fence, node);
        for (uint32_t i = 0; p->memories && i < p->memory_count; i++) {
            p->memories[i].info.fence |= p->memories[i].real == f->page;
        }
    }
    pthread_mutex_unlock(&dev->lock);
    return p->memories ? 0 : tern_error_memory("a checkpoint");
}

static int list(struct tern_device *dev, struct tern_loading *l, struct tern_checkpoint **out)
{
    const uint32_t n = tern_loading_count(l);
    struct tern_checkpoint *c = calloc(1, sizeof *c + n * sizeof c->processes[0]);
    if (!c) {
        return tern_error_memory("a checkpoint");
    }
    c->dev = dev;
    c->count = n;
    c->loading = l;
    *out = c;
    int r = 0;
    for (uint32_t i = 0; !r && i < n; i++) {
        struct loaded *p = &c->processes[i];
        p->real = tern_loading_process(l, i, &p->number);
        r = list_contexts(l, i, p);
        if (r == 0) {
            r = list_memories(p);
        }
    }
    return r;
}

static void free_checkpoint(struct tern_checkpoint *c)
{
    for (uint32_t i = 0; c && i < c->count; i++) {
        free(c->processes[i].contexts);
        free(c->processes[i].memories);
    }
    free(c);
}

/** Bytes of a regular file after the end of the stream are an error. A pipe may have more data. */
static int check_end(int fd)
{
    struct stat st;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= at) {
        return 0;
    }
    return tern_error(-EPROTO, "the checkpoint ends at byte %lld, and %lld bytes are behind it",
                      (long long)at, (long long)(st.st_size - at));
}

/** Loads the stream, and checks its end. */
static int load_stream(struct tern_device *dev, int fd, struct tern_loading **out)
{
    struct tern_stream *s;
    int r = tern_stream_read_fd(fd, &s);
    if (r) {
        return r;
    }
    r = tern_migrate_load(dev, NULL, s, NULL, out);
    tern_stream_close(s);
    const int behind = r ? 0 : check_end(fd);
    if (behind) {
        char why[256];
        snprintf(why, sizeof why, "%s", tern_last_error());
        tern_migrate_drop(*out);
        r = tern_error(behind, "%s", why);
    }
    return r;
}

int tern_os_checkpoint_load(struct tern_device *dev, const char *file, struct tern_checkpoint **out)
{
    struct tern_checkpoint *c = NULL;
    struct tern_loading *l;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    const int fd = tern_file_open(file, UINT64_MAX); /* the file is read in pieces, which the device memory limits */
    if (fd < 0) {
        return fd;
    }
    int r = load_stream(dev, fd, &l);
    close(fd);
    if (r) {
        char why[512];
        snprintf(why, sizeof why, "%s", tern_last_error());
        return tern_error(r == -EPROTO || r == -EIO ? -EPROTO : r, "%.200s: %s", file, why);
    }
    r = list(dev, l, &c);
    if (r) {
        tern_migrate_drop(l);
        free_checkpoint(c);
        return r;
    }
    *out = c;
    return 0;
}

/* ---------------------------------------------------------------------- running */

int tern_checkpoint_start(struct tern_checkpoint *c, uint64_t cycles)
{
    if (tern_device_check_fork(c->dev)) {
        return -ENODEV;
    }
    if (c->started) {
        return tern_error(-EALREADY, "the checkpoint runs already");
    }
    const uint64_t now = tern_os_device_time(c->dev);
    c->started = true;
    c->stops = cycles && now + cycles > now;
    if (c->stops) {
        pthread_mutex_lock(&c->dev->lock);
        c->dev->hold.reached = false;
        c->dev->hold.at = now + cycles;
        pthread_mutex_unlock(&c->dev->lock);
    }
    tern_migrate_commit(c->loading);
    c->loading = NULL;
    return 0;
}

/** True: no work can go on by itself. *left: some work has not ended. Requires dev->lock. */
static bool is_over(const struct tern_checkpoint *c, bool *left)
{
    tern_assert_held(&c->dev->lock);
    *left = false;
    if (c->dev->saving) { /* the processes are suspended for a checkpoint */
        return false;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->processes[i].real->held) { /* the process is held for a checkpoint that comes next */
            return false;
        }
        for (uint32_t k = 0; k < c->processes[i].context_count; k++) {
            const struct tern_context *x = c->processes[i].contexts[k].real;
            if (x->submitted != x->ended && !tern_sched_stuck(&x->sched)) {
                return false;
            }
            *left = *left || x->submitted != x->ended;
        }
    }
    return !*left || (c->dev->idle && !c->dev->kick);
}

/** Suspends the processes after the hold was reached, so that no engine has work of them. */
static int come_to_rest(const struct tern_checkpoint *c)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < c->count; i++) {
        r = tern_os_process_suspend(c->processes[i].real);
    }
    return r;
}

int tern_checkpoint_wait(struct tern_checkpoint *c, int64_t timeout_ms, enum tern_checkpoint_end *end)
{
    struct tern_device *dev = c->dev;
    const struct timespec until = tern_deadline(timeout_ms);
    bool left = false;
    int r = 0;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    if (!c->started) {
        return tern_error(-EINVAL, "the checkpoint does not run yet");
    }
    pthread_mutex_lock(&dev->lock);
    while (!r && !dev->lost && !(c->stops && dev->hold.reached) && !is_over(c, &left)) {
        r = tern_wait_changed(&dev->changed, &dev->lock, timeout_ms, &until);
    }
    const bool stopped = c->stops && dev->hold.reached;
    if (r == -ETIMEDOUT) {
        tern_error(r, "the checkpoint's work has not ended after %lld ms", (long long)timeout_ms);
    } else if (dev->lost) {
        r = tern_error(-EIO, "%s", dev->lost_why);
    }
    pthread_mutex_unlock(&dev->lock);
    if (r == 0 && stopped) {
        r = come_to_rest(c);
    }
    if (!r) {
        *end = stopped ? TERN_CHECKPOINT_STOPPED : left ? TERN_CHECKPOINT_WAITS : TERN_CHECKPOINT_ENDED;
    }
    return r;
}

/* ---------------------------------------------------------------------- queries */

static struct loaded *process_of(struct tern_checkpoint *c, uint32_t i)
{
    if (i < c->count && !tern_device_check_fork(c->dev)) {
        return &c->processes[i];
    }
    if (!c->dev->fork.inherited) {
        tern_error(-ENOENT, "the checkpoint has %u processes, and no number %u", c->count, i);
    }
    return NULL;
}

static int missing(const struct tern_checkpoint *c, const char *what, uint32_t k)
{
    return c->dev->fork.inherited ? -ENODEV : tern_error(-ENOENT, "the checkpoint has no %s %u there", what, k);
}

int tern_checkpoint_process(struct tern_checkpoint *c, uint32_t i, struct tern_checkpoint_process *out)
{
    const struct loaded *p = process_of(c, i);
    if (!p) {
        return missing(c, "process", i);
    }
    struct tern_checkpoint_process own = {.number = p->number, .contexts = p->context_count,
                                          .memories = p->memory_count, .fault = {.size = sizeof own.fault}};
    snprintf(own.name, sizeof own.name, "%s", p->real->name);
    const int r = tern_os_process_status(p->real, &own.fault);
    (void)r; /* the fault in `own` has the result */
    return tern_sized_give(out, &own, sizeof own);
}

int tern_checkpoint_context(struct tern_checkpoint *c, uint32_t i, uint32_t k, struct tern_checkpoint_context *out)
{
    const struct loaded *p = process_of(c, i);
    if (!p || k >= p->context_count) {
        return missing(c, "context", k);
    }
    const struct loaded_context *x = &p->contexts[k];
    struct tern_checkpoint_context own = {.number = x->number, .saved = x->saved};
    pthread_mutex_lock(&c->dev->lock);
    const struct tern_sched_context *s = &x->real->sched;
    own.left = x->real->submitted - x->real->ended;
    own.completed = s->stats.completed;
    own.aborted = s->stats.aborted;
    own.cycles = s->stats.cycles;
    snprintf(own.name, sizeof own.name, "%s", x->real->name);
    if (!tern_list_empty(&s->jobs)) {
        const char *label = TERN_LIST_ENTRY(s->jobs.next, struct tern_job, node)->label;
        snprintf(own.label, sizeof own.label, "%s", label ? label : "");
    }
    pthread_mutex_unlock(&c->dev->lock);
    return tern_sized_give(out, &own, sizeof own);
}

int tern_checkpoint_memory(struct tern_checkpoint *c, uint32_t i, uint32_t k, struct tern_checkpoint_memory *out)
{
    const struct loaded *p = process_of(c, i);
    return p && k < p->memory_count ? tern_sized_give(out, &p->memories[k].info, sizeof p->memories[k].info)
                                    : missing(c, "memory", k);
}

int tern_checkpoint_read(struct tern_checkpoint *c, uint32_t i, uint32_t k, uint64_t offset, void *data, size_t size)
{
    const struct loaded *p = process_of(c, i);
    return p && k < p->memory_count ? tern_os_allocation_read(p->memories[k].real, offset, data, size)
                                    : missing(c, "memory", k);
}

int tern_checkpoint_close(struct tern_checkpoint *c)
{
    int r = tern_device_check_fork(c->dev);
    if (r) {
        return r;
    }
    if (c->loading) {
        tern_migrate_drop(c->loading);
    }
    for (uint32_t i = 0; c->started && i < c->count; i++) {
        r = tern_os_process_kill(c->processes[i].real);
        if (r == 0) {
            r = tern_os_process_destroy(c->processes[i].real);
        }
    }
    if (c->stops) {
        pthread_mutex_lock(&c->dev->lock);
        c->dev->hold.at = TERN_HOLD_NEVER;
        pthread_mutex_unlock(&c->dev->lock);
    }
    free_checkpoint(c);
    return r;
}
