/* SPDX-License-Identifier: Apache-2.0 */
/** A program that a command starts and looks at. `tern` as its name is this program, wherever it is. */
#ifndef TERN_CLI_CHILD_H
#define TERN_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * Starts argv[0] with the rest as arguments; argv ends with NULL. in, out, err: file descriptors for its standard
 * input, output and error; -1: as this process has it. 0, or the status to exit with after a message on stderr
 * (127: there is no such program).
 */
int child_start(const char *command, char *const argv[], int in, int out, int err, pid_t *pid);
/** True once it has ended; *status is then what a shell would call its exit status. wait: until then. */
bool child_ended(pid_t pid, bool wait, int *status);
/** Is this process the child or a descendant of it? */
bool child_has(pid_t child, pid_t pid);

/** The ternd whose device a program gets that asks for none in particular: that of TERND_SOCKET, or one at a standard
 *  place, unless TERN_BACKEND or TERN_CONFIG is set. NULL: none. In a buffer of this function. */
const char *child_ternd(void);

#endif
