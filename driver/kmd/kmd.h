/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What knows registers: probing a device, its engines' HW queues and indications, counters, the dirty plane and the
 * memory bases on it (base.h).
 *
 * State: what was read at probing, and of each engine what is needed to keep the rules of preemption (P3-P5, F3;
 * engine.c). No locks, no policy: the caller serialises (os/: the hal lock). Every function gives 0 or -errno of
 * the hal, unless it says more; after a failure of the hal, or of a device whose registers read all ones (-EIO),
 * the device is to be given up.
 */
#ifndef TERN_KMD_H
#define TERN_KMD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/iovec.h"
#include "base/keys.h"
#include "kmd/base.h"
#include "tern/tern.h"
#include "tern/tern_hw.h"
#include "tern/tern_spec.h"

_Static_assert(TERN_ENGINES_MAX == TERN_REG_ENGINE_COUNT, "tern.h and the register map agree");
#define TERN_HW_QUEUE 2u /**< C6 */
#define TERN_PAGE 4096u
#define TERN_PAGES_LARGE 1024u /**< Pages of a superpage, entries of a table. */

/** A submission to an HW queue. */
struct tern_hw_entry {
    uint64_t fence;   /**< Comes back in the indication. */
    uint64_t buffer;  /**< Virtual address, or physical if paging. */
    uint32_t size;    /**< Bytes. */
    uint32_t root;    /**< Page number of the root table. */
    uint32_t context; /**< For traces. */
    uint32_t save;    /**< Page number of the context-save area's first page. */
    bool paging;
    bool resume;      /**< Goes on from the save area; buffer and size are those of the submission that was cut. */
    bool null;        /**< Completes without being run (C10). */
};

/** What has happened, in the order of submission (C5, P3). */
enum tern_kmd_kind {
    TERN_KMD_COMPLETED = TERN_ENGINE_IND_INFO_KIND_COMPLETED,
    /** The answer to a request to stop: once for each request. */
    TERN_KMD_PREEMPTED = TERN_ENGINE_IND_INFO_KIND_PREEMPTED,
    TERN_KMD_FAULTED = TERN_ENGINE_IND_INFO_KIND_FAULTED,
    /** Came back though nothing had asked the engine to stop: a kernel waits for a page (fault page_absent), or the
     *  buffer was behind such a one and never began (fault 0). Not an answer to a request. */
    TERN_KMD_RETURNED,
};

struct tern_indication {
    uint32_t kind;           /**< enum tern_kmd_kind. */
    uint32_t fault, access, warp, lane, va, pc; /**< Of FAULTED, and of RETURNED. */
    uint32_t group[3];       /**< Work-group of the work-item; warp counts within it. */
    /** FAULTED: of the packet. PREEMPTED, RETURNED: of the packet to go on with, of the buffer that was cut. */
    uint32_t offset;
    uint64_t fence;          /**< Of the buffer. PREEMPTED: of the request (P5). */
    uint64_t begin, end;     /**< Times of the buffer that ended or was cut; zero if it had not begun. */
    uint64_t last_completed; /**< PREEMPTED: what it says (P5). */
    /** PREEMPTED: fence of the oldest buffer that came back, 0: none. Those behind it never began. */
    uint64_t cut;
    bool began;              /**< PREEMPTED, RETURNED: it had begun: its state is in the save area. */
};

/** A copy of the state of an HW queue, and the indications that have been read but not polled yet. */
struct tern_kmd_engine {
    uint64_t queue[TERN_HW_QUEUE]; /**< Fence ids, oldest first. */
    uint32_t n;
    uint64_t last_submitted, last_completed, last_aborted;
    bool stopping;               /**< A request to stop has not been answered. */
    bool returns;                /**< A page request has stopped the engine: what never began may come back. */
    struct tern_indication answer; /**< What is known of the answer. */
    struct tern_indication unpolled[TERN_HW_QUEUE + 1]; /**< Read by a reset. */
    uint32_t unpolled_count;
};

struct tern_hal; /* below this layer */

