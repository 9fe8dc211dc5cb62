/* SPDX-License-Identifier: Apache-2.0 */
/** The calls of XRT's emulation, on a device: bytes of a request in, bytes of its answer out. */
#ifndef TERN_EMULATION_CALLS_H
#define TERN_EMULATION_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "device.h"

/** Bytes of data in an answer at most: XRT asks for no more at once (packet_size of scripts/xclbin), and has a buffer
 *  for the whole answer that it does not make larger (pad there). */
#define CALLS_DATA 65536u
#define CALLS_ANSWER (CALLS_DATA + 64u)

/** Does what a request asks and puts the answer into out, of CALLS_ANSWER bytes. Its length, or -EPROTO: these bytes
 *  are no such request. What the device does not do is in the answer. */
long calls_serve(struct device *d, uint32_t api, const uint8_t *request, size_t size, uint8_t *out);

#endif
