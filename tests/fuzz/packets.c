/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DMA buffers of any bytes, given to the driver on the functional model. Whatever they hold, they end, completed or
 * not; no engine has to be reset for them; and the process after them finds all the memory that there was.
 *
 * Input: a byte that says how many buffers there are and on which engine; the rest, in pieces of whole lines,
 * are they. Memory of the process, at MEMORY, holds the rest as well, so that kernels and page-crossing
 * copies have something to work on.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "hal/hal.h"
#include "os/os.h"
#include "tern_sim/tern_sim.h"

#define MEMORY 0x40000000u
#define MEMORY_BYTES 16384u
#define MOST_BYTES 65536u

extern const struct tern_sim_api tern_sim_api;
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tern_sim *sim;
static struct tern_device *dev;
static uint32_t free_at_first;

static int hal_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    (void)h;
    return tern_sim_api.read32(sim, offset, value);
}

static int hal_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    int r = 0;
    (void)h;
    for (size_t i = 0; !r && i < n; i++) {
        r = tern_sim_api.write32(sim, writes[i].offset, writes[i].value);
    }
    return r;
}

static int hal_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    (void)h;
    return tern_sim_api.mem_read(sim, address, data, size);
}

static int hal_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    int r = 0;
    (void)h;
    for (size_t i = 0; !r && i < n; i++) {
        r = tern_sim_api.mem_write(sim, pieces[i].address, pieces[i].data, pieces[i].size);
    }
    return r;
}

static int hal_flush(struct tern_hal *h)
{
    (void)h;
    return 0;
}

static int hal_wait(struct tern_hal *h, uint64_t cycles)
{
    bool raised = false;
    (void)h;
    const int r = tern_sim_api.step(sim, cycles, &raised);
    return r ? r : raised;
}

static void hal_close(struct tern_hal *h)
{
    (void)h;
    tern_sim_api.destroy(sim);
}

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct tern_hal_ops ops = {
        .read32 = hal_read32, .write32 = hal_write32, .mem_read = hal_mem_read, .mem_write = hal_mem_write,
        .flush = hal_flush, .wait = hal_wait, .close = hal_close};
    static struct tern_hal hal = {.ops = &ops};
    const struct tern_sim_config sc = {.mem_bytes = 8u << 20};
    struct tern_policy policy = {.depth = 2, .limit = 20000, .quantum = 3000, .timeout = 1u << 20};
    (void)argc;
    (void)argv;
    setenv("TERN_CRASH_DIR", "/dev/null", 1);
    setenv("TERN_STATS", "0", 1);
    must(tern_sim_api.create(&sc, &sim) == 0 && tern_device_open_hal(&hal, &policy, &dev) == 0);
    free_at_first = tern_pages_free_count(dev->partition.pages);
    return 0;
}

/** Until it has ended, or nothing goes on because it waits for a fence that nobody signals. */
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
        const int r = tern_submit(c, data + 1 + at * TERN_PKT_LINE_BYTES, n * TERN_PKT_LINE_BYTES, "fuzz", NULL);
        must(r == 0 || r == -EIO);
    }
    let_run(c);
    tern_process_abort(p, "the end");
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    must(tern_process_destroy(p) == 0);
    pthread_mutex_lock(&dev->lock);
    must(!dev->lost && !dev->tdr.adapter_resets && tern_pages_free_count(dev->partition.pages) == free_at_first);
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        must(!dev->sched.engine[e].resets);
    }
    pthread_mutex_unlock(&dev->lock);
    return 0;
}
