/* SPDX-License-Identifier: Apache-2.0 */
/** The mappings of a buffer (maps.h). */
#include "runtime/core/maps.h"

#include <stdlib.h>

#include "runtime/core/memory.h"

#define FIRST_CHAINS 16u

static struct rt_map **chain_of(struct rt_maps *s, const void *pointer)
{
    const uint64_t hash = (uint64_t)(uintptr_t)pointer * 0x9e3779b97f4a7c15u;
    return s->chains == NULL ? &s->first : &s->chains[hash >> 32 & (s->n_chains - 1)];
}

static void link_it(struct rt_maps *s, struct rt_map *map)
{
    struct rt_map **chain = chain_of(s, map->pointer);
    map->next = *chain;
    *chain = map;
    s->steps++;
}

/** Doubles the table. Mappings with the same pointer keep their order. */
static void grow(struct rt_maps *s)
{
    const struct rt_maps old = *s;
    const size_t n = old.chains == NULL ? FIRST_CHAINS : 2 * old.n_chains;
    struct rt_map **chains = calloc(n, sizeof(struct rt_map *));
    if (chains == NULL) {
        return;
    }
    s->chains = chains;
    s->n_chains = n;
    s->first = NULL;
    for (size_t i = 0; i < (old.chains == NULL ? 1 : old.n_chains); i++) {
        struct rt_map *backwards = NULL;
        for (struct rt_map *m = old.chains == NULL ? old.first : old.chains[i], *next; m != NULL; m = next) {
            next = m->next;
            m->next = backwards;
            backwards = m;
        }
        for (struct rt_map *m = backwards, *next; m != NULL; m = next) {
            next = m->next;
            link_it(s, m);
        }
    }
    free(old.chains);
}

void rt_maps_put(struct rt_maps *s, struct rt_map *map)
{
    if (s->n >= (s->chains == NULL ? FIRST_CHAINS : s->n_chains)) {
        grow(s);
    }
    link_it(s, map);
    s->n++;
}

struct rt_map *rt_maps_take(struct rt_maps *s, const void *pointer)
{
    for (struct rt_map **at = chain_of(s, pointer); *at != NULL; at = &(*at)->next) {
        struct rt_map *const map = *at;
        s->steps++;
        if (map->pointer == pointer) {
            *at = map->next;
            s->n--;
            return map;
        }
    }
    return NULL;
}

bool rt_maps_remove(struct rt_maps *s, const struct rt_map *map)
{
    struct rt_map **at = chain_of(s, map->pointer);
    while (*at != NULL && *at != map) {
        at = &(*at)->next;
        s->steps++;
    }
    if (*at == NULL) {
        return false;
    }
    *at = map->next;
    s->n--;
    return true;
}

struct rt_map *rt_maps_empty(struct rt_maps *s)
{
    for (; s->swept < (s->chains == NULL ? 1 : s->n_chains); s->swept++) {
        struct rt_map **chain = s->chains == NULL ? &s->first : &s->chains[s->swept];
        s->steps++;
        if (*chain != NULL) {
            struct rt_map *const map = *chain;
            *chain = map->next;
            s->n--;
            return map;
        }
    }
    free(s->chains);
    *s = (struct rt_maps){0};
    return NULL;
}
