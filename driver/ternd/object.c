/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The objects of a client, by handle. A thread that calls the driver with an object holds a use of it. Destroying an
 * object frees the handle at once; the driver's object is destroyed with the last use. Therefore a client that destroys
 * an object twice, or while another of its threads uses it, harms no other client.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ternd/server.h"

#define OBJECTS_MAX (1u << 20)

struct ternd_object *ternd_object_create(struct ternd_session *s, struct ternd_object *proc, enum ternd_kind kind)
{
    struct ternd_object *o = calloc(1, sizeof *o);
    if (!o) {
        tern_error_memory("an object");
        return NULL;
    }
    o->session = s;
    o->proc = proc;
    o->kind = kind;
    o->sent_end = &o->sent;
    tern_list_init(&o->node);
    return o;
}

/** Finds a free handle, and makes the array larger if there is none. Requires session->lock. -ENOMEM. */
static int find_place(struct ternd_session *s, uint32_t *place)
{
    tern_assert_held(&s->lock);
    uint32_t i = s->free_from;
    while (i < s->objects && s->object[i]) {
        i++;
    }
    if (i == s->objects) {
        const uint32_t n = i ? 2 * i : 16;
        struct ternd_object **more = n <= OBJECTS_MAX ? realloc(s->object, n * sizeof *more) : NULL;
        if (!more) {
            return tern_error(-ENOMEM, "there is no room for another object of this program in ternd");
        }
        for (uint32_t k = i; k < n; k++) {
            more[k] = NULL;
        }
        s->object = more;
        s->objects = n;
    }
    s->free_from = i + 1;
    *place = i;
    return 0;
}

/** Adds the object to its process, or a process to its session. Requires session->lock. */
static void connect_process(struct ternd_object *o)
{
    tern_assert_held(&o->session->lock);
    if (o->proc) {
        o->proc->children++;
    } else {
        tern_list_append(&o->session->processes, &o->node);
    }
}

/** As ternd_object_place. Requires session->lock. */
static int place(struct ternd_object *o, uint32_t handle)
{
    struct ternd_session *s = o->session;
    tern_assert_held(&s->lock);
    if (!handle || handle > OBJECTS_MAX || (handle <= s->objects && s->object[handle - 1])) {
        return tern_error(-EEXIST, "object %u is there twice, or cannot be", handle);
    }
    if (handle > s->objects) {
        uint32_t n = s->objects ? s->objects : 16;
        while (n < handle) {
            n *= 2;
        }
        struct ternd_object **more = realloc(s->object, n * sizeof *more);
        if (!more) {
            return tern_error_memory("objects of a program");
        }
        memset(more + s->objects, 0, (n - s->objects) * sizeof *more);
        s->object = more;
        s->objects = n;
    }
    s->object[handle - 1] = o;
    o->handle = handle;
    connect_process(o);
    return 0;
}

int ternd_object_place(struct ternd_object *o, uint32_t handle)
{
    pthread_mutex_lock(&o->session->lock);
    const int r = place(o, handle);
    pthread_mutex_unlock(&o->session->lock);
    return r;
}

