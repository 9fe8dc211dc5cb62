/* SPDX-License-Identifier: Apache-2.0 */
/** Where a job may be cut: at packet boundaries, and before every fence_wait that is not the first thing left. */
#include "os/sched_old.h"

uint32_t tern_slice_cut(const struct tern_job *job, uint32_t start, uint32_t *packets)
{
    uint32_t at = start;
    bool waits_only = true;
    for (*packets = 0; at < job->size; ++*packets) {
        uint32_t opcode = job->packets[at / 4] & TERN_PKT_OPCODE_MASK;
        uint32_t bytes = tern_pkt_lines(opcode) * TERN_PKT_LINE_BYTES;
        bool wait = opcode == TERN_PKT_FENCE_WAIT;
        if (!bytes || bytes > job->size - at) {
            bytes = TERN_PKT_LINE_BYTES; /* the engine will fault here, and nothing after it matters */
        }
        if ((wait && !waits_only) || at + bytes - start > TERN_SLICE_BYTES) {
            break;
        }
        waits_only = waits_only && wait;
        at += bytes;
    }
    return at - start;
}
