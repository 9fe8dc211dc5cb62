/* SPDX-License-Identifier: Apache-2.0 */
/** Opening a device of any backend: the list of backends, and the configuration. */
#ifndef TERN_HAL_OPEN_OPEN_H
#define TERN_HAL_OPEN_OPEN_H

#include "hal/config.h"
#include "hal/hal.h"

/* backends.c */
/** Largest number of backends: those of this library (backends.c) and those that programs register. */
#define TERN_HAL_BACKENDS 8u
/** Registers a backend. Must be called before any device is opened, and by one thread at a time. -EEXIST: the name is
 *  taken; -ENOSPC; -EINVAL: the name is empty or too long. */
int tern_hal_register(const struct tern_hal_backend *backend);
/** The backend with this name. NULL, with a sentence that lists the known ones: there is none. */
const struct tern_hal_backend *tern_hal_find(const char *name);
/** Opens a device of config->backend, and fills all of **out. Errors as of `open`. */
int tern_hal_open(const struct tern_config *config, struct tern_hal **out);

/* config.c */
/**
 * Parses backend and config. NULL stands for the environment's value, and if that is unset, for "rtl" and "default".
 * `more` takes the keys that are not the device's; NULL: there are none. -EINVAL, with a sentence that names the wrong
 * item and the right ones; *out is untouched then.
 */
int tern_config_parse(const char *backend, const char *config, const struct tern_keys *more, struct tern_config *out);

#endif
