/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DMA buffers of any bytes, submitted to the driver on the functional model. Whatever their contents are, they must
 * end, completed or not, without a reset of an engine, and the next process must find all memory free.
 *
 * Input: a byte that says the number of buffers and the engine, and then the buffers, in pieces of whole lines. The
 * process's memory at MEMORY gets the same bytes, so that kernels and copies across pages have data.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "model_device.h"
#include "tests/lib/submit.h"

#define MEMORY 0x40000000u
#define MEMORY_BYTES 16384u
#define MOST_BYTES 65536u

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    open_model();
    return 0;
}

/** Runs until the work has ended, or cannot go on because it waits for a fence that nobody signals. */
static void let_run(const struct tern_context *c)
{
    bool going = true;
    while (going) {
        sched_yield();
        pthread_mutex_lock(&dev->lock);
        going = c->ended != c->submitted && (!dev->idle || dev->kick);
        pthread_mutex_unlock(&dev->lock);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *a;
    if (size < 1 + TERN_PKT_LINE_BYTES || size > MOST_BYTES) {
        return 0;
    }
    const struct tern_context_desc d = {.size = sizeof d, .name = "fuzz", .engine = (int32_t)(data[0] & 3) % 3 - 1};
    const size_t buffers = 1 + (data[0] >> 2) % 4, lines = (size - 1) / TERN_PKT_LINE_BYTES,
        each = (lines + buffers - 1) / buffers;
    must(tern_process_create(dev, "fuzz", &p) == 0 && tern_context_create(p, &d, &c) == 0);
    must(tern_allocation_create(p, MEMORY_BYTES, TERN_MEM_WRITE | TERN_MEM_EXEC, MEMORY, &a) == 0);
    must(tern_allocation_write(a, 0, data + 1, size - 1 < MEMORY_BYTES ? size - 1 : MEMORY_BYTES) == 0);
    for (size_t at = 0; at < lines; at += each) {
        const size_t n = lines - at < each ? lines - at : each;
        const int r = submit_packets(c, data + 1 + at * TERN_PKT_LINE_BYTES, n * TERN_PKT_LINE_BYTES, "fuzz", NULL);
        must(r == 0 || r == -EIO);
    }
    let_run(c);
    tern_process_abort(p, "the end");
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    must(tern_process_destroy(p) == 0);
    nothing_lost();
    return 0;
}
