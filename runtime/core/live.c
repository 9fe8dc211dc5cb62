/* SPDX-License-Identifier: Apache-2.0 */
/** The set of live objects (live.h): open addressing, removal by shifting back, so that there are no tombstones. */
#include "runtime/core/live.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FIRST_SIZE 256u /* a power of two */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void **slots;
static size_t size;
static size_t used;

static size_t home(const void *object, size_t n)
{
    return (size_t)(((uint64_t)(uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >> 32) & (n - 1);
}

/** Where the object is, or the free slot where it would be. */
static size_t find(const void **table, size_t n, const void *object)
{
    size_t i = home(object, n);
    while (table[i] != NULL && table[i] != object) {
        i = (i + 1) & (n - 1);
    }
    return i;
}

static bool grow(void)
{
    const size_t n = size == 0 ? FIRST_SIZE : 2 * size;
    const void **bigger = calloc(n, sizeof *bigger);
    if (bigger == NULL) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (slots[i] != NULL) {
            bigger[find(bigger, n, slots[i])] = slots[i];
        }
    }
    free(slots);
    slots = bigger;
    size = n;
    return true;
}

bool rt_live_add(const void *object)
{
    pthread_mutex_lock(&lock);
    const bool room = 2 * used < size || grow();
    if (room) {
        slots[find(slots, size, object)] = object;
        used++;
    }
    pthread_mutex_unlock(&lock);
    return room;
}

void rt_live_remove(const void *object)
{
    pthread_mutex_lock(&lock);
    size_t hole = find(slots, size, object);
    used--;
    slots[hole] = NULL;
    for (size_t i = (hole + 1) & (size - 1); slots[i] != NULL; i = (i + 1) & (size - 1)) {
        const size_t wanted = home(slots[i], size);
        if (((i - wanted) & (size - 1)) >= ((i - hole) & (size - 1))) { /* it may stand in the hole: not before its home */
            slots[hole] = slots[i];
            slots[i] = NULL;
            hole = i;
        }
    }
    pthread_mutex_unlock(&lock);
}

bool rt_live_has(const void *object)
{
    pthread_mutex_lock(&lock);
    const bool found = size != 0 && object != NULL && slots[find(slots, size, object)] == object;
    pthread_mutex_unlock(&lock);
    return found;
}
