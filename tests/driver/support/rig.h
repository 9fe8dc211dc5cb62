/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device whose hal can be made to fail, for the tests of preemption and of device failures. A failure that is set
 * takes effect at the hal's next access.
 */
#ifndef SUPPORT_RIG_H
#define SUPPORT_RIG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "dut.h"
#include "hal/hal.h"
#include "os/device/device.h"

struct rig {
    struct tern_hal hal, *real;
    atomic_uint deaf;     /* bits of engines that requests to stop do not reach */
    atomic_uint deaf_to;  /* deafness only while this context runs; 0: always */
    atomic_uint impatience; /* timeout in cycles from a request that does not reach a deaf engine to its reset, and
                             * of no other reset; 0: the device's. A test ends it by rig_be_patient(), with dev->lock
                             * held */
    uint64_t patience;      /* the device's own timeout in cycles, saved while impatience is in force; 0: it is not */
    atomic_int failing;   /* number of resets that do not end */
    atomic_uint held;     /* bits of engines that do not come out of the last reset */
    atomic_int eaten;     /* number of paging buffers that are lost on their way to engine 0 */
    atomic_bool mute;     /* interrupts are lost */
    atomic_bool gone;     /* all registers read all ones */
    atomic_bool kept;     /* the device keeps running when its driver closes it, as a card does */
    atomic_bool gated;    /* copies of host data of RIG_GATED bytes or more wait before the device is written */
    atomic_bool at_gate;  /* such a copy waits */
    atomic_bool lock_held; /* dev->lock was held while device time passed */
    atomic_uint preempts, resets; /* number of requests to stop and of resets */
    atomic_bool stubborn; /* a wait ends by a wake only, if the device is concurrent */
    atomic_bool waiting, woken;
    atomic_uint ends, bells[TERN_ENGINES_MAX]; /* number of such waits that ended; doorbells */
    uint32_t flags[TERN_ENGINES_MAX], fence[TERN_ENGINES_MAX];
    uint32_t context[TERN_ENGINES_MAX][8]; /* by the low bits of the fence id */
};

/** The rig of dev. */
extern struct rig rig;
extern bool rig_no_page_requests, rig_old_memory; /* properties of the devices that are opened next */
#define RIG_GATED (1u << 20) /* bytes of a copy that stops at the gate, at least */
/** Gives the device its own timeout again; with dev->lock held. */
void rig_be_patient(void);
/** Returns false if dev->lock is held all the time, which is so if the calling thread holds it. */
bool rig_lock_is_free(void);
/** Opens a driver on the device, behind the rig. */
int rig_drive(struct tern_hal *real, const struct tern_policy *policy);
/** Opens the device that the environment names, behind the rig. edit (may be NULL) changes settings that `config`
 * cannot express. */
void rig_open(const char *config, void (*edit)(struct tern_config *c));
/** Closes the device. */
void rig_done(void);
/** Closes the device that a failed case has left open, since it would go on using the rig of the next case. */
int rig_teardown(void **state);

#endif
