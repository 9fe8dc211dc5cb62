/* SPDX-License-Identifier: Apache-2.0 */
/** Executes the calls of XRT's emulation on a device. Requests and answers are bytes. */
#ifndef TERN_EMULATION_CALLS_H
#define TERN_EMULATION_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "device.h"

/** Largest number of bytes of data in an answer. XRT requests no more at once (packet_size in scripts/xclbin), and does
 *  not enlarge its buffer for an answer (pad in the same file). */
#define CALLS_DATA 65536u
#define CALLS_ANSWER (CALLS_DATA + 64u)

/** Executes a request and writes the answer to out, which has CALLS_ANSWER bytes. Returns the answer's length, or
 *  -EPROTO: the bytes are no such request. A failure of the device is not an error here, but part of the answer. */
long calls_serve(struct device *d, uint32_t api, const uint8_t *request, size_t size, uint8_t *out);

#endif
