/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interrupt of a card, in a thread of its own, as XRT waits for it in a call: whoever sleeps is woken. Where XRT
 * has none for the kernel, as in emulation, the thread ends at once, and all depends on looking.
 */
#ifndef TERN_HAL_XRT_INTERRUPTS_H
#define TERN_HAL_XRT_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/xrt/tern_xrt.h"

struct tern_interrupts;

/** Starts the thread: it calls told(user, r) with what each wait gave: 1 an interrupt, 0 none in some time, else there
 *  are none, and it ends. The card stays open until it has been stopped. -ENOMEM, -EAGAIN; without a sentence. */
int tern_interrupts_start(const struct tern_xrt_api *api, struct tern_xrt *xrt, void (*told)(void *user, int r),
                          void *user, struct tern_interrupts **out);
/** Ends the thread, within `ms`. false: XRT has not come back, and the thread stays behind with what it uses. */
bool tern_interrupts_stop(struct tern_interrupts *i, int64_t ms);

#endif
