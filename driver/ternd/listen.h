/* SPDX-License-Identifier: Apache-2.0 */
/** The socket of ternd and the lock beside it. */
#ifndef TERND_LISTEN_H
#define TERND_LISTEN_H

#include <stddef.h>

struct ternd_listener {
    int fd;
    int lock;       /**< Held for as long as ternd lives; -1: systemd has the socket. */
    char path[108];
};

/** path NULL: systemd's, else the default. 0, or -errno with a sentence: -EBUSY, another ternd has it. */
int ternd_listen(const char *path, struct ternd_listener *out);
/** Removes what proxies, which listen at `path`.PID, have left that were killed: sockets and locks that no process has.
 *  ternd_listen does so for its own path. */
void ternd_listen_clean(const char *path);
/** Removes socket and lock. */
void ternd_listen_end(struct ternd_listener *l);

#endif
