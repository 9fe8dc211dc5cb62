/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of a test that run in a process of their own, since the device is opened once in each. */
#ifndef CHILD_H
#define CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clt.h"

/** Runs in a child, for so many seconds at most; what that says on stderr goes to `said`. Its status. */
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
        exit(0); /* with what the libraries do at the end */
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

/** It must have ended by itself, with 0. */
static inline void ended_well(int status, const char *said)
{
    if (status != 0) {
        fail_msg("the child ended with %#x and said: %s", status, said);
    }
}

#endif
