/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of submissions before they are queued, for both sides of the driver: the device's process and clients. */
#ifndef TERN_BASE_SUBMISSION_H
#define TERN_BASE_SUBMISSION_H

#include <stddef.h>
#include <stdint.h>

#define TERN_SUBMISSION_MAX (1u << 20) /**< Largest number of bytes of packets. */

/** Opcode of the packet at byte `at` of `size` bytes. *bytes is its size, or one line if no engine would accept the
 *  packet. */
uint32_t tern_packet_at(const void *packets, uint32_t size, uint32_t at, uint32_t *bytes);
/** Checks the sizes, and, if there are data, that the arguments of each dispatch are in the data (tern_submit_data).
 *  -EINVAL, with a sentence. */
int tern_submission_check(const void *packets, size_t size, size_t data_size);

#endif
