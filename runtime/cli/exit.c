/* SPDX-License-Identifier: Apache-2.0 */
/** How commands end (cli.h). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

int usage_error(const char *command, const char *format, ...)
{
    va_list ap;
    fprintf(stderr, "tern%s%s: ", *command ? " " : "", command);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fprintf(stderr, "; see tern%s%s --help\n", *command ? " " : "", command);
    return EXIT_USAGE;
}

int exit_status(int status)
{
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tern: cannot write to standard output: %s\n", strerror(errno));
        return status == EXIT_OK ? EXIT_FAILED : status;
    }
    return status;
}
