/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

void backend_prefer_model(const char *command)
{
    if (!is_set("TERN_BACKEND") && !is_set("TERND_SOCKET")) { /* a ternd has the backend that it has */
        setenv("TERN_BACKEND", "model", 1);
        fprintf(stderr, "tern %s: backend model, the functional model, whose cycles are estimates; TERN_BACKEND=rtl is "
                "the simulated hardware\n", command);
    }
}
