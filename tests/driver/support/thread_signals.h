/* SPDX-License-Identifier: Apache-2.0 */
/** Signal masks of the threads that a library starts in a program, from /proc. */
#ifndef SUPPORT_THREAD_SIGNALS_H
#define SUPPORT_THREAD_SIGNALS_H

#include <stdint.h>

/** Returns the mask of the field SigBlk in a thread's status; UINT64_MAX if the thread has ended. */
uint64_t blocked_signals(const char *thread);
/** Returns the number of threads but the first. *open: how many of these have a signal unblocked, each reported on
 * stderr. */
unsigned other_threads(unsigned *open);

#endif
