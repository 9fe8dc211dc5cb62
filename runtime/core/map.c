/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mappings of a buffer (memory.h).
 *
 * Mappings for writing do not overlap. Therefore they are ordered, and a search tree, in which overlapping ranges
 * compare as equal, finds one that overlaps a new mapping.
 */
#include <search.h>
#include <stdlib.h>

#include "runtime/core/memory.h"

#define BLOCK_ALIGN 4096u

static int compare(const void *a, const void *b)
{
    const struct rt_map *x = a, *y = b;
    return x->start + x->size <= y->start ? -1 : y->start + y->size <= x->start ? 1 : 0;
}

/** The buffer whose `writing` has the mappings of `mem`. */
static cl_mem owner_of(cl_mem mem)
{
    return mem->parent == NULL ? mem : mem->parent;
}

static cl_int make_exclusive(cl_mem mem, struct rt_map *map)
{
    cl_int error = CL_SUCCESS;
    struct rt_map other = {0};
    pthread_mutex_lock(&mem->context->lock);
    struct rt_map *const *there = tsearch(map, &owner_of(mem)->writing, compare);
    if (there == NULL) {
        error = CL_OUT_OF_HOST_MEMORY;
    } else if (*there != map) {
        error = CL_INVALID_OPERATION;
        other.start = (*there)->start;
        other.size = (*there)->size;
    } else {
        map->exclusive = true;
    }
    pthread_mutex_unlock(&mem->context->lock);
    if (error == CL_INVALID_OPERATION) {
        rt_context_refuse(mem->context, RT_REFUSED_MAPPING, "the bytes %zu to %zu of a buffer cannot be mapped for "
                          "writing: %zu to %zu still are; unmap these first", map->start, map->start + map->size - 1,
                          other.start, other.start + other.size - 1);
    }
    return error;
}

void rt_map_share(cl_mem mem, struct rt_map *map)
{
    pthread_mutex_lock(&mem->context->lock);
    if (map->exclusive) {
        tdelete(map, &owner_of(mem)->writing, compare);
        map->exclusive = false;
    }
    pthread_mutex_unlock(&mem->context->lock);
}

/** The mapping for writing that overlaps [start, end); size 0: there is none. Takes the context's lock. */
static struct rt_map written(cl_mem mem, size_t start, size_t end)
{
    struct rt_map range = {.start = start, .size = end - start};
    pthread_mutex_lock(&mem->context->lock);
    struct rt_map *const *there = tfind(&range, &owner_of(mem)->writing, compare);
    range.size = there == NULL ? 0 : (*there)->size;
    range.start = there == NULL ? 0 : (*there)->start;
    pthread_mutex_unlock(&mem->context->lock);
    return range;
}

/** Reads a part of the mapping, given by its place in the buffer or its parent. */
static cl_int load(cl_mem mem, const struct rt_map *map, size_t start, size_t end)
{
    struct rt_map other = {0};
    if (start >= end) {
        return CL_SUCCESS;
    }
    if (map->block == NULL && (map->flags & RT_MAP_WRITES) == 0) {
        other = written(mem, start, end);
    }
    if (other.size == 0) {
        const size_t at = start - map->start;
        return rt_mem_read(mem, map->offset + at, (char *)map->pointer + at, end - start);
    }
    const cl_int error = load(mem, map, start, other.start);
    return error != CL_SUCCESS ? error : load(mem, map, other.start + other.size, end);
}

cl_int rt_map_load(cl_mem mem, const struct rt_map *map)
{
    if ((map->flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0) {
        return CL_SUCCESS;
    }
    return load(mem, map, map->start, map->start + map->size);
}

cl_int rt_map_create(cl_mem mem, cl_map_flags flags, size_t offset, size_t size, struct rt_map **out)
{
    struct rt_map *map = calloc(1, sizeof *map);
    if (map == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (mem->host_ptr != NULL) {
        map->pointer = (char *)mem->host_ptr + offset;
    } else {
        const size_t lead = offset % BLOCK_ALIGN; /* the pointer has the alignment of the place in the buffer */
        if (posix_memalign(&map->block, BLOCK_ALIGN, lead + size) != 0) {
            free(map);
            return CL_OUT_OF_HOST_MEMORY;
        }
        map->pointer = (char *)map->block + lead;
    }
    atomic_init(&map->refs, 2);
    map->offset = offset;
    map->start = mem->origin + offset;
    map->size = size;
    map->flags = flags;
    if ((flags & RT_MAP_WRITES) != 0 && !mem->svm) {
        const cl_int error = make_exclusive(mem, map);
        if (error != CL_SUCCESS) {
            free(map->block);
            free(map);
            return error;
        }
    }
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
        rt_map_share(mem, map);
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
