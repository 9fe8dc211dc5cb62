/* SPDX-License-Identifier: Apache-2.0 */
/** The list of backends, and opening a device by the name of its backend. */
#include "hal/open/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "hal/hal_sim.h"
#include "hal/uart/hal_uart.h"
#include "hal/xrt/hal_xrt.h"

static const struct tern_hal_backend *backends[TERN_HAL_BACKENDS] = {&tern_hal_rtl, &tern_hal_model,
                                                                    &tern_hal_uart, &tern_hal_xrt};

static const struct tern_hal_backend *look(const char *name)
{
    for (size_t i = 0; i < TERN_HAL_BACKENDS && backends[i]; i++) {
        if (!strcmp(backends[i]->name, name)) {
            return backends[i];
        }
    }
    return NULL;
}

int tern_hal_register(const struct tern_hal_backend *backend)
{
    size_t i = 0;
    if (!*backend->name || strlen(backend->name) >= TERN_HAL_NAME) {
        return tern_error(-EINVAL, "the name of a backend, '%s', has not 1 to %u characters", backend->name,
                          TERN_HAL_NAME - 1);
    }
    if (look(backend->name)) {
        return tern_error(-EEXIST, "there is a backend '%s' already", backend->name);
    }
    while (i < TERN_HAL_BACKENDS && backends[i]) {
        i++;
    }
    if (i == TERN_HAL_BACKENDS) {
        return tern_error(-ENOSPC, "there are %u backends already", TERN_HAL_BACKENDS);
    }
    backends[i] = backend;
    return 0;
}

const struct tern_hal_backend *tern_hal_find(const char *name)
{
    const struct tern_hal_backend *found = look(name);
    char known[TERN_HAL_BACKENDS * (TERN_HAL_NAME + sizeof " and ")];
    size_t n = 0;
    for (size_t i = 0; !found && i < TERN_HAL_BACKENDS && backends[i] && n < sizeof known; i++) {
        const char *before = i == 0 ? "" : i + 1 < TERN_HAL_BACKENDS && backends[i + 1] ? ", " : " and ";
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", before, backends[i]->name);
    }
    if (!found) {
        tern_error(-EINVAL, "unknown backend '%s'; known are %s (argument or TERN_BACKEND)", name, known);
    }
    return found;
}

int tern_hal_open(const struct tern_config *config, struct tern_hal **out)
{
    const struct tern_hal_backend *b = tern_hal_find(config->backend);
    const int r = b ? b->open(config, out) : -EINVAL;
    if (!r) {
        snprintf((*out)->backend, sizeof (*out)->backend, "%s", config->backend);
        snprintf((*out)->config, sizeof (*out)->config, "%s", config->text);
    }
    return r;
}
