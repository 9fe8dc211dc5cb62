/* SPDX-License-Identifier: Apache-2.0 */
/** Connects to ternd, which may be another one after the session has moved. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "client/client.h"
#include "wire/hello.h"

#define MOVES 1000u /* attempts, of at least 1 ms each while the session moves */

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

/** Seconds to wait for a welcome; 0: no limit. New calls of a session that moves wait as long as the move takes. */
static int patience(uint32_t kind)
{
    return kind == TERN_WIRE_SESSION ? tern_patience(TERN_PATIENCE_SESSION) : 0;
}

/** Path of the ternd that serves the session now. False: it is being written. */
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
    struct tern_wire_hello hello = tern_hello(kind);
    const int seconds = patience(kind);
    int got = -1;
    memcpy(hello.token, dev->token, sizeof hello.token);
    snprintf(hello.program, sizeof hello.program, "%s", program_invocation_short_name);
    memcpy(hello.partition, dev->partition, sizeof hello.partition);
    int fd = seconds < 0 ? seconds : tern_hello_open(path, &hello, welcome, &got, (unsigned)seconds, -1);
    if (fd >= 0 && ((memory && got < 0) || welcome->slot >= welcome->connections)) {
        close(fd);
        fd = tern_error(-EPROTO, "the welcome of ternd at %s is not what this library expects", path);
    }
    if (fd >= 0 && memory) {
        *memory = got;
    } else if (got >= 0) {
        close(got);
    }
    return fd;
}

int tern_client_connect(struct tern_device *dev, uint32_t kind, struct tern_wire_welcome *welcome, int *memory)
{
    char path[108];
    uint32_t moves, now = 0;
    int r = -EAGAIN;
    _Static_assert(sizeof dev->info.service == sizeof path, "a socket's path fits");
    for (uint32_t tries = 0; tries < MOVES; tries++) { /* a ternd that the session has left refuses the connection */
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
