/* SPDX-License-Identifier: Apache-2.0 */
/** tern: picks the command. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"info", cmd_info, "what the device is"},
    {"run", cmd_run, "run a kernel of an OpenCL C file"},
    {"bench", cmd_bench, "measure kernels in device cycles, and check their results"},
};

static void help(FILE *out)
{
    fprintf(out, "usage: tern <command> [options]\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(out, "\ntern <command> --help tells more; tern --version prints the version.\n"
                 "Environment: TERN_BACKEND (rtl, model), TERN_CONFIG (default, small; see docs/driver.md).\n");
}

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

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tern " TERN_VERSION "\n");
        return EXIT_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return usage_error("", "unknown command '%s'", argv[1]);
}
