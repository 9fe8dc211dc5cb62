/* SPDX-License-Identifier: Apache-2.0 */
/** The source's side: stop, image, contents; then go on, or end without a word. */
#include <errno.h>
#include <stdlib.h>

#include "base/completions.h"
#include "base/error.h"
#include "os/migrate/end.h"
#include "os/migrate/migrate.h"
#include "os/migrate/records.h"

#define PAGES 64u /* read at once */

struct tern_saving {
    struct tern_device *dev;
    uint32_t n;
    struct saved {
        struct tern_process *proc;
        bool was; /* suspended, before */
    } saved[];
};

/** Each is `making` from here on: none of them is killed to its end. Those that were are left out. */
static int stop(struct tern_saving *m, struct tern_process *proc)
{
    pthread_mutex_lock(&m->dev->lock);
    const int killed = proc->killed ? tern_process_check(proc) : 0;
    if (!killed) {
        proc->making++;
        m->saved[m->n++] = (struct saved){proc, proc->suspended};
    }
    pthread_mutex_unlock(&m->dev->lock);
    return killed ? killed : tern_os_process_suspend(proc);
}

int tern_migrate_stop(struct tern_process *const *procs, uint32_t n, struct tern_saving **out)
{
    struct tern_saving *m = calloc(1, sizeof *m + n * sizeof m->saved[0]);
    if (!m) {
        return tern_error_memory("a migration");
    }
    m->dev = procs[0]->dev;
    int r = 0;
    for (uint32_t i = 0; !r && i < n; i++) {
        r = stop(m, procs[i]);
    }
    if (r) {
        tern_migrate_go_on(m);
    } else {
        *out = m;
    }
    return r;
}

/** The pages of a memory, but for those that were never committed. */
static int write_memory(const struct tern_image_memory *m, uint32_t number, struct tern_stream *s, void *buffer)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < m->real->block_count; i++) {
        const struct tern_block *b = &m->real->blocks[i];
        const bool there = !m->sparse || m->committed[i / 32] >> i % 32 & 1;
        for (uint32_t done = 0, n; !r && there && done < b->pages; done += n) {
            n = b->pages - done < PAGES ? b->pages - done : PAGES;
            r = tern_content_read(m->real, b->first + done, n, buffer);
            r = r ? r : tern_put_pages(s, number, b->first + done, n, buffer);
        }
    }
    return r;
}

static int write_contents(const struct tern_image *image, struct tern_stream *s)
{
    void *buffer = malloc((size_t)PAGES * TERN_PAGE);
    int r = buffer ? 0 : tern_error_memory("a migration");
    for (uint32_t i = 0; !r && i < image->memory_count; i++) {
        r = write_memory(&image->memories[i], i, s, buffer);
    }
    free(buffer);
    return r;
}

int tern_migrate_write(struct tern_saving *m, struct tern_stream *s)
{
    struct tern_image *image = NULL;
    struct tern_process **procs = malloc(m->n * sizeof *procs);
    if (!procs) {
        return tern_error_memory("a migration");
    }
    for (uint32_t i = 0; i < m->n; i++) {
        procs[i] = m->saved[i].proc;
    }
    int r = tern_capture(procs, m->n, &image);
    for (uint32_t i = 0; !r && i < m->n; i++) {
        image->processes[i].suspended = m->saved[i].was;
    }
    r = r ? r : tern_image_write(image, s);
    r = r ? r : write_contents(image, s);
    r = r ? r : tern_stream_end(s);
    tern_image_free(image);
    free(procs);
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
    for (uint32_t i = 0; i < m->n; i++) {
        const int r = m->saved[i].was ? 0 : tern_os_process_resume(m->saved[i].proc);
        (void)r; /* it is killed, or the device is lost: that is told elsewhere */
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
        (void)r; /* the device is lost, or inherited: there is nothing to end */
    }
    free(m);
}
