/* SPDX-License-Identifier: Apache-2.0 */
/** tern: runs the command that argv[1] names. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "external.h"
#include "json.h"
#include "tern/tern_spec.h"

typedef int command_fn(int argc, char **argv);

static const struct {
    const char *name;
    command_fn *run;
    const char *summary;
} commands[] = {
    {"checkpoint", cmd_checkpoint, "run a program and save what it has on the device"},
    {"info", cmd_info, "what the device is"},
    {"partition", cmd_partition, "parts of a device with memory and a share of their own"},
    {"restore", cmd_restore, "let the work of a checkpoint go on"},
    {"run", cmd_run, "run a kernel of an OpenCL C file"},
    {"top", cmd_top, "show what engines and contexts do, live"},
    {"trace", cmd_trace, "run a program and record what the scheduler does"},
};

static command_fn *find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run;
        }
    }
    return NULL;
}

static bool is_here(const char *name)
{
    return find(name) != NULL;
}

static void help(FILE *out)
{
    fprintf(out, "usage: tern <command> [options]\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    external_list(out, is_here);
    fprintf(out, "\ntern <command> --help says more, tern help <command> all; tern --version [--json] prints "
                 "the version.\n"
                 "Environment: TERN_BACKEND (rtl, model), TERN_CONFIG (default, small, tiny, shell; see "
                 "docs/driver.md).\n");
}

/** tern help [COMMAND]: shows the manual page, or without man the text of --help. */
static int help_on(int argc, char **argv)
{
    if (argc == 0) {
        help(stdout);
        return EXIT_OK;
    }
    if (argc > 1) {
        return usage_error("", "help takes one command");
    }
    const char *name = strcmp(argv[0], "tern") == 0 ? "" : argv[0];
    if (manual_show(name)) {
        return EXIT_OK;
    }
    if (*name == '\0') {
        help(stdout);
        return EXIT_OK;
    }
    char *ask[] = {argv[0], "--help", NULL};
    return find(name) ? find(name)(2, ask) : external_run(name, ask);
}

static int version(int argc, char **argv)
{
    char interface[16];
    if (argc == 0) {
        printf("tern " TERN_VERSION "\n");
        return EXIT_OK;
    }
    if (argc > 1 || strcmp(argv[0], "--json") != 0) {
        return usage_error("", "--version takes nothing but --json");
    }
    snprintf(interface, sizeof interface, "0x%08x", TERN_SPEC_HASH);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "version", TERN_VERSION);
    cJSON_AddStringToObject(o, "interface", interface);
    return json_print("--version", o);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        return help_on(argc - 2, argv + 2);
    }
    if (strcmp(argv[1], "--version") == 0) {
        return version(argc - 2, argv + 2);
    }
    command_fn *run = find(argv[1]);
    return run ? run(argc - 1, argv + 1) : external_run(argv[1], argv + 1);
}

int main(int argc, char **argv)
{
    return exit_status(dispatch(argc, argv));
}