struct tern_kmd {
    struct tern_hal *hal;
    uint32_t version, engines, lanes, warps, local_bytes, dirty_page_log2, pa_bits, clock_hz, mem_pages;
    uint32_t save_pages;   /**< Pages of a context-save area. */
    uint32_t granularity;  /**< The finest at which running work stops (P9): TERN_ENGINE_COMMAND_GRANULARITY_*. */
    uint32_t executors;    /**< User executors of an engine: of id 0 to executors - 1. */
    uint32_t ports;        /**< Memory ports. */
    bool single_use, mem_clear;
    /** Physical address of tern_kmd_dirty_area bytes, 64-byte aligned, for the dirty plane alone; the owner of memory
     *  sets it. */
    uint64_t dirty_area;
    bool page_requests;    /**< A kernel stops at an absent page until it is there, instead of a fault. */
    struct tern_kmd_engine engine[TERN_ENGINES_MAX];
    struct tern_engine_counters base[TERN_ENGINES_MAX]; /**< As they stood at probing. */
    struct tern_bases bases;
};

/* ------------------------------------------------------------------ reach.c */

struct tern_config; /* hal/config.h: of the device */
/** What backend and config name (tern_device_open): to be opened, and to be freed. Keys of the configuration that are
 *  not the device's set more. -EINVAL, -ENOMEM. */
int tern_kmd_config(const char *backend, const char *config, const struct tern_keys *more, struct tern_config **out);
/** -EINVAL, -ENOENT, -EPROTO, -ENOMEM. */
int tern_kmd_open(const struct tern_config *config, struct tern_hal **out);
void tern_kmd_close(struct tern_hal *hal);

/** What was opened, for people; strings are the hal's. */
struct tern_kmd_about {
    const char *backend, *config;
    bool slow;          /**< A second of device time takes hours. */
    const char *memory; /**< Kind of the simulated memory, and its settings (tern_device_info). "": nothing is known. */
    uint32_t latency, bandwidth, reads, writes, refresh, refresh_cycles, stall;
};
void tern_kmd_about(const struct tern_kmd *kmd, struct tern_kmd_about *out);
/** Device memory by physical address, past the device's ports and its dirty plane: what is written, every started
 *  basis is told (D7), also if it fails. -EIO. Several pieces are written in order, and are there before the doorbell
 *  of a later tern_kmd_submit. */
int tern_kmd_read(struct tern_kmd *kmd, uint64_t address, void *data, size_t size);
int tern_kmd_write(struct tern_kmd *kmd, const struct tern_iovec *pieces, size_t n);
/** Waits for the interrupt, at most `cycles` of device time: 1, it is raised, or tern_kmd_wake was called; 0, the time
 *  has passed. */
int tern_kmd_wait(struct tern_kmd *kmd, uint64_t cycles);
/** Device time passes by itself: other threads may use the device during tern_kmd_wait, and only then: */
bool tern_kmd_concurrent(const struct tern_kmd *kmd);
/** Ends the wait that goes on, else the next one, from any thread and without blocking. */
void tern_kmd_wake(struct tern_kmd *kmd);

/* ---------------------------------------------------------------- the device */

/** Reads what the device is, ends what a driver that was killed has left running there, and enables its interrupts.
 * -EPROTO: not a Tern, or built from another interface description. -ETIMEDOUT: an engine cannot be reset. */
int tern_kmd_probe(struct tern_hal *hal, struct tern_kmd *out);

/** Nothing is queued with -EAGAIN: the HW queue is full, or there is something to poll that a reset
 * or a request to stop left. */
int tern_kmd_submit(struct tern_kmd *kmd, uint32_t engine, const struct tern_hw_entry *entry);
/** Takes the oldest indication: 1, or 0 if there is none. -EPROTO: the device says what cannot be. */
int tern_kmd_poll(struct tern_kmd *kmd, uint32_t engine, struct tern_indication *out);
/** For tools below the scheduler: the oldest indication as the hardware has it, past that copy.
 * 1, or 0 if there is none. */
