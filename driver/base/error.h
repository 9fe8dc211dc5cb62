/* SPDX-License-Identifier: Apache-2.0 */
/** The sentence behind tern_last_error(): kept per thread, set where the failure is known best. */
#ifndef TERN_BASE_ERROR_H
#define TERN_BASE_ERROR_H

/** Records the sentence and returns code (a negative errno), so that a failing path reads
 * `return tern_error(-EIO, ...)`. */
int tern_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** -ENOMEM with its sentence: what could not be allocated. */
int tern_error_memory(const char *what);

#endif
