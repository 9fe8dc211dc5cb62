/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The mappings of a buffer, found by their pointers: a hash table whose chains are in the mappings, so that taking one
 * costs the same however many there are. If there is no memory for a larger table, chains grow instead: putting never
 * fails. Guarded by its owner's lock (the context's).
 */
#ifndef RT_MAPS_H
#define RT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_map;

struct rt_maps {
    struct rt_map **chains; /**< NULL: there was none yet; else a power of two of them. */
    size_t n_chains;
    size_t n;               /**< Mappings. */
    struct rt_map *first;   /**< While there is no table. */
    size_t swept;           /**< Chains that rt_maps_empty has found empty. */
    uint64_t steps;         /**< Of work, ever: what a test of complexity counts. */
};

void rt_maps_put(struct rt_maps *s, struct rt_map *map);
/** The mapping with this pointer, which leaves the set (of several, the youngest); NULL: there is none. */
struct rt_map *rt_maps_take(struct rt_maps *s, const void *pointer);
/** This mapping leaves the set. False: it is not there. */
bool rt_maps_remove(struct rt_maps *s, const struct rt_map *map);
/** Any mapping, which leaves the set; NULL: it is empty, and holds no memory any more. Nothing is put before that. */
struct rt_map *rt_maps_empty(struct rt_maps *s);

#endif
