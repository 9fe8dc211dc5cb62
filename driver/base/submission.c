/* SPDX-License-Identifier: Apache-2.0 */
#include "base/submission.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "tern/tern_spec.h"

#define ARGS_WORD 2u /* index of the 32-bit word `args` of a dispatch packet */

/** The word at byte `at` of the caller's packets, which need not be aligned. */
static uint32_t word(const void *packets, uint32_t at)
{
    uint32_t w;
    memcpy(&w, (const char *)packets + at, sizeof w);
    return w;
}

uint32_t tern_packet_at(const void *packets, uint32_t size, uint32_t at, uint32_t *bytes)
{
    const uint32_t opcode = word(packets, at) & TERN_PKT_OPCODE_MASK;
    *bytes = tern_pkt_lines(opcode) * TERN_PKT_LINE_BYTES;
    if (!*bytes || *bytes > size - at) { /* the engine will fault at it, and run nothing behind it */
        *bytes = TERN_PKT_LINE_BYTES;
    }
    return opcode;
}

int tern_submission_check(const void *packets, size_t size, size_t data_size)
{
    if (size < TERN_PKT_LINE_BYTES || size > TERN_PACKETS_MAX || size % TERN_PKT_LINE_BYTES) {
        return tern_error(-EINVAL, "a DMA buffer of %zu bytes: a multiple of 64, from 64 to %u, is needed", size,
                          TERN_PACKETS_MAX);
    }
    if (data_size > TERN_DATA_MAX) {
        return tern_error(-EINVAL, "%zu bytes of data with a DMA buffer: %u are the most", data_size, TERN_DATA_MAX);
    }
    for (uint32_t at = 0, bytes; data_size && at < size; at += bytes) {
        const uint32_t opcode = tern_packet_at(packets, (uint32_t)size, at, &bytes);
        const uint32_t offset = word(packets, at + 4 * ARGS_WORD);
        if (opcode == TERN_PKT_DISPATCH && offset >= data_size) {
            return tern_error(-EINVAL, "the dispatch at byte %u has its arguments at byte %u of %zu bytes of data", at,
                              offset, data_size);
        }
    }
    return 0;
}

int tern_submission_take(struct tern_submission *own, const struct tern_submission *given, uint32_t flags)
{
    const int r = tern_sized_take(own, sizeof *own, given);
    if (r) {
        return r;
    }
    if (own->flags & ~flags) {
        return tern_error(-EINVAL, "a submission has no flags 0x%x", own->flags & ~flags);
    }
    if (own->flags & TERN_SUBMISSION_NULL) {
        return own->packet_bytes || own->data_bytes
            ? tern_error(-EINVAL, "a null submission with %zu bytes of packets and %zu of data: it takes none",
                         own->packet_bytes, own->data_bytes)
            : 0;
    }
    if (!own->packets && own->packet_bytes) {
        return tern_error(-EINVAL, "packets of a submission are NULL, and packet_bytes is %zu", own->packet_bytes);
    }
    if (!own->data && own->data_bytes) {
        return tern_error(-EINVAL, "data of a submission are NULL, and data_bytes is %zu", own->data_bytes);
    }
    return tern_submission_check(own->packets, own->packet_bytes, own->data_bytes);
}
