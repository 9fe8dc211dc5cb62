/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int tern_socket_send(int to, const void *message, size_t size, int fd, bool wait)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec piece = {.iov_base = (void *)(uintptr_t)message, .iov_len = size};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    ssize_t n;
    do {
        n = sendmsg(to, &m, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

/** The first descriptor of a message, or -1. Closes all others. */
static int take_descriptor(struct msghdr *m)
{
    int first = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        const size_t n = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
            ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
            : 0;
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (first < 0) {
                first = fd;
            } else {
                close(fd);
            }
        }
    }
    return first;
}

ssize_t tern_socket_receive(int from, void *message, size_t size, int *fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec piece = {.iov_base = message, .iov_len = size};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = fd ? control.bytes : NULL,
                       .msg_controllen = fd ? sizeof control.bytes : 0};
    ssize_t n = 0;
    bool reset = false;
    do { /* ECONNRESET is reported once, before messages that the peer sent before it closed */
        reset |= n < 0 && errno == ECONNRESET;
        n = recvmsg(from, &m, MSG_CMSG_CLOEXEC); /* the kernel drops descriptors for which there is no room */
    } while (n < 0 && (errno == EINTR || (errno == ECONNRESET && !reset)));
    if (n < 0) {
        return errno == ECONNRESET ? 0 : -errno;
    }
    const int got = fd ? take_descriptor(&m) : -1;
    if (m.msg_flags & MSG_TRUNC) {
        if (got >= 0) {
            close(got);
        }
        return -EMSGSIZE;
    }
    if (fd) {
        *fd = got;
    }
    return n;
}

void tern_socket_wake(int to)
{
    const char wake = 0;
    while (send(to, &wake, sizeof wake, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

bool tern_socket_sleep(int from)
{
    char byte[8];
    ssize_t n;
    do {
        n = recv(from, byte, sizeof byte, 0);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

bool tern_socket_sleep_or(int from, int event)
{
    struct pollfd fds[2] = {{.fd = from, .events = POLLIN}, {.fd = event, .events = POLLIN}};
    eventfd_t n;
    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    if (fds[1].revents) {
        eventfd_read(event, &n);
    }
    return !fds[0].revents || tern_socket_sleep(from);
}
