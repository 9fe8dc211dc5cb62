/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static const char *kind(mode_t mode)
{
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a named pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/** True: the path names an open descriptor of this process. Opening it does not wait for another process. */
static bool of_this_process(const char *path)
{
    return !strcmp(path, "/dev/stdin") || begins(path, "/dev/fd/") || begins(path, "/proc/self/fd/");
}

static int too_large(const char *path, uint64_t most)
{
    const bool mega = most >> 20 && !(most & ((1u << 20) - 1));
    return tern_error(-EFBIG, "%s: is larger than %" PRIu64 " %s, which is the most that is read here", path,
                      mega ? most >> 20 : most, mega ? "MiB" : "bytes");
}

int tern_file_open(const char *path, uint64_t most)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a named pipe does not wait */
    int r = fd < 0 ? tern_error(-errno, "%s: %s", path, strerror(errno)) : 0;
    if (!r && fstat(fd, &s)) {
        r = tern_error(-errno, "%s: %s", path, strerror(errno));
    } else if (!r && !S_ISREG(s.st_mode) && !(of_this_process(path) && !S_ISDIR(s.st_mode))) {
        r = tern_error(-EINVAL, "%s: is %s, and a file is needed", path, kind(s.st_mode));
    } else if (!r && S_ISREG(s.st_mode) && (uint64_t)s.st_size > most) {
        r = too_large(path, most);
    } else if (!r && fcntl(fd, F_SETFL, 0)) {
        r = tern_error(-errno, "%s: %s", path, strerror(errno));
    }
    if (r && fd >= 0) {
        close(fd);
    }
    return r ? r : fd;
}

int tern_file_check(const char *path, uint64_t most)
{
    const int fd = tern_file_open(path, most);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? fd : 0;
}

int tern_file_read_from(int fd, const char *path, size_t most, char **data, size_t *size)
{
    char *bytes = NULL;
    size_t n = 0, room = 0;
    ssize_t got = 1;
    int r = 0;
    while (!r && got) {
        if (n == room) {
            room = !room ? 4096 : room < most - room ? room * 2 : most + 1; /* shows a file that is too large */
            char *grown = realloc(bytes, room + 1);
            if (!grown) {
                r = tern_error(-ENOMEM, "%s: the host has no memory for it", path);
                break;
            }
            bytes = grown;
        }
        got = read(fd, bytes + n, room - n);
        if (got < 0 && errno != EINTR) {
            r = tern_error(-errno, "%s: %s", path, strerror(errno));
        }
        n += got > 0 ? (size_t)got : 0;
        r = !r && n > most ? too_large(path, most) : r;
    }
    if (r) {
        free(bytes);
        return r;
    }
    bytes[n] = '\0';
    *data = bytes;
    *size = n;
    return 0;
}

int tern_file_read(const char *path, size_t most, char **data, size_t *size)
{
    const int fd = tern_file_open(path, most);
    if (fd < 0) {
        return fd;
    }
    const int r = tern_file_read_from(fd, path, most, data, size);
    close(fd);
    return r;
}
