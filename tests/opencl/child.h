/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of a test that run in a process of their own, because a process opens the device once. */
#ifndef CHILD_H
#define CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clt.h"

/** Runs the function in a child, for at most `seconds`. `said` receives what the child wrote to stderr. Returns the
 * child's wait status. */
static inline int in_child(void (*run)(void), unsigned seconds, char *said, size_t size)
{
    int status;
    int fd[2];
    size_t n = 0;
    assert_int_equal(pipe(fd), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds);
        dup2(fd[1], STDERR_FILENO);
        close(fd[0]);
        close(fd[1]);
        run();
        exit(0); /* exit() runs the libraries' exit handlers. */
    }
    close(fd[1]);
    for (ssize_t r; (r = read(fd[0], said + n, size - 1 - n)) > 0;) {
        n += (size_t)r;
    }
    said[n] = '\0';
    close(fd[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/** The child must have exited with status 0. */
static inline void ended_well(int status, const char *said)
{
    if (status != 0) {
        fail_msg("the child ended with %#x and said: %s", status, said);
    }
}

#endif
