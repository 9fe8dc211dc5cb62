/* SPDX-License-Identifier: Apache-2.0 */
/** tern checkpoint: runs a program with TERN_CHECKPOINT set, and checks that the file was made. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

#define PART (PATH_MAX + 8) /* bytes of the name that the file has while it is written */

struct options {
    const char *file, *cycle, *kernel, *after, *backend, *config;
    bool stop;
};

static void help(void)
{
    printf("usage: tern checkpoint [-o FILE] --at-cycle N | --at-kernel NAME[:K] [--after CYCLES] [--stop]\n"
           "                       [--backend NAME] [--config CONFIG] [--] PROGRAM [ARGUMENT...]\n\n"
           "Runs PROGRAM, any that uses OpenCL or the driver, on a device of its own, and writes all of its processes "
           "on the\n"
           "device to FILE (tern-checkpoint.tck) at a moment of device time, in the middle of kernels. tern restore "
           "lets them go\n"
           "on, on the same backend or another. The program goes on as well.\n\n"
           "  -o FILE              the file; there is a whole one in the end, or what was there before\n"
           "  --at-cycle N         when device time is N\n"
           "  --at-kernel NAME:K   when the K-th launch of kernel NAME begins; K is 1 if it is not said\n"
           "  --after CYCLES       so many cycles later than that\n"
           "  --stop               the program ends then; if it could not be saved, it goes on\n"
           "  --backend NAME       the device: rtl, model (else TERN_BACKEND)\n"
           "  --config CONFIG      its configuration (else TERN_CONFIG)\n\n"
           "Exit: that of PROGRAM, with --stop 0; 1 there is no checkpoint; 2 wrong usage; 127 there is no such "
           "program.\n");
}

/** True: the text is a decimal number of 64 bits. */
static bool is_number(const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && n < ULLONG_MAX;
}

/** Stores the value of an option in *to. EXIT_USAGE, after a message: it is missing, or was given before. */
static int take(int argc, char **argv, int *i, const char **to)
{
    if (*i + 1 == argc || !*argv[*i + 1]) {
        return usage_error("checkpoint", "%s takes a value", argv[*i]);
    }
    if (*to) {
        return usage_error("checkpoint", "%s is given twice", argv[*i]);
    }
    *to = argv[++*i];
    return EXIT_OK;
}

static int check(const struct options *o)
{
    if (!o->cycle == !o->kernel) {
        return usage_error("checkpoint", "either --at-cycle or --at-kernel says when");
    }
    if (o->after && !o->kernel) {
        return usage_error("checkpoint", "--after goes with --at-kernel");
    }
    if (o->cycle && !is_number(o->cycle)) {
        return usage_error("checkpoint", "--at-cycle takes a number of cycles; got '%s'", o->cycle);
    }
    if (o->after && !is_number(o->after)) {
        return usage_error("checkpoint", "--after takes a number of cycles; got '%s'", o->after);
    }
    const char *colon = o->kernel ? strrchr(o->kernel, ':') : NULL;
    if (colon && (colon == o->kernel || !is_number(colon + 1) || strtoull(colon + 1, NULL, 10) == 0)) {
        return usage_error("checkpoint", "--at-kernel takes NAME or NAME:K, K from 1; got '%s'", o->kernel);
    }
    return EXIT_OK;
}

/** *first: index of the program in argv. */
static int parse(int argc, char **argv, struct options *o, int *first)
{
    const struct {
        const char *name;
        const char **to;
    } valued[] = {{"-o", &o->file}, {"--at-cycle", &o->cycle}, {"--at-kernel", &o->kernel}, {"--after", &o->after},
                  {"--backend", &o->backend}, {"--config", &o->config}};
    int i = 1, status = EXIT_OK;
    for (; status == EXIT_OK && i < argc && argv[i][0] == '-'; i++) {
        size_t k = 0;
        while (k < sizeof valued / sizeof *valued && strcmp(argv[i], valued[k].name) != 0) {
            k++;
        }
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (k < sizeof valued / sizeof *valued) {
            status = take(argc, argv, &i, valued[k].to);
        } else if (strcmp(argv[i], "--stop") == 0) {
            o->stop = true;
        } else {
            status = usage_error("checkpoint", "unknown argument '%s'", argv[i]);
        }
    }
    *first = i;
    status = status == EXIT_OK ? check(o) : status;
    return status == EXIT_OK && i >= argc ? usage_error("checkpoint", "a program to run is missing") : status;
}

