/* SPDX-License-Identifier: Apache-2.0 */
/** The calls of XRT's emulation, on a device: bytes of a request in, bytes of its answer out. */
#ifndef TERN_EMULATION_CALLS_H
#define TERN_EMULATION_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "device.h"

/** Bytes of an answer at most: XRT's library has a buffer that it does not make larger (scripts/xclbin). */
#define CALLS_ANSWER 65536u

/** Does what a request asks and puts the answer into out, of CALLS_ANSWER bytes. Its length, or -EPROTO: these bytes
 *  are no such request. What the device does not do is in the answer. */
long calls_serve(struct device *d, uint32_t api, const uint8_t *request, size_t size, uint8_t *out);

#endif
