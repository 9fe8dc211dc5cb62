/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Splits jobs into chunks. A chunk ends at a packet boundary:
 *   - before a fence_wait, unless only waits precede it in the chunk, so that waits keep no engine;
 *   - behind fence_signals, so that a context that waits for them is woken at once;
 *   - before a packet that would make the chunk longer than TERN_CHUNK_BYTES.
 */
#include "base/submission.h"
#include "os/sched/sched.h"

uint32_t tern_job_packet(const struct tern_job *job, uint32_t at, uint32_t *bytes)
{
    return tern_packet_at(job->packets, job->size, at, bytes);
}

uint32_t tern_chunk_split(const struct tern_job *job, uint32_t start, uint32_t *packets)
{
    uint32_t at = start, bytes;
    bool waits_only = true, signalled = false;
    for (*packets = 0; at < job->size; ++*packets) {
        uint32_t opcode = tern_job_packet(job, at, &bytes);
        bool wait = opcode == TERN_PKT_FENCE_WAIT, signal = opcode == TERN_PKT_FENCE_SIGNAL;
        if ((wait && !waits_only) || (signalled && !signal) || at + bytes - start > TERN_CHUNK_BYTES) {
            break;
        }
        waits_only = waits_only && wait;
        signalled = signal;
        at += bytes;
    }
    return at - start;
}

uint32_t tern_job_signals(const struct tern_job *job, struct tern_sched_signal *out)
{
    uint32_t n = 0, bytes;
    for (uint32_t at = 0; at < job->size; at += bytes) {
        struct tern_pkt_fence_signal p;
        if (tern_job_packet(job, at, &bytes) == TERN_PKT_FENCE_SIGNAL &&
            !tern_pkt_fence_signal_unpack(&p, &job->packets[at / 4])) {
            if (out) {
                out[n].address = p.address_lo;
                out[n].value = p.value_lo | (uint64_t)p.value_hi << 32;
            }
            n++;
        }
    }
    return n;
}

struct tern_job *tern_sched_next_job(const struct tern_sched_context *c)
{
    TERN_LIST_EACH(node, &c->jobs)
    {
        struct tern_job *job = TERN_LIST_ENTRY(node, struct tern_job, node);
        if (job->sent < job->size) {
            return job;
        }
    }
    return NULL;
}
