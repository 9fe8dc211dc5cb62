/* SPDX-License-Identifier: Apache-2.0 */
/** Simulated memory, registers and resets of a device, for the run of a scene. */
#include <errno.h>
#include <stdlib.h>

#include "device.h"

#define BLOCK_PAGES 512u /* pages whose dirty bits fill a line */
#define BUSY_POLLS 8192u
#define RESET_STREAM 0x7265736574ull
#define PACE 8u /* cycles of latency at most for each outstanding transfer, so that lines come often enough */

void device_memory(uint64_t seed, struct tern_sim_config *c)
{
    static const uint32_t latency[] = {1, 20, 60, 150}, outstanding[] = {1, 2, 3, 8, 32, 256},
        stall[] = {0, 0, 64, 128, 192};
    struct rng r = rng_of(seed, 0x6472616dull);
    if (!rng_one_in(&r, 4)) {
        return;
    }
    c->memory = rng_below(&r, TERN_SIM_MEMORIES);
    if (rng_one_in(&r, 3)) {
        return; /* as it is: the default among them */
    }
    c->dram_latency = latency[rng_below(&r, COUNT(latency))];
    c->dram_reads = outstanding[rng_below(&r, COUNT(outstanding))];
    c->dram_writes = outstanding[rng_below(&r, COUNT(outstanding))];
    c->dram_latency = least(c->dram_latency, PACE * least(c->dram_reads, c->dram_writes));
    c->dram_stall = stall[rng_below(&r, COUNT(stall))];
    c->dram_reorder_seed = rng_one_in(&r, 2) ? 1 + rng_below(&r, 1000000) : 0;
    if (rng_one_in(&r, 2)) {
        c->dram_refresh = 300 + rng_below(&r, 2000);
        c->dram_refresh_cycles = 1 + rng_below(&r, 200);
    }
}

/* ----------------------------------------------------------------- registers */

static int get(const struct tern_sim_api *api, struct tern_sim *sim, uint32_t offset, uint32_t *v)
{
    *v = 0;
    return api->read32(sim, offset, v);
}

static uint32_t field(uint32_t v, uint32_t mask, uint32_t shift)
{
    return (v & mask) >> shift;
}

int device_indication(const struct tern_sim_api *api, struct tern_sim *sim, uint32_t e, struct seen *out)
{
    const uint32_t at[] = {TERN_REG_ENGINE_IND_INFO(e),     TERN_REG_ENGINE_IND_VA(e),
                           TERN_REG_ENGINE_IND_PC(e),       TERN_REG_ENGINE_IND_OFFSET(e),
                           TERN_REG_ENGINE_IND_GROUP_X(e),  TERN_REG_ENGINE_IND_GROUP_Y(e),
                           TERN_REG_ENGINE_IND_GROUP_Z(e),  TERN_REG_ENGINE_IND_FENCE_LO(e),
                           TERN_REG_ENGINE_IND_FENCE_HI(e), TERN_REG_ENGINE_IND_BEGIN_LO(e),
                           TERN_REG_ENGINE_IND_BEGIN_HI(e), TERN_REG_ENGINE_IND_END_LO(e),
                           TERN_REG_ENGINE_IND_END_HI(e)};
    uint32_t v[COUNT(at)];
    int r = 0;
    for (uint32_t i = 0; i < COUNT(at); i++) {
        int error = get(api, sim, at[i], &v[i]);
        if (r == 0) {
            r = error;
        }
    }
    *out = (struct seen){
        .engine = e,
        .kind = field(v[0], TERN_ENGINE_IND_INFO_KIND_MASK, TERN_ENGINE_IND_INFO_KIND_SHIFT),
        .access = field(v[0], TERN_ENGINE_IND_INFO_ACCESS_MASK, TERN_ENGINE_IND_INFO_ACCESS_SHIFT),
        .fault = field(v[0], TERN_ENGINE_IND_INFO_FAULT_MASK, TERN_ENGINE_IND_INFO_FAULT_SHIFT),
        .lane = field(v[0], TERN_ENGINE_IND_INFO_LANE_MASK, TERN_ENGINE_IND_INFO_LANE_SHIFT),
        .warp = field(v[0], TERN_ENGINE_IND_INFO_WARP_MASK, TERN_ENGINE_IND_INFO_WARP_SHIFT),
        .va = v[1],
        .pc = v[2],
        .offset = v[3],
        .group = {v[4], v[5], v[6]},
        .fence = (uint64_t)v[8] << 32 | v[7],
        .begin = (uint64_t)v[10] << 32 | v[9],
        .end = (uint64_t)v[12] << 32 | v[11],
    };
    int error = api->write32(sim, TERN_REG_ENGINE_IND_POP(e), 1);
    return r ? r : error;
}

int device_ask(const struct tern_sim_api *api, struct tern_sim *sim, struct rng *random, uint64_t mem_bytes)
{
    uint32_t first = rng_below(random, (uint32_t)(mem_bytes / PAGE)), count = 1 + rng_below(random, 8192);
    int r = api->write32(sim, TERN_REG_DIRTY_FIRST, first);
    if (r == 0) {
        r = api->write32(sim, TERN_REG_DIRTY_COUNT, count);
    }
    if (r == 0) {
        r = api->write32(sim, TERN_REG_DIRTY_COMMAND, TERN_DIRTY_COMMAND_OP_COUNT);
    }
    return r ? r : api->write32(sim, TERN_REG_DIRTY_COMMAND, TERN_DIRTY_COMMAND_OP_COUNT);
}

