/* SPDX-License-Identifier: Apache-2.0 */
/** The target side: reads image and contents, checks them, makes objects and work; then commits or drops all of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/completions.h"
#include "base/error.h"
#include "migration/state/internal.h"

struct tern_loading {
    struct tern_device *dev;
    struct tern_image *image;
    struct tern_image *before; /* the earlier image, whose objects are freed or taken over; or NULL */
};

/* ---------------------------------------------------------------------- contents */

/** Marks pages that may not be zero. -ENOMEM. */
static int fill(struct tern_image_memory *m, uint32_t first, uint32_t count)
{
    m->filled = m->filled ? m->filled : calloc((m->pages + 31) / 32, sizeof *m->filled);
    for (uint32_t i = first; m->filled && i < first + count; i++) {
        m->filled[i / 32] |= 1u << i % 32;
    }
    return m->filled ? 0 : tern_error_memory("a migration");
}

/** Writes zeros to pages of the range that may not be zero. */
static int clear(struct tern_image_memory *m, uint32_t first, uint32_t count)
{
    static const uint8_t zeros[TERN_PAGE];
    int r = 0;
    for (uint32_t i = first; !r && m->filled && i < first + count; i++) {
        if (m->filled[i / 32] >> i % 32 & 1) {
            r = tern_content_write(m->real, i, 1, zeros);
            m->filled[i / 32] &= ~(1u << i % 32);
        }
    }
    return r;
}

static int write_run(struct tern_image_memory *m, const struct tern_page_run *run)
{
    const uint32_t first = (uint32_t)run->first, count = (uint32_t)run->count;
    if (!run->data) {
        return clear(m, first, count);
    }
    const int r = fill(m, first, count);
    return r ? r : tern_content_write(m->real, first, count, run->data);
}

static int read_pages(const struct tern_image *image, struct tern_stream *s)
{
    struct tern_pages pages;
    struct tern_page_run run;
    int r = tern_get_pages(s, image->slots - 1, TERN_VA_END, &pages);
    const uint32_t index = r ? 0 : image->index_of[pages.memory];
    if (!r && index == UINT32_MAX) {
        return tern_record_refuse(s, "pages of memory %" PRIu64 ", which is gone", pages.memory);
    }
    while (!r && tern_pages_next(&pages, &run)) {
        struct tern_image_memory *m = &image->memories[index];
        if (run.first > m->pages || run.count > m->pages - run.first) {
            return tern_record_refuse(s, "pages %" PRIu64 " and %" PRIu64 " more of memory %" PRIu64 ", which has %u",
                                      run.first, run.count, pages.memory, m->pages);
        }
        r = write_run(m, &run);
    }
    return r;
}

/** Reads contents up to a later image (*again) or the end. `next` is the type of the record that was just read, or
 *  0. */
static int read_contents(const struct tern_image *image, struct tern_stream *s, uint32_t next, bool *again)
{
    enum tern_record_type type = (enum tern_record_type)next;
    int r = next != 0;
    for (*again = false; r > 0; r = tern_record_next(s, &type)) {
        *again = type == TERN_RECORD_DEVICE;
        if (*again) {
            return 0;
        }
        if ((type != TERN_RECORD_PAGES || !image->slots) && type != TERN_RECORD_ROUND) {
            return tern_record_refuse(s, "the record '%s' is not expected here", tern_record_name(type));
        }
        r = type == TERN_RECORD_PAGES ? read_pages(image, s) : 0;
        if (r) {
            return r;
        }
    }
    return r;
}

/** Reads the rest of an image, makes its processes and memory, and reads the contents that follow. */
static int read_space(struct tern_loading *l, const char *partition, struct tern_stream *s,
                      const struct tern_migrate_owner *owner, bool *again)
{
    uint32_t next = 0;
    int r = tern_image_read(l->image, s, l->dev, &next);
    if (r == 0) {
        r = tern_image_check(l->image, l->dev);
    }
    if (!r && l->before) {
        tern_restore_follow(l->image, l->before);
    }
    if (r == 0) {
        r = tern_restore_space(l->image, l->dev, partition, owner);
    }
    return r ? r : read_contents(l->image, s, next, again);
}

/* -------------------------------------------------------------------------- time */

/** Sets the time shift, so that device times never go back for a process. */
static void shift_times(const struct tern_image *image, struct tern_device *dev)
{
    const uint64_t now = tern_os_device_time(dev), then = image->device.time;
    for (uint32_t i = 0; i < image->process_count; i++) {
        image->processes[i].real->shift = then > now ? then - now : 0;
    }
}

/* ---------------------------------------------------------------------------- work */

/** Reserves the completions of queued jobs. -ENOMEM. */
static int reserve(struct tern_context *c, const struct tern_context_desc *d)
{
    int r = 0;
    pthread_mutex_lock(&c->proc->dev->lock);
    TERN_LIST_EACH(node, &c->sched.jobs)
    {
        struct tern_job *job = TERN_LIST_ENTRY(node, struct tern_job, node);
        job->user = d->completions && !r ? tern_completion_reserve(c->proc->id) : NULL;
        if (r == 0 && !job->user && d->completions) {
            r = tern_error_memory("a completion");
        }
    }
    c->completions = d->completions;
    c->completed = d->completed;
    c->user = d->user;
    if (c->completions) {
        c->completions->users++;
    }
    pthread_mutex_unlock(&c->proc->dev->lock);
    return r;
}

