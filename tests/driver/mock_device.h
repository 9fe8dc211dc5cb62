/* SPDX-License-Identifier: Apache-2.0 */
/** A hal that expects exactly the register accesses that a test scripts, in order. */
#ifndef MOCK_DEVICE_H
#define MOCK_DEVICE_H

#include "hal/hal.h"

struct tern_hal *mock_device(void);
/** The next access must be this read, and gives value; or this write; or a wait. error != 0 makes it fail. */
void expect_read(uint32_t offset, uint32_t value);
void expect_write(uint32_t offset, uint32_t value);
void expect_wait(void);
void expect_failure(uint32_t offset, int error);
/** All of the script has been used. */
void expect_nothing_more(void);

#endif
