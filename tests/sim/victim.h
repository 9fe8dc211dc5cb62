/* SPDX-License-Identifier: Apache-2.0 */
/** A kernel for tests of preemption, with loops of many lengths, stacks, local memory, a barrier and atomics; and
 *  requests to stop. */
#ifndef TESTS_SIM_VICTIM_H
#define TESTS_SIM_VICTIM_H

#include "kernel.h"

#define DISPATCH_AT 128u /* byte offset of the dispatch in the buffer of build_kernel */
enum { GROUP = TERN_ENGINE_COMMAND_GRANULARITY_GROUP, INSTRUCTION = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION };
enum { ITEMS = 200, LOCAL = 48, LOCAL_BYTES = 4096 };

/** True: the device can stop in the middle of packets. */
bool stops(void);
void preempt(struct device *d, uint32_t engine, uint32_t granularity);

/** Make memory, the address space and a buffer, to be submitted at VA, physically BASE, with root ROOT; and check
 *  memory after it has run. */
void build_kernel(struct device *d);
void check_kernel(struct device *d);

#endif
