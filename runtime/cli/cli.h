/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of `tern`. Exit codes: 0: success; 1: a wrong result, or a failure of the device; 2: wrong usage; 128 +
 * signal: interrupted (exit_at_interrupt).
 */
#ifndef TERN_CLI_H
#define TERN_CLI_H

#include <signal.h>
#include <stdbool.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int cmd_checkpoint(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_partition(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_trace(int argc, char **argv);

/** Prints on stderr what is wrong with the arguments, and where help is. Returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** From here on SIGINT (Ctrl-C) and SIGTERM end the program with a message and the exit code 128 + signal. last:
 *  called before, must be async-signal-safe; may be NULL. Ignored signals stay ignored. */
void exit_at_interrupt(const char *command, void (*last)(void));
/** The signals that commands ignore and that programs which they start do not: SIGXFSZ, unless it was ignored
 *  before. */
void exit_limit_default(sigset_t *out);

/** The exit code of main for this status. Flushes standard output first: EXIT_FAILED, after a message, if it cannot
 *  be written. */
int exit_status(int status);

#endif
