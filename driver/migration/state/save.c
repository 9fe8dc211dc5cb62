/* SPDX-License-Identifier: Apache-2.0 */
/** The source side: suspends the processes, writes image and contents; then resumes or ends the processes. */
#include <errno.h>
#include <stdlib.h>

#include "base/completions.h"
#include "base/error.h"
#include "migration/state/internal.h"

/** Takes a process into the saving. Processes that were killed are left out. -EIO: it was killed. Takes dev->lock. */
static int hold(struct tern_saving *m, struct tern_process *proc)
{
    pthread_mutex_lock(&m->dev->lock);
    const int killed = proc->killed ? tern_process_check(proc) : 0;
    if (!killed) {
        proc->making++;
        m->saved[m->n++] = (struct tern_saved){proc, proc->suspended && !proc->held};
    }
    pthread_mutex_unlock(&m->dev->lock);
    return killed;
}

int tern_saving_suspend(struct tern_saving *m, bool all)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = m->saved[i].was ? 0 : all ? tern_os_process_suspend(m->saved[i].proc)
                                      : tern_os_process_resume(m->saved[i].proc);
    }
    return r;
}

int tern_saving_open(struct tern_process *const *procs, uint32_t n, struct tern_saving **out)
{
    struct tern_saving *m = calloc(1, sizeof *m + n * sizeof m->saved[0]);
    if (!m) {
        return tern_error_memory("a migration");
    }
    m->dev = procs[0]->dev;
    int r = 0;
    for (uint32_t i = 0; !r && i < n; i++) {
        r = hold(m, procs[i]);
    }
    if (r) {
        tern_migrate_go_on(m);
    } else {
        *out = m;
    }
    return r;
}

int tern_migrate_stop(struct tern_process *const *procs, uint32_t n, struct tern_saving **out)
{
    struct tern_saving *m;
    int r = tern_saving_open(procs, n, &m);
    if (!r) {
        r = tern_saving_suspend(m, true);
        if (r) {
            tern_migrate_go_on(m);
        } else {
            *out = m;
        }
    }
    return r;
}

/** Adds the memories of the image that have no slot in the sender yet. */
static int add_memories(struct tern_saving *m, const struct tern_image *image)
{
    int r = 0;
    pthread_mutex_lock(&m->dev->lock);
    for (uint32_t i = 0; !r && i < image->memory_count; i++) { /* new slots are in ascending order */
        r = image->memories[i].slot < m->sender->count ? 0 : tern_sender_add(m->sender, image->memories[i].real);
    }
    pthread_mutex_unlock(&m->dev->lock);
    return r;
}

int tern_saving_image(struct tern_saving *m, bool work, struct tern_stream *s)
{
    struct tern_image *image = NULL;
    struct tern_process **procs = malloc(m->n * sizeof *procs);
    if (!procs) {
        return tern_error_memory("a migration");
    }
    for (uint32_t i = 0; i < m->n; i++) {
        procs[i] = m->saved[i].proc;
    }
    int r = tern_capture(procs, m->n, work, &image);
    for (uint32_t i = 0; !r && i < m->n; i++) {
        image->processes[i].suspended = m->saved[i].was;
    }
    if (!r && m->image) {
        tern_image_follow(image, m->image);
    }
    if (r == 0) {
        r = add_memories(m, image);
    }
    if (r == 0) {
        r = tern_image_write(image, s);
    }
    tern_image_free(r ? image : m->image);
    m->image = r ? m->image : image;
    free(procs);
    return r;
}

int tern_saving_begin(struct tern_saving *m, struct tern_stream *s)
{
    tern_saving_end(m);
    return tern_sender_begin(m->dev, s, &m->sender);
}

void tern_saving_end(struct tern_saving *m)
{
    tern_sender_end(m->sender);
    tern_image_free(m->image);
    m->sender = NULL;
    m->image = NULL;
}

/** Writes the image, and all pages that the target does not have. */
static int write_rest(struct tern_saving *m, struct tern_stream *s)
{
    int r = tern_saving_image(m, true, s);
    for (uint32_t i = 0; !r && i < m->image->memory_count; i++) {
        const uint32_t slot = m->image->memories[i].slot;
        for (uint32_t k = 0; !r && k < m->sender->memories[slot].m->block_count; k++) {
            r = tern_sender_send(m->sender, slot, k);
        }
    }
    return r ? r : tern_stream_end(s);
}

int tern_migrate_write(struct tern_saving *m, struct tern_stream *s)
{
    int r = m->sender && m->sender->stream == s ? 0 : tern_saving_begin(m, s);
    if (r == 0) {
        r = write_rest(m, s);
    }
    tern_saving_end(m);
    return r;
}

static void leave(struct tern_saving *m, uint32_t i)
{
    pthread_mutex_lock(&m->dev->lock);
    tern_process_leave(m->saved[i].proc);
    pthread_mutex_unlock(&m->dev->lock);
}

void tern_migrate_go_on(struct tern_saving *m)
{
    tern_saving_end(m);
    for (uint32_t i = 0; i < m->n; i++) {
        const int r = m->saved[i].was ? 0 : tern_os_process_resume(m->saved[i].proc);
        (void)r; /* fails if the process was killed or the device is lost, which is reported elsewhere */
        leave(m, i);
    }
    free(m);
}

void tern_migrate_end(struct tern_saving *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        tern_migrate_silence(m->saved[i].proc);
        leave(m, i);
        const int r = tern_os_process_kill(m->saved[i].proc);
        (void)r; /* fails if the device is lost or inherited, and then there is nothing to end */
    }
    free(m);
}
