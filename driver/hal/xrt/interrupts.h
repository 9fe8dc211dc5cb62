/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interrupt of a card. XRT waits for it in a call, so a thread of its own makes that call. Where XRT has no
 * interrupt for the kernel, as in emulation, the thread ends at once, and the backend depends on polling.
 */
#ifndef TERN_HAL_XRT_INTERRUPTS_H
#define TERN_HAL_XRT_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/xrt/tern_xrt.h"

struct tern_interrupts;

/**
 * Starts the thread, which calls told(user, r) with the result of each wait. The card must stay open until the thread
 * has been stopped. -ENOMEM, -EAGAIN; without a sentence.
 *   r = 1  an interrupt
 *   r = 0  no interrupt for some time
 *   r < 0  there is no interrupt, and the thread ends
 */
int tern_interrupts_start(const struct tern_xrt_api *api, struct tern_xrt *xrt, void (*told)(void *user, int r),
                          void *user, struct tern_interrupts **out);
/** Ends the thread within `ms` milliseconds. False: XRT's call has not returned, and the thread is abandoned with the
 *  memory that it uses. */
bool tern_interrupts_stop(struct tern_interrupts *i, int64_t ms);

#endif
