/* SPDX-License-Identifier: Apache-2.0 */
/** The device under test, and objects on it in a line each. */
#ifndef SUPPORT_DUT_H
#define SUPPORT_DUT_H

#include "check.h"
#include "os/state/state.h"
#include "work.h"

#define MIB (1u << 20)
#define RW (TERN_MEM_READ | TERN_MEM_WRITE)

/** The device under test, of which a test program has one at a time, and the DMA buffer that its tests build. */
extern struct tern_device *dev;
extern struct work dma;
struct tern_process *process(const char *name);
/** Creates a context; engine -1: any. */
struct tern_context *context(struct tern_process *p, int32_t engine);
struct tern_allocation *memory(struct tern_process *p, uint64_t size, uint32_t flags);
/** Opens and closes the device around each test. */
int device_setup(void **state);
int device_teardown(void **state);

#endif
