/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands that are programs of their own, and manual pages.
 *
 * `tern NAME` runs tern-NAME of $TERN_LIB_DIR/tern or of the folder lib/tern beside bin. A command is known if
 * it has a manual page, share/man/man1/tern-NAME.1: `tern help` lists it with the page's own summary, also
 * where its program was not built.
 */
#ifndef TERN_CLI_EXTERNAL_H
#define TERN_CLI_EXTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/** The path `tail` below the build or installation that this program is of, in its folder bin or lib/tern. False: it is
 * in neither, or that is too long. */
bool external_path(const char *tail, char path[PATH_MAX]);

/** The path of the program tern-NAME; if it is nowhere, where it would be. False: no name, or the path is too long. */
bool external_program(const char *name, char path[PATH_MAX]);

/**
 * Becomes the program of this command, argv[0]; or tern-NAME-ARGUMENT, a part of it that has no manual page of its own,
 * if the first argument names one. Returns only if it cannot: the status to exit with, after a message.
 */
int external_run(const char *name, char **argv);

/** Prints a line for each command that has a manual page, but for those of which skip(name) is true. */
void external_list(FILE *out, bool (*skip)(const char *name));

/** Shows the manual page of a command ("": of tern) with man. False: there is no page, or no man. */
bool manual_show(const char *name);

#endif
