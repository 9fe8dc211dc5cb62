/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functional model as a device: any bytes as a DMA buffer, a paging buffer or a saved state, in an engine's HW
 * queue, and a request to stop in the middle. The buffer must be indicated, or a reset must end it. All accesses must
 * be within the model's memory.
 *
 * Input: one byte each for the flags, the engine, the granularity of the request and the cycles before it; then memory
 * from address 0. The buffer begins in page 0, the root table is page 4, the save area begins in page 8.
 */
#include <stdlib.h>
#include <string.h>

#include "tern/tern_hw.h"
#include "tern/tern_spec.h"
#include "tern_sim/tern_sim.h"

#define HEAD 4u          /* bytes of the input before memory */
#define MEMORY (2u << 20) /* bytes */
#define ROOT 4u          /* page numbers of the root table and of the save area */
#define SAVE 8u
#define CYCLES_MAX 20000u
#define FENCE 7u         /* fence id of the buffer */

extern const struct tern_sim_api tern_sim_api;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tern_sim *sim;

static void put(uint32_t offset, uint32_t value)
{
    if (tern_sim_api.write32(sim, offset, value)) {
        abort();
    }
}

static uint32_t get(uint32_t offset)
{
    uint32_t value = 0;
    if (tern_sim_api.read32(sim, offset, &value)) {
        abort();
    }
    return value;
}

static void step(uint64_t cycles)
{
    if (tern_sim_api.step(sim, cycles, NULL)) {
        abort();
    }
}

/** Takes the indication of the buffer, if there is one. */
static void take_indication(uint32_t e)
{
    const uint32_t kind = (get(TERN_REG_ENGINE_IND_INFO(e)) & TERN_ENGINE_IND_INFO_KIND_MASK) >>
        TERN_ENGINE_IND_INFO_KIND_SHIFT;
    if (!(get(TERN_REG_ENGINE_STATUS(e)) & TERN_ENGINE_STATUS_INDICATIONS_MASK)) {
        return;
    }
    if (get(TERN_REG_ENGINE_IND_FENCE_LO(e)) != FENCE || kind < TERN_ENGINE_IND_INFO_KIND_COMPLETED ||
        kind > TERN_ENGINE_IND_INFO_KIND_FAULTED) {
        abort();
    }
    put(TERN_REG_ENGINE_IND_POP(e), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tern_sim_config config = {.mem_bytes = MEMORY};
    if (size < HEAD + TERN_PKT_LINE_BYTES || size > MEMORY || tern_sim_api.create(&config, &sim)) {
        return 0;
    }
    const uint32_t flags = data[0], e = data[1] & 1, granularity = data[2] & 3, before = data[3] * 16u;
    const uint32_t bytes = (uint32_t)(size - HEAD) / TERN_PKT_LINE_BYTES * TERN_PKT_LINE_BYTES;
    if (tern_sim_api.mem_write(sim, 0, data + HEAD, size - HEAD)) {
        abort();
    }
    put(TERN_REG_ENGINE_SUB_FENCE_LO(e), FENCE);
    put(TERN_REG_ENGINE_SUB_SIZE(e), bytes < ROOT * 4096 ? bytes : ROOT * 4096);
    put(TERN_REG_ENGINE_SUB_ROOT(e), ROOT);
    put(TERN_REG_ENGINE_SUB_SAVE(e), SAVE);
    put(TERN_REG_ENGINE_SUB_FLAGS(e), flags);
    put(TERN_REG_ENGINE_SUB_DOORBELL(e), 1);
    step(before + 1);
    put(TERN_REG_ENGINE_COMMAND(e),
        TERN_ENGINE_COMMAND_PREEMPT_MASK | granularity << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
    step(CYCLES_MAX);
    take_indication(e);
    put(TERN_REG_ENGINE_COMMAND(e), TERN_ENGINE_COMMAND_RESET_MASK);
    step(64);
    if (get(TERN_REG_ENGINE_STATUS(e)) & (TERN_ENGINE_STATUS_RESET_MASK | TERN_ENGINE_STATUS_QUEUED_MASK)) {
        abort();
    }
    tern_sim_api.destroy(sim);
    return 0;
}
