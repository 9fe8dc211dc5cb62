/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory that a session shares with its ternd (wire.h). Functions set a sentence when they fail, unless they say
 * otherwise.
 */
#ifndef TERN_WIRE_SHARED_H
#define TERN_WIRE_SHARED_H

#include <stdbool.h>

#include "wire/wire.h"

/** Makes a zeroed memory for so many calls, sealed against changes of its size and seals. A descriptor of the
 *  caller's, or -ENOMEM. Pages are allocated when they are written. */
int tern_shared_make(uint32_t calls);
/** True: the memory has the size for so many calls, and the seals. Sets no sentence. */
bool tern_shared_is(int memory, uint32_t calls);
/** Maps the memory for reading and writing. The caller unmaps tern_wire_shared_bytes(calls) bytes at *shared.
 *  -ENOMEM: nothing is mapped. */
int tern_shared_map(int memory, uint32_t calls, struct tern_wire_shared **shared, uint8_t **submissions,
                    struct tern_wire_completion **completions);

#endif
