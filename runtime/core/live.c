/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The set of live objects (live.h): hash tables with open addressing. Removal shifts later entries back, so there are
 * no tombstones.
 */
#include "runtime/core/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/lock.h"

#define SHARDS 64u      /* a power of two, as are all sizes */
#define FIRST_SIZE 16u
#define TRIES 16

typedef _Atomic(const void *) slot;

struct table {
    struct table *outgrown;
    size_t size;
    slot slots[];
};

static struct shard {
    _Alignas(64) pthread_mutex_t lock; /* Shards do not share cache lines. */
    atomic_uint version;               /* Odd while the shard is changed. Atomic; written under `lock`. */
    struct table *_Atomic table;       /* NULL: the shard never had an object. Atomic; written under `lock`. */
    size_t used;                       /* Number of objects. Guarded by `lock`. */
} shards[SHARDS];

__attribute__((constructor)) static void make_locks(void)
{
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].lock, NULL);
    }
}

static uint64_t hash(const void *object)
{
    return ((uint64_t)(uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u;
}

static struct shard *shard_of(const void *object)
{
    return &shards[hash(object) >> 58];
}

_Static_assert(SHARDS == 1u << (64 - 58), "the shard is the hash's highest bits");

static size_t home(const void *object, size_t size)
{
    return (size_t)(hash(object) >> 20) & (size - 1);
}

/** The slot of the object, or the free slot where it would be. Returns `size` if there is neither, which only a
 *  reader can see during a change, because at least half of the slots are free. */
static size_t find(struct table *t, const void *object)
{
    size_t i = home(object, t->size);
    for (size_t n = 0; n < t->size; n++) {
        const void *there = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (there == NULL || there == object) {
            return i;
        }
        i = (i + 1) & (t->size - 1);
    }
    return t->size;
}

static const void *at(struct table *t, size_t i)
{
    return atomic_load_explicit(&t->slots[i], memory_order_acquire);
}

static void put(struct table *t, size_t i, const void *object)
{
    atomic_store_explicit(&t->slots[i], object, memory_order_release);
}

/** Makes room for one more object. Requires the shard's lock. */
static bool make_room(struct shard *s)
{
    tern_assert_held(&s->lock);
    struct table *old = atomic_load(&s->table);
    if (old != NULL && 2 * s->used < old->size) {
        return true;
    }
    const size_t size = old == NULL ? FIRST_SIZE : 2 * old->size;
    struct table *t = calloc(1, sizeof *t + size * sizeof t->slots[0]);
    if (t == NULL) {
        return false;
    }
    t->size = size;
    t->outgrown = old;
    for (size_t i = 0; old != NULL && i < old->size; i++) {
        const void *object = at(old, i);
        if (object != NULL) {
            put(t, find(t, object), object);
        }
    }
    atomic_store(&s->table, t);
    return true;
}

bool rt_live_add(const void *object)
{
    struct shard *s = shard_of(object);
    pthread_mutex_lock(&s->lock);
    const bool room = make_room(s);
    if (room) {
        struct table *t = atomic_load(&s->table);
        put(t, find(t, object), object); /* a single store: a reader sees all of it or nothing */
        s->used++;
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

void rt_live_remove(const void *object)
{
    struct shard *s = shard_of(object);
    pthread_mutex_lock(&s->lock);
    struct table *t = atomic_load(&s->table);
    size_t hole = find(t, object);
    atomic_fetch_add(&s->version, 1);
    s->used--;
    put(t, hole, NULL);
    for (size_t i = (hole + 1) & (t->size - 1); at(t, i) != NULL; i = (i + 1) & (t->size - 1)) {
        const size_t wanted = home(at(t, i), t->size);
        /* the entry may move to the hole if that is not before its home */
        if (((i - wanted) & (t->size - 1)) >= ((i - hole) & (t->size - 1))) {
            put(t, hole, at(t, i));
            put(t, i, NULL);
            hole = i;
        }
    }
    atomic_fetch_add(&s->version, 1);
    pthread_mutex_unlock(&s->lock);
}

static bool contains(struct table *t, const void *object)
{
    if (t == NULL) {
        return false;
    }
    const size_t i = find(t, object);
    return i != t->size && at(t, i) == object;
}

bool rt_live_has(const void *object)
{
    struct shard *s = shard_of(object);
    if (object == NULL) {
        return false;
    }
    for (int i = 0; i < TRIES; i++) {
        const unsigned version = atomic_load(&s->version);
        if (version % 2 == 0) {
            const bool found = contains(atomic_load(&s->table), object);
            /* an object that is found during a change exists */
            if (found || atomic_load(&s->version) == version) {
                return found;
            }
        }
    }
    pthread_mutex_lock(&s->lock);
    const bool found = contains(atomic_load(&s->table), object);
    pthread_mutex_unlock(&s->lock);
    return found;
}
