/* SPDX-License-Identifier: Apache-2.0 */
/** The backends of this library, by file. */
#ifndef TERN_HAL_BACKENDS_H
#define TERN_HAL_BACKENDS_H

#include "hal/hal.h"

extern const struct tern_hal_backend tern_hal_rtl, tern_hal_model; /**< hal_sim.c */

#endif
