/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads of the driver, in a process of the application. All signals are blocked in them. Hence handlers of the
 * program run in the program's threads, and a write to a pipe without a reader is an error and does not end the program
 * (SIGPIPE goes to the thread that writes). A thread's stack has the program's default size, but at least 2 MiB, which
 * a simulator needs.
 */
#ifndef TERN_BASE_THREAD_H
#define TERN_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/** Starts a thread. 0 or -errno. */
int tern_thread_start(pthread_t *out, void *(*run)(void *), void *user);

/** Block and restore signals around a call that may start threads. A thread begins with the mask of its creator, so no
 *  signal reaches it before it could block them itself. */
void tern_signals_block(sigset_t *before);
void tern_signals_restore(const sigset_t *before);

/** Around writes to files in a thread that may be the program's: one beyond the limit of file sizes (ulimit -f) fails
 *  with EFBIG, and does not end the program by SIGXFSZ. */
struct tern_file_limit {
    sigset_t before;
    bool pending;
};
void tern_file_limit_begin(struct tern_file_limit *l);
void tern_file_limit_end(const struct tern_file_limit *l);

#endif
