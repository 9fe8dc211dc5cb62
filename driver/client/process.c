/* SPDX-License-Identifier: Apache-2.0 */
/** Processes of a client. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/children.h"
#include "base/completions.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"

int tern_client_process_create(struct tern_device *dev, const char *name, struct tern_process **out)
{
    return tern_client_process_create_in(dev, NULL, name, out);
}

int tern_client_process_create_in(struct tern_device *dev, const char *partition, const char *name,
                                  struct tern_process **out)
{
    struct tern_wire_reply reply;
    uint64_t where[3] = {0};
    int r = tern_client_check(dev);
    if (r) {
        return r;
    }
    const char *const in = partition ? partition : "";
    if (strlen(in) >= sizeof where) {
        return tern_error(-ENOENT, "the device has no partition '%.60s'", in);
    }
    memcpy(where, in, strlen(in));
    struct tern_process *p = calloc(1, sizeof *p);
    if (!p) {
        return tern_error_memory("a process");
    }
    p->api = &tern_client_api;
    p->dev = dev;
    tern_list_init(&p->contexts);
    tern_list_init(&p->allocations);
    tern_list_init(&p->fences);
    snprintf(p->name, sizeof p->name, "%s", name ? name : "unnamed");
    r = tern_call(dev, TERN_WIRE_PROCESS_CREATE, 0, where, p->name, &reply);
    if (r) {
        free(p);
        return r;
    }
    p->handle = reply.object;
    pthread_mutex_lock(&dev->lock);
    p->number = ++dev->numbers;
    tern_list_append(&dev->processes, &p->node);
    pthread_mutex_unlock(&dev->lock);
    *out = p;
    return 0;
}

/* ------------------------------------------------------------------ in error */

/** Stores the first fault, and marks the process as in error. Takes dev->lock. */
static void keep(struct tern_process *p, const struct tern_fault *f)
{
    pthread_mutex_lock(&p->dev->lock);
    if (!atomic_load(&p->has_fault)) {
        p->fault = *f;
        atomic_store(&p->has_fault, true);
    }
    pthread_mutex_unlock(&p->dev->lock);
    atomic_store(&p->error, true);
}

/** Asks ternd for the status. 0, or -EIO: the fault is stored. */
static int ask(struct tern_process *p)
{
    struct tern_device *dev = p->dev;
    struct tern_fault f = {0};
    struct tern_call call;
    int r = tern_call_begin(&call, dev, TERN_WIRE_PROCESS_STATUS, p->handle);
    if (!r) {
        r = tern_call_do(&call);
        memcpy(&f, call.slot, sizeof f);
        f.message[sizeof f.message - 1] = '\0';
        tern_call_end(&call);
        if (r == -EIO && f.code) {
            keep(p, &f);
        }
    }
    if (r == -EIO && !f.code) { /* ternd or its device is gone */
        f.code = TERN_FAULT_DEVICE;
        snprintf(f.message, sizeof f.message, "process '%.40s': %.300s", p->name, tern_last_error());
        keep(p, &f);
    }
    return r;
}

int tern_client_process_explain(struct tern_process *p, const char *before)
{
    const bool known = atomic_load(&p->has_fault) || ask(p) == -EIO;
    return tern_error(-EIO, "%s%s", before, known ? p->fault.message : "its work was aborted");
}

int tern_client_process_check(struct tern_process *p)
{
    return atomic_load(&p->error) ? tern_client_process_explain(p, "the process is in error: ") : 0;
}

int tern_client_process_status(struct tern_process *p, struct tern_fault *fault)
{
    if (p->dev->fork.inherited) {
        return tern_client_check(p->dev);
    }
    int r = atomic_load(&p->has_fault) ? tern_client_process_check(p) : ask(p);
    if (r == -EIO && fault) {
        const int given = tern_sized_give(fault, &p->fault, sizeof p->fault);
        r = given ? given : r;
    }
    return r;
}

void tern_client_process_abort(struct tern_process *p, const char *why)
{
    if (!p->dev->fork.inherited) {
        tern_ring_post(p->dev, TERN_WIRE_ENTRY_ABORT, p->handle, why);
        atomic_store(&p->error, true);
    }
}

/* ------------------------------------------------------------------ ending */

/** True: all work of the process has ended and was reported. Requires dev->lock. */
static bool at_rest(const struct tern_process *p)
{
    tern_assert_held(&p->dev->lock);
    TERN_LIST_EACH(node, &p->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        if (c->ended != c->submitted) {
            return false;
        }
    }
    return true;
}

