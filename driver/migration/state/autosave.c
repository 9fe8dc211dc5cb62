/* SPDX-License-Identifier: Apache-2.0 */
/** The checkpoint of a program that does not call the checkpoint functions (migrate.h). */
#include "migration/state/migrate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "os/state/state.h"

struct tern_autosave {
    pthread_t thread;
    bool stop;         /* the device is being closed; guarded by `dev->lock` */
    bool ends;         /* the program exits once it is saved */
    char *file, *label;
    uint64_t cycle;    /* device time of the checkpoint, if there is no label */
};

/** The program has a checkpoint: devices that it opens later are not saved. */
static atomic_bool taken;

static void save(struct tern_device *dev, const struct tern_autosave *a)
{
    struct tern_saved_file f;
    const int r = tern_checkpoint_write(dev, a->file, a->ends, &f);
    if (r) {
        fprintf(stderr, "tern: no checkpoint: %s\n", tern_last_error());
    } else {
        atomic_store(&taken, true);
        fprintf(stderr, "tern: checkpoint %s at cycle %" PRIu64 ": %u process%s, %llu buffer%s that had not ended, "
                "%llu bytes\n", a->file, dev->hold.time, f.processes, f.processes == 1 ? "" : "es", f.buffers,
                f.buffers == 1 ? "" : "s", f.bytes);
    }
    if (a->ends && !r) {
        _exit(EXIT_SUCCESS);
    }
}

static void *run(void *arg)
{
    struct tern_device *dev = arg;
    const struct tern_autosave *a = dev->autosave;
    pthread_mutex_lock(&dev->lock);
    while (!dev->hold.reached && !a->stop) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    const bool reached = dev->hold.reached;
    pthread_mutex_unlock(&dev->lock);
    if (reached) {
        save(dev, a);
    }
    return NULL;
}

static void free_autosave(struct tern_autosave *a)
{
    free(a->file);
    free(a->label);
    free(a);
}

/** Reads the environment. The moment is set last, because the device thread may reach it at once. */
static int arm(struct tern_device *dev, struct tern_autosave *a)
{
    const char *label = secure_getenv("TERN_CHECKPOINT_KERNEL");
    uint64_t launch = 1, after = 0, ends = 0;
    a->cycle = TERN_HOLD_NEVER;
    int r = tern_key_environment("TERN_CHECKPOINT_CYCLE", NULL, false, 0, UINT64_MAX, &a->cycle);
    if (r == 0) {
        r = tern_key_environment("TERN_CHECKPOINT_LAUNCH", NULL, false, 1, UINT64_MAX, &launch);
    }
    if (r == 0) {
        r = tern_key_environment("TERN_CHECKPOINT_AFTER", NULL, false, 0, UINT64_MAX, &after);
    }
    if (r == 0) {
        r = tern_key_environment("TERN_CHECKPOINT_STOP", NULL, false, 0, UINT64_MAX, &ends);
    }
    if (!r && (a->cycle == TERN_HOLD_NEVER) == !label) {
        r = tern_error(-EINVAL, "with TERN_CHECKPOINT goes either TERN_CHECKPOINT_CYCLE or TERN_CHECKPOINT_KERNEL");
    }
    if (r) {
        return r;
    }
    a->ends = ends != 0;
    a->file = strdup(secure_getenv("TERN_CHECKPOINT"));
    a->label = label ? strdup(label) : NULL;
    if (!a->file || (label && !a->label)) {
        return tern_error_memory("a checkpoint");
    }
    pthread_mutex_lock(&dev->lock);
    dev->hold.label = a->label;
    dev->hold.launch = launch;
    dev->hold.after = after;
    dev->hold.at = a->cycle;
    pthread_mutex_unlock(&dev->lock);
    return 0;
}

int tern_autosave_open(struct tern_device *dev)
{
    const char *file = secure_getenv("TERN_CHECKPOINT");
    if (!file || atomic_load(&taken)) {
        return 0;
    }
    struct tern_autosave *a = calloc(1, sizeof *a);
    if (!a) {
        return tern_error_memory("a checkpoint");
    }
    dev->autosave = a;
    int r = arm(dev, a);
    if (!r) {
        r = tern_thread_start(&a->thread, run, dev);
        r = r ? tern_error(r, "the thread that writes checkpoints cannot be started: %s", strerror(-r)) : 0;
    }
    if (r) {
        dev->autosave = NULL;
        free_autosave(a);
    }
    return r;
}

void tern_autosave_close(struct tern_device *dev)
{
    struct tern_autosave *a = dev->autosave;
    if (!a) {
        return;
    }
    pthread_mutex_lock(&dev->lock);
    a->stop = true;
    const struct tern_hold h = dev->hold;
    const uint64_t now = atomic_load(&dev->now);
    pthread_cond_broadcast(&dev->changed);
    pthread_mutex_unlock(&dev->lock);
    pthread_join(a->thread, NULL);
    if (!h.reached && a->label) {
        fprintf(stderr, "tern: no checkpoint: the device was closed at cycle %" PRIu64 "; of kernel '%s' there were %"
                PRIu64 " launches\n", now, a->label, h.seen);
    } else if (!h.reached) {
        fprintf(stderr, "tern: no checkpoint: the device was closed at cycle %" PRIu64 ", and the checkpoint was to "
                "be at cycle %" PRIu64 "\n", now, a->cycle);
    }
    dev->autosave = NULL;
    free_autosave(a);
}
