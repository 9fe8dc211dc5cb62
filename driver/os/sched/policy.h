/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the engines of a device are shared and what a buffer may take, as the configuration of tern_device_open says
 * (docs/driver.md), TERN_TIMEOUT_CYCLES and TERN_LIMIT_CYCLES unless there are keys. Zero means: the default of the
 * part that uses it.
 */
#ifndef TERN_OS_POLICY_H
#define TERN_OS_POLICY_H

#include "base/keys.h"

#define TERN_POLICY_HOST UINT64_MAX /**< Three times the device's memory. */

struct tern_policy {
    uint64_t timeout; /**< Cycles that an engine may take to answer a request to stop (F2). */
    uint64_t limit;   /**< Cycles that a buffer may run; 0: as long as it likes. */
    uint64_t quantum; /**< Cycles that a context may keep an engine while others of its band are ready (S1). */
    uint64_t grace;   /**< Cycles that it may keep it when a higher band is ready (S1). */
    uint64_t preempt; /**< For tests: what runs is preempted after so many cycles (force_preempt). */
    uint32_t depth;   /**< HW-queue entries used, 1 or 2 (C6). */
    uint64_t stay;    /**< Cycles that work which runs keeps its memory, if others want it (residency.h). */
    uint64_t host;    /**< Bytes of the host for memory that is evicted; or TERN_POLICY_HOST. */
    bool realtime;    /**< The band REALTIME needs no privilege. */
};

struct tern_config; /* hal/config.h: of the device */
/**
 * All that tern_device_open takes: backend and config (NULL: from the environment) as far as they are the device's, to
 * be freed by the caller, and the policy: its defaults, the environment, then keys of config. -EINVAL names the item
 * that is wrong; -ENOMEM. Nothing is written then.
 */
int tern_policy_parse(const char *backend, const char *config, struct tern_policy *policy, struct tern_config **device);

#endif
