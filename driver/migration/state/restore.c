/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes processes from an image, by the functions that make objects for all users, each at its old address. Restoring
 * thus refuses whatever those functions refuse, and the end of a process undoes everything. Physical pages are newly
 * taken; tables and lists of pages are new.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/state/internal.h"
#include "os/mem/mem.h"
#include "os/service.h"

/** Makes the memory with its first mapping; later mappings map that memory. */
static int make_allocation(struct tern_image *image, struct tern_image_process *p, struct tern_image_allocation *a)
{
    struct tern_image_memory *m = &image->memories[a->memory];
    const struct tern_allocation_want want = {.size = (uint64_t)m->pages * TERN_PAGE, .flags = a->flags,
                                              .address = a->va * TERN_PAGE, .stays = m->stays, .memory = m->real};
    const int r = tern_allocation_make(p->real, &want, &a->real);
    if (!r) {
        m->real = a->real->mem;
    }
    return r;
}

/** Makes a fence of the process from its page. Requires dev->lock. -ENOMEM. */
static int make_fence(struct tern_process *proc, struct tern_allocation *page)
{
    tern_assert_held(&proc->dev->lock);
    struct tern_fence *f = calloc(1, sizeof *f);
    if (!f) {
        return tern_error_memory("a fence");
    }
    f->api = proc->dev->api;
    f->page = page;
    tern_list_append(&proc->fences, &f->node);
    return 0;
}

static int commit_blocks(const struct tern_image_memory *m)
{
    int r = 0;
    for (uint32_t i = 0; !r && m->sparse && i < m->blocks; i++) {
        r = m->committed[i / 32] >> i % 32 & 1 ? tern_sparse_commit(&m->real->blocks[i]) : 0;
    }
    return r;
}

/** Sets the rest of the state of an allocation: fence, committed blocks, handles. Takes dev->lock. */
static int finish_allocation(const struct tern_image *image, const struct tern_image_process *p,
                             const struct tern_image_allocation *a)
{
    struct tern_device *dev = p->real->dev;
    pthread_mutex_lock(&dev->lock);
    int r = tern_process_check(p->real);
    a->real->imported = a->imported;
    a->real->born = a->real->mem->movable ? a->born : UINT64_MAX;
    if (r == 0 && a->fence) {
        r = make_fence(p->real, a->real);
    }
    if (r == 0) {
        r = commit_blocks(&image->memories[a->memory]);
    }
    for (uint32_t i = 0; !r && i < a->export_count; i++) {
        r = tern_share_restore(a->real, a->exports[i].access, a->exports[i].handle);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

static int make_process(struct tern_image *image, struct tern_image_process *p, struct tern_device *dev,
                        const char *partition, const struct tern_migrate_owner *whose)
{
    struct tern_owner owner = {0};
    int r = whose && whose->process && !p->real ? whose->process(whose->user, p->id, &owner) : 0;
    owner.partition = partition;
    if (r == 0 && !p->real) {
        r = tern_os_process_create_for(dev, p->name, &owner, &p->real);
    }
    if (r == 0) {
        r = tern_os_process_suspend(p->real);
    }
    for (uint32_t i = 0; !r && i < p->allocation_count; i++) {
        r = p->allocations[i].real ? 0 : make_allocation(image, p, &p->allocations[i]);
    }
    return r;
}

int tern_restore_memory(const struct tern_image *image)
{
    int r = 0;
    for (uint32_t i = 0; i < image->process_count; i++) {
        const struct tern_image_process *p = &image->processes[i];
        for (uint32_t k = 0; !r && k < p->allocation_count; k++) {
            r = finish_allocation(image, p, &p->allocations[k]);
        }
    }
    return r;
}

int tern_restore_space(struct tern_image *image, struct tern_device *dev, const char *partition,
                       const struct tern_migrate_owner *owner)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < image->process_count; i++) {
        r = make_process(image, &image->processes[i], dev, partition, owner);
    }
    return r;
}
