/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Data that travel in a DMA buffer: arguments of kernels. In the job they lie behind the packets; each chunk takes them
 * to pages of its own beside its place in the arena, in the same write. Where that is gets known when a chunk is
 * placed, so packets name offsets, and here they become addresses. A preempted chunk that goes on, on whichever
 * engine, finds its data as they were.
 *
 * The pages are made when a context first wants them, among the low addresses, where the process has its buffers, and
 * not in the arena at the end: a kernel that reads its arguments brings page tables that buffers near them need too.
 * In the arena they cost histogram and mandelbrot of tests/bench 112 and 171 cycles more, and the others up to 147
 * less.
 *
 * The alternative, memory of the client's that it writes before it submits, takes a lock, the hal lock and a
 * wake-up of its thread more for each dispatch, and the client must know when the memory is free again.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "os/os.h"

#define ARGS_WORD 2u /* struct tern_pkt_dispatch */

_Static_assert(TERN_DATA_MAX == TERN_DATA_PAGES * TERN_PAGE, "they fit their place");

/** Where the data are in the address space of the chunk's process. */
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
