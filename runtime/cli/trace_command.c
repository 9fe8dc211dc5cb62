/* SPDX-License-Identifier: Apache-2.0 */
/** tern trace: runs a program with TERN_TRACE set, and completes the trace. */
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

#define TAIL 4096 /* bytes, more than one event has */

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
           "Exit: that of PROGRAM; 1 no trace was written, or not all of it; 2 wrong usage; 127 there is no such "
           "program.\n");
}

/** Bytes of the file; -1: it does not exist. */
static long long size_of(const char *path)
{
    struct stat s;
    return lstat(path, &s) ? -1 : (long long)s.st_size;
}

/** True: the file is a FIFO or a device, which has no size and is not changed. */
static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode));
}

/** Checks that the file can be written before the program runs, and removes an old trace. */
static bool prepare(const char *file)
{
    if (strstr(file, "%p") || is_special(file)) {
        return true; /* the driver reports an error of such a name */
    }
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0) {
        fprintf(stderr, "tern trace: %s: %s\n", file, errno == ELOOP ? "it is a symbolic link, and a trace follows none"
                                                                     : strerror(errno));
        return false;
    }
    return close(fd) == 0;
}

/** True: the text is one JSON object, from its first brace to its last. */
static bool is_object(const char *text, size_t n)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted) {
            i += text[i] == '\\';
            quoted = text[i] != '"';
        } else {
            quoted = text[i] == '"';
            depth += text[i] == '{';
            if (text[i] == '}' && depth && --depth == 0) {
                return i + 1 == n;
            }
        }
    }
    return false;
}

/** Completes the array of events of a program that was ended by a signal or by _exit. If the disk was full, removes
 *  the incomplete event at the end, which makes room for the end of the array. 0, or a positive errno: the end is
 *  incomplete. */
static int complete(int fd, off_t size)
{
    static const char end[] = "\n]\n";
    char tail[TAIL];
    const off_t from = size > TAIL ? size - TAIL : 0;
    const ssize_t got = pread(fd, tail, TAIL, from);
    const size_t n = got > 0 ? (size_t)got : 0;
    /* each event is a line, which ends with a comma except for the last one */
    const char *line = memrchr(tail, '\n', n);
    if (!line) {
        return got < 0 ? errno : EIO;
    }
    size_t whole = (size_t)(line + 1 - tail);
    if (whole == n && n >= 2 && tail[n - 2] == ']') {
        return 0;
    }
    const bool event = is_object(tail + whole, n - whole), cut = !event && n > whole && tail[whole] != ']';
    whole = event ? n : whole - 1 - (whole > 1 && tail[whole - 2] == ',');
    if (ftruncate(fd, from + (off_t)whole)) {
        return errno;
    }
    const bool wrote = pwrite(fd, end, sizeof end - 1, from + (off_t)whole) == sizeof end - 1;
    return wrote && !cut ? 0 : EIO;
}

/** The positive errno of a write to the end of the file; 0: it succeeds. */
static int refuses(int fd, off_t size)
{
    static const char page[4096];
    const int error = pwrite(fd, page, sizeof page, size) < 0 ? errno : 0;
    struct stat s;
    const bool part = !error && fstat(fd, &s) == 0 && s.st_size < size + (off_t)sizeof page;
    const int rest = part && pwrite(fd, page, 1, s.st_size) < 0 ? errno : 0;
    return ftruncate(fd, size) ? errno : error ? error : rest;
}

/** Checks that the trace exists and is complete. The exit status is that of the program if it failed, else 1 if the
 *  trace is missing or incomplete. */
static int look(const char *file, const char *program, int status)
{
    const int fd = open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat s;
    if (fd < 0 || fstat(fd, &s)) {
        fprintf(stderr, "tern trace: %s: %s\n", file, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return status ? status : EXIT_FAILED;
    }
    const int full = refuses(fd, s.st_size), error = s.st_size ? complete(fd, s.st_size) : 0;
    close(fd);
    if (s.st_size == 0) {
        unlink(file);
        if (full) {
            fprintf(stderr, "tern trace: %s: %s, so there is no trace\n", file, strerror(full));
        } else {
            fprintf(stderr, "tern trace: %s opened no Tern device of its own, so there is no trace\n", program);
        }
    } else if (error) {
        fprintf(stderr, "tern trace: %s is cut off: %s\n", file, full ? strerror(full) : "what wrote it was stopped by "
                "an error");
    } else {
        fprintf(stderr, "tern trace: %s, %lld bytes; open it with https://ui.perfetto.dev\n", file, size_of(file));
    }
    return status || (s.st_size && !error) ? status : EXIT_FAILED;
}

static int trace(const char *file, char **program)
{
    pid_t child;
    int status = 0;
    if (!prepare(file)) {
        return EXIT_FAILED;
    }
    const char *ternd = child_ternd();
    if (ternd) {
        fprintf(stderr, "tern trace: programs here use the device of the ternd at %s, which traces it if it is started "
                "with TERN_TRACE=FILE; 'env -u TERND_SOCKET TERN_BACKEND=BACKEND tern trace ...' gives the program a "
                "device of its own\n", ternd);
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
    return strstr(file, "%p") || is_special(file) ? status : look(file, program[0], status);
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
    if (*file != '/') { /* the program may change its folder */
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
