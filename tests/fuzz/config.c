/* SPDX-License-Identifier: Apache-2.0 */
/** The configuration of a device, as TERN_CONFIG gives it. What is accepted is in range, and means the
 * same when it is read again. */
#include "hal/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tern/tern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct tern_config c, again;
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&c, 0, sizeof c);
    memset(&again, 0, sizeof again);
    if (tern_config_parse("model", text, &c) == 0) {
        const uint64_t most = 1ull << 62;
        const bool good = c.timeout <= most && c.limit <= most && c.quantum <= most && c.grace <= most &&
            c.preempt <= most && c.depth >= 1 &&
                          c.depth <= 2 && c.mem_bytes <= 16ull << 30 && c.mem_bytes % 4096 == 0 &&
                          strlen(c.text) < sizeof c.text && strlen(c.trace) < sizeof c.trace;
        if (!good || tern_config_parse("model", text, &again) || memcmp(&c, &again, sizeof c)) {
            abort();
        }
    } else if (!*tern_last_error()) {
        abort();
    }
    free(text);
    return 0;
}
