/* SPDX-License-Identifier: Apache-2.0 */
/** The backend of boards, by a serial line. */
#ifndef TERN_HAL_UART_HAL_UART_H
#define TERN_HAL_UART_HAL_UART_H

#include "hal/hal.h"

extern const struct tern_hal_backend tern_hal_uart;

#endif
