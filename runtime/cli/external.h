/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands that are separate programs, and manual pages.
 *
 * `tern NAME` runs tern-NAME of $TERN_LIB_DIR/tern, or of the folder lib/tern beside bin. A command is known if it has
 * a manual page share/man/man1/tern-NAME.1, or .1.gz: `tern help` lists it with the summary of its page, also if its
 * program was not built.
 */
#ifndef TERN_CLI_EXTERNAL_H
#define TERN_CLI_EXTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/** The path `tail` below the build or installation to which this program belongs, which is in its folder bin or
 *  lib/tern. False: the program is in neither, or the path is too long. */
bool external_path(const char *tail, char path[PATH_MAX]);

/** The path of the program tern-NAME, or where it would be installed. False: NAME is no name, or the path is too
 *  long. */
bool external_program(const char *name, char path[PATH_MAX]);

/** Executes the program of the command argv[0]. If argv[1] names a part of it, tern-NAME-ARGUMENT without a manual
 *  page, executes that part. Returns only on failure: the exit status, after a message. */
int external_run(const char *name, char **argv);

/** Prints a line for each command that has a manual page, except those for which skip(name) is true. */
void external_list(FILE *out, bool (*skip)(const char *name));

/** Shows the manual page of a command ("": of tern itself) with man. False: there is no page, or no man. */
bool manual_show(const char *name);

#endif
