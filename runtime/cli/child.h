/* SPDX-License-Identifier: Apache-2.0 */
/** Programs that a command starts and observes. The name `tern` stands for the program that runs now. */
#ifndef TERN_CLI_CHILD_H
#define TERN_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/** Starts argv[0]; argv ends with NULL. in, out, err: descriptors for the standard streams, or -1: those of this
 *  process. 0, or the exit status for the caller, after a message on stderr (127: there is no such program). */
int child_start(const char *command, char *const argv[], int in, int out, int err, pid_t *pid);
/** True: the process has ended, and *status is the exit status that a shell would report. wait: waits for the end. */
bool child_ended(pid_t pid, bool wait, int *status);
/** True: the process is the child or a descendant of it. */
bool child_has(pid_t child, pid_t pid);

/** Socket of the ternd that a program gets which names no device: TERND_SOCKET, else a ternd at a standard place
 *  unless TERN_BACKEND or TERN_CONFIG is set. NULL: none. The result is in a buffer of this function. */
const char *child_ternd(void);

#endif