/** The absolute name, because the program may change its folder. */
static int full_name(const char *file, char full[PATH_MAX])
{
    char here[PATH_MAX] = "";
    if (*file != '/' && !getcwd(here, sizeof here)) {
        fprintf(stderr, "tern checkpoint: this folder: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    const int n = snprintf(full, PATH_MAX, "%s%s%s", here, *file == '/' ? "" : "/", file);
    return n < PATH_MAX - 8 ? EXIT_OK : usage_error("checkpoint", "the name of the file is too long");
}

/** Checks that the file can be written, before the program runs. Removes the part that an earlier checkpoint left. */
static int prepare(const char *file, char part[PART])
{
    struct stat s;
    if (stat(file, &s) == 0 && !S_ISREG(s.st_mode)) {
        fprintf(stderr, "tern checkpoint: %s: it is no regular file\n", file);
        return EXIT_FAILED;
    }
    snprintf(part, PART, "%s.part", file);
    if (unlink(part) && errno != ENOENT) {
        fprintf(stderr, "tern checkpoint: %s: %s\n", part, strerror(errno));
        return EXIT_FAILED;
    }
    FILE *f = fopen(part, "wxe");
    if (!f) {
        fprintf(stderr, "tern checkpoint: %s: %s\n", part, strerror(errno));
        return EXIT_FAILED;
    }
    fclose(f);
    return unlink(part) ? EXIT_FAILED : EXIT_OK;
}

static void set(const char *name, const char *value)
{
    if (value) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}

/** Sets the variables that the driver reads. A backend or configuration is always named, so that the program opens a
 *  device of its own. */
static void set_environment(const struct options *o, const char *file)
{
    const char *colon = o->kernel ? strrchr(o->kernel, ':') : NULL;
    set("TERN_CHECKPOINT", file);
    set("TERN_CHECKPOINT_CYCLE", o->cycle);
    set("TERN_CHECKPOINT_KERNEL", o->kernel);
    set("TERN_CHECKPOINT_LAUNCH", colon ? colon + 1 : NULL);
    set("TERN_CHECKPOINT_AFTER", o->after);
    set("TERN_CHECKPOINT_STOP", o->stop ? "1" : NULL);
    if (colon) {
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%.*s", (int)(colon - o->kernel), o->kernel);
        setenv("TERN_CHECKPOINT_KERNEL", name, 1);
    }
    const char *ternd = o->backend || o->config ? NULL : child_ternd();
    if (o->backend) {
        setenv("TERN_BACKEND", o->backend, 1);
    }
    if (o->config) {
        setenv("TERN_CONFIG", o->config, 1);
    }
    setenv("TERN_CONFIG", "default", 0);
    if (ternd) {
        const char *backend = getenv("TERN_BACKEND");
        fprintf(stderr, "tern checkpoint: the ternd at %s is not used, as a checkpoint is of a device of the program's "
                "own: here %s%s, configuration %s (--backend, --config); programs of a ternd are moved by tern "
                "migrate\n", ternd, backend && *backend ? "backend " : "the default backend",
                backend ? backend : "", getenv("TERN_CONFIG"));
    }
    unsetenv("TERND_SOCKET");
}

static int run(const struct options *o, const char *file, char **program)
{
    char part[PART];
    struct stat before = {0}, after = {0};
    pid_t child;
    int status = prepare(file, part);
    if (status != EXIT_OK) {
        return status;
    }
    const bool was = stat(file, &before) == 0;
    set_environment(o, file);
    status = child_start("checkpoint", program, -1, -1, -1, &child);
    if (status) {
        return status;
    }
    child_ended(child, true, &status);
    unlink(part); /* left by a program that was killed while it wrote */
    if (stat(file, &after) == 0 && (!was || after.st_ino != before.st_ino || after.st_dev != before.st_dev)) {
        return o->stop ? EXIT_OK : status;
    }
    /* the driver has printed the reason if there was a device, the program if there was none */
    fprintf(stderr, "tern checkpoint: %s ended (status %d) and there is no checkpoint; if no reason is said above, it "
            "opened no device of its own\n", program[0], status);
    return status ? status : EXIT_FAILED;
}

int cmd_checkpoint(int argc, char **argv)
{
    struct options o = {0};
    char file[PATH_MAX];
    int first;
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        }
    }
    int status = parse(argc, argv, &o, &first);
    status = status == EXIT_OK ? full_name(o.file ? o.file : "tern-checkpoint.tck", file) : status;
    return status == EXIT_OK ? run(&o, file, argv + first) : status;
}
