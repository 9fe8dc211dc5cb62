/* SPDX-License-Identifier: Apache-2.0 */
#include "migration/state/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/job/job.h"
#include "os/mem/mem.h"

int tern_image_set(const struct tern_set *set, struct tern_image_set *out)
{
    *out = (struct tern_image_set){.named = set != NULL, .count = set ? set->count : 0};
    if (out->count) {
        out->address = malloc(out->count * sizeof *out->address);
        if (!out->address) {
            return tern_error_memory("a working set");
        }
        memcpy(out->address, set->address, out->count * sizeof *out->address);
    }
    return 0;
}

static void free_context(struct tern_image_context *c)
{
    for (uint32_t i = 0; c->jobs && i < c->job_count; i++) {
        free(c->jobs[i].set.address);
        tern_job_free(c->jobs[i].job);
    }
    free(c->jobs);
    free(c->set.address);
    free(c->state);
}

static void free_process(struct tern_image_process *p)
{
    for (uint32_t i = 0; p->allocations && i < p->allocation_count; i++) {
        free(p->allocations[i].exports);
    }
    for (uint32_t i = 0; p->contexts && i < p->context_count; i++) {
        free_context(&p->contexts[i]);
    }
    free(p->allocations);
    free(p->contexts);
}

void tern_image_free(struct tern_image *image)
{
    if (!image) {
        return;
    }
    if (image->captured) {
        pthread_mutex_lock(&image->captured->lock);
        for (uint32_t i = 0; i < image->memory_count; i++) {
            tern_memory_release(image->memories[i].real);
        }
        pthread_mutex_unlock(&image->captured->lock);
    }
    for (uint32_t i = 0; image->memories && i < image->memory_count; i++) {
        free(image->memories[i].committed);
        free(image->memories[i].filled);
    }
    for (uint32_t i = 0; image->processes && i < image->process_count; i++) {
        free_process(&image->processes[i]);
    }
    free(image->index_of);
    free(image->memories);
    free(image->processes);
    free(image);
}
