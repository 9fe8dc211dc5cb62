/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The settings by which engines are shared and work is limited. The configuration of tern_device_open sets them
 * (docs/driver.md); where it does not, TERN_TIMEOUT_CYCLES and TERN_LIMIT_CYCLES set two of them. 0 stands for a
 * default, which the file that uses the setting has. A device's policy is set at its opening. After that only
 * tern_os_device_serve changes it, before the first process.
 *
 * Rules (F2, S1, C6) are those of docs/rules.md; cycles are device cycles.
 */
#ifndef TERN_OS_POLICY_H
#define TERN_OS_POLICY_H

#include "base/keys.h"

#define TERN_POLICY_HOST UINT64_MAX /**< Value of `host` for three times the device's memory. */

struct tern_policy {
    uint64_t timeout; /**< Cycles in which an engine must answer a preemption, else it is reset (F2). */
    uint64_t limit;   /**< Cycles that a DMA buffer may run; 0: no limit. */
    uint64_t quantum; /**< Cycles that a context may keep an engine while others of its band are ready (S1). */
    uint64_t grace;   /**< Cycles in which preempted work may reach the end of its work-groups (S1). */
    uint64_t preempt; /**< For tests: cycles after which running work is preempted in any case; 0: never. */
    uint32_t depth;   /**< Number of HW-queue entries that are used, 1 or 2 (C6). */
    uint64_t lease;   /**< Cycles that a context runs before others may evict its memory (mem/lease.c). */
    uint64_t host;    /**< Bytes of host memory that evicted device memory may take. */
    bool realtime;    /**< Contexts need no privilege for the band REALTIME. */
    bool quiet;       /**< Submissions may be quiet (TERN_SUBMISSION_QUIET). */
};

struct tern_config; /* of a device: hal/config.h */
/**
 * Parses the arguments of tern_device_open; NULL stands for the environment. *policy gets the keys of this file, and
 * *device, which the caller frees, all other keys. A key of `config` overrides the environment, which overrides the
 * default. -EINVAL, with a sentence that names the wrong item; -ENOMEM. On failure nothing is written.
 */
int tern_policy_parse(const char *backend, const char *config, struct tern_policy *policy, struct tern_config **device);

#endif
