/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What to open: backend, geometry and settings, from arguments or environment (TERN_BACKEND, TERN_CONFIG;
 * TERN_TIMEOUT_CYCLES and TERN_LIMIT_CYCLES, unless there are keys). Zero means: as the device, or who uses
 * the value, has it by itself.
 */
#ifndef TERN_HAL_CONFIG_H
#define TERN_HAL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct tern_config {
    char backend[16];        /**< "rtl" or "model". */
    char geometry[16];       /**< "default" or "small". */
    char text[64];           /**< The configuration as it was given, cut to fit. */
    uint64_t mem_bytes;      /**< 0: the device's default. */
    uint32_t memory;         /**< enum tern_sim_memory: what kind of memory a simulated card has. */
    uint32_t dram_latency;   /**< Cycles; 0, here and below: as `memory` has it. */
    uint32_t dram_bandwidth; /**< Bytes a cycle. */
    uint32_t dram_reads, dram_writes; /**< Transfers outstanding at most. */
    uint32_t dram_refresh, dram_refresh_cycles; /**< Every so many cycles memory stands still for so many. */
    uint32_t dram_stall;     /**< Of 256 cycles, how many each channel of the port pauses. */
    uint64_t timeout;        /**< Cycles that an engine may take to answer a request to stop (F2). */
    uint64_t limit;          /**< Cycles that a buffer may run; 0: as long as it likes. */
    uint64_t quantum;        /**< Cycles that a context may keep an engine that others of its band want (S1). */
    uint64_t grace;          /**< Cycles that it may keep it after somebody of a higher band asks for it (S1). */
    /** For tests: every engine is preempted each time so many cycles have passed, whoever runs. */
    uint64_t preempt;
    uint32_t depth;          /**< HW-queue entries used, 1 or 2 (C6). */
    bool slow;               /**< By the backend: a second of device time takes hours. */
    bool realtime;           /**< Anybody may have contexts in the band REALTIME. */
    /** Physical range that a simulated memory answers with errors. For tests: no key. */
    uint64_t dram_error_base, dram_error_bytes;
    char trace[256];         /**< File for a waveform, or empty. */
};

/** NULL: from the environment, else the default. -EINVAL names the item that is wrong and what would be right. */
int tern_config_parse(const char *backend, const char *config, struct tern_config *out);
/** The name of an enum tern_sim_memory as the key `memory` has it; NULL: there is no such. */
const char *tern_config_memory_name(uint32_t memory);

#endif
