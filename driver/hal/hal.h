/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hal: the operations by which the driver uses a device. Each kind of device has one implementation, a backend.
 * The layers above cannot tell backends apart.
 *
 * Errors. Each function returns 0 or -errno. A failure means that the device no longer answers; the driver gives it up.
 *
 * Order.
 *   register, register  Accesses take effect in the order in which they are made.
 *   memory, memory      The same: mem_read reads what mem_write wrote.
 *   host, device        mem_read reads what the device wrote to its memory before a register said so.
 *   memory, register    There is no order, except by flush. A transport may carry memory accesses (DMA, a
 *                       write-combining window) and register accesses (posted writes) on different paths, and either
 *                       may arrive late.
 *
 * Threads. The caller serialises all calls. A caller with several threads does so by a lock that it names in `lock`
 * (the driver: hal_lock), which each operation except `wake` and `close` then asserts. If `concurrent` is set, device
 * time passes by itself: one thread may be in `wait`, without the lock, while another one uses the other functions, and
 * any thread may call `wake`. If it is not set, device time passes only in `wait`, and a little in register accesses.
 *
 * Interrupts. `wait` returns at once if the interrupt is raised, or soon after it is raised. A backend without an
 * interrupt polls dev.irq_status instead, which fulfils the same contract.
 */
#ifndef TERN_HAL_H
#define TERN_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/iovec.h"
#include "base/lock.h"
#include "hal/config.h"

struct tern_hal;

struct tern_hal_write {
    uint32_t offset, value;
};

/** The operations of a backend. All are required, except where a comment says that one may be NULL. */
struct tern_hal_ops {
    int (*read32)(struct tern_hal *hal, uint32_t offset, uint32_t *value);
    /** Writes several registers in this order. If it fails, the first writes may have taken effect. */
    int (*write32)(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n);
    /** Read and write device memory by physical address, past the device's ports and without setting dirty bits. The
     *  caller may reuse the data when the call has returned. Aligned values of 4 and 8 bytes are moved whole. */
    int (*mem_read)(struct tern_hal *hal, uint64_t address, void *data, size_t size);
    int (*mem_write)(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n);
    /**
     * Maps a range of device memory: the host loads and stores there instead of calling mem_read and mem_write. The
     * mapping lasts until close. NULL: the range cannot be mapped. The operation may be NULL, if the backend maps
     * nothing. Memory may be mapped only if accesses of any width reach it at any time, as in a BAR of a card. The
     * memory of a simulator is not mapped, because the device does not run while the host accesses it.
     */
    void *(*map)(struct tern_hal *hal, uint64_t address, size_t size);
    /**
     * Makes all earlier writes of the host to device memory, mapped or not, visible before any later register write
     * takes effect. Called before each doorbell.
     *   card with DMA           waits for the end of outstanding DMA
     *   card with a window      store fence, then a read through the window, which pushes posted writes before it
     *   one path, or simulator  nothing
     */
    int (*flush)(struct tern_hal *hal);
    /** Waits for the interrupt for at most `cycles` of device time. 1: raised, or wake was called; 0: time is over. */
    int (*wait)(struct tern_hal *hal, uint64_t cycles);
    /** Ends the wait under way, or the next one if there is none. Does not block. NULL unless concurrent. */
    void (*wake)(struct tern_hal *hal);
    void (*close)(struct tern_hal *hal);
};

/** Settings of a simulated memory, for display. struct tern_device_info has the same fields, and says their units. */
struct tern_hal_memory {
    const char *name; /**< Kind of the memory; NULL: it is not simulated, or its kind is not known. */
    uint32_t latency, bandwidth, reads, writes, refresh, refresh_cycles, stall;
};

/** An opened device. All fields but `lock` are constant once it is open. */
struct tern_hal {
    const struct tern_hal_ops *ops;
    char backend[TERN_HAL_NAME], config[64]; /**< Names of the opened device; config is cut to fit. */
    bool slow;                    /**< A second of device time takes hours of host time. */
    bool concurrent;              /**< Device time passes by itself (Threads, above). */
    struct tern_hal_memory memory;
    /** The lock under which all calls are made; NULL: the caller has one thread. Set while there is one thread. */
    const struct tern_ticket_lock *lock;
};

/** Asserts that the caller holds the lock of the device. Stands in all operations except `wait`, `wake` and `close`. */
#define tern_hal_assert_held(hal) \
    do { \
        if ((hal)->lock) { \
            tern_assert_held((hal)->lock); \
        } \
    } while (0)
/** The same, for the operation `wait`. */
#define tern_hal_assert_waits(hal) \
    do { \
        if (!(hal)->concurrent) { \
            tern_hal_assert_held(hal); \
        } \
    } while (0)

/** Write one register, or one piece of memory. */
static inline int tern_hal_write32(struct tern_hal *hal, uint32_t offset, uint32_t value)
{
    return hal->ops->write32(hal, &(struct tern_hal_write){offset, value}, 1);
}
static inline int tern_hal_mem_write(struct tern_hal *hal, uint64_t address, const void *data, size_t size)
{
    return hal->ops->mem_write(hal, &(struct tern_iovec){address, data, size}, 1);
}

/** A backend: a way to reach devices. Backends are static and are never removed. */
struct tern_hal_backend {
    const char *name;
    /** Opens the device that config names, and fills **out except the names `backend` and `config`. -ENOENT, -EPROTO,
     *  -EINVAL, -ENOMEM, with a sentence. */
    int (*open)(const struct tern_config *config, struct tern_hal **out);
};

#endif
