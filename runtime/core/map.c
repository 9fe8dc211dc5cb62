/* SPDX-License-Identifier: Apache-2.0 */
/** Mappings of a buffer (memory.h). */
#include <stdlib.h>

#include "runtime/core/memory.h"

#define BLOCK_ALIGN 4096u

cl_int rt_map_create(cl_mem mem, cl_map_flags flags, size_t offset, size_t size, struct rt_map **out)
{
    struct rt_map *map = calloc(1, sizeof *map);
    if (map == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (mem->host_ptr != NULL) {
        map->pointer = (char *)mem->host_ptr + offset;
    } else {
        const size_t lead = offset % BLOCK_ALIGN; /* the pointer is aligned as the place in the buffer is */
        if (posix_memalign(&map->block, BLOCK_ALIGN, lead + size) != 0) {
            free(map);
            return CL_OUT_OF_HOST_MEMORY;
        }
        map->pointer = (char *)map->block + lead;
    }
    atomic_init(&map->refs, 2);
    map->offset = offset;
    map->size = size;
    map->flags = flags;
    rt_map_return(mem, map);
    *out = map;
    return CL_SUCCESS;
}

struct rt_map *rt_map_take(cl_mem mem, const void *pointer)
{
    pthread_mutex_lock(&mem->context->lock);
    struct rt_map *found = rt_maps_take(&mem->maps, pointer);
    pthread_mutex_unlock(&mem->context->lock);
    return found;
}

void rt_map_return(cl_mem mem, struct rt_map *map)
{
    pthread_mutex_lock(&mem->context->lock);
    rt_maps_put(&mem->maps, map);
    pthread_mutex_unlock(&mem->context->lock);
}

void rt_map_cancel(cl_mem mem, struct rt_map *map)
{
    pthread_mutex_lock(&mem->context->lock);
    const bool there = rt_maps_remove(&mem->maps, map);
    pthread_mutex_unlock(&mem->context->lock);
    if (there) {
        rt_map_drop(map);
    }
}

void rt_map_hold(struct rt_map *map)
{
    atomic_fetch_add(&map->refs, 1);
}

void rt_map_drop(struct rt_map *map)
{
    if (atomic_fetch_sub(&map->refs, 1) == 1) {
        free(map->block);
        free(map);
    }
}
