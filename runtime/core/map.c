/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mappings of buffers and images (memory.h).
 *
 * Mappings for writing do not overlap. Therefore their rows are ordered, and a search tree, in which overlapping ranges
 * compare as equal, finds one that overlaps a new mapping. Rows that follow each other without a gap are one range. The
 * ranges are bytes of the outermost memory object, so a buffer, its parts and the images in it are compared alike.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/memory.h"

#define BLOCK_ALIGN 4096u

static int compare(const void *a, const void *b)
{
    const struct rt_span *x = a, *y = b;
    return x->start + x->size <= y->start ? -1 : y->start + y->size <= x->start ? 1 : 0;
}

/** The memory object whose `writing` has the mappings of `mem`. */
static cl_mem owner_of(cl_mem mem)
{
    while (mem->parent != NULL) {
        mem = mem->parent;
    }
    return mem;
}

/** Lists the mapped bytes. CL_OUT_OF_HOST_MEMORY. */
static cl_int make_spans(cl_mem mem, struct rt_map *map)
{
    size_t region[3];
    struct rt_side at = map->at, same = map->at;
    memcpy(region, map->region, sizeof region);
    rt_box_join(region, &at, &same);
    struct rt_span *spans = malloc(region[1] * region[2] * sizeof *spans);
    if (spans == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            const size_t start = mem->origin + at.start + z * at.slice + y * at.row;
            spans[z * region[1] + y] = (struct rt_span){start, region[0]};
        }
    }
    map->spans = spans;
    map->n_spans = region[1] * region[2];
    return CL_SUCCESS;
}

/** Removes the first n spans from the tree. Requires the context's lock. */
static void remove_spans(cl_mem owner, const struct rt_map *map, size_t n)
{
    tern_assert_held(&owner->context->lock);
    for (size_t i = 0; i < n; i++) {
        tdelete(&map->spans[i], &owner->writing, compare);
    }
}

static cl_int make_exclusive(cl_mem mem, struct rt_map *map)
{
    cl_mem owner = owner_of(mem);
    struct rt_span mine = {0}, other = {0};
    cl_int error = make_spans(mem, map);
    size_t n = 0;
    if (error != CL_SUCCESS) {
        return error;
    }
    pthread_mutex_lock(&mem->context->lock);
    for (; n < map->n_spans && error == CL_SUCCESS; n++) {
        struct rt_span *const *there = tsearch(&map->spans[n], &owner->writing, compare);
        if (there == NULL) {
            error = CL_OUT_OF_HOST_MEMORY;
        } else if (*there != &map->spans[n]) {
            error = CL_INVALID_OPERATION;
            mine = map->spans[n];
            other = **there;
        }
    }
    if (error == CL_SUCCESS) {
        map->exclusive = true;
    } else {
        remove_spans(owner, map, n - 1); /* the last one was not added */
    }
    pthread_mutex_unlock(&mem->context->lock);
    if (error == CL_INVALID_OPERATION) {
        rt_context_refuse(mem->context, RT_REFUSED_MAPPING, "the bytes %zu to %zu of %s cannot be mapped for "
                          "writing: %zu to %zu still are; unmap these first", mine.start, mine.start + mine.size - 1,
                          mem->image != NULL ? "an image" : "a buffer", other.start, other.start + other.size - 1);
    }
    return error;
}

void rt_map_share(cl_mem mem, struct rt_map *map)
{
    pthread_mutex_lock(&mem->context->lock);
    if (map->exclusive) {
        remove_spans(owner_of(mem), map, map->n_spans);
        map->exclusive = false;
    }
    pthread_mutex_unlock(&mem->context->lock);
}

/** The part of `range` that is mapped for writing by one span; size 0: there is none. Takes the context's lock. */
static struct rt_span written(cl_mem mem, const struct rt_span *range)
{
    struct rt_span found = {0};
    pthread_mutex_lock(&mem->context->lock);
    struct rt_span *const *there = tfind(range, &owner_of(mem)->writing, compare);
    if (there != NULL) {
        found = **there;
    }
    pthread_mutex_unlock(&mem->context->lock);
    return found;
}

