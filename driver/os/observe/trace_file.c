/* SPDX-License-Identifier: Apache-2.0 */
/** Opening of the file that TERN_TRACE names (trace_file.h). */
#include "os/observe/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i]);
        if (!strncmp(path, folders[i], n) && path[n] && strspn(path + n, "0123456789") == strlen(path + n)) {
            return true;
        }
    }
    return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr");
}

static bool is_fifo(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISFIFO(s.st_mode);
}

/** Checks an opened file before it is changed. */
static int check(int fd, bool own, const char **why)
{
    struct stat s;
    if (fstat(fd, &s)) {
        *why = strerror(errno);
        return -errno;
    }
    if (!own && s.st_uid != geteuid() && s.st_uid != 0) {
        *why = "it belongs to another user";
        return -EPERM;
    }
    if (!S_ISREG(s.st_mode)) {
        return 0;
    }
    if (!own && s.st_nlink > 1) {
        *why = "it has other names (hard links), and what they name would be lost";
        return -EMLINK;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, 0)) {
        *why = strerror(errno);
        return -errno;
    }
    return 0;
}

int tern_trace_file_open(const char *path, const char **why)
{
    const bool own = own_descriptor(path);
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (own ? 0 : O_CREAT | O_NOFOLLOW);
    const int fd = open(path, flags, 0666);
    if (fd < 0) {
        const int error = errno;
        *why = error == ELOOP && !own ? "it is a symbolic link, and a trace follows none" : strerror(error);
        return error == ENXIO && !is_fifo(path) ? -ENODEV : -error;
    }
    const int r = check(fd, own, why);
    if (r) {
        close(fd);
    }
    return r ? r : fd;
}
