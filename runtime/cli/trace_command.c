/* SPDX-License-Identifier: Apache-2.0 */
/** tern trace: runs a program with TERN_TRACE set, and says where the trace is. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

static void help(void)
{
    printf("usage: tern trace [-o FILE] [--] PROGRAM [ARGUMENT...]\n\n"
           "Runs PROGRAM and writes what the scheduler of its Tern device did to FILE (tern-trace.json), for "
           "https://ui.perfetto.dev:\n"
           "a track for each engine and each context, and an arrow from each submission to its end. Times are "
           "device time.\n"
           "A device that is opened while another of the program is open has its trace in FILE.PID-N; one opened later "
           "begins FILE\n"
           "anew. '%%p' in FILE is the process id.\n\n"
           "Exit: that of PROGRAM; 1 no trace was written; 2 wrong usage; 127 there is no such program.\n");
}

/** Bytes of the file, -1: there is none. */
static long long size_of(const char *path)
{
    struct stat s;
    return lstat(path, &s) ? -1 : (long long)s.st_size;
}

/** A FIFO or a device: it has no size, and is left as it is. */
static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

/** The file must be writable before the program has run for an hour. What is there is removed,
 * not to be taken for new. */
static bool prepare(const char *file)
{
    if (strstr(file, "%p") || is_special(file)) {
        return true; /* the driver says what is wrong with it */
    }
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0) {
        fprintf(stderr, "tern trace: %s: %s\n", file, errno == ELOOP ? "it is a symbolic link, and a trace follows none"
                                                                     : strerror(errno));
        return false;
    }
    return close(fd) == 0;
}

/** A program that ended by a signal, or by _exit, has not ended the array. */
static void complete(const char *file)
{
    char last[3] = "";
    const int fd = open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r+");
    if (f && fseek(f, -2, SEEK_END) == 0 && fread(last, 1, 2, f) == 2 && strcmp(last, "]\n") != 0 &&
        fseek(f, 0, SEEK_END) == 0) {
        fputs("\n]\n", f);
    }
    if (f) {
        fclose(f);
    }
}

static int trace(const char *file, char **program)
{
    pid_t child;
    int status = 0;
    if (!prepare(file)) {
        return EXIT_FAILED;
    }
    setenv("TERN_TRACE", file, 1);
    const int r = child_start("trace", program, -1, -1, -1, &child);
    if (r) {
        if (!is_special(file)) {
            unlink(file);
        }
        return r;
    }
    child_ended(child, true, &status);
    if (strstr(file, "%p") || is_special(file)) {
        return status;
    }
    if (size_of(file) <= 0) {
        unlink(file);
        fprintf(stderr, "tern trace: %s opened no Tern device, so there is no trace\n", program[0]);
        return status ? status : EXIT_FAILED;
    }
    complete(file);
    fprintf(stderr, "tern trace: %s, %lld bytes; open it with https://ui.perfetto.dev\n", file, size_of(file));
    return status;
}

int cmd_trace(int argc, char **argv)
{
    const char *file = "tern-trace.json";
    char full[PATH_MAX];
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "-o") != 0 || i + 1 == argc || !*argv[i + 1]) {
            return usage_error("trace", strcmp(argv[i], "-o") ? "unknown argument '%s'" : "%s takes a file", argv[i]);
        }
        file = argv[++i];
    }
    if (i >= argc) {
        return usage_error("trace", "a program to run is missing");
    }
    if (*file != '/') { /* the program may go to another folder */
        char here[PATH_MAX];
        if (!getcwd(here, sizeof here)) {
            fprintf(stderr, "tern trace: this folder: %s\n", strerror(errno));
            return EXIT_FAILED;
        }
        if ((size_t)snprintf(full, sizeof full, "%s/%s", here, file) >= sizeof full) {
            return usage_error("trace", "the name of the file is too long");
        }
        file = full;
    }
    return trace(file, argv + i);
}
