/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hal: all that the driver asks of a device, whatever is behind it. One implementation a file;
 * nothing above can tell them apart.
 *
 * Each function gives 0 or -errno; a failure means that the device no longer answers, and the driver then gives it up.
 *
 * Order. Register accesses take effect in the order in which they are made. So do accesses to device memory, among
 * themselves: what mem_write wrote, mem_read reads. Between the two kinds there is no order but by flush: a transport
 * may hand on memory (DMA, a write-combining window) and registers (posted writes) on different ways, and either may
 * arrive late. What a device wrote to its memory before a register told that it has, mem_read reads.
 *
 * Threads. One at a time (the caller locks), with one exception: if `concurrent` is set, device time passes by itself,
 * wait may go on in one thread while another one uses the other functions, and wake may be called by any. Else time
 * passes only in wait (a little also in register accesses), and all is one at a time.
 *
 * Interrupts. wait returns early once the interrupt is raised, and at once if it is already; it may see it late. A
 * backend without a working interrupt polls dev.irq_status instead: that is a full citizen, not a fallback.
 */
#ifndef TERN_HAL_H
#define TERN_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/iovec.h"
#include "hal/config.h"

struct tern_hal;

struct tern_hal_write {
    uint32_t offset, value;
};

/** All are there, but where it says NULL. */
struct tern_hal_ops {
    int (*read32)(struct tern_hal *hal, uint32_t offset, uint32_t *value);
    /** Several registers, in this order. Of writes that fail, the first ones may have taken effect. */
    int (*write32)(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n);
    /** Device memory by physical address, past the device's ports: sets no dirty bit. The data may be used again as
     *  soon as the call is back; aligned values of 4 and 8 bytes are never seen half. */
    int (*mem_read)(struct tern_hal *hal, uint64_t address, void *data, size_t size);
    int (*mem_write)(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n);
    /**
     * Where the host can load and store this range of device memory, with the same effect as mem_read and mem_write,
     * which are not needed for it then; it stays until close. NULL: not this range. The operation may be NULL: this
     * backend maps nothing. Safe is only memory that can be reached in any width at any time: BARs of a card are;
     * the simulators' is not, since they do not run while the host works (they map nothing).
     */
    void *(*map)(struct tern_hal *hal, uint64_t address, size_t size);
    /**
     * What the host wrote to device memory, mapped or not, is there before any register write that follows takes
     * effect. On a card: the end of outstanding DMA, or a store fence and a read through the same window, which
     * pushes posted writes before it; where all travels on one way in order, and in simulation, nothing. Called before
     * each doorbell.
     */
    int (*flush)(struct tern_hal *hal);
    /** Waits for the interrupt, at most `cycles` of device time: 1, it is raised, or wake was called; 0, the time has
     *  passed. */
    int (*wait)(struct tern_hal *hal, uint64_t cycles);
    /** Ends the wait that goes on, else the next one. Does not block. NULL unless concurrent. */
    void (*wake)(struct tern_hal *hal);
    void (*close)(struct tern_hal *hal);
};

/** How a simulated memory behaves, for people: struct tern_device_info has the same fields. */
struct tern_hal_memory {
    const char *name; /**< NULL: nothing is simulated, or nothing is known. */
    uint32_t latency, bandwidth, reads, writes, refresh, refresh_cycles, stall;
};

struct tern_hal {
    const struct tern_hal_ops *ops;
    char backend[TERN_HAL_NAME], config[64]; /**< What was opened; config cut to fit. */
    bool slow;                    /**< A second of device time takes hours. */
    bool concurrent;              /**< Device time passes by itself; see above. */
    struct tern_hal_memory memory;
};

/** One register, one piece of memory. */
static inline int tern_hal_write32(struct tern_hal *hal, uint32_t offset, uint32_t value)
{
    return hal->ops->write32(hal, &(struct tern_hal_write){offset, value}, 1);
}
static inline int tern_hal_mem_write(struct tern_hal *hal, uint64_t address, const void *data, size_t size)
{
    return hal->ops->mem_write(hal, &(struct tern_iovec){address, data, size}, 1);
}

/** A way to reach devices. Static: it is never given back. */
struct tern_hal_backend {
    const char *name;
    /** Opens the device that config names; fills **out but for its names, backend and config. -ENOENT, -EPROTO,
     *  -EINVAL, -ENOMEM, with a sentence. */
    int (*open)(const struct tern_config *config, struct tern_hal **out);
};

/** Those of this library (backends.c), and those that programs have registered. */
#define TERN_HAL_BACKENDS 8u
/** Makes a backend known; before any device is opened, and from one thread. -EEXIST, -ENOSPC; -EINVAL: its name
 *  is empty or too long. */
int tern_hal_register(const struct tern_hal_backend *backend);
/** NULL, with a sentence that lists those that are known. */
const struct tern_hal_backend *tern_hal_find(const char *name);
/** Opens config->backend: as open above, with the names. */
int tern_hal_open(const struct tern_config *config, struct tern_hal **out);

#endif
