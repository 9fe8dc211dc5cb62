/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A link between two devices, and a device whose time passes with the bytes that go over it. The amount that work
 * writes while bytes are sent therefore does not depend on the host. The link carries MIGRATE_LINK_BYTES a device
 * cycle.
 *
 * Functions return 0 or -errno after a message on stderr.
 */
#ifndef TERN_BENCH_MIGRATE_LINK_H
#define TERN_BENCH_MIGRATE_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hal/hal.h"
#include "os/device/device.h"

#define MIGRATE_LINK_BYTES 32u /**< Bytes a device cycle: 8 GB/s at 250 MHz. */
#define MIGRATE_LINK_GB 8u     /**< Bytes a nanosecond. */

struct migrate_device;
/**
 * Opens the device of TERN_BACKEND and TERN_CONFIG, with `keys` added. Device time passes while the driver waits for
 * the device, as with other simulated devices, or with a link. tern_device_close closes both.
 */
int migrate_device_open(const char *keys, struct migrate_device **out, struct tern_device **dev);

/** Two pipes and a thread that takes the bytes written to one, lets device time pass, and writes them to the other. */
struct migrate_link {
    struct migrate_device *device;
    int writer, reader;      /**< Descriptors of the two ends. */
    int taken, given;        /* The thread's ends. */
    pthread_t thread;
    _Atomic uint64_t bytes;  /**< Bytes that have passed. */
};

/** Opens a link. From then on the device's time passes with the link only. */
int migrate_link_open(struct migrate_device *device, struct migrate_link *out);
/** Waits until this many bytes have passed since the link was opened. Device time is then paused until the next byte,
 *  except for a few cycles, and for some thousand when an engine is told to stop. */
void migrate_link_pause(struct migrate_link *l, uint64_t bytes);
/** Closes the writer's end, so that the reader comes to the end. Device time passes by itself again. */
void migrate_link_finish(struct migrate_link *l);
/** Closes the reader's end, after migrate_link_finish. */
void migrate_link_close(struct migrate_link *l);
/** Returns the nanoseconds that the bytes so far have taken. */
uint64_t migrate_link_ns(const struct migrate_link *l);

#endif
