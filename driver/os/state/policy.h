/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The settings by which engines are shared and work is limited. The configuration of tern_device_open sets them
 * (docs/driver.md). TERN_TIMEOUT_CYCLES and TERN_LIMIT_CYCLES set two of them if the configuration does not. The value
 * 0 stands for the default of the file that uses a setting. A device's policy is set at its opening. Only `realtime`
 * may change after that, by tern_os_device_trust before the first client.
 */
#ifndef TERN_OS_POLICY_H
#define TERN_OS_POLICY_H

#include "base/keys.h"

#define TERN_POLICY_HOST UINT64_MAX /**< Stands for three times the device's memory. */

struct tern_policy {
    uint64_t timeout; /**< Cycles that an engine may take to answer a request to stop (F2). */
    uint64_t limit;   /**< Cycles that a buffer may run; 0: no limit. */
    uint64_t quantum; /**< Cycles that a context may keep an engine while others of its band are ready (S1). */
    uint64_t grace;   /**< Cycles that a context may keep an engine when a higher band is ready (S1). */
    uint64_t preempt; /**< Cycles after which running work is preempted in any case, for tests (force_preempt). */
    uint32_t depth;   /**< Number of HW-queue entries that are used, 1 or 2 (C6). */
    uint64_t stay;    /**< Cycles that running work keeps its memory when others want it (mem/mem.h). */
    uint64_t host;    /**< Bytes of host memory for evicted memory, or TERN_POLICY_HOST. */
    bool realtime;    /**< The band REALTIME needs no privilege. */
};

struct tern_config; /* of a device: hal/config.h */
/**
 * Parses the arguments of tern_device_open; NULL stands for the environment. *device gets what belongs to the device,
 * and the caller frees it. *policy gets the rest: the defaults, overridden by the environment, overridden by keys of
 * config. -EINVAL, with a sentence that names the wrong item; -ENOMEM. On failure nothing is written.
 */
int tern_policy_parse(const char *backend, const char *config, struct tern_policy *policy, struct tern_config **device);

#endif
