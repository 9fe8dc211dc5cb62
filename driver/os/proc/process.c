/* SPDX-License-Identifier: Apache-2.0 */
/** Processes. Each has an address space, and is the unit of fault containment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/children.h"
#include "base/error.h"
#include "base/sized.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/observe/observe.h"
#include "os/part/part.h"
#include "os/proc/proc.h"
#include "os/service.h"

void tern_os_process_abort(struct tern_process *proc, const char *why)
{
    if (proc->dev->fork.inherited) {
        return;
    }
    struct tern_fault f = {.code = TERN_FAULT_ABORTED};
    snprintf(f.message, sizeof f.message, "process '%.40s': its work was aborted%s%.200s", proc->name, why ? ": " : "",
             why ? why : "");
    pthread_mutex_lock(&proc->dev->lock);
    tern_process_fail(proc, &f);
    pthread_mutex_unlock(&proc->dev->lock);
}

uint32_t tern_os_process_number(const struct tern_process *proc)
{
    return proc->id;
}

bool tern_os_process_is_in(const struct tern_process *proc, const char *partition)
{
    return strcmp(proc->partition->name, partition) == 0;
}

int tern_os_process_status(struct tern_process *proc, struct tern_fault *fault)
{
    if (tern_device_check_fork(proc->dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&proc->dev->lock);
    int r = tern_process_check(proc);
    const int given = r && fault ? tern_sized_give(fault, &proc->fault, sizeof proc->fault) : 0;
    pthread_mutex_unlock(&proc->dev->lock);
    return given ? given : r;
}

static void free_process(struct tern_process *proc)
{
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        free(proc->flush[e]);
    }
    tern_vaspace_free(&proc->va);
    free(proc);
}

/** Allocates the root table, a page of zeros. An engine scrubs the page unless it is known to read zero (A7). dev->lock
 *  held. */
static int make_root(struct tern_process *proc)
{
    struct tern_paging p = {0};
    struct tern_run run;
    uint32_t runs;
    int r = tern_retire_take(proc, 1, "a page table", &run, &runs);
    if (r) {
        return r;
    }
    if (run.dirty) {
        tern_paging_scrub(&p, run.page, 1);
    }
    r = tern_paging_run(proc, &p, "root");
    tern_paging_free(&p);
    if (r) {
        tern_pages_give(proc->partition->pages, &run);
        return r;
    }
    proc->root = run.page;
    return 0;
}

/** Allocates the paging jobs that the end of the process needs, so that the end cannot fail. */
static int make_flushes(struct tern_process *proc)
{
    struct tern_paging p = {0};
    tern_paging_flush(&p, proc->root, 0, 0);
    int r = tern_paging_error(&p);
    for (uint32_t e = 0; !r && e < proc->dev->kmd.engines; e++) {
        proc->flush[e] = tern_job_create(p.words, p.size, "end");
        r = proc->flush[e] ? 0 : -ENOMEM;
    }
    tern_paging_free(&p);
    return r ? tern_error_memory("a process") : 0;
}

static struct tern_user *find_user(const struct tern_device *dev, const struct tern_partition *part, uint32_t uid)
{
    TERN_LIST_EACH(node, &dev->users)
    {
        struct tern_user *u = TERN_LIST_ENTRY(node, struct tern_user, node);
        if (u->uid == uid && u->partition == part) {
            return u;
        }
    }
    return NULL;
}

/** Adds the process to its user. The user is created with its first process. */
static int join_user(struct tern_device *dev, const struct tern_owner *owner, const struct tern_partition *part,
                     struct tern_process *proc)
{
    struct tern_user *u = owner->share ? find_user(dev, part, owner->uid) : NULL;
    if (owner->share && !u) {
        u = calloc(1, sizeof *u);
        if (!u) {
            return tern_error_memory("a user");
        }
        u->uid = owner->uid;
        u->partition = part;
        u->sched.share = owner->share;
        tern_list_append(&dev->users, &u->node);
    }
    if (u) {
        u->count++;
        proc->sched.user = &u->sched;
    }
    return 0;
}

static void leave_user(struct tern_process *proc)
{
    struct tern_user *u = proc->sched.user ? TERN_LIST_ENTRY(proc->sched.user, struct tern_user, sched) : NULL;
    if (u && --u->count == 0) {
        tern_list_remove(&u->node);
        free(u);
    }
}

