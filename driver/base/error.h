/* SPDX-License-Identifier: Apache-2.0 */
/** The sentence of tern_last_error(). Each thread has its own; it is set where the cause of a failure is known. */
#ifndef TERN_BASE_ERROR_H
#define TERN_BASE_ERROR_H

/** Records the sentence and returns code, a negative errno, so that a path that fails is
 *  `return tern_error(-EIO, ...)`. */
int tern_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The calling thread's last sentence, for code that does not include tern.h, which declares tern_last_error(). */
const char *tern_error_sentence(void);
/** Returns -ENOMEM, with a sentence that names what could not be allocated. */
int tern_error_memory(const char *what);

#endif
