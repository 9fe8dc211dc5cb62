/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hal: all that the driver asks of a device, whatever is behind it. One implementation a file;
 * nothing above can tell them apart.
 *
 * Each function gives 0 or -errno; a failure means that the device no longer answers, and the driver then gives it up.
 * One thread at a time (the caller locks). Accesses take effect in order. wait returns early once the interrupt is
 * raised, and at once if it is already; a backend without a working interrupt polls dev.irq_status instead: that is a
 * full citizen, not a fallback.
 */
#ifndef TERN_HAL_H
#define TERN_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hal/config.h"

struct tern_hal;

struct tern_hal_ops {
    int (*read32)(struct tern_hal *hal, uint32_t offset, uint32_t *value);
    int (*write32)(struct tern_hal *hal, uint32_t offset, uint32_t value);
    /** Device memory by physical address, past the device's ports: sets no dirty bit. */
    int (*mem_read)(struct tern_hal *hal, uint64_t address, void *data, size_t size);
    int (*mem_write)(struct tern_hal *hal, uint64_t address, const void *data, size_t size);
    /** Waits for the interrupt, at most `cycles` of device time: 1, it is raised; 0, the time has passed. */
    int (*wait)(struct tern_hal *hal, uint64_t cycles);
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
    struct tern_hal_memory memory;
};

/** A way to reach devices. Static: it is never given back. */
struct tern_hal_backend {
    const char *name;
    /** Opens the device that config names; all of **out is filled. -ENOENT, -EPROTO, -EINVAL, -ENOMEM, with a sentence.
     */
    int (*open)(const struct tern_config *config, struct tern_hal **out);
};

/** Those of this library (backends.c), and those that programs have registered. */
#define TERN_HAL_BACKENDS 8u
/** Makes a backend known; before any device is opened, and from one thread. -EEXIST, -ENOSPC; -EINVAL: its name
 *  is empty or too long. */
int tern_hal_register(const struct tern_hal_backend *backend);
/** NULL, with a sentence that lists those that are known. */
const struct tern_hal_backend *tern_hal_find(const char *name);
/** Opens config->backend. */
int tern_hal_open(const struct tern_config *config, struct tern_hal **out);

#endif
