/* SPDX-License-Identifier: Apache-2.0 */
/** Connecting to ternd. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "client/client.h"
#include "tern/tern_spec.h"
#include "wire/socket.h"

#define MOVES 1000u /* of a session, or ms that one may take, while a connection is made */

int tern_client_gone(const struct tern_device *dev)
{
    return tern_error(-EIO, "ternd at %s is gone: its device and all that was on it are lost to this program",
                      dev->info.service);
}

int tern_client_check(const struct tern_device *dev)
{
    const int r = tern_fork_check(&dev->fork);
    return !r && atomic_load(&dev->gone) ? tern_client_gone(dev) : r;
}

static int say_hello(struct tern_device *dev, int fd, uint32_t kind, struct tern_wire_welcome *welcome, int *memory)
{
    struct tern_wire_hello hello = {
        .magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH, .kind = kind};
    const size_t known = offsetof(struct tern_wire_welcome, token);
    int got = -1;
    memcpy(hello.token, dev->token, sizeof hello.token);
    snprintf(hello.program, sizeof hello.program, "%s", program_invocation_short_name);
    memcpy(hello.partition, dev->partition, sizeof hello.partition);
    int r = tern_socket_send(fd, &hello, sizeof hello, -1, true);
    /* a refusal may have come before the hello, and the connection be closed */
    ssize_t n = r && r != -EPIPE && r != -ECONNRESET ? r : tern_socket_receive(fd, welcome, sizeof *welcome, &got);
    if (n == -EMSGSIZE) {
        n = (ssize_t)known; /* longer than this version knows: its beginning tells which it is */
    }
    if (n < (ssize_t)known || welcome->magic != TERN_WIRE_MAGIC) {
        r = tern_error(n > 0 ? -EPROTO : -EIO, n > 0 ? "what listens at %s is not ternd"
                                                     : "ternd at %s ended the connection", dev->info.service);
    } else if (welcome->version != TERN_WIRE_VERSION) {
        r = tern_error(-EPROTO, "ternd at %s speaks version %u of its protocol, and this library version %u: both "
                       "must be of one installation", dev->info.service, welcome->version, TERN_WIRE_VERSION);
    } else if (welcome->spec != TERN_SPEC_HASH) {
        r = tern_error(-EPROTO, "ternd at %s was built from interface description 0x%08x, and this library from "
                       "0x%08x: both must be of one installation", dev->info.service, welcome->spec, TERN_SPEC_HASH);
    } else if (welcome->status) {
        welcome->text[sizeof welcome->text - 1] = '\0';
        r = tern_error(welcome->status < 0 ? welcome->status : -EPROTO, "ternd at %s: %s", dev->info.service,
                       welcome->text);
    } else if (n != sizeof *welcome || (memory && got < 0) || welcome->connections > TERN_WIRE_CONNECTIONS_MAX ||
               welcome->slot >= welcome->connections) {
        r = tern_error(-EPROTO, "the welcome of ternd at %s is not what this library expects", dev->info.service);
    }
    if (!r && memory) {
        *memory = got;
    } else if (got >= 0) {
        close(got);
    }
    return r;
}

/** Where ternd listens now: false, it is being written. */
static bool where(struct tern_device *dev, char path[108], uint32_t *moves)
{
    const struct tern_wire_shared *shared = dev->shared; /* NULL: there is no session yet */
    *moves = shared ? atomic_load(&shared->moves) : 0;
    memcpy(path, *moves ? shared->service : dev->info.service, 108);
    path[107] = '\0';
    atomic_thread_fence(memory_order_seq_cst);
    return !(*moves & 1) && (!shared || atomic_load(&shared->moves) == *moves);
}

static int connect_to(struct tern_device *dev, const char *path, uint32_t kind, struct tern_wire_welcome *welcome,
                      int *memory)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int r;
    if (fd < 0) {
        r = -errno;
        return tern_error(r, "a socket for ternd cannot be made: %s", strerror(-r));
    }
    memcpy(to.sun_path, path, strlen(path));
    do {
        r = connect(fd, (const struct sockaddr *)&to, sizeof to) ? -errno : 0;
    } while (r == -EINTR);
    if (r) {
        r = tern_error(r, "ternd at %s cannot be reached: %s", path, strerror(-r));
    } else {
        r = say_hello(dev, fd, kind, welcome, memory);
    }
    if (r) {
        close(fd);
    }
    return r ? r : fd;
}

int tern_client_connect(struct tern_device *dev, uint32_t kind, struct tern_wire_welcome *welcome, int *memory)
{
    char path[108];
    uint32_t moves, now = 0;
    int r = -EAGAIN;
    _Static_assert(sizeof dev->info.service == sizeof path, "a socket's path fits");
    for (uint32_t tries = 0; tries < MOVES; tries++) { /* the session may move meanwhile, and be refused where it was */
        if (!where(dev, path, &moves)) {
            usleep(1000);
            continue;
        }
        r = connect_to(dev, path, kind, welcome, memory);
        if (r >= 0 || (where(dev, path, &now) && now == moves)) {
            break;
        }
    }
    return r;
}
