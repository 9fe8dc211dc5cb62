/* SPDX-License-Identifier: Apache-2.0 */
/** The backend of a suite. */
#ifndef TERN_BENCH_BACKEND_H
#define TERN_BENCH_BACKEND_H

/** For a suite that does not measure exact cycles of the hardware: if TERN_BACKEND does not name a backend, it runs on
 *  the functional model, and says so on stderr. */
void backend_prefer_model(const char *command);

#endif
