/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The layer that knows registers: probing of a device, its engines' HW queues and indications, counters, the dirty
 * plane and the memory bases on it (memory_basis.h).
 *
 * State. The results of the probe, and for each engine what the rules of preemption need (P3-P5, F3; engine.c). There
 * is no policy here.
 * Locks. The caller serialises all calls and guards all structures (the driver: hal_lock), except where a function says
 * otherwise. A caller with several threads names the lock by tern_kmd_guard; functions that use the device, or what
 * changes of struct tern_kmd, then assert it.
 * Errors. A function returns 0 or -errno of the hal, unless it says more. After a failure of the hal, or if the
 * registers of a device read all ones (-EIO), the device is to be given up.
 */
#ifndef TERN_KMD_H
#define TERN_KMD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/iovec.h"
#include "base/keys.h"
#include "base/ticket_lock.h"
#include "kmd/memory_basis.h"
#include "tern/tern.h"
#include "tern/tern_hw.h"
#include "tern/tern_spec.h"

_Static_assert(TERN_ENGINES_MAX == TERN_REG_ENGINE_COUNT, "tern.h and the register map agree");
#define TERN_HW_QUEUE 2u       /**< Entries of an HW queue (C6). */
#define TERN_PAGE 4096u        /**< Bytes. */
#define TERN_PAGES_LARGE 1024u /**< Pages of a superpage, and entries of a table. */

/** A submission to an HW queue. */
struct tern_hw_entry {
    uint64_t fence;   /**< Fence id, which the indication repeats. */
    uint64_t buffer;  /**< Address of the buffer: virtual, or physical if paging. */
    uint32_t size;    /**< Bytes of the buffer. */
    uint32_t root;    /**< Page number of the root table. */
    uint32_t context; /**< Number of the context, for traces. */
    uint32_t save;    /**< Page number of the context-save area's first page. */
    bool paging;
    bool resume;      /**< The buffer goes on from the save area; buffer and size are as in its first submission. */
    bool null;        /**< The buffer completes without being run (C10). */
};

/** Kinds of indications. Indications come in the order of submission (C5, P3). */
enum tern_kmd_kind {
    TERN_KMD_COMPLETED = TERN_ENGINE_IND_INFO_KIND_COMPLETED,
    /** The answer to a request to stop; each request has one. */
    TERN_KMD_PREEMPTED = TERN_ENGINE_IND_INFO_KIND_PREEMPTED,
    TERN_KMD_FAULTED = TERN_ENGINE_IND_INFO_KIND_FAULTED,
    /** The buffer came back without a request to stop: its kernel waits for a page (fault page_absent), or it was
     *  behind such a buffer and never began (fault 0). */
    TERN_KMD_RETURNED,
};

struct tern_indication {
    uint32_t kind;           /**< An enum tern_kmd_kind. */
    uint32_t fault, access, warp, lane, va, pc; /**< FAULTED, RETURNED: details of the fault or page request. */
    uint32_t group[3];       /**< Work-group of the work-item; warp counts within it. */
    /** Byte offset in the buffer. FAULTED: of the packet that faulted. PREEMPTED, RETURNED: of the packet to go on
     *  with. */
    uint32_t offset;
    uint64_t fence;          /**< Fence id of the buffer; PREEMPTED: of the request (P5). */
    uint64_t begin, end;     /**< Device times of the buffer that ended or was cut; 0 if it had not begun. */
    uint64_t last_completed; /**< PREEMPTED: fence id of the last completed buffer (P5). */
    /** PREEMPTED: fence id of the oldest buffer that came back; 0: none did. Later buffers never began. */
    uint64_t cut;
    bool began;              /**< PREEMPTED, RETURNED: the buffer had begun, and its state is in the save area. */
};

/** A copy of the state of an HW queue, and the indications that have been read but not polled yet. Guarded by the
 *  caller's lock. */
struct tern_kmd_engine {
    uint64_t queue[TERN_HW_QUEUE]; /**< Fence ids, oldest first. */
    uint32_t n;                    /**< Number of buffers in the queue. */
    uint64_t last_submitted, last_completed, last_aborted; /**< Fence ids. */
    bool stopping;               /**< A request to stop has not been answered. */
    bool returns;                /**< A page request has stopped the engine: a buffer that never began may come back. */
    struct tern_indication answer; /**< The answer to the request, as far as it is known. */
    struct tern_indication unpolled[TERN_HW_QUEUE + 1]; /**< Indications that a reset has read. */
    uint32_t unpolled_count;
};

struct tern_hal; /* the layer below */

