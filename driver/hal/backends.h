/* SPDX-License-Identifier: Apache-2.0 */
/** The backends of this library, by file. */
#ifndef TERN_HAL_BACKENDS_H
#define TERN_HAL_BACKENDS_H

#include "hal/hal.h"

extern const struct tern_hal_backend tern_hal_rtl, tern_hal_model; /**< hal_sim.c */
extern const struct tern_hal_backend tern_hal_uart; /**< uart/hal_uart.c */
extern const struct tern_hal_backend tern_hal_xrt; /**< xrt/hal_xrt.c */

/** Where libraries are looked for, from the directory of the object that holds this code: .. in lib/tern, else ../lib.
 *  "" if it does not fit. */
void tern_hal_beside(char *out, size_t size);

#endif
