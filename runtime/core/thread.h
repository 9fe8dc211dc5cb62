/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread of the runtime (a queue's worker, a build in the background), detached, in the process of the
 * application: it blocks every signal, so that handlers of the program run in the program's threads; callbacks of the
 * application run under that mask. Its stack is that of the program's own threads, since it runs their callbacks, but
 * never too small for the compiler.
 */
#ifndef RT_THREAD_H
#define RT_THREAD_H

#include <stdbool.h>

/** False: there is no thread to be had. */
bool rt_thread_start(void *(*run)(void *), void *user);

#endif
