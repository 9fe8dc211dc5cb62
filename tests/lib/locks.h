/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests that a function ends the process if it is called without the lock that it needs (base/lock.h). Each call is
 * made in a child. A function that takes its lock itself, and asserts it in functions below, is tested by leaving the
 * lock out: LEAVE_OUT_LOCKS defines wrappers of pthread_mutex_lock and pthread_mutex_unlock that do nothing in the
 * child, for one lock or for all, and the test is linked with --wrap for both. A ticket lock is left out by its mutex:
 * when the thread that takes it unlocks the mutex, the thread no longer counts as the holder.
 */
#ifndef TERN_TEST_LOCKS_H
#define TERN_TEST_LOCKS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ticket_lock.h"

static bool locks_left_out;
static const pthread_mutex_t *locks_only; /* the lock that is left out; NULL: all */
static struct tern_ticket_lock *locks_ticket; /* the ticket lock that is left out; NULL: none */

#define LEAVE_OUT_LOCKS \
    int __real_pthread_mutex_lock(pthread_mutex_t *m); \
    int __real_pthread_mutex_unlock(pthread_mutex_t *m); \
    int __wrap_pthread_mutex_lock(pthread_mutex_t *m); \
    int __wrap_pthread_mutex_unlock(pthread_mutex_t *m); \
    int __wrap_pthread_mutex_lock(pthread_mutex_t *m) \
    { \
        return locks_left_out && (!locks_only || locks_only == m) ? 0 : __real_pthread_mutex_lock(m); \
    } \
    int __wrap_pthread_mutex_unlock(pthread_mutex_t *m) \
    { \
        if (locks_left_out && locks_ticket && m == &locks_ticket->lock) { \
            locks_ticket->holder = 0; \
        } \
        return locks_left_out && (!locks_only || locks_only == m) ? 0 : __real_pthread_mutex_unlock(m); \
    }

/** Returns the signal that ends a child which runs the function, or its exit status, and the beginning of what the
 *  child printed as errors. */
static inline int locks_end_of(void (*run)(void), char said[400])
{
    int status = -1, fds[2];
    said[0] = '\0';
    if (pipe(fds)) {
        return -1;
    }
    const pid_t child = fork();
    if (!child) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(fds[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL); /* that of the test's library would report a failed test */
        signal(SIGSEGV, SIG_DFL);
        locks_left_out = true;
        run();
        _exit(0);
    }
    close(fds[1]);
    const ssize_t n = read(fds[0], said, 399);
    said[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    return child < 0 || waitpid(child, &status, 0) != child ? -1 : WIFSIGNALED(status) ? WTERMSIG(status)
                                                                                       : WEXITSTATUS(status);
}

/** A call of a function without a lock, and what the function says then. */
struct locks_case {
    void (*call)(void);
    const char *says;            /**< "FUNCTION needs LOCK". */
    const pthread_mutex_t *only; /**< The lock that is left out; NULL: all. */
};

/** Number of calls that do not end with what they are to say; each is printed. */
static inline int locks_unasserted(const struct locks_case *cases, size_t n)
{
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        char said[400];
        locks_only = cases[i].only;
        const int end = locks_end_of(cases[i].call, said);
        if (end != SIGABRT || !strstr(said, cases[i].says) ||
            !strstr(said, ", which this thread does not hold\n")) {
            printf("without the lock: '%s' is to be said; it ended with %d and said '%s'\n", cases[i].says, end, said);
            bad++;
        }
    }
    return bad;
}

#endif
