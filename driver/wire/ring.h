/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rings of the shared memory (wire.h): copying bytes, and sleeping without a lost wake-up.
 *
 * A consumer that finds its ring empty sets `sleeping`, looks at the ring again, and only then sleeps. A producer
 * publishes its entry, and then reads `sleeping`. With a sequentially consistent fence between the two steps of each
 * side, at least one of them sees the other's write (store buffering, as in Dekker's algorithm).
 */
#ifndef TERN_WIRE_RING_H
#define TERN_WIRE_RING_H

#include <stdbool.h>
#include <string.h>

#include "wire/wire.h"

/** Copy n bytes from and to position `at` of a ring of bytes, whose size is a power of two. */
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

/** Called by the producer after it has published. Returns how the consumer sleeps and must be woken: enum
 *  tern_wire_sleep. Resets `sleeping`. */
static inline uint32_t tern_ring_wakes(struct tern_wire_ring *r)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&r->sleeping, memory_order_relaxed) ? atomic_exchange(&r->sleeping, TERN_WIRE_AWAKE)
                                                                    : TERN_WIRE_AWAKE;
}

/** Called by a consumer that has taken everything up to `head` and is about to sleep as `how` says. False: more has
 *  come, and the consumer must not sleep. */
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
