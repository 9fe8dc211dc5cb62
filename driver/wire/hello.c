/* SPDX-License-Identifier: Apache-2.0 */
/** The first messages of a connection to ternd (hello.h). */
#include "wire/hello.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/wait.h"
#include "tern/tern_spec.h"
#include "wire/socket.h"

static int no_answer(const char *path, unsigned seconds)
{
    return tern_error(-ETIMEDOUT, "ternd at %s does not answer for %u s", path, seconds);
}

int tern_hello_connect(const char *path, unsigned seconds)
{
    const struct timeval limit = {.tv_sec = seconds}, none = {0};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int r = strlen(path) < sizeof to.sun_path ? 0 : -ENAMETOOLONG;
    const int fd = r ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (!r && fd < 0) {
        r = -errno;
        return tern_error(r, "a socket for ternd cannot be made: %s", strerror(-r));
    }
    if (!r) {
        memcpy(to.sun_path, path, strlen(path));
        /* bounds connect(), which waits while the listening socket's queue is full */
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        do {
            r = connect(fd, (const struct sockaddr *)&to, sizeof to) ? -errno : 0;
        } while (r == -EINTR);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    }
    if (r && fd >= 0) {
        close(fd);
    }
    return r == -EAGAIN ? no_answer(path, seconds)
        : r ? tern_error(r, "ternd at %s cannot be reached: %s", path, strerror(-r)) : fd;
}

struct tern_wire_hello tern_hello(uint32_t kind)
{
    return (struct tern_wire_hello){
        .magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH, .kind = kind};
}

int tern_hello_send(int fd, const struct tern_wire_hello *hello)
{
    const int r = tern_socket_send(fd, hello, sizeof *hello, -1, true);
    return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

int tern_hello_check(struct tern_wire_welcome *w, ssize_t n, const char *path)
{
    const size_t known = offsetof(struct tern_wire_welcome, token);
    if (n == -EMSGSIZE) {
        n = (ssize_t)known; /* longer: of another version, which the checks below find in its first words */
    }
    if (n < (ssize_t)known || w->magic != TERN_WIRE_MAGIC) {
        return tern_error(n > 0 ? -EPROTO : -EIO, n > 0 ? "what listens at %s is not ternd"
                                                        : "ternd at %s ended the connection", path);
    }
    if (w->version != TERN_WIRE_VERSION) {
        return tern_error(-EPROTO, "ternd at %s speaks version %u of its protocol, and this library version %u: both "
                          "must be of one installation", path, w->version, TERN_WIRE_VERSION);
    }
    if (w->spec != TERN_SPEC_HASH) {
        return tern_error(-EPROTO, "ternd at %s was built from interface description 0x%08x, and this library from "
                          "0x%08x: both must be of one installation", path, w->spec, TERN_SPEC_HASH);
    }
    w->text[sizeof w->text - 1] = '\0';
    if (w->status) {
        return tern_error(w->status < 0 ? w->status : -EPROTO, "ternd at %s: %s", path, w->text);
    }
    return n == sizeof *w && w->connections <= TERN_WIRE_CONNECTIONS_MAX
        ? 0
        : tern_error(-EPROTO, "the welcome of ternd at %s is not what this library expects", path);
}

/** Waits until the connection is readable. -ETIMEDOUT, -ECANCELED, -errno, with a sentence. */
static int wait_for(int fd, const char *path, unsigned seconds, int interrupt)
{
    const uint64_t end = tern_clock_ns() + seconds * 1000000000ull;
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = interrupt, .events = POLLIN}};
    for (;;) {
        const uint64_t now = tern_clock_ns();
        const int n = poll(p, 2, !seconds ? -1 : now < end ? (int)((end - now) / 1000000 + 1) : 0);
        if (n > 0) {
            return p[0].revents ? 0 : tern_error(-ECANCELED, "cancelled");
        }
        if (n == 0 || errno != EINTR) {
            return n ? tern_error(-errno, "ternd at %s cannot be waited for: %s", path, strerror(errno))
                     : no_answer(path, seconds);
        }
    }
}

int tern_hello_welcome(int fd, struct tern_wire_welcome *w, int *memory, const char *path, unsigned seconds,
                       int interrupt)
{
    if (memory) {
        *memory = -1;
    }
    const int r = wait_for(fd, path, seconds, interrupt);
    return r ? r : tern_hello_check(w, tern_socket_receive(fd, w, sizeof *w, memory), path);
}

int tern_hello_open(const char *path, const struct tern_wire_hello *hello, struct tern_wire_welcome *w, int *memory,
                    unsigned seconds, int interrupt)
{
    if (memory) {
        *memory = -1;
    }
    *w = (struct tern_wire_welcome){0};
    const int fd = tern_hello_connect(path, seconds);
    if (fd < 0) {
        return fd;
    }
    int r = tern_hello_send(fd, hello);
    r = r ? tern_hello_check(w, r, path) : tern_hello_welcome(fd, w, memory, path, seconds, interrupt);
    if (r) {
        close(fd);
    }
    return r ? r : fd;
}

bool tern_hello_where(const struct tern_wire_shared *shared, char path[108], uint32_t *moves)
{
    *moves = atomic_load(&shared->moves);
    memcpy(path, shared->service, sizeof shared->service);
    path[sizeof shared->service - 1] = '\0';
    atomic_thread_fence(memory_order_seq_cst);
    return !(*moves & 1) && atomic_load(&shared->moves) == *moves;
}

void tern_hello_publish(struct tern_wire_shared *shared, const char path[108])
{
    const uint32_t before = atomic_load(&shared->moves) | 1; /* odd, whatever the client has written into it */
    atomic_store(&shared->moves, before);
    atomic_thread_fence(memory_order_seq_cst);
    memcpy(shared->service, path, sizeof shared->service);
    atomic_store(&shared->moves, before + 1 ? before + 1 : 2); /* not 0, which stands for no path */
}
