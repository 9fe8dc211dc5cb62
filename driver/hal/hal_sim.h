/* SPDX-License-Identifier: Apache-2.0 */
/** The backends of simulators, and where libraries are. */
#ifndef TERN_HAL_HAL_SIM_H
#define TERN_HAL_HAL_SIM_H

#include "hal/hal.h"

extern const struct tern_hal_backend tern_hal_rtl, tern_hal_model;

/** The directory in which libraries are looked for, seen from that of the object that holds this code: .. if that is
 *  the folder tern of libraries, . if it is the folder of libraries (TERN_LIBDIR below the prefix: lib), else ../lib.
 *  out is "" if the path does not fit. */
void tern_hal_beside(char *out, size_t size);

#endif
