/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread of the runtime (a queue's worker, a build) in the process of the application. The thread is detached and
 * blocks every signal, so that signal handlers run in the program's own threads; callbacks of the application run under
 * that mask. The stack has the size of the program's own threads, because it runs their callbacks, and at least the
 * size that the compiler needs.
 */
#ifndef RT_THREAD_H
#define RT_THREAD_H

#include <stdbool.h>

/** False: the thread cannot be created. */
bool rt_thread_start(void *(*run)(void *), void *user);

#endif
