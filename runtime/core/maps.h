/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The mappings of a buffer by pointer: a hash table whose chains are in the mappings, so that taking one costs the same
 * for any number of mappings. Without memory for a larger table the chains grow, so adding never fails. Functions
 * require the context's lock. Callers assert it, because the table does not know its buffer.
 */
#ifndef RT_MAPS_H
#define RT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_map;

/** The mappings of a buffer. Guarded by the context's lock. */
struct rt_maps {
    struct rt_map **chains; /**< Array of n_chains chains, a power of two; NULL: no table yet. */
    size_t n_chains;
    size_t n;               /**< Number of mappings. */
    struct rt_map *first;   /**< Chain that is used while there is no table. */
    size_t swept;           /**< Number of chains that rt_maps_empty has found empty. */
    uint64_t steps;         /**< Steps of work so far, for tests of complexity. */
};

/** Adds a mapping. */
void rt_maps_put(struct rt_maps *s, struct rt_map *map);
/** Removes and returns the youngest mapping with this pointer; NULL: there is none. */
struct rt_map *rt_maps_take(struct rt_maps *s, const void *pointer);
/** Removes this mapping. False: it is not in the set. */
bool rt_maps_remove(struct rt_maps *s, const struct rt_map *map);
/** Removes and returns any mapping; NULL: the set is empty, and its memory is freed. No mapping may be added before
 *  that. */
struct rt_map *rt_maps_empty(struct rt_maps *s);

#endif
