/* SPDX-License-Identifier: Apache-2.0 */
#include "os/state/policy.h"

#include "kmd/kmd.h"

#define CYCLES_MAX (1ull << 62)

static const struct tern_key keys[] = {
    TERN_KEY(struct tern_policy, timeout, true, 1000, CYCLES_MAX),
    TERN_KEY(struct tern_policy, limit, true, 1000, CYCLES_MAX),
    TERN_KEY(struct tern_policy, quantum, true, 100, CYCLES_MAX),
    TERN_KEY(struct tern_policy, grace, true, 1, CYCLES_MAX),
    TERN_KEY(struct tern_policy, preempt, true, 100, CYCLES_MAX),
    TERN_KEY(struct tern_policy, depth, false, 1, 2),
    TERN_KEY(struct tern_policy, realtime, false, 0, 1),
    TERN_KEY(struct tern_policy, lease, true, 1, CYCLES_MAX),
    TERN_KEY(struct tern_policy, host, true, 0, 1ull << 44),
};

int tern_policy_parse(const char *backend, const char *config, struct tern_policy *policy, struct tern_config **device)
{
    struct tern_policy p = {.depth = 2, .host = TERN_POLICY_HOST};
    const struct tern_keys own = {keys, sizeof keys / sizeof *keys, &p};
    int r = tern_key_environment("TERN_TIMEOUT_CYCLES", "cycles", true, 1000, CYCLES_MAX, &p.timeout);
    if (r == 0) {
        r = tern_key_environment("TERN_LIMIT_CYCLES", "cycles", true, 1000, CYCLES_MAX, &p.limit);
    }
    if (r == 0) {
        r = tern_kmd_config(backend, config, &own, device);
    }
    if (!r) {
        *policy = p;
    }
    return r;
}