int tern_client_process_kill(struct tern_process *p)
{
    struct tern_device *dev = p->dev;
    if (dev->fork.inherited) {
        return tern_client_check(dev);
    }
    if (tern_client_in_callback(dev)) {
        return tern_error(-EDEADLK, "process '%s' cannot be killed by a callback of its device: it waits for them",
                          p->name);
    }
    pthread_mutex_lock(&dev->lock);
    const bool first = !p->killed;
    p->killed = true;
    pthread_mutex_unlock(&dev->lock);
    if (first) {
        /* fails if ternd is gone, and the process with it */
        tern_call(dev, TERN_WIRE_PROCESS_KILL, p->handle, NULL, NULL, NULL);
        atomic_store(&p->error, true);
    }
    pthread_mutex_lock(&dev->lock);
    while (first ? !at_rest(p) : !p->ended) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    if (first) {
        tern_completions_drop(&dev->queues, p->number);
        p->ended = true;
        pthread_cond_broadcast(&dev->changed);
    }
    pthread_mutex_unlock(&dev->lock);
    return 0;
}

/** Frees the objects that the user has not destroyed of a killed process. Requires dev->lock, which is released
 *  meanwhile. */
static void free_objects(struct tern_process *p)
{
    tern_assert_held(&p->dev->lock);
    while (!p->ended) {
        pthread_cond_wait(&p->dev->changed, &p->dev->lock);
    }
    while (!tern_list_empty(&p->contexts)) {
        tern_client_context_free(TERN_LIST_ENTRY(p->contexts.next, struct tern_context, node));
    }
    while (!tern_list_empty(&p->allocations)) {
        struct tern_allocation *a = TERN_LIST_ENTRY(p->allocations.next, struct tern_allocation, node);
        tern_list_remove(&a->node);
        free(a);
    }
    while (!tern_list_empty(&p->fences)) {
        struct tern_fence *f = TERN_LIST_ENTRY(p->fences.next, struct tern_fence, node);
        tern_list_remove(&f->node);
        free(f);
    }
}

int tern_client_process_destroy(struct tern_process *p)
{
    struct tern_device *dev = p->dev;
    if (dev->fork.inherited) {
        return tern_client_check(dev);
    }
    pthread_mutex_lock(&dev->lock);
    if (p->killed) {
        free_objects(p);
    } else if (p->children) {
        const int r = tern_children_of_process(p->name, p->children);
        pthread_mutex_unlock(&dev->lock);
        return r;
    }
    pthread_mutex_unlock(&dev->lock);
    const int r = tern_call(dev, TERN_WIRE_PROCESS_DESTROY, p->handle, NULL, NULL, NULL);
    if (r == -EBUSY || r == -ENOMEM) {
        return r;
    }
    pthread_mutex_lock(&dev->lock);
    tern_list_remove(&p->node);
    pthread_mutex_unlock(&dev->lock);
    free(p);
    return 0;
}

/* ------------------------------------------------------------------ suspend, survey */

int tern_client_process_suspend(struct tern_process *p)
{
    return tern_call(p->dev, TERN_WIRE_PROCESS_SUSPEND, p->handle, NULL, NULL, NULL);
}

int tern_client_process_resume(struct tern_process *p)
{
    return tern_call(p->dev, TERN_WIRE_PROCESS_RESUME, p->handle, NULL, NULL, NULL);
}

int tern_client_process_allocations(struct tern_process *p, struct tern_allocation_info *out, uint32_t max)
{
    struct tern_call call;
    const uint32_t stride = max ? out->size : 0, room = TERN_WIRE_SLOT / sizeof *out;
    int r = tern_call_begin(&call, p->dev, TERN_WIRE_PROCESS_ALLOCATIONS, p->handle);
    if (r) {
        return r;
    }
    const struct tern_allocation_info *infos = call.slot;
    call.request.value[0] = max < room ? max : room;
    r = tern_call_do(&call);
    const uint64_t n = call.reply.value[0];
    for (uint32_t i = 0; !r && i < n && i < max && i < room; i++) {
        r = tern_sized_give_at(out, stride, i, &infos[i], sizeof *infos);
    }
    tern_call_end(&call);
    return r ? r : (int)n;
}

int tern_client_process_dirty(struct tern_process *p, uint32_t address, uint32_t bytes, bool clear, uint32_t *bits)
{
    struct tern_call call;
    int r = tern_call_begin(&call, p->dev, TERN_WIRE_PROCESS_DIRTY, p->handle);
    if (r) {
        return r;
    }
    call.request.value[0] = address;
    call.request.value[1] = bytes;
    call.request.value[2] = clear;
    r = tern_call_do(&call);
    if (!r) {
        memcpy(bits, call.slot, (bytes / 4096 + 31) / 32 * sizeof *bits);
    }
    tern_call_end(&call);
    return r;
}
