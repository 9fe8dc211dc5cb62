/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread of the driver, in a process of the application: it blocks every signal, so that handlers
 * of the program run in the program's threads, and a write to a pipe without a reader is an error and not the
 * end of the program (SIGPIPE goes to the thread that writes). Its stack is that of the program's own threads,
 * but never too small for a simulator.
 */
#ifndef TERN_BASE_THREAD_H
#define TERN_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/** 0 or -errno. */
int tern_thread_start(pthread_t *out, void *(*run)(void *), void *user);

/** Around a call that may start threads, which begin with the mask of their creator: no moment is left open. */
void tern_signals_block(sigset_t *before);
void tern_signals_restore(const sigset_t *before);

#endif