static int attach(const struct tern_image *image, const struct tern_migrate_owner *owner)
{
    int r = 0;
    for (uint32_t i = 0; i < image->process_count; i++) {
        const struct tern_image_process *p = &image->processes[i];
        for (uint32_t k = 0; !r && k < p->context_count; k++) {
            struct tern_context_desc d = {.size = sizeof d};
            if (owner && owner->context) {
                owner->context(owner->user, p->id, p->contexts[k].id, &d);
            }
            r = reserve(p->contexts[k].real, &d);
        }
    }
    return r;
}

/* --------------------------------------------------------------------------- calls */

static int load(struct tern_loading *l, const char *partition, struct tern_stream *s,
                const struct tern_migrate_owner *owner)
{
    bool again = false;
    int r = tern_image_read_device(s, l->dev, partition, &l->image);
    if (r == 0) {
        r = read_space(l, partition, s, owner, &again);
    }
    while (!r && again) {
        tern_image_free(l->before);
        l->before = l->image;
        l->image = NULL;
        r = tern_image_read_again(s, l->dev, partition, l->before, &l->image);
        if (r == 0) {
            r = read_space(l, partition, s, owner, &again);
        }
    }
    if (r == 0) {
        r = tern_restore_memory(l->image);
    }
    if (r) {
        return r;
    }
    shift_times(l->image, l->dev);
    r = tern_restore_work(l->image);
    return r ? r : attach(l->image, owner);
}

int tern_migrate_attach(struct tern_loading *l, const struct tern_migrate_owner *owner)
{
    return attach(l->image, owner);
}

int tern_migrate_load(struct tern_device *dev, const char *partition, struct tern_stream *s,
                      const struct tern_migrate_owner *owner, struct tern_loading **out)
{
    struct tern_loading *l = calloc(1, sizeof *l);
    if (!l) {
        return tern_error_memory("a migration");
    }
    l->dev = dev;
    const int r = load(l, partition, s, owner);
    if (r) {
        char why[512];
        snprintf(why, sizeof why, "%s", tern_last_error());
        tern_migrate_drop(l);
        return tern_error(r, "%s", why);
    }
    *out = l;
    return 0;
}

static void free_loading(struct tern_loading *l)
{
    tern_image_free(l->image);
    tern_image_free(l->before);
    free(l);
}

void tern_migrate_commit(struct tern_loading *l)
{
    for (uint32_t i = 0; i < l->image->process_count; i++) {
        const struct tern_image_process *p = &l->image->processes[i];
        const int r = p->suspended ? 0 : tern_os_process_resume(p->real);
        (void)r; /* fails only if the device is lost, which puts the processes in error */
    }
    free_loading(l);
}

static void drop_image(struct tern_image *image)
{
    for (uint32_t i = 0; image && i < image->process_count; i++) {
        tern_migrate_discard(image->processes[i].real);
    }
}

void tern_migrate_drop(struct tern_loading *l)
{
    drop_image(l->image);
    drop_image(l->before);
    free_loading(l);
}

/* ------------------------------------------------------------------- what was loaded */

uint32_t tern_loading_count(const struct tern_loading *l)
{
    return l->image->process_count;
}

struct tern_process *tern_loading_process(const struct tern_loading *l, uint32_t i, uint32_t *number)
{
    if (i >= l->image->process_count) {
        return NULL;
    }
    *number = l->image->processes[i].id;
    return l->image->processes[i].real;
}

struct tern_context *tern_loading_context(const struct tern_loading *l, uint32_t process, uint32_t i, uint32_t *number)
{
    const struct tern_image_process *p = &l->image->processes[process];
    if (i >= p->context_count) {
        return NULL;
    }
    *number = p->contexts[i].id;
    return p->contexts[i].real;
}

uint64_t tern_loading_jobs(const struct tern_loading *l, uint32_t process, uint32_t i)
{
    return l->image->processes[process].contexts[i].job_count;
}

uint64_t tern_loading_shift(const struct tern_loading *l)
{
    return l->image->process_count ? l->image->processes[0].real->shift : 0;
}

static const struct tern_image_allocation *find(const struct tern_loading *l, uint32_t process, uint32_t address)
{
    const struct tern_image_process *p = &l->image->processes[process];
    for (uint32_t i = 0; i < p->allocation_count; i++) {
        if (p->allocations[i].va * TERN_PAGE == address && !p->allocations[i].retired) {
            return &p->allocations[i];
        }
    }
    return NULL;
}

struct tern_allocation *tern_loading_allocation(const struct tern_loading *l, uint32_t process, uint32_t address)
{
    const struct tern_image_allocation *a = find(l, process, address);
    return a && !a->fence ? a->real : NULL;
}

struct tern_fence *tern_loading_fence(const struct tern_loading *l, uint32_t process, uint32_t address)
{
    const struct tern_image_allocation *a = find(l, process, address);
    struct tern_process *proc = l->image->processes[process].real;
    TERN_LIST_EACH(node, &proc->fences)
    {
        struct tern_fence *f = TERN_LIST_ENTRY(node, struct tern_fence, node);
        if (a && a->fence && f->page == a->real) {
            return f;
        }
    }
    return NULL;
}