struct tern_kmd {
    struct tern_hal *hal; /**< The device. Constant; operations need the caller's lock, as hal.h says. */
    /** As the device's registers say (docs/spec/registers.yaml). These fields, up to page_requests, are constant after
     *  the probe. */
    uint32_t version, engines, lanes, warps, local_bytes, dirty_page_log2, pa_bits, clock_hz, mem_pages;
    uint32_t save_pages;   /**< Number of pages of a context-save area. */
    uint32_t granularity;  /**< The finest at which running work stops (P9): TERN_ENGINE_COMMAND_GRANULARITY_*. */
    uint32_t executors;    /**< Number of user executors of an engine; their ids are 0 to executors - 1. */
    uint32_t ports;        /**< Number of memory ports. */
    bool single_use, mem_clear;
    /** Physical address, 64-byte aligned, of tern_kmd_dirty_area bytes for the dirty plane alone. The owner of device
     *  memory sets it before other threads run. */
    uint64_t dirty_area;
    bool page_requests;    /**< A kernel stops at an absent page until the page is there, and does not fault. */
    struct tern_kmd_engine engine[TERN_ENGINES_MAX]; /**< The engines' HW queues. Guarded by the caller's lock. */
    /** Counters at the probe, which later values exclude. Constant after the probe. */
    struct tern_engine_counters base[TERN_ENGINES_MAX];
    struct tern_bases bases; /**< The memory bases. Guarded by the caller's lock. */
};

/* ------------------------------------------------------------------ hal_access.c */

struct tern_config; /* of a device: hal/config.h */
/** Parses backend and config as tern_device_open takes them. *out is to be opened by tern_kmd_open and freed by free().
 *  `more` takes the keys of the configuration that are not the device's. -EINVAL, -ENOMEM. */
int tern_kmd_config(const char *backend, const char *config, const struct tern_keys *more, struct tern_config **out);
/** Opens the device. -EINVAL, -ENOENT, -EPROTO, -ENOMEM. */
int tern_kmd_open(const struct tern_config *config, struct tern_hal **out);
void tern_kmd_close(struct tern_hal *hal);
/** From now on the caller has several threads, and holds the lock in each call that the comments at the top name. NULL:
 *  it has one thread again. */
void tern_kmd_guard(struct tern_kmd *kmd, const struct tern_ticket_lock *lock);

/** Description of the opened device, for display. The strings belong to the hal. */
struct tern_kmd_about {
    const char *backend, *config;
    bool slow;          /**< A second of device time takes hours of host time. */
    const char *memory; /**< Kind of the simulated memory, whose settings follow (tern_device_info); "": not known. */
    uint32_t latency, bandwidth, reads, writes, refresh, refresh_cycles, stall;
};
void tern_kmd_about(const struct tern_kmd *kmd, struct tern_kmd_about *out);
/** Read and write device memory by physical address, past the device's ports and its dirty plane. Each write, even one
 *  that fails, is added to every started basis (D7). Pieces are written in order, and before the doorbell of a later
 *  tern_kmd_submit. -EIO. */
int tern_kmd_read(struct tern_kmd *kmd, uint64_t address, void *data, size_t size);
int tern_kmd_write(struct tern_kmd *kmd, const struct tern_iovec *pieces, size_t n);
/** Waits for the interrupt for at most `cycles` of device time. 1: it is raised, or tern_kmd_wake was called. 0: the
 *  time has passed. */
int tern_kmd_wait(struct tern_kmd *kmd, uint64_t cycles);
/** True: device time passes by itself. Other threads may then use the device during tern_kmd_wait. */
bool tern_kmd_concurrent(const struct tern_kmd *kmd);
/** Ends the wait under way, or the next one if there is none. Any thread may call it, without a lock; it does not
 *  block. */
void tern_kmd_wake(struct tern_kmd *kmd);

/* ---------------------------------------------------------------- the device */

/** Identifies the device, ends the work of a driver that was killed, and enables the interrupts. -EPROTO: it is not a
 *  Tern, or was built from another interface description. -ETIMEDOUT: an engine cannot be reset. */
int tern_kmd_probe(struct tern_hal *hal, struct tern_kmd *out);

/** Submits a buffer to an engine. -EAGAIN: nothing was queued, because the HW queue is full, a request to stop has not
 *  been answered, or indications that a reset has read have not been polled. */
int tern_kmd_submit(struct tern_kmd *kmd, uint32_t engine, const struct tern_hw_entry *entry);
/** Takes the oldest indication. 1: taken; 0: there is none; -EPROTO: the device indicates something impossible. */
int tern_kmd_poll(struct tern_kmd *kmd, uint32_t engine, struct tern_indication *out);
/** Takes the oldest indication as the hardware has it, past the copy of the queue. For tools that have no scheduler.
 *  1: taken; 0: there is none. */
