/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rings of the shared memory (wire.h): copying, and sleeping without losing a wake-up.
 *
 * A consumer that finds a ring empty says that it sleeps, and how, looks again, and only then waits to be woken. A
 * producer publishes its entry and then asks whether the consumer sleeps. Both are sequentially consistent: one sees
 * the other.
 */
#ifndef TERN_WIRE_RING_H
#define TERN_WIRE_RING_H

#include <stdbool.h>
#include <string.h>

#include "wire/wire.h"

/** n bytes from a position of a ring of bytes, whose size is a power of two. */
static inline void tern_ring_get(const uint8_t *ring, uint32_t ring_size, uint64_t at, void *out, uint32_t n)
{
    const uint32_t offset = (uint32_t)at & (ring_size - 1), first = n < ring_size - offset ? n : ring_size - offset;
    memcpy(out, ring + offset, first);
    memcpy((uint8_t *)out + first, ring, n - first);
}

static inline void tern_ring_put(uint8_t *ring, uint32_t ring_size, uint64_t at, const void *in, uint32_t n)
{
    const uint32_t offset = (uint32_t)at & (ring_size - 1), first = n < ring_size - offset ? n : ring_size - offset;
    memcpy(ring + offset, in, first);
    memcpy(ring, (const uint8_t *)in + first, n - first);
}

/** The producer has published: how must it wake the consumer? enum tern_wire_sleep. */
static inline uint32_t tern_ring_wakes(struct tern_wire_ring *r)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&r->sleeping, memory_order_relaxed) ? atomic_exchange(&r->sleeping, TERN_WIRE_AWAKE)
                                                                    : TERN_WIRE_AWAKE;
}

/** The consumer, which has taken all up to `head`, is about to sleep, as `how` says: false, there is more after all. */
static inline bool tern_ring_sleeps(struct tern_wire_ring *r, uint64_t head, uint32_t how)
{
    atomic_store(&r->sleeping, how);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&r->tail) == head) {
        return true;
    }
    atomic_store(&r->sleeping, TERN_WIRE_AWAKE);
    return false;
}

#endif
