/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

void backend_prefer_model(const char *command)
{
    if (!is_set("TERN_BACKEND") && !is_set("TERND_SOCKET")) { /* A ternd chooses its own backend. */
        setenv("TERN_BACKEND", "model", 1);
        fprintf(stderr, "tern %s: backend model, the functional model, whose cycles are estimates; TERN_BACKEND=rtl is "
                "the simulated hardware\n", command);
    }
}

/** Returns whether a key of this name is among the keys. */
static bool among(const char *keys, const char *name, size_t length)
{
    for (const char *at = keys; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (!strncmp(at, name, length) && at[length] == '=') {
            return true;
        }
    }
    return false;
}

bool backend_config(char *out, size_t size, const char *keys)
{
    size_t n = 0;
    for (const char *at = is_set("TERN_CONFIG") ? getenv("TERN_CONFIG") : "default"; *at;) {
        const size_t item = strcspn(at, ","), name = strcspn(at, "=,");
        if (name == item || !among(keys, at, name)) {
            n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? "," : "", (int)item, at);
        }
        if (n >= size) {
            return false;
        }
        at += item + (at[item] == ',');
    }
    return n + (size_t)snprintf(out + n, size - n, "%s%s", n ? "," : "", keys) < size;
}
