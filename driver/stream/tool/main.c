/* SPDX-License-Identifier: Apache-2.0 */
/** tern-migrate: picks the command. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

int usage_error(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "tern migrate: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "; see tern migrate --help\n");
    return USAGE;
}

static void help(FILE *to)
{
    fprintf(to, "usage: tern migrate inspect [--json] FILE\n\n"
                "Shows a migration stream: its header, its records with their fields, what is damaged, and totals.\n"
                "FILE: a file with a stream; -: standard input.\n\n"
                "  --json   one JSON object\n"
                "Exit status: 0 the stream is whole, 1 it is damaged or cut off, 2 wrong usage.\n");
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return USAGE;
    }
    for (int i = 1; i < argc && i < 3; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(stdout);
            return DONE;
        }
    }
    if (strcmp(argv[1], "inspect") == 0) {
        return inspect_command(argc - 1, argv + 1);
    }
    return usage_error("unknown command '%s'", argv[1]);
}

int main(int argc, char **argv)
{
    const int status = dispatch(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tern migrate: cannot write to standard output: %s\n", strerror(errno));
        return status == DONE ? FAILED : status;
    }
    return status;
}
