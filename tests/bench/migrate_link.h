/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A link between two devices, and a device whose time passes with the bytes that go over it: so how much work writes
 * while so many bytes are sent does not depend on the host. The link takes MIGRATE_LINK_BYTES a device cycle.
 *
 * Functions give 0 or -errno; what went wrong is on stderr by then.
 */
#ifndef TERN_BENCH_MIGRATE_LINK_H
#define TERN_BENCH_MIGRATE_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hal/hal.h"
#include "os/os.h"

#define MIGRATE_LINK_BYTES 32u /**< A device cycle: 8 GB/s at 250 MHz. */
#define MIGRATE_LINK_GB 8u     /**< Bytes a nanosecond. */

struct migrate_device;
/**
 * The device that TERN_BACKEND and TERN_CONFIG name, with `keys` after these. Its time passes while the driver waits
 * for it, as that of other simulated devices, or with a link. tern_device_close closes both.
 */
int migrate_device_open(const char *keys, struct migrate_device **out, struct tern_device **dev);

/** Two pipes, and a thread that takes what is written to one, lets device time pass, and writes it to the other. */
struct migrate_link {
    struct migrate_device *device;
    int writer, reader;      /**< Descriptors of the two ends. */
    int taken, given;        /* of the thread */
    pthread_t thread;
    _Atomic uint64_t bytes;  /**< That have passed. */
};

/** From now on time of the device passes with the link only. */
int migrate_link_open(struct migrate_device *device, struct migrate_link *out);
/** All that was written has passed: so many bytes since the link was opened. Then device time stands still until the
 *  next byte comes, but for a few cycles, and some thousand when an engine is told to stop. */
void migrate_link_pause(struct migrate_link *l, uint64_t bytes);
/** Nothing more is written: the reader comes to the end. Device time passes by itself. */
void migrate_link_finish(struct migrate_link *l);
/** Nothing more is read. After migrate_link_finish. */
void migrate_link_close(struct migrate_link *l);
/** Nanoseconds that the bytes so far have taken. */
uint64_t migrate_link_ns(const struct migrate_link *l);

#endif
