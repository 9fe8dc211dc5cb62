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

#define TAIL 4096 /* bytes: more than an event has */

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
    return stat(path, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode));
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

/** Is the text an object of JSON, from its first brace to its last? */
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

/**
 * Ends the array of events, which a program that ended by a signal, or by _exit, has not done. One that found no room
 * has left a part of an event at the end, which is removed; that makes room for the end of the array, too. 0; a
 * positive errno: something is missing at the end.
 */
static int complete(int fd, off_t size)
{
    static const char end[] = "\n]\n";
    char tail[TAIL];
    const off_t from = size > TAIL ? size - TAIL : 0;
    const ssize_t got = pread(fd, tail, TAIL, from);
    const size_t n = got > 0 ? (size_t)got : 0;
    const char *line = memrchr(tail, '\n', n); /* each event is a line, with a comma at its end but the last */
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

/** Why nothing more can be written to the file, as a positive errno; 0: it can. */
static int refuses(int fd, off_t size)
{
    static const char page[4096];
    const int error = pwrite(fd, page, sizeof page, size) < 0 ? errno : 0;
    struct stat s;
    const bool part = !error && fstat(fd, &s) == 0 && s.st_size < size + (off_t)sizeof page;
    const int rest = part && pwrite(fd, page, 1, s.st_size) < 0 ? errno : 0;
    return ftruncate(fd, size) ? errno : error ? error : rest;
}

/** Says whether the trace is there and whole. The exit status is that of the program if this has failed, else 1 if the
 *  trace is not. */
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
