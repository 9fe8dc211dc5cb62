/* SPDX-License-Identifier: Apache-2.0 */
/** Reference counts and magic numbers (object.h). */
#include "runtime/core/object.h"

#include <stdlib.h>

#include "runtime/core/device.h"
#include "runtime/core/live.h"

void *rt_object_create(size_t size, uint32_t magic, void (*destroy)(void *object))
{
    struct rt_object *o = calloc(1, size);
    if (o == NULL || !rt_live_add(o)) {
        free(o);
        return NULL;
    }
    o->dispatch = &rt_icd_dispatch;
    o->magic = magic;
    atomic_init(&o->refs, 1);
    atomic_init(&o->holds, 1);
    o->destroy = destroy;
    return o;
}

bool rt_object_is(const void *object, uint32_t magic)
{
    const struct rt_object *o = object;
    if (rt_device_inherited()) {
        rt_device_say_inherited();
        return false;
    }
    return rt_live_has(o) && o->magic == magic;
}

void rt_object_abandon(const void *object)
{
    rt_live_remove(object);
}

void rt_object_retain(void *object)
{
    struct rt_object *o = object;
    if (atomic_fetch_add(&o->refs, 1) == 0) {
        rt_object_hold(o); /* a query handed the object out again after the application's last release */
    }
}

bool rt_object_release(void *object)
{
    struct rt_object *o = object;
    unsigned refs = atomic_load(&o->refs);
    while (refs != 0 && !atomic_compare_exchange_weak(&o->refs, &refs, refs - 1)) {
    }
    if (refs == 1) {
        rt_object_drop(o);
    }
    return refs != 0;
}

bool rt_object_end(void *object, uint32_t magic)
{
    if (rt_device_inherited()) {
        return true;
    }
    return rt_object_is(object, magic) && rt_object_release(object);
}

cl_uint rt_object_refs(const void *object)
{
    const struct rt_object *o = object;
    return atomic_load(&o->refs);
}

void rt_object_hold(void *object)
{
    struct rt_object *o = object;
    atomic_fetch_add(&o->holds, 1);
}

void rt_object_drop(void *object)
{
    struct rt_object *o = object;
    if (o != NULL && atomic_fetch_sub(&o->holds, 1) == 1) {
        rt_live_remove(o);
        o->destroy(o);
    }
}
