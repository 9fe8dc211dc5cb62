/* SPDX-License-Identifier: Apache-2.0 */
/** A kernel that is worth cutting: loops of many lengths, stacks, local memory, a barrier,
 * atomics; and requests to stop. */
#ifndef TESTS_SIM_VICTIM_H
#define TESTS_SIM_VICTIM_H

#include "kernel.h"

#define DISPATCH_AT 128u /* in the buffer of build_kernel: behind a fill */
enum { GROUP = TERN_ENGINE_COMMAND_GRANULARITY_GROUP, INSTRUCTION = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION };
enum { ITEMS = 200, LOCAL = 48, LOCAL_BYTES = 4096 };

/** Whether the device stops in the middle of packets at all. */
bool stops(void);
void preempt(struct device *d, uint32_t engine, uint32_t granularity);

/** Memory, address space and a buffer (to submit at VA, physically BASE, root ROOT); and whether memory
 * is as it must be behind it. */
void build_kernel(struct device *d);
void check_kernel(struct device *d);

#endif
