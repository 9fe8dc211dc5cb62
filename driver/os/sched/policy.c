/* SPDX-License-Identifier: Apache-2.0 */
#include "os/sched/policy.h"

#include <stdlib.h>

#define MOST (1ull << 62)

static const struct tern_key keys[] = {
    TERN_KEY(struct tern_policy, timeout, true, 1000, MOST), TERN_KEY(struct tern_policy, limit, true, 1000, MOST),
    TERN_KEY(struct tern_policy, quantum, true, 100, MOST),  TERN_KEY(struct tern_policy, grace, true, 1, MOST),
    TERN_KEY(struct tern_policy, preempt, true, 100, MOST),  TERN_KEY(struct tern_policy, depth, false, 1, 2),
    TERN_KEY(struct tern_policy, realtime, false, 0, 1),
};

struct tern_keys tern_policy_keys(struct tern_policy *policy)
{
    return (struct tern_keys){keys, sizeof keys / sizeof *keys, policy};
}

static int from_environment(const char *name, uint64_t *cycles)
{
    const char *value = secure_getenv(name);
    return value ? tern_key_number(name, value, true, 1000, MOST, cycles) : 0;
}

int tern_policy_init(struct tern_policy *out)
{
    struct tern_policy p = {.depth = 2};
    int r = from_environment("TERN_TIMEOUT_CYCLES", &p.timeout);
    r = r ? r : from_environment("TERN_LIMIT_CYCLES", &p.limit);
    if (!r) {
        *out = p;
    }
    return r;
}