/** Reads the bytes [offset, end) of the object to `to` and behind, but not those that are mapped for writing. */
static cl_int load_around(cl_mem mem, size_t offset, size_t end, char *to)
{
    if (offset >= end) {
        return CL_SUCCESS;
    }
    const struct rt_span other = written(mem, &(struct rt_span){mem->origin + offset, end - offset});
    if (other.size == 0) {
        return rt_mem_read(mem, offset, to, end - offset);
    }
    const size_t from = other.start > mem->origin ? other.start - mem->origin : 0;
    const size_t behind = other.start + other.size - mem->origin;
    const cl_int error = load_around(mem, offset, from, to);
    return error != CL_SUCCESS || behind >= end ? error : load_around(mem, behind, end, to + (behind - offset));
}

cl_int rt_map_load(cl_mem mem, const struct rt_map *map)
{
    cl_int error = CL_SUCCESS;
    if ((map->flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0) {
        return CL_SUCCESS;
    }
    if (map->block != NULL || (map->flags & RT_MAP_WRITES) != 0) {
        return rt_mem_move(mem, true, map->region, &map->at, map->pointer, &map->host);
    }
    for (size_t z = 0; z < map->region[2] && error == CL_SUCCESS; z++) {
        for (size_t y = 0; y < map->region[1] && error == CL_SUCCESS; y++) {
            const size_t offset = map->at.start + z * map->at.slice + y * map->at.row;
            error = load_around(mem, offset, offset + map->region[0],
                                (char *)map->pointer + z * map->host.slice + y * map->host.row);
        }
    }
    return error;
}

cl_int rt_map_store(cl_mem mem, const struct rt_map *map)
{
    return (map->flags & RT_MAP_WRITES) == 0 ? CL_SUCCESS
                                             : rt_mem_move(mem, false, map->region, &map->at, map->pointer, &map->host);
}

/** Frees a mapping that nobody refers to. */
static void map_free(struct rt_map *map)
{
    free(map->spans);
    free(map->block);
    free(map);
}

/** Finds host memory for the mapping: the caller's, with the pitches of the object, or new memory without gaps. */
static cl_int take_host(cl_mem mem, struct rt_map *map)
{
    if (mem->host_ptr != NULL) {
        map->pointer = (char *)mem->host_ptr + map->at.start;
        map->host = (struct rt_side){.row = map->at.row, .slice = map->at.slice};
        return CL_SUCCESS;
    }
    const size_t lead = map->at.start % BLOCK_ALIGN; /* the pointer has the alignment of the place in the object */
    map->host = (struct rt_side){.row = map->region[0], .slice = map->region[0] * map->region[1]};
    if (posix_memalign(&map->block, BLOCK_ALIGN, lead + map->host.slice * map->region[2]) != 0) {
        map->block = NULL;
        return CL_OUT_OF_HOST_MEMORY;
    }
    map->pointer = (char *)map->block + lead;
    return CL_SUCCESS;
}

cl_int rt_map_create(cl_mem mem, cl_map_flags flags, const size_t region[3], const struct rt_side *at,
                     struct rt_map **out)
{
    struct rt_map *map = calloc(1, sizeof *map);
    if (map == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    atomic_init(&map->refs, 2);
    memcpy(map->region, region, sizeof map->region);
    map->at = *at;
    map->flags = flags;
    cl_int error = take_host(mem, map);
    if (error == CL_SUCCESS && (flags & RT_MAP_WRITES) != 0 && !mem->svm) {
        error = make_exclusive(mem, map);
    }
    if (error != CL_SUCCESS) {
        map_free(map);
        return error;
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
        map_free(map);
    }
}
