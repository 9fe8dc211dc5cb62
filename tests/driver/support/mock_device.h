/* SPDX-License-Identifier: Apache-2.0 */
/** A hal that expects exactly the accesses that a test scripts, in order. A part of its memory is mapped. */
#ifndef MOCK_DEVICE_H
#define MOCK_DEVICE_H

#include "hal/hal.h"

struct tern_hal *mock_device(void);
/** The memory that the hal maps. */
#define MOCK_WINDOW 0x10000u
#define MOCK_WINDOW_BYTES 4096u
extern uint64_t mock_window[MOCK_WINDOW_BYTES / 8];
/** The next access must be this read, which gives value, or this write, wait or flush. */
void expect_read(uint32_t offset, uint32_t value);
void expect_write(uint32_t offset, uint32_t value);
void expect_wait(void);
void expect_flush(void);
/** The next access must be a read of device memory, of which every byte is `fill`, or a write of one piece. Accesses to
 * the mapped window are made by the driver itself and are not expected here. */
void expect_mem_read(uint32_t address, uint8_t fill);
void expect_mem_write(uint32_t address, uint32_t size);
void expect_failure(uint32_t offset, int error);
/** Checks how many operations of the hal were called since it was made or since the last call of this. map does not
 * count. */
void expect_calls(uint32_t n);
/** Checks that the whole script has been used. */
void expect_nothing_more(void);

#endif
