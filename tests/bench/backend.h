/* SPDX-License-Identifier: Apache-2.0 */
/** The backend and the configuration of a suite. */
#ifndef TERN_BENCH_BACKEND_H
#define TERN_BENCH_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

/** For a suite that does not measure exact cycles of the hardware. Unless TERN_BACKEND or TERND_SOCKET names a backend,
 *  selects the functional model and says so on stderr. */
void backend_prefer_model(const char *command);

/** Writes the configuration of TERN_CONFIG, or the default one, with the keys of a suite ("mem=16M,quantum=1000")
 *  instead of its own keys of these names. Returns false if it does not fit. */
bool backend_config(char *out, size_t size, const char *keys);

#endif