int ternd_object_add(struct ternd_object *o)
{
    struct ternd_session *s = o->session;
    uint32_t at = 0;
    pthread_mutex_lock(&s->lock);
    int r = s->ending ? tern_error(-EIO, "the session has ended") : find_place(s, &at);
    if (!r) {
        s->object[at] = o;
        o->handle = at + 1;
        connect_process(o);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

struct ternd_object *ternd_object_get(struct ternd_session *s, uint32_t handle, enum ternd_kind kind)
{
    pthread_mutex_lock(&s->lock);
    struct ternd_object *o = handle && handle <= s->objects ? s->object[handle - 1] : NULL;
    o = o && o->kind == kind ? o : NULL;
    if (o) {
        o->uses++;
        if (o->proc) {
            o->proc->uses++;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return o;
}

/** Frees the handle and marks the object dead. Requires session->lock. */
static void take_handle(struct ternd_object *o)
{
    tern_assert_held(&o->session->lock);
    struct ternd_session *s = o->session;
    if (o->handle && s->object[o->handle - 1] == o) {
        s->object[o->handle - 1] = NULL;
        s->free_from = o->handle - 1 < s->free_from ? o->handle - 1 : s->free_from;
    }
    o->dead = true;
}

int ternd_object_pin(struct ternd_object *o, uint32_t pins)
{
    const uint64_t bytes = tern_os_allocation_size(o->it);
    pthread_mutex_lock(&o->session->lock);
    const int r = o->pins ? 0 : ternd_user_pin(o->session->user, bytes);
    if (!r) {
        o->pinned = bytes;
        o->pins += pins;
    }
    pthread_mutex_unlock(&o->session->lock);
    return r;
}

static void unpin(struct ternd_object *o)
{
    pthread_mutex_lock(&o->session->lock);
    if (!--o->pins) {
        ternd_user_unpin(o->session->user, o->pinned);
        o->pinned = 0;
    }
    pthread_mutex_unlock(&o->session->lock);
}

int ternd_object_make_resident(struct ternd_object *o)
{
    int r = ternd_object_pin(o, 1);
    if (!r) {
        r = tern_os_allocation_make_resident(o->it);
        if (r) {
            unpin(o);
        }
    }
    return r;
}

int ternd_object_evict(struct ternd_object *o)
{
    const int r = tern_os_allocation_evict(o->it);
    if (!r) {
        unpin(o);
    }
    return r;
}

void ternd_object_give(const struct ternd_object *o)
{
    struct ternd_session *s = o->session;
    ternd_user_give(s->ternd, s->user, o->bytes, o->proc && o->kind == TERND_CONTEXT, 0);
    ternd_user_unpin(s->user, o->pinned);
}

/** Destroys the driver's object, of which no use is left, and frees the object. */
static void finish(struct ternd_object *o)
{
    struct ternd_session *s = o->session;
    if (o->kind == TERND_ALLOCATION) {
        tern_os_allocation_destroy(o->it);
    } else if (o->kind == TERND_FENCE) {
        tern_os_fence_destroy(o->it);
    } else {
        tern_os_context_destroy(o->it);
    }
    for (struct ternd_sent *e = o->sent, *next; e; e = next) { /* submissions that are reported by another ternd */
        next = e->next;
        free(e);
    }
    ternd_object_give(o);
    pthread_mutex_lock(&s->lock);
    o->proc->children--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    free(o);
}

void ternd_object_put(struct ternd_object *o)
{
    struct ternd_session *s = o->session;
    pthread_mutex_lock(&s->lock);
    o->uses--;
    if (o->proc) {
        o->proc->uses--;
    }
    const bool last = o->dead && !o->uses && (o->kind == TERND_ALLOCATION || o->kind == TERND_FENCE);
    if (o->proc ? o->proc->dead || o->dead : o->dead) {
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (last) {
        finish(o);
    }
}

void ternd_object_drop(struct ternd_object *o)
{
    pthread_mutex_lock(&o->session->lock);
    take_handle(o);
    pthread_mutex_unlock(&o->session->lock);
    ternd_object_put(o);
}

void ternd_context_end(struct ternd_object *o)
{
    struct ternd_session *s = o->session;
    pthread_mutex_lock(&s->lock);
    if (o->dead) { /* another thread destroys the context */
        pthread_mutex_unlock(&s->lock);
        ternd_object_put(o);
        return;
    }
    take_handle(o);
    while (o->uses > 1) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    o->uses--;
    o->proc->uses--;
    pthread_mutex_unlock(&s->lock);
    finish(o);
}

/** Destroys the objects of a killed process that the client has not destroyed. */
static void drop_children(struct ternd_object *proc)
{
    struct ternd_session *s = proc->session;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->objects; i++) {
        struct ternd_object *o = s->object[i];
        if (!o || o->proc != proc) {
            continue;
        }
        o->uses++;
        proc->uses++;
        pthread_mutex_unlock(&s->lock);
        if (o->kind == TERND_CONTEXT) {
            ternd_context_end(o);
        } else {
            ternd_object_drop(o);
        }
        pthread_mutex_lock(&s->lock);
    }
    while (proc->children) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

int ternd_process_end(struct ternd_object *o)
{
    struct ternd_session *s = o->session;
    int r = 0;
    pthread_mutex_lock(&s->lock);
    if (o->dead || (o->children && !o->killed)) {
        pthread_mutex_unlock(&s->lock);
        ternd_object_put(o);
        return tern_error(-EBUSY, "the process has contexts, allocations or fences left: destroy them first");
    }
    take_handle(o);
    if (o->killed) {
        pthread_mutex_unlock(&s->lock);
        drop_children(o);
        pthread_mutex_lock(&s->lock);
    }
    while (o->uses > 1) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    tern_list_remove(&o->node); /* no other thread can reach the object from here on */
    pthread_mutex_unlock(&s->lock);
    if (o->killed) {
        drop_children(o); /* objects that calls made meanwhile */
    }
    r = tern_os_process_destroy(o->it);
    if (r) { /* a call made an object meanwhile: the process stays, without a handle, until the session ends */
        pthread_mutex_lock(&s->lock);
        tern_list_append(&s->processes, &o->node);
        o->uses--;
        pthread_mutex_unlock(&s->lock);
        return r;
    }
    free(o);
    return 0;
}
