/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What knows registers: probing a device, its engines' HW queues and indications, counters, the dirty plane.
 *
 * No state but what was read at probing, no locks, no policy: the caller serialises (os/: the hal turn). Every function
 * gives 0 or -errno of the hal, unless it says more; after a failure of the hal the device is to be given up.
 */
#ifndef TERN_KMD_H
#define TERN_KMD_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/hal.h"
#include "tern/tern.h"
#include "tern/tern_hw.h"
#include "tern/tern_spec.h"

#define TERN_ENGINES_MAX TERN_REG_ENGINE_COUNT
#define TERN_HW_QUEUE 2u /**< C6 */
#define TERN_PAGE 4096u
#define TERN_PAGES_LARGE 1024u /**< Pages of a superpage, entries of a table. */

struct tern_kmd {
    struct tern_hal *hal;
    uint32_t version, engines, lanes, warps, local_bytes, dirty_page_log2, pa_bits, clock_hz, mem_pages;
    uint32_t save_pages;   /**< Pages of a context-save area. */
    uint32_t granularity;  /**< The finest at which running work stops (P9): TERN_ENGINE_COMMAND_GRANULARITY_*. */
    bool single_use, mem_clear;
    struct tern_engine_counters base[TERN_ENGINES_MAX]; /**< As they stood at probing. */
};

/** Reads what the device is and enables its interrupts. -EPROTO: not a Tern, or built from another interface description. */
int tern_kmd_probe(struct tern_hal *hal, struct tern_kmd *out);

/** A submission to an HW queue. */
struct tern_hw_entry {
    uint64_t fence;   /**< Comes back in the indication. */
    uint64_t buffer;  /**< Virtual address, or physical if paging. */
    uint32_t size;    /**< Bytes. */
    uint32_t root;    /**< Page number of the root table. */
    uint32_t context; /**< For traces. */
    uint32_t save;    /**< Page number of the context-save area. */
    bool paging;
};

/** An indication. */
struct tern_indication {
    uint32_t kind; /**< TERN_ENGINE_IND_INFO_KIND_*. */
    uint32_t fault, access, warp, lane, va, pc, offset;
    uint32_t group[3]; /**< Work-group of the faulting work-item; warp counts within it. */
    uint64_t fence, begin, end;
};

/** -EAGAIN: the HW queue was full, nothing was queued. */
int tern_kmd_submit(struct tern_kmd *kmd, uint32_t engine, const struct tern_hw_entry *entry);
/** Takes the oldest indication: 1, or 0 if there is none. */
int tern_kmd_poll(struct tern_kmd *kmd, uint32_t engine, struct tern_indication *out);
/** Asks the engine to stop at the next packet and to cancel what waits (P3). */
int tern_kmd_preempt(struct tern_kmd *kmd, uint32_t engine);
/** Resets one engine (F3) and waits for it, at most about 2^20 cycles. -ETIMEDOUT. */
int tern_kmd_reset(struct tern_kmd *kmd, uint32_t engine);
int tern_kmd_time(struct tern_kmd *kmd, uint64_t *cycles);
/** Counters since probing; out->buffers is left alone. */
int tern_kmd_counters(struct tern_kmd *kmd, uint32_t engine, struct tern_engine_counters *out);

/**
 * Dirty bits of pages [first, first + count), pages of 1 << dirty_page_log2 bytes, from bit 0 of bits on (D2, D3, D6);
 * clear: atomically with the copy. A range of any length: one command per 8192 pages. -EINVAL: beyond memory.
 */
int tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits);

#endif
