/* SPDX-License-Identifier: Apache-2.0 */
/** A device: opening and closing, and the thread that runs the scheduler. */
#ifndef TERN_OS_DEVICE_DEVICE_H
#define TERN_OS_DEVICE_DEVICE_H

#include "os/state/state.h"

struct tern_hal;

/** Opens a device on a hal, which it takes on success. On failure the caller closes the hal. -errno, with a
 *  sentence. */
int tern_device_open_hal(struct tern_hal *hal, const struct tern_policy *policy, struct tern_device **out);

/* device_thread.c */
/** Start the device thread, and end it. -errno, with a sentence. */
int tern_device_thread_start(struct tern_device *dev);
void tern_device_thread_stop(struct tern_device *dev);
extern const struct tern_sched_ops tern_engine_ops; /* engine_ops.c */

#endif
