/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device to open: backend, geometry and settings, from arguments or environment (TERN_BACKEND, TERN_CONFIG). A
 * setting of 0 stands for the device's own default.
 */
#ifndef TERN_HAL_CONFIG_H
#define TERN_HAL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keys.h"

#define TERN_HAL_NAME 16u /**< Bytes of a backend's name with its NUL, as in struct tern_device_info. */

struct tern_config {
    char backend[TERN_HAL_NAME]; /**< A name that tern_hal_find knows. */
    char geometry[16];       /**< "default", "small", "tiny" or "shell". */
    char text[64];           /**< The configuration as it was given, cut to fit. */
    uint64_t mem_bytes;      /**< Bytes of device memory. */
    uint32_t memory;         /**< Kind of the memory of a simulated card, an enum tern_sim_memory. */
    uint32_t dram_latency;   /**< Latency in cycles. 0 stands for the value of `memory`, as for all fields below. */
    uint32_t dram_bandwidth; /**< Bytes per cycle. */
    uint32_t dram_reads, dram_writes; /**< Largest numbers of outstanding transfers. */
    uint32_t dram_refresh, dram_refresh_cycles; /**< Cycles from one refresh to the next, and of a refresh. */
    uint32_t dram_stall;     /**< Cycles of each 256 in which a channel of the port pauses. */
    /** Physical range, in bytes, that a simulated memory answers with errors. For tests: there is no key. */
    uint64_t dram_error_base, dram_error_bytes;
    char trace[256];         /**< File for a waveform, or empty. */
};

/** The name of an enum tern_sim_memory as a value of the key `memory`; NULL: there is no such memory. */
const char *tern_config_memory_name(uint32_t memory);

#endif
