/* SPDX-License-Identifier: Apache-2.0 */
/** The listening socket of ternd, and the lock file beside it. */
#ifndef TERND_LISTEN_H
#define TERND_LISTEN_H

#include <stddef.h>

struct ternd_listener {
    int fd;
    int lock;       /**< Descriptor of the locked file, held as long as ternd runs; -1: systemd owns the socket. */
    char path[108];
};

/** Opens the socket at `path`; NULL: the one that systemd passed, else the one at the default path. 0, or -errno
 *  with a sentence; -EBUSY: another ternd has the socket. */
int ternd_listen(const char *path, struct ternd_listener *out);
/** Removes sockets and lock files that killed proxies left, which listened at `path`.PID. ternd_listen does this for
 *  its own path. */
void ternd_listen_clean(const char *path);
/** Closes and removes the socket and the lock file. */
void ternd_listen_end(struct ternd_listener *l);

#endif
