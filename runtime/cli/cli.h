/* SPDX-License-Identifier: Apache-2.0 */
/** The commands of `tern`. Exit codes: 0 done, 1 a result is wrong or the device failed, 2 wrong usage; 128 + the
 *  signal: exit_at_interrupt. */
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

/** Says on stderr what is wrong with the arguments and where help is; EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * From now on SIGINT (Ctrl-C) and SIGTERM end the program with one sentence and the exit code 128 + the signal.
 * last: called before, async-signal-safe; may be NULL. A signal that was ignored stays ignored.
 */
void exit_at_interrupt(const char *command, void (*last)(void));
/** Signals that commands ignore, and whose action a program that they start has again as it was before: SIGXFSZ. */
void exit_limit_default(sigset_t *out);

/** What main returns for this status, once all output is written: a full disk must not pass for success. */
int exit_status(int status);

#endif
