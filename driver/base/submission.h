/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of a submission before it is queued. A client of ternd makes them before it sends; the process that has the
 *  device makes them again, because it does not trust clients. */
#ifndef TERN_BASE_SUBMISSION_H
#define TERN_BASE_SUBMISSION_H

#include <stddef.h>
#include <stdint.h>

#include "tern/tern.h"

/** Returns the opcode of the packet at byte `at` of `size` bytes of packets. *bytes: its size; one line (64 bytes) if
 *  the opcode is unknown or the packet is cut off, at which an engine faults. */
uint32_t tern_packet_at(const void *packets, uint32_t size, uint32_t at, uint32_t *bytes);
/** Checks both sizes (bytes), and, if data_size is not 0, that `args` of each dispatch is an offset into the data
 *  (struct tern_submission). 0, or -EINVAL with a sentence. */
int tern_submission_check(const void *packets, size_t size, size_t data_size);
/** Copies the caller's struct to *own, without the packets, data and label, and checks it; `flags` are the flags that
 *  it may have. 0; -EINVAL or -E2BIG with a sentence. */
int tern_submission_take(struct tern_submission *own, const struct tern_submission *given, uint32_t flags);

#endif
