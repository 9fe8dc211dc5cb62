/* SPDX-License-Identifier: Apache-2.0 */
/** Names of the kinds of a simulated memory. */
#include <stddef.h>

#include "hal/config.h"
#include "tern_sim/tern_sim.h"

static const char *const memories[] = {[TERN_SIM_MEMORY_IDEAL] = "ideal", [TERN_SIM_MEMORY_HBM] = "hbm",
                                       [TERN_SIM_MEMORY_DDR4] = "ddr4"};
_Static_assert(sizeof memories / sizeof *memories == TERN_SIM_MEMORIES, "every memory has a name");

const char *tern_config_memory_name(uint32_t memory)
{
    return memory < TERN_SIM_MEMORIES ? memories[memory] : NULL;
}
