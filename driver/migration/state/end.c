/* SPDX-License-Identifier: Apache-2.0 */
#include "migration/state/internal.h"

#include <stdlib.h>

#include "base/completions.h"
#include "os/state/state.h"

static void silence(struct tern_context *c)
{
    c->completed = NULL;
    TERN_LIST_EACH(node, &c->sched.jobs)
    {
        struct tern_job *job = TERN_LIST_ENTRY(node, struct tern_job, node);
        free(job->user); /* the reserved completion */
        job->user = NULL;
    }
    if (c->completions) {
        c->completions->users--;
        c->completions = NULL;
    }
}

void tern_migrate_silence(struct tern_process *proc)
{
    pthread_mutex_lock(&proc->dev->lock);
    TERN_LIST_EACH(node, &proc->contexts)
    {
        silence(TERN_LIST_ENTRY(node, struct tern_context, node));
    }
    pthread_mutex_unlock(&proc->dev->lock);
}

void tern_migrate_discard(struct tern_process *proc)
{
    if (proc) {
        tern_migrate_silence(proc);
        int r = tern_os_process_kill(proc);
        if (r == 0) {
            r = tern_os_process_destroy(proc);
        }
        (void)r; /* cannot fail: the caller is no callback, and no child of a fork */
    }
}
