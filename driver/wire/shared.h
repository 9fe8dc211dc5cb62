/* SPDX-License-Identifier: Apache-2.0 */
/** The memory that a session shares with its ternd (wire.h), for those that make it or are given it. Calls leave a
 *  sentence when they fail. */
#ifndef TERN_WIRE_SHARED_H
#define TERN_WIRE_SHARED_H

#include <stdbool.h>

#include "wire/wire.h"

/** A memory for so many calls, which is zero and cannot shrink, grow or lose that again: a descriptor, the caller's, or
 *  -ENOMEM. Pages come into being when they are written. */
int tern_shared_make(uint32_t calls);
/** Is it one that tern_shared_make has made, as far as can be told: of this size, and sealed? No sentence. */
bool tern_shared_is(int memory, uint32_t calls);
/** Maps it, for reading and writing. The caller unmaps tern_wire_shared_bytes(calls). 0; -ENOMEM: nothing has
 *  changed. */
int tern_shared_map(int memory, uint32_t calls, struct tern_wire_shared **shared, uint8_t **submissions,
                    struct tern_wire_completion **completions);

#endif
