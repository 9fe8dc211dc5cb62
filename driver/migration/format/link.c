/* SPDX-License-Identifier: Apache-2.0 */
/** Complete reads and writes on file descriptors, with limits of waiting and without SIGPIPE (internal.h). */
#include "migration/format/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>


#define SYSCALL_BYTES_MAX (1u << 20) /* largest number of bytes of a system call */

int tern_link_open(struct tern_link *l, int fd)
{
    struct stat st;
    *l = (struct tern_link){.fd = fd};
    if (fstat(fd, &st)) {
        return -errno;
    }
    l->socket = S_ISSOCK(st.st_mode);
    l->fifo = S_ISFIFO(st.st_mode);
    return 0;
}

void tern_link_free(struct tern_link *l)
{
    free(l->to);
}

static int failed(int error, const char **why)
{
    *why = strerrordesc_np(error);
    return error == EPIPE || error == ECONNRESET ? -EPIPE : -EIO;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int tern_link_any(struct tern_link *const *links, unsigned n, short events, unsigned after,
                  const struct tern_link_wait *w, const char **why)
{
    struct pollfd p[TERN_STREAM_LINKS + 1];
    const int64_t end = now_ms() + w->timeout;
    for (unsigned i = 0; i < n; i++) {
        p[i] = (struct pollfd){.fd = links[i] ? links[i]->fd : -1, .events = events};
        if (links[i] && links[i]->fd < 0) {
            return (int)i; /* memory never waits */
        }
    }
    p[n] = (struct pollfd){.fd = w->cancel, .events = POLLIN};
    for (;;) {
        const int64_t left = w->timeout < 0 ? -1 : end - now_ms();
        const int r = poll(p, n + 1, w->timeout < 0 ? -1 : left > 0 ? (int)left : 0);
        if (r < 0 && errno != EINTR) {
            return failed(errno, why);
        }
        if (r > 0 && p[n].revents) {
            *why = "it was cancelled";
            return -ECANCELED;
        }
        for (unsigned i = 0; r > 0 && i < n; i++) {
            const unsigned k = (after + 1 + i) % n;
            if (p[k].revents) {
                return (int)k;
            }
        }
        if (r == 0) {
            *why = "the other side takes longer than allowed";
            return -ETIMEDOUT;
        }
    }
}

/** Waits until the link can go on. */
static int wait_for(struct tern_link *l, short events, const struct tern_link_wait *w, const char **why)
{
    return tern_link_any(&l, 1, events, 0, w, why);
}

/** write() that fails with EPIPE and raises no signal. The signal is one for this thread: it is blocked during the
 *  write, and taken before it can be delivered. */
static ssize_t write_quietly(int fd, const void *data, size_t n)
{
    sigset_t pipe, pending, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE)) {
        return write(fd, data, n); /* a second pending SIGPIPE changes nothing */
    }
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const ssize_t r = write(fd, data, n);
    const int error = errno;
    if (r < 0 && error == EPIPE) {
        while (sigtimedwait(&pipe, NULL, &(struct timespec){0}) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return r;
}

static int append(struct tern_link *l, const void *data, size_t n, const char **why)
{
    if (l->room - l->size < n) {
        const size_t room = (l->size + n) * 2;
        unsigned char *grown = realloc(l->to, room);
        if (!grown) {
            *why = "the host is out of memory for it";
            return -ENOMEM;
        }
        l->to = grown;
        l->room = room;
    }
    memcpy(l->to + l->size, data, n);
    l->size += n;
    l->bytes += n;
    return 0;
}

int tern_link_write(struct tern_link *l, const struct tern_link_wait *w, const void *data, size_t n, const char **why)
{
    const char *from = data;
    const bool limited = w->timeout >= 0 || w->cancel >= 0;
    if (l->fd < 0) {
        return append(l, data, n, why);
    }
    while (n) {
        int r = limited ? wait_for(l, POLLOUT, w, why) : 0;
        if (r < 0) {
            return r;
        }
        /* poll() calls a pipe writable if it takes PIPE_BUF bytes without waiting */
        const size_t most = limited && l->fifo ? PIPE_BUF : SYSCALL_BYTES_MAX;
        const size_t piece = n < most ? n : most;
        const ssize_t done = l->socket ? send(l->fd, from, piece, MSG_NOSIGNAL | (limited ? MSG_DONTWAIT : 0))
                                       : write_quietly(l->fd, from, piece);
        if (done >= 0) {
            from += done;
            n -= (size_t)done;
            l->bytes += (uint64_t)done;
        } else if (errno == EAGAIN) {
            r = wait_for(l, POLLOUT, w, why);
            if (r < 0) {
                return r;
            }
        } else if (errno != EINTR) {
            return failed(errno, why);
        }
    }
    return 0;
}

int tern_link_read(struct tern_link *l, const struct tern_link_wait *w, void *data, size_t n, size_t *got,
                   const char **why)
{
    char *to = data;
    const bool limited = w->timeout >= 0 || w->cancel >= 0;
    *got = 0;
    if (l->fd < 0) {
        *got = l->size - (size_t)l->bytes < n ? l->size - (size_t)l->bytes : n;
        if (*got) {
            memcpy(data, l->from + l->bytes, *got);
        }
        l->bytes += *got;
        return 0;
    }
    while (*got < n) {
        int r = limited ? wait_for(l, POLLIN, w, why) : 0;
        if (r < 0) {
            return r;
        }
        const ssize_t done = read(l->fd, to + *got, n - *got < SYSCALL_BYTES_MAX ? n - *got : SYSCALL_BYTES_MAX);
        if (done == 0) {
            return 0;
        }
        if (done > 0) {
            *got += (size_t)done;
            l->bytes += (uint64_t)done;
        } else if (errno == EAGAIN) {
            r = wait_for(l, POLLIN, w, why);
            if (r < 0) {
                return r;
            }
        } else if (errno == ECONNRESET) {
            return 0; /* the other side has closed: the stream ends here */
        } else if (errno != EINTR) {
            return failed(errno, why);
        }
    }
    return 0;
}
