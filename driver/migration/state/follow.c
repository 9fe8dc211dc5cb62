/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two images of the same processes, the later one captured after the earlier one was sent. A memory is the same in both
 * if some allocation of it is at the same address of the same process. Such a memory keeps its slot on the source and
 * its contents on the target. All other memories are new, and are sent in full.
 */
#include "migration/state/internal.h"

static struct tern_image_process *find(const struct tern_image *image, uint32_t id)
{
    for (uint32_t i = 0; i < image->process_count; i++) {
        if (image->processes[i].id == id) {
            return &image->processes[i];
        }
    }
    return NULL;
}

/** The allocation at address va, among those from *i on, which are in ascending order; or NULL. Advances *i. */
static struct tern_image_allocation *at(const struct tern_image_process *p, uint32_t va, uint32_t *i)
{
    while (*i < p->allocation_count && p->allocations[*i].va < va) {
        ++*i;
    }
    return *i < p->allocation_count && p->allocations[*i].va == va ? &p->allocations[*i] : NULL;
}

/* ---------------------------------------------------------------------- the source */

static void follow_slots(struct tern_image *image, const struct tern_image *before,
                         const struct tern_image_process *p, const struct tern_image_process *old)
{
    for (uint32_t i = 0, k = 0; i < p->allocation_count; i++) {
        struct tern_image_memory *m = &image->memories[p->allocations[i].memory];
        const struct tern_image_allocation *was = at(old, p->allocations[i].va, &k);
        const struct tern_image_memory *then = was ? &before->memories[was->memory] : NULL;
        if (then && then->number == m->number && was->flags == p->allocations[i].flags) {
            m->slot = then->slot;
        }
    }
}

void tern_image_follow(struct tern_image *image, const struct tern_image *before)
{
    for (uint32_t i = 0; i < image->memory_count; i++) {
        image->memories[i].slot = UINT32_MAX;
    }
    for (uint32_t i = 0; i < image->process_count; i++) {
        const struct tern_image_process *p = &image->processes[i], *old = find(before, p->id);
        if (old) {
            follow_slots(image, before, p, old);
        }
    }
    image->slots = before->slots;
    for (uint32_t i = 0; i < image->memory_count; i++) {
        struct tern_image_memory *m = &image->memories[i];
        m->slot = m->slot == UINT32_MAX ? image->slots++ : m->slot;
    }
}

/* ---------------------------------------------------------------------- the target */

/** True: the object that was made for `was` can serve as `a`. */
static bool is_same(const struct tern_image *image, const struct tern_image_allocation *a,
                    const struct tern_image *before, const struct tern_image_allocation *was)
{
    const struct tern_image_memory *m = &image->memories[a->memory], *then = &before->memories[was->memory];
    return m->slot == then->slot && m->pages == then->pages && m->stays == then->stays && m->sparse == then->sparse &&
           a->flags == was->flags && was->real;
}

static void follow_process(struct tern_image *image, struct tern_image_process *p, struct tern_image *before,
                           struct tern_image_process *old)
{
    p->real = old->real;
    old->real = NULL;
    for (uint32_t i = 0, k = 0; i < old->allocation_count; i++) {
        struct tern_image_allocation *was = &old->allocations[i], *a = at(p, was->va, &k);
        if (a && is_same(image, a, before, was)) {
            struct tern_image_memory *m = &image->memories[a->memory], *then = &before->memories[was->memory];
            a->real = was->real;
            m->real = was->real->mem;
            m->filled = m->filled ? m->filled : then->filled;
            then->filled = m->filled == then->filled ? NULL : then->filled;
        } else if (was->real) {
            tern_os_allocation_destroy(was->real);
        }
        was->real = NULL;
    }
}

void tern_restore_follow(struct tern_image *image, struct tern_image *before)
{
    for (uint32_t i = 0; i < before->process_count; i++) {
        struct tern_image_process *old = &before->processes[i], *p = find(image, old->id);
        if (p && !p->real) {
            follow_process(image, p, before, old);
        } else {
            tern_migrate_discard(old->real);
            old->real = NULL;
        }
    }
}
