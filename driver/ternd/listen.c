/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The listening socket. The existence of a socket file does not show that a ternd runs; a lock on the file beside it
 * does. The ternd that holds the lock may replace the socket.
 */
#include "ternd/listen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#define FIRST_PASSED 3 /* SD_LISTEN_FDS_START, sd_listen_fds(3) */
#define LOCK_SUFFIX ".lock"
#define NEW_SUFFIX ".new" /* suffix of a socket that does not listen yet */

/** The socket that systemd passed (LISTEN_PID, LISTEN_FDS), or -1. */
static int passed(void)
{
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    if (!pid || !n || strtol(pid, NULL, 10) != (long)getpid() || strtol(n, NULL, 10) != 1) {
        return -1;
    }
    fcntl(FIRST_PASSED, F_SETFD, FD_CLOEXEC);
    return FIRST_PASSED;
}

static int check_passed(int fd, struct ternd_listener *out)
{
    struct sockaddr_un at = {0};
    int type = 0, listens = 0;
    socklen_t size = sizeof type;
    socklen_t length = sizeof at;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens ||
        getsockname(fd, (struct sockaddr *)&at, &length) || at.sun_family != AF_UNIX) {
        return tern_error(-EINVAL, "what LISTEN_FDS passes is no listening Unix socket of kind SOCK_SEQPACKET");
    }
    *out = (struct ternd_listener){.fd = fd, .lock = -1};
    memcpy(out->path, at.sun_path, sizeof out->path < sizeof at.sun_path ? sizeof out->path : sizeof at.sun_path);
    out->path[sizeof out->path - 1] = '\0';
    return 0;
}

static int default_path(char path[108])
{
    const char *run = secure_getenv("XDG_RUNTIME_DIR");
    const bool root = geteuid() == 0;
    if (!root && (!run || *run != '/')) {
        return tern_error(-EINVAL, "where to listen? XDG_RUNTIME_DIR is not set: give --socket PATH");
    }
    char folder[96];
    const int n = snprintf(folder, sizeof folder, "%s/tern", root ? "/run" : run);
    if (n >= (int)sizeof folder) {
        return tern_error(-ENAMETOOLONG, "XDG_RUNTIME_DIR is too long for a socket: give --socket PATH");
    }
    if (mkdir(folder, root ? 0755 : 0700) && errno != EEXIST) {
        return tern_error(-errno, "%s cannot be made: %s", folder, strerror(errno));
    }
    snprintf(path, 108, "%s/ternd.sock", folder);
    return 0;
}

/** Opens and locks the lock file. Tries again if the file was removed between open and lock, as its owner does at
 *  its end. The lock, or -errno. */
static int take_lock(const char *path)
{
    char name[128];
    snprintf(name, sizeof name, "%s" LOCK_SUFFIX, path);
    for (;;) {
        struct stat there, ours;
        const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            return tern_error(-errno, "%s cannot be opened: %s", name, strerror(errno));
        }
        if (flock(fd, LOCK_EX | LOCK_NB)) {
            char pid[16] = "";
            const ssize_t n = read(fd, pid, sizeof pid - 1);
            close(fd);
            return tern_error(-EBUSY, "another ternd, process %.*s, listens at %s", n > 0 ? (int)n : 1,
                              n > 0 ? pid : "?", path);
        }
        if (fstat(fd, &ours) == 0 && stat(name, &there) == 0 && ours.st_ino == there.st_ino) {
            if (ftruncate(fd, 0) || dprintf(fd, "%ld", (long)getpid()) < 0) {
                const int e = errno;
                close(fd);
                return tern_error(-e, "%s cannot be written: %s", name, strerror(e));
            }
            return fd;
        }
        close(fd);
    }
}

/** Makes a listening socket under a temporary name, and renames it to `path`. The rename also replaces the socket of
 *  a ternd that was killed. */
static int make_socket(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat s;
    if (lstat(path, &s) == 0 && !S_ISSOCK(s.st_mode)) {
        return tern_error(-EEXIST, "%s exists, and is no socket", path);
    }
    snprintf(at.sun_path, sizeof at.sun_path, "%.*s" NEW_SUFFIX, (int)(sizeof at.sun_path - sizeof NEW_SUFFIX), path);
    unlink(at.sun_path);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* any user may connect to root's ternd, only its user to another one */
    const mode_t mask = umask(geteuid() == 0 ? 0111 : 0177);
    const int r = fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) || listen(fd, 128) ||
        rename(at.sun_path, path) ? -errno : 0;
    umask(mask);
    if (r && fd >= 0) {
        unlink(at.sun_path);
        close(fd);
    }
    return r ? tern_error(r, "%s: %s", path, strerror(-r)) : fd;
}

/** The process number in a name `of`.PID.lock; 0: the name has another form. */
static long proxy_of(const char *name, const char *of)
{
    const size_t n = strlen(of);
    char *end = NULL;
    errno = 0;
    const long pid = strncmp(name, of, n) || name[n] != '.' || name[n + 1] < '1' || name[n + 1] > '9'
        ? 0 : strtol(name + n + 1, &end, 10);
    return pid && !errno && !strcmp(end, LOCK_SUFFIX) ? pid : 0;
}

/** Removes the lock file `name` and its socket, if no process holds the lock. */
static void remove_dead(int folder, const char *name)
{
    char socket[NAME_MAX + 1];
    struct stat s, there;
    const int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &s) && S_ISREG(s.st_mode) &&
        !fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) && s.st_ino == there.st_ino) {
        snprintf(socket, sizeof socket, "%.*s", (int)(strlen(name) - strlen(LOCK_SUFFIX)), name);
        if (!fstatat(folder, socket, &there, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(there.st_mode)) {
            unlinkat(folder, socket, 0);
        }
        unlinkat(folder, name, 0);
    }
    close(fd);
}

void ternd_listen_clean(const char *path)
{
    const char *slash = strrchr(path, '/'), *of = slash ? slash + 1 : path;
    char folder[108];
    snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1, slash ? path : ".");
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        const long pid = proxy_of(e->d_name, of);
        /* a proxy that still runs may not have locked its file yet */
        if (pid && kill((pid_t)pid, 0) && errno == ESRCH) {
            remove_dead(dirfd(d), e->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
}

int ternd_listen(const char *path, struct ternd_listener *out)
{
    char standard[108];
    const int fd = path ? -1 : passed();
    if (fd >= 0) {
        return check_passed(fd, out);
    }
    if (!path) {
        const int r = default_path(standard);
        if (r) {
            return r;
        }
        path = standard;
    }
    if (strlen(path) > sizeof out->path - sizeof NEW_SUFFIX || !*path) {
        return tern_error(-EINVAL, "the path of a socket has 1 to %zu bytes", sizeof out->path - sizeof NEW_SUFFIX);
    }
    struct ternd_listener l = {.lock = take_lock(path)};
    if (l.lock < 0) {
        return l.lock;
    }
    snprintf(l.path, sizeof l.path, "%s", path);
    l.fd = make_socket(path);
    if (l.fd < 0) {
        ternd_listen_end(&l);
        return l.fd;
    }
    ternd_listen_clean(path);
    *out = l;
    return 0;
}

void ternd_listen_end(struct ternd_listener *l)
{
    char name[128];
    if (l->fd >= 0) {
        close(l->fd);
    }
    if (l->lock >= 0) {
        if (l->fd >= 0) {
            unlink(l->path);
        }
        snprintf(name, sizeof name, "%s" LOCK_SUFFIX, l->path);
        unlink(name);
        close(l->lock);
    }
}
