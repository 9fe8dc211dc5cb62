/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-guard.so, which the dynamic linker loads into clang before clang's own libraries (tc_tools.c). The library
 * bounds what a front end waits for and takes:
 *
 *  - open() refuses to read what is no regular file: a named pipe waits for its other end, and a device may never end.
 *    The macros of a program decide which files it includes, so a search of its text before would not find them all.
 *    Folders are left to clang, which goes on with the next one of its search. /dev/null is always empty.
 *  - A regular file may have GUARD_FILE_MIB, unless it is a descriptor that the application's own data are in.
 *  - Address space, processor time and the size of what is written are limited (guard.h), because a short text may
 *    expand to a long one.
 *
 * A refusal prints its reason; clang's message, which names the place of the #include, follows.
 */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define EXPORT __attribute__((visibility("default")))

/** True: the file must not be read; says so on standard error and sets errno. */
static int refused(const char *path, const struct stat *st)
{
    const mode_t mode = st->st_mode;
    if (S_ISDIR(mode) || (S_ISCHR(mode) && st->st_rdev == makedev(1, 3))) {
        return 0;
    }
    if (!S_ISREG(mode)) {
        dprintf(STDERR_FILENO, "note: %s: is %s, and a file is needed\n", path,
                S_ISFIFO(mode) ? "a named pipe" : S_ISSOCK(mode) ? "a socket" : "a device");
        errno = ENOTSUP;
        return 1;
    }
    if ((unsigned long long)st->st_size > GUARD_FILE_MIB * MIB && strncmp(path, "/proc/self/fd/", 14)) {
        dprintf(STDERR_FILENO, "note: %s: is larger than %u MiB, which is the most that is read here\n", path,
                GUARD_FILE_MIB);
        errno = EFBIG;
        return 1;
    }
    return 0;
}

static int guarded(int folder, const char *path, int flags, mode_t mode)
{
    struct stat st;
    const int reads = (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_DIRECTORY | O_PATH));
    if (!reads) {
        return (int)syscall(SYS_openat, folder, path, flags, mode);
    }
    /* to open a device may already have an effect; the name may stand for another file when it is opened */
    if (!fstatat(folder, path, &st, 0) && refused(path, &st)) {
        return -1;
    }
    const int fd = (int)syscall(SYS_openat, folder, path, flags | O_NONBLOCK | O_NOCTTY, mode);
    if (fd >= 0 && (fstat(fd, &st) || refused(path, &st))) {
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static mode_t mode_of(int flags, va_list list)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return guarded(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return guarded(folder, path, flags, mode);
}

/* offsets have 64 bits */
_Static_assert(sizeof(off_t) == 8, "open and open64 are the same");
EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));
EXPORT int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

static void lower(int what, rlim_t most)
{
    struct rlimit limit;
    if (!getrlimit((__rlimit_resource_t)what, &limit) && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)) {
        limit.rlim_cur = most;
        setrlimit((__rlimit_resource_t)what, &limit);
    }
}

__attribute__((constructor)) static void set_limits(void)
{
    lower(RLIMIT_AS, GUARD_MEMORY_MIB * MIB);
    lower(RLIMIT_FSIZE, GUARD_OUTPUT_MIB * MIB);
    lower(RLIMIT_CPU, GUARD_SECONDS);
}
