/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What device to open: backend, geometry and settings, from arguments or environment (TERN_BACKEND, TERN_CONFIG). Zero
 * means: as the device has it by itself.
 */
#ifndef TERN_HAL_CONFIG_H
#define TERN_HAL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keys.h"

#define TERN_HAL_NAME 16u /**< Bytes of a backend's name with its end, as in struct tern_device_info. */

struct tern_config {
    char backend[TERN_HAL_NAME]; /**< A name that tern_hal_find knows. */
    char geometry[16];       /**< "default", "small", "tiny" or "shell". */
    char text[64];           /**< The configuration as it was given, cut to fit. */
    uint64_t mem_bytes;      /**< 0: the device's default. */
    uint32_t memory;         /**< enum tern_sim_memory: what kind of memory a simulated card has. */
    uint32_t dram_latency;   /**< Cycles; 0, here and below: as `memory` has it. */
    uint32_t dram_bandwidth; /**< Bytes a cycle. */
    uint32_t dram_reads, dram_writes; /**< Transfers outstanding at most. */
    uint32_t dram_refresh, dram_refresh_cycles; /**< Every so many cycles memory stands still for so many. */
    uint32_t dram_stall;     /**< Of 256 cycles, how many each channel of the port pauses. */
    /** Physical range that a simulated memory answers with errors. For tests: no key. */
    uint64_t dram_error_base, dram_error_bytes;
    char trace[256];         /**< File for a waveform, or empty. */
};

/**
 * backend, config: NULL, from the environment, else "rtl" and "default". Keys that are not the device's go to more
 * (NULL: there are none). -EINVAL names the item that is wrong and what would be right; *out is untouched then.
 */
int tern_config_parse(const char *backend, const char *config, const struct tern_keys *more, struct tern_config *out);
/** The name of an enum tern_sim_memory as the key `memory` has it; NULL: there is no such. */
const char *tern_config_memory_name(uint32_t memory);

#endif
