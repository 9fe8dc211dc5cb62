/* SPDX-License-Identifier: Apache-2.0 */
/** What both sides of the driver see of a submission before it is queued. */
#ifndef TERN_BASE_SUBMISSION_H
#define TERN_BASE_SUBMISSION_H

#include <stddef.h>
#include <stdint.h>

#define TERN_SUBMISSION_MAX (1u << 20) /**< Bytes of packets. */

/** Opcode of the packet at byte `at` of so many bytes, and its own bytes; a line, if no engine would take it. */
uint32_t tern_packet_at(const void *packets, uint32_t size, uint32_t at, uint32_t *bytes);
/** As tern_submit_data: the sizes, and that each dispatch names a place in the data, if there are any. -EINVAL. */
int tern_submission_check(const void *packets, size_t size, size_t data_size);

#endif