/** Reads the status of the dirty command until the command has ended, at most BUSY_POLLS times. */
static int dirty_status(const struct tern_sim_api *api, struct tern_sim *sim, uint32_t *v)
{
    int r = 0;
    *v = TERN_DIRTY_STATUS_BUSY_MASK;
    for (uint32_t tries = 0; tries < BUSY_POLLS && *v & TERN_DIRTY_STATUS_BUSY_MASK && !r; tries++) {
        r = get(api, sim, TERN_REG_DIRTY_STATUS, v);
    }
    return r;
}

int device_counted(const struct tern_sim_api *api, struct tern_sim *sim)
{
    uint32_t v;
    return dirty_status(api, sim, &v);
}

/* The result lies in the last lines of memory until it has been read. */
int device_dirty(const struct tern_sim_api *api, struct tern_sim *sim, uint64_t mem_bytes, bool clear, uint8_t *dirty)
{
    const uint64_t pages = mem_bytes / PAGE, blocks = (pages + BLOCK_PAGES - 1) / BLOCK_PAGES;
    const uint64_t names = (blocks + BLOCK_PAGES - 1) / BLOCK_PAGES, bytes = (names + blocks) * LINE;
    const uint64_t target = mem_bytes - bytes;
    uint8_t *const old = malloc(2 * bytes), *const result = old ? old + bytes : NULL;
    const uint32_t writes[][2] = {
        {TERN_REG_DIRTY_FIRST, 0}, {TERN_REG_DIRTY_COUNT, (uint32_t)pages},
        {TERN_REG_DIRTY_TARGET_LO, (uint32_t)target}, {TERN_REG_DIRTY_TARGET_HI, (uint32_t)(target >> 32)},
        {TERN_REG_DIRTY_COMMAND, clear ? TERN_DIRTY_COMMAND_OP_QUERY_CLEAR : TERN_DIRTY_COMMAND_OP_QUERY},
    };
    uint32_t v = 0;
    int r = old ? api->mem_read(sim, target, old, bytes) : -ENOMEM;
    for (uint32_t i = 0; i < sizeof writes / sizeof *writes && !r; i++) {
        r = api->write32(sim, writes[i][0], writes[i][1]);
    }
    if (r == 0) {
        r = dirty_status(api, sim, &v);
    }
    r = r || !v ? r : v & TERN_DIRTY_STATUS_BUSY_MASK ? -ETIMEDOUT : -EIO;
    if (r == 0) {
        r = api->mem_read(sim, target, result, bytes);
    }
    for (uint64_t p = 0; p < pages && !r; p++) {
        const uint64_t b = p / BLOCK_PAGES, at = p % BLOCK_PAGES;
        dirty[p] = result[b / 8] >> b % 8 & 1 && result[(names + b) * LINE + at / 8] >> at % 8 & 1;
    }
    if (r == 0) {
        r = api->mem_write(sim, target, old, bytes);
    }
    free(old);
    return r;
}

/* --------------------------------------------------------------------- reset */

/** Waits until the HW queue of an engine is empty and its reset is over, and drops what it has indicated. */
static int out_of_reset(const struct tern_sim_api *api, struct tern_sim *sim, uint32_t e)
{
    const uint32_t working = TERN_ENGINE_STATUS_RESET_MASK | TERN_ENGINE_STATUS_BUSY_MASK |
                             TERN_ENGINE_STATUS_QUEUED_MASK;
    uint32_t v = working, polls = 0;
    int r = 0;
    for (; v & working && !r; polls++) {
        r = polls < BUSY_POLLS ? get(api, sim, TERN_REG_ENGINE_STATUS(e), &v) : -ETIMEDOUT;
    }
    for (; !r && v & TERN_ENGINE_STATUS_INDICATIONS_MASK;) {
        r = api->write32(sim, TERN_REG_ENGINE_IND_POP(e), 1);
        if (r == 0) {
            r = get(api, sim, TERN_REG_ENGINE_STATUS(e), &v);
        }
    }
    return r;
}

/** Memory becomes that of the scene, and no page is dirty. */
static int restore(const struct tern_sim_api *api, struct tern_sim *sim, const struct scene *s)
{
    const uint64_t pages = s->mem_bytes / PAGE;
    uint8_t *const dirty = calloc(1, pages);
    int r = dirty ? device_dirty(api, sim, s->mem_bytes, true, dirty) : -ENOMEM;
    for (uint64_t p = 0; p < pages && !r; p++) {
        const bool changed = dirty[p] || s->touched[p] || s->before->touched[p];
        r = changed ? api->mem_write(sim, p * PAGE, s->memory + p * PAGE, PAGE) : 0;
    }
    free(dirty);
    return r;
}

int device_reset(const struct tern_sim_api *api, struct tern_sim *sim, const struct scene *s)
{
    struct rng random = rng_of(s->seed, RESET_STREAM);
    const bool stops = rng_one_in(&random, 2); /* as after a request to stop that was not answered in time */
    const uint32_t first = rng_below(&random, s->engines);
    int r = api->write32(sim, TERN_REG_DEV_IRQ_ENABLE, 0);
    for (uint32_t i = 0; i < s->engines && !r; i++) {
        const uint32_t e = (first + i) % s->engines, granularity = rng_below(&random, 4);
        if (stops) {
            r = api->write32(sim, TERN_REG_ENGINE_COMMAND(e), TERN_ENGINE_COMMAND_PREEMPT_MASK |
                             granularity << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
            if (r == 0) {
                r = api->step(sim, 1 + rng_below(&random, 1u << rng_below(&random, 10)), NULL);
            }
        }
        if (r == 0) {
            r = api->write32(sim, TERN_REG_ENGINE_COMMAND(e), TERN_ENGINE_COMMAND_RESET_MASK);
        }
        if (r == 0) {
            r = out_of_reset(api, sim, e);
        }
    }
    if (r == 0) {
        r = device_counted(api, sim);
    }
    return r ? r : restore(api, sim, s);
}
