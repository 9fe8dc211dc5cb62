/* SPDX-License-Identifier: Apache-2.0 */
/** The backend of cards, by XRT. */
#ifndef TERN_HAL_XRT_HAL_XRT_H
#define TERN_HAL_XRT_HAL_XRT_H

#include "hal/hal.h"

extern const struct tern_hal_backend tern_hal_xrt;

#endif
