/* SPDX-License-Identifier: Apache-2.0 */
/** Jobs: DMA buffers, as the scheduler queues them, and the working sets that they name. */
#include <stdlib.h>
#include <string.h>

#include "os/job/job.h"

struct tern_job *tern_job_create(const void *packets, uint32_t size, const char *label)
{
    return tern_job_create_data(packets, size, NULL, 0, label);
}

struct tern_job *tern_job_create_data(const void *packets, uint32_t size, const void *data, uint32_t data_size,
                                      const char *label)
{
    const uint32_t lines = (data_size + TERN_PKT_LINE_BYTES - 1) / TERN_PKT_LINE_BYTES * TERN_PKT_LINE_BYTES;
    size_t name = label ? strlen(label) + 1 : 0;
    struct tern_job *job = calloc(1, sizeof *job + size + lines + name);
    if (!job) {
        return NULL;
    }
    tern_list_init(&job->node);
    tern_list_init(&job->live);
    job->size = size;
    job->data_size = lines;
    memcpy(job->packets, packets, size);
    if (data_size) {
        memcpy((char *)job->packets + size, data, data_size);
    }
    if (label) {
        char *copy = (char *)job->packets + size + lines;
        memcpy(copy, label, name);
        job->label = copy;
    }
    return job;
}

bool tern_job_make_room(struct tern_job *job)
{
    const uint32_t n = tern_job_signals(job, NULL);
    job->signals = n ? calloc(n, sizeof *job->signals) : NULL;
    return !n || job->signals;
}

void tern_set_release(struct tern_set *set)
{
    if (set && --set->refs == 0) {
        free(set);
    }
}

void tern_job_free(struct tern_job *job)
{
    if (job) {
        tern_set_release(job->set);
        free(job->needs);
        free(job->signals);
        free(job);
    }
}
