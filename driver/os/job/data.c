/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Data of DMA buffers (struct tern_submission), which are arguments of kernels. In a job the data follow the packets.
 * With the packets of each chunk all data of its job are copied, to pages of the chunk's slot. The slot is known only
 * when a chunk is made, so packets name offsets, which this file replaces by addresses. A preempted chunk finds its
 * data unchanged on any engine.
 *
 * Addresses. The pages are allocated when a context first needs them, among the low addresses, where the process has
 * its buffers. A kernel that reads its arguments then loads page-table entries that buffers near them need as well.
 * With pages at the end of the arena, histogram and mandelbrot of tests/bench took 112 and 171 cycles more, and the
 * other benches up to 147 cycles less.
 *
 * Alternative dropped: memory of the client, which it writes before it submits. Each dispatch would take one more
 * dev->lock, hal_lock and wake-up, and the client would have to know when the memory is free again.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "os/job/job.h"

#define ARGS_WORD 2u /* index of the 32-bit word `args` of a dispatch packet */

_Static_assert(TERN_DATA_MAX == TERN_DATA_PAGES * TERN_PAGE, "the data of a chunk fill its data pages");

/** Address of the chunk's data in the address space of its process. */
static uint32_t address(const struct tern_chunk *s)
{
    return (TERN_CONTEXT_OF(s->context)->data->va + s->slot * TERN_DATA_PAGES) * TERN_PAGE;
}

void tern_data_resolve(const struct tern_chunk *s, uint32_t *out)
{
    uint32_t bytes;
    memcpy(out, s->job->packets + s->start / 4, s->size);
    for (uint32_t at = 0; s->job->data_size && at < s->size; at += bytes) {
        if (tern_job_packet(s->job, s->start + at, &bytes) == TERN_PKT_DISPATCH) {
            out[at / 4 + ARGS_WORD] += address(s);
        }
    }
}
