/* SPDX-License-Identifier: Apache-2.0 */
/** The driver on the functional model, both linked into this program, so that both are instrumented. */
#ifndef MODEL_DEVICE_H
#define MODEL_DEVICE_H

#include <stdlib.h>

#include "hal/hal.h"
#include "os/device/device.h"
#include "tern_sim/tern_sim.h"

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

static void open_model(void)
{
    static const struct tern_hal_ops ops = {
        .read32 = hal_read32, .write32 = hal_write32, .mem_read = hal_mem_read, .mem_write = hal_mem_write,
        .flush = hal_flush, .wait = hal_wait, .close = hal_close};
    static struct tern_hal hal = {.ops = &ops};
    const struct tern_sim_config sc = {.mem_bytes = 8u << 20};
    struct tern_policy policy = {.depth = 2, .limit = 20000, .quantum = 3000, .timeout = 1u << 20};
    setenv("TERN_CRASH_DIR", "/dev/null", 1);
    setenv("TERN_STATS", "0", 1);
    must(tern_sim_api.create(&sc, &sim) == 0 && tern_device_open_hal(&hal, &policy, &dev) == 0);
    free_at_first = tern_pages_free_count(dev->partition.pages);
}

/** Checks that all memory used by an input is free again, and that no engine had to be reset. */
static void nothing_lost(void)
{
    pthread_mutex_lock(&dev->lock);
    must(!dev->lost && !dev->tdr.adapter_resets && tern_pages_free_count(dev->partition.pages) == free_at_first);
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        must(!dev->sched.engine[e].resets);
    }
    pthread_mutex_unlock(&dev->lock);
}

#endif
