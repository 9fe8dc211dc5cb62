/* SPDX-License-Identifier: Apache-2.0 */
/** Contexts of a client, and waits for their work. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/completions.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/wait.h"
#include "client/client.h"

int tern_client_context_create(struct tern_process *p, const struct tern_context_desc *desc, struct tern_context **out)
{
    struct tern_device *dev = p->dev;
    struct tern_context_desc d;
    struct tern_wire_reply reply;
    int r = tern_sized_take(&d, sizeof d, desc);
    if (r == 0) {
        r = tern_client_check(dev);
    }
    if (r) {
        return r;
    }
    if (d.completions && (d.completed || d.completions->dev != dev)) {
        return tern_error(-EINVAL, d.completed ? "a context has a callback or a completion queue, not both"
                                               : "the completion queue is of another device");
    }
    if (d.flags & ~(uint64_t)TERN_CONTEXT_ANY_THREAD) {
        return tern_error(-EINVAL, "a context has no flags 0x%" PRIx64, d.flags);
    }
    struct tern_context *c = calloc(1, sizeof *c);
    if (!c) {
        return tern_error_memory("a context");
    }
    c->api = &tern_client_api;
    c->proc = p;
    c->completed = d.completed;
    c->any_thread = d.flags & TERN_CONTEXT_ANY_THREAD;
    c->user = d.user;
    c->completions = d.completions;
    tern_list_init(&c->reserved);
    snprintf(c->name, sizeof c->name, "%s", d.name ? d.name : "unnamed");
    const uint64_t values[3] = {(uint64_t)(int64_t)d.engine, d.weight, (uintptr_t)c};
    r = tern_call(dev, TERN_WIRE_CONTEXT_CREATE, p->handle, values, c->name, &reply);
    if (r) {
        free(c);
        return r;
    }
    c->handle = reply.object;
    pthread_mutex_lock(&dev->lock);
    if (c->completions) {
        c->completions->users++;
    }
    tern_list_append(&p->contexts, &c->node);
    p->children++;
    pthread_mutex_unlock(&dev->lock);
    *out = c;
    return 0;
}

void tern_client_context_free(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    tern_list_remove(&c->node);
    c->proc->children--;
    if (c->completions) {
        c->completions->users--;
    }
    free(c);
}

void tern_client_context_destroy(struct tern_context *c)
{
    struct tern_device *dev = c->proc->dev;
    if (dev->fork.inherited) {
        return;
    }
    pthread_mutex_lock(&dev->lock);
    while (c->ended != c->submitted) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
    tern_call(dev, TERN_WIRE_CONTEXT_DESTROY, c->handle, NULL, NULL, NULL);
    pthread_mutex_lock(&dev->lock);
    tern_client_context_free(c);
    pthread_mutex_unlock(&dev->lock);
}

int tern_client_context_take_data(struct tern_context *c)
{
    const int r = tern_call(c->proc->dev, TERN_WIRE_CONTEXT_TAKE_DATA, c->handle, NULL, NULL, NULL);
    if (!r) {
        atomic_store(&c->takes_data, true);
    }
    return r;
}

int tern_client_context_set_priority(struct tern_context *c, enum tern_band band, uint32_t weight)
{
    const uint64_t values[3] = {(uint64_t)(int64_t)band, weight, 0};
    return tern_call(c->proc->dev, TERN_WIRE_CONTEXT_PRIORITY, c->handle, values, NULL, NULL);
}

int tern_client_context_set_residency(struct tern_context *c, const uint32_t *addresses, uint32_t count)
{
    struct tern_call call;
    const size_t size = (size_t)count * sizeof *addresses;
    if (addresses && size > TERN_WIRE_SLOT) {
        return tern_error(-ENOMEM, "context '%s': a working set has at most %zu addresses, and %u were given", c->name,
                          TERN_WIRE_SLOT / sizeof *addresses, count);
    }
    int r = tern_client_check(c->proc->dev);
    if (r == 0) {
        r = tern_call_begin(&call, c->proc->dev, TERN_WIRE_CONTEXT_RESIDENCY, c->handle);
    }
    if (r) {
        return r;
    }
    if (addresses) {
        memcpy(call.slot, addresses, size);
    }
    call.request.value[0] = addresses != NULL;
    call.request.value[1] = addresses ? count : 0;
    r = tern_call_do(&call);
    tern_call_end(&call);
    return r;
}

int tern_client_context_query(struct tern_context *c, struct tern_context_stats *out)
{
    struct tern_context_stats own = {0};
    struct tern_call call;
    int r = c->proc->dev->fork.inherited ? 0 : tern_call_begin(&call, c->proc->dev, TERN_WIRE_CONTEXT_QUERY, c->handle);
    if (!r && !c->proc->dev->fork.inherited) {
        r = tern_call_do(&call);
        memcpy(&own, call.slot, sizeof own);
        tern_call_end(&call);
    }
    return r ? r : tern_sized_give(out, &own, sizeof own);
}

/* ------------------------------------------------------------------ waiting */

int tern_client_wait(struct tern_context *c, uint64_t fence, int64_t timeout_ms)
{
    struct tern_device *dev = c->proc->dev;
    if (dev->fork.inherited) {
        return tern_client_check(dev);
    }
    const struct timespec until = tern_deadline(timeout_ms);
    int r = 0;
    pthread_mutex_lock(&dev->lock);
    if (fence > c->submitted) {
        r = tern_error(-EINVAL, "context '%s': fence %" PRIu64 " was never submitted, %" PRIu64 " is the last", c->name,
                       fence, c->submitted);
    }
    while (!r && c->ended < fence) {
        r = dev->taking || atomic_load(&dev->gone) ? -EAGAIN
                                                   : tern_client_take(c, fence, timeout_ms < 0 ? NULL : &until);
        r = r == -EAGAIN ? tern_wait_changed(&dev->changed, &dev->lock, timeout_ms, &until) : r;
    }
    const bool bad = !r && c->first_bad && fence >= c->first_bad;
    pthread_mutex_unlock(&dev->lock);
    if (r == -ETIMEDOUT) {
        tern_error(r, "context '%s': fence %" PRIu64 " has not ended after %lld ms", c->name, fence,
                   (long long)timeout_ms);
    }
    return bad ? tern_client_process_explain(c->proc, "") : r;
}

uint64_t tern_client_context_ended(struct tern_context *c)
{
    if (c->proc->dev->fork.inherited) {
        return c->ended;
    }
    pthread_mutex_lock(&c->proc->dev->lock);
    const uint64_t ended = c->ended;
    pthread_mutex_unlock(&c->proc->dev->lock);
    return ended;
}
