/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A breakpoint in device time: the device's time stops at a given cycle until a process is suspended, so that its work
 * is preempted at that cycle.
 */
#ifndef SUPPORT_BREAKPOINT_H
#define SUPPORT_BREAKPOINT_H

#include <stdatomic.h>

#include "hal/hal.h"
#include "os/device/device.h"

struct breakpoint {
    struct tern_hal hal, *real;
    atomic_uint at;          /* device time at which it stops, in cycles; 0: never */
    atomic_bool paused;      /* time has stopped: no call that touches the device returns */
    struct tern_process *_Atomic proc;
};

/** Opens a device (backend NULL: the environment's), or skips the test. */
struct breakpoint *breakpoint_open(const char *backend, const char *config, struct tern_device **out);
/** Device time stops in so many cycles until the process is suspended. */
void breakpoint_set(struct breakpoint *p, struct tern_device *d, struct tern_process *proc, uint32_t cycles);
/** Waits until device time has stopped, or all work of the context has ended. */
void breakpoint_await(struct breakpoint *p, const struct tern_context *c);

#endif
