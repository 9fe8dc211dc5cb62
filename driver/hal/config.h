/* SPDX-License-Identifier: Apache-2.0 */
/** What to open: backend, geometry and settings, from arguments or environment (TERN_BACKEND, TERN_CONFIG). */
#ifndef TERN_HAL_CONFIG_H
#define TERN_HAL_CONFIG_H

#include <stdint.h>

#define TERN_TIMEOUT_DEFAULT (1ull << 31)

struct tern_config {
    char backend[16];        /**< "rtl" or "model". */
    char geometry[16];       /**< "default" or "small". */
    char text[64];           /**< The configuration as it was given, cut to fit. */
    uint64_t mem_bytes;      /**< 0: the device's default. */
    uint32_t dram_latency;   /**< Cycles; 0: default. */
    uint32_t dram_bandwidth; /**< Bytes a cycle; 0: default. */
    uint64_t timeout;        /**< Cycles that a buffer may run. */
    char trace[256];         /**< File for a waveform, or empty. */
};

/** NULL: from the environment, else the default. -EINVAL names the item that is wrong and what would be right. */
int tern_config_parse(const char *backend, const char *config, struct tern_config *out);

#endif
