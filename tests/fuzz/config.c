/* SPDX-License-Identifier: Apache-2.0 */
/** The configuration of a device, as in TERN_CONFIG. An accepted configuration has values in range, and gives the same
 *  result when it is parsed again. */
#include "hal/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/state/policy.h"
#include "tern/tern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct both {
    struct tern_config device;
    struct tern_policy policy;
};

static int parse(const char *text, struct both *out)
{
    memset(out, 0, sizeof *out);
    struct tern_config *device;
    const int r = tern_policy_parse("model", text, &out->policy, &device);
    if (!r) {
        out->device = *device;
        free(device);
    }
    return r;
}

static bool in_range(const struct both *c)
{
    const uint64_t most = 1ull << 62;
    const struct tern_policy *p = &c->policy;
    const struct tern_config *d = &c->device;
    return p->timeout <= most && p->limit <= most && p->quantum <= most && p->grace <= most && p->preempt <= most &&
           p->depth <= 2 && d->mem_bytes <= 16ull << 30 && d->mem_bytes % 4096 == 0 &&
           strlen(d->text) < sizeof d->text && strlen(d->trace) < sizeof d->trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct both c, again;
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (parse(text, &c) == 0) {
        if (!in_range(&c) || parse(text, &again) || memcmp(&c, &again, sizeof c)) {
            abort();
        }
    } else if (!*tern_last_error()) {
        abort();
    }
    free(text);
    return 0;
}