int tern_kmd_take(struct tern_kmd *kmd, uint32_t engine, struct tern_indication *out);
/**
 * Asks the engine to stop what runs and to cancel what waits (P3), at this granularity
 * (TERN_ENGINE_COMMAND_GRANULARITY_*) or the next coarser one that the device has (P9). Always answered
 * (P4). A request that has not been answered can be made finer, by the same fence id. -EBUSY: one of another
 * fence id is not answered yet.
 */
int tern_kmd_preempt(struct tern_kmd *kmd, uint32_t engine, uint64_t fence, uint32_t granularity);
/**
 * Resets one engine (F3). begin: asks for it; then, without, whether it is over: 1, not yet. Does not let time pass;
 * a wait longer than TERN_RESET_CYCLES ends with tern_kmd_reset_failed. What had ended before is still to be polled,
 * an answer to a request to stop as well; else the reset is its answer. *last_aborted: the last buffer that the reset
 * took, or the last one that had completed: so always between last completed and last submitted.
 */
int tern_kmd_reset(struct tern_kmd *kmd, uint32_t engine, bool begin, uint64_t *last_aborted);
#define TERN_RESET_CYCLES (1u << 20)
/** -ETIMEDOUT, and the sentence. */
int tern_kmd_reset_failed(uint32_t engine);
/**
 * Engines that still have work of a driver that was killed, or have indicated it, are reset, and that is forgotten.
 * Leaves the interrupts off if there were any. Blocks for as long as a reset takes; if it is too long, -ETIMEDOUT as of
 * tern_kmd_reset_failed.
 */
int tern_kmd_take_over(struct tern_kmd *kmd);
/** All engines have been reset: nothing is to be polled, all that was submitted counts as completed (P5). */
void tern_kmd_forget(struct tern_kmd *kmd);
/** All engines may raise the interrupt, or none: then a wait of the hal lasts as long as it was meant to. */
int tern_kmd_interrupts(struct tern_kmd *kmd, bool on);

/** State of an engine. */
struct tern_kmd_status {
    uint32_t queued;     /**< Buffers that have not been indicated yet, or whose indications have not been polled. */
    bool busy, stopping; /**< stopping: a request to stop has not been answered. */
    uint64_t last_submitted, last_completed, last_aborted; /**< Fence ids. */
};
int tern_kmd_status(struct tern_kmd *kmd, uint32_t engine, struct tern_kmd_status *out);
/** Bits of the engines that lose their work when this one is reset: itself only (C7). */
uint32_t tern_kmd_dependent(const struct tern_kmd *kmd, uint32_t engine);

/** What an engine was running, as its registers say. */
struct tern_kmd_running {
    uint64_t fence;  /**< 0: nothing. */
    uint32_t offset; /**< Of the packet in the buffer. */
};
/** Writes its registers and where its warps are to `out` as text, as far as they can be read.
 * running: untouched on failure. */
int tern_kmd_dump(struct tern_kmd *kmd, uint32_t engine, FILE *out, struct tern_kmd_running *running);

int tern_kmd_time(struct tern_kmd *kmd, uint64_t *cycles);
/** Counters since probing; out->buffers is left alone. */
int tern_kmd_counters(struct tern_kmd *kmd, uint32_t engine, struct tern_engine_counters *out);

/**
 * The dirty plane as the hardware has it; for base.c, who follows memory has a basis (base.h).
 * Dirty bits of pages [first, first + count), pages of 1 << dirty_page_log2 bytes, from bit 0 of bits on (D2, D3, D6);
 * clear: atomically with the copy. One command of the device, which puts its result into the area at kmd->dirty_area.
 * -EINVAL: beyond memory. -EIO: also if memory refuses a part of the result. Then bits are those that came; the pages
 * of the others are dirty as before, or, of blocks that it could not name, all are.
 */
int tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits);
/** How many of these pages are dirty; changes nothing. -EINVAL: beyond memory. */
int tern_kmd_dirty_count(struct tern_kmd *kmd, uint32_t first, uint32_t count, uint32_t *dirty);
/** Bytes that the area must have for all memory. */
uint32_t tern_kmd_dirty_area(const struct tern_kmd *kmd);

#endif