/** Adds the process to the device's processes (A2). */
static int enter(struct tern_device *dev, const struct tern_owner *owner, struct tern_process *proc)
{
    struct tern_partition *part = tern_partition_find(dev, owner->partition);
    if (!part) {
        return -ENOENT;
    }
    if (dev->lost) {
        return tern_error(-EIO, "%s", dev->lost_why);
    }
    if (dev->info.single_use && dev->process_count) {
        return tern_error(-EBUSY, "the device has one address space only, and a process is using it");
    }
    proc->partition = part;
    int r = tern_offence_admit(dev, proc);
    if (r) {
        return r;
    }
    tern_sched_process_init(&dev->sched, &proc->sched, false);
    proc->sched.partition = part->sched;
    r = join_user(dev, owner, part, proc);
    if (r) {
        tern_sched_process_fini(&proc->sched);
        return r;
    }
    dev->process_count++;
    proc->id = ++dev->next_process;
    tern_list_append(&dev->processes, &proc->node);
    tern_partition_join(part, proc);
    return 0;
}

static void leave(struct tern_device *dev, struct tern_process *proc)
{
    tern_sched_process_fini(&proc->sched);
    leave_user(proc);
    tern_list_remove(&proc->node);
    tern_partition_leave(proc);
    dev->process_count--;
    tern_observer_changed(dev);
}

int tern_os_process_create(struct tern_device *dev, const char *name, struct tern_process **out)
{
    return tern_os_process_create_in(dev, NULL, name, out);
}

int tern_os_process_create_in(struct tern_device *dev, const char *partition, const char *name,
                              struct tern_process **out)
{
    const struct tern_owner owner = {.partition = partition ? partition : dev->own_partition};
    return tern_os_process_create_for(dev, name, &owner, out);
}

int tern_os_process_create_for(struct tern_device *dev, const char *name, const struct tern_owner *owner,
                               struct tern_process **out)
{
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    struct tern_process *proc = calloc(1, sizeof *proc);
    if (!proc) {
        return tern_error_memory("a process");
    }
    proc->api = dev->api;
    proc->dev = dev;
    tern_list_init(&proc->node);
    tern_list_init(&proc->member);
    tern_list_init(&proc->contexts);
    tern_list_init(&proc->fences);
    tern_list_init(&proc->allocations);
    tern_list_init(&proc->remains);
    tern_list_init(&proc->jobs);
    tern_list_init(&proc->retired);
    tern_list_init(&proc->by_use);
    snprintf(proc->name, sizeof proc->name, "%s", name ? name : "unnamed");
    snprintf(proc->shown, sizeof proc->shown, *owner->text ? "%.63s (%.23s)" : "%.63s", proc->name, owner->text);
    proc->owner = owner->uid;
    proc->account = owner->account;
    proc->shift = owner->shift;
    pthread_mutex_lock(&dev->lock);
    int r = enter(dev, owner, proc);
    if (r) {
        goto unlock;
    }
    r = make_root(proc);
    if (r) {
        leave(dev, proc);
        goto unlock;
    }
    r = make_flushes(proc);
    if (r) {
        struct tern_run root = {proc->root, 1, true};
        tern_pages_give(proc->partition->pages, &root);
        leave(dev, proc);
    }
    proc->ready = !r;
    if (!r) {
        tern_observer_changed(dev);
    }
unlock:
    pthread_mutex_unlock(&dev->lock);
    if (r) {
        free_process(proc);
    } else {
        *out = proc;
    }
    return r;
}

/** Frees the page tables of a process. No engine may use them any more. */
static void give_tables(struct tern_process *proc)
{
    struct tern_run run = {proc->root, 1, true};
    tern_pages_give(proc->partition->pages, &run);
    for (uint32_t i = 0; i < TERN_PAGES_LARGE; i++) {
        if (proc->tables[i]) {
            run.page = proc->tables[i];
            tern_pages_give(proc->partition->pages, &run);
        }
    }
}

void tern_process_end(struct tern_process *proc)
{
    struct tern_device *dev = proc->dev;
    tern_assert_held(&dev->lock);
    while (proc->retiring || proc->making) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    proc->ready = false;
    const uint32_t resets = dev->tdr.adapter_resets;
    if (tern_paging_run_all(dev, proc->flush) == 0 || dev->lost || resets != dev->tdr.adapter_resets) {
        give_tables(proc); /* otherwise an engine may still use them, and their pages are never used again */
    }
    leave(dev, proc);
}

int tern_os_process_destroy(struct tern_process *proc)
{
    if (tern_device_check_fork(proc->dev)) {
        return -ENODEV;
    }
    struct tern_device *dev = proc->dev;
    pthread_mutex_lock(&dev->lock);
    if (proc->killed) {
        tern_process_free_objects(proc);
    } else if (proc->children) {
        const int r = tern_children_of_process(proc->name, proc->children);
        pthread_mutex_unlock(&dev->lock);
        return r;
    } else {
        tern_process_end(proc);
    }
    pthread_mutex_unlock(&dev->lock);
    free_process(proc);
    return 0;
}
