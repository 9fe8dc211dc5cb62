/* SPDX-License-Identifier: Apache-2.0 */
/** Connecting to ternd. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "client/client.h"
#include "wire/hello.h"

#define PATIENCE 60u /* seconds for a session's welcome: ternd may be opening its device */
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

/** A session that moves keeps new calls of its own waiting, as those that it has, as long as that takes. */
static unsigned patience(uint32_t kind)
{
    return kind == TERN_WIRE_SESSION ? PATIENCE : 0;
}

static int say_hello(struct tern_device *dev, int fd, uint32_t kind, struct tern_wire_welcome *welcome, int *memory)
{
    struct tern_wire_hello hello = tern_hello(kind);
    int got = -1;
    memcpy(hello.token, dev->token, sizeof hello.token);
    snprintf(hello.program, sizeof hello.program, "%s", program_invocation_short_name);
    memcpy(hello.partition, dev->partition, sizeof hello.partition);
    int r = tern_hello_send(fd, &hello);
    r = r ? tern_hello_check(welcome, r, dev->info.service)
          : tern_hello_welcome(fd, welcome, &got, dev->info.service, patience(kind), -1);
    if (!r && ((memory && got < 0) || welcome->slot >= welcome->connections)) {
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
    *moves = 0;
    const bool there = !dev->shared || tern_hello_where(dev->shared, path, moves); /* NULL: there is no session yet */
    if (there && !*moves) {
        memcpy(path, dev->info.service, sizeof dev->info.service);
    }
    return there;
}

static int connect_to(struct tern_device *dev, const char *path, uint32_t kind, struct tern_wire_welcome *welcome,
                      int *memory)
{
    const int fd = tern_hello_connect(path, patience(kind));
    const int r = fd < 0 ? fd : say_hello(dev, fd, kind, welcome, memory);
    if (r && fd >= 0) {
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
