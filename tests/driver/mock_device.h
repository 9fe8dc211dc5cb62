/* SPDX-License-Identifier: Apache-2.0 */
/** A hal that expects exactly the accesses that a test scripts, in order; a part of its memory is mapped. */
#ifndef MOCK_DEVICE_H
#define MOCK_DEVICE_H

#include "hal/hal.h"

struct tern_hal *mock_device(void);
/** What the hal maps. */
#define MOCK_WINDOW 0x10000u
#define MOCK_WINDOW_BYTES 4096u
extern uint64_t mock_window[MOCK_WINDOW_BYTES / 8];
/** The next access must be this read, and gives value; or this write; or a wait. error != 0 makes it fail. */
void expect_read(uint32_t offset, uint32_t value);
void expect_write(uint32_t offset, uint32_t value);
void expect_wait(void);
void expect_flush(void);
/** Of device memory: every byte of it reads as fill; a piece that is written. Those of the window are not the hal's. */
void expect_mem_read(uint32_t address, uint8_t fill);
void expect_mem_write(uint32_t address, uint32_t size);
void expect_failure(uint32_t offset, int error);
/** So many operations of the hal were called, since it was made or asked; map is not counted. */
void expect_calls(uint32_t n);
/** All of the script has been used. */
void expect_nothing_more(void);

#endif