int tern_kmd_take(struct tern_kmd *kmd, uint32_t engine, struct tern_indication *out);
/**
 * Asks the engine to stop the running buffer and to cancel the waiting one (P3), at this granularity
 * (TERN_ENGINE_COMMAND_GRANULARITY_*) or the next coarser one that the device has (P9). Each request is answered (P4).
 * A call with the same fence id makes a request finer that has not been answered. -EBUSY: a request with another fence
 * id has not been answered.
 */
int tern_kmd_preempt(struct tern_kmd *kmd, uint32_t engine, uint64_t fence, uint32_t granularity);
/**
 * Resets one engine (F3). With begin it requests the reset; without, it asks whether the reset is over. 1: not yet. The
 * call lets no device time pass. A caller that has waited for TERN_RESET_CYCLES gives up with tern_kmd_reset_failed.
 *
 * Buffers that ended before the reset are still to be polled. If a request to stop is open and a buffer was cut, or all
 * had ended, the answer is to be polled as well; in other cases the reset stands for the answer. *last_aborted is the
 * fence id of the last buffer that the reset aborted, or of the last completed one if it aborted none.
 */
int tern_kmd_reset(struct tern_kmd *kmd, uint32_t engine, bool begin, uint64_t *last_aborted);
#define TERN_RESET_CYCLES (1u << 20)
/** Returns -ETIMEDOUT, with the sentence about an engine that does not come out of reset. */
int tern_kmd_reset_failed(uint32_t engine);
/**
 * Resets the engines that still have work, or indications, of a driver that was killed, and drops these. If there were
 * any, interrupts are off afterwards. Blocks until the resets are over; -ETIMEDOUT as of tern_kmd_reset_failed.
 */
int tern_kmd_take_over(struct tern_kmd *kmd);
/** Called when all engines have been reset: drops unpolled indications, and counts all submitted buffers as completed
 *  (P5). */
void tern_kmd_forget(struct tern_kmd *kmd);
/** Enables or disables the interrupts of all engines. While they are off, tern_kmd_wait lasts for all its cycles. */
int tern_kmd_interrupts(struct tern_kmd *kmd, bool on);

/** State of an engine. */
struct tern_kmd_status {
    uint32_t queued;     /**< Number of buffers whose ends have not been polled. */
    bool busy, stopping; /**< busy: a buffer runs. stopping: a request to stop has not been answered. */
    uint64_t last_submitted, last_completed, last_aborted; /**< Fence ids. */
};
int tern_kmd_status(struct tern_kmd *kmd, uint32_t engine, struct tern_kmd_status *out);
/** Mask of the engines that lose their work when this one is reset, which is this one alone (C7). */
uint32_t tern_kmd_dependent(const struct tern_kmd *kmd, uint32_t engine);

/** The running buffer of an engine, from its registers. */
struct tern_kmd_running {
    uint64_t fence;  /**< Fence id; 0: no buffer runs. */
    uint32_t offset; /**< Byte offset of the current packet in the buffer. */
};
/** Writes the engine's registers and the pc of its warps to `out` as text, as far as they can be read. *running is
 *  untouched on failure. */
int tern_kmd_dump(struct tern_kmd *kmd, uint32_t engine, FILE *out, struct tern_kmd_running *running);

int tern_kmd_time(struct tern_kmd *kmd, uint64_t *cycles);
/** Reads the counters, which count from the probe on. out->buffers is not changed. */
int tern_kmd_counters(struct tern_kmd *kmd, uint32_t engine, struct tern_engine_counters *out);

/**
 * Reads the dirty plane of the hardware. This is for memory_basis.c alone; other code uses a basis (memory_basis.h).
 *
 * Copies the dirty bits of pages [first, first + count), pages of 1 << dirty_page_log2 bytes, to `bits` from bit 0 on;
 * clear clears them atomically with the copy (D2, D3, D6). One command of the device does this, and writes its result
 * to the area at kmd->dirty_area.
 *
 * -EINVAL: the pages are beyond memory. -EIO: also if memory refuses a part of the result. `bits` then has the bits
 * that arrived. The other pages are as dirty as before, except that all pages of a block are dirty if the device could
 * not add the block to its bitmap.
 */
int tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits);
/** Counts the dirty pages of a range, and changes nothing. -EINVAL: the pages are beyond memory. */
int tern_kmd_dirty_count(struct tern_kmd *kmd, uint32_t first, uint32_t count, uint32_t *dirty);
/** Bytes of the area at kmd->dirty_area that a query of all memory needs. */
uint32_t tern_kmd_dirty_area(const struct tern_kmd *kmd);

#endif
