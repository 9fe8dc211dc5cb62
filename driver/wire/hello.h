/* SPDX-License-Identifier: Apache-2.0 */
/** How a connection to ternd begins (wire.h), for those that make one. All calls leave a sentence when they fail. */
#ifndef TERN_WIRE_HELLO_H
#define TERN_WIRE_HELLO_H

#include <stdbool.h>
#include <sys/types.h>

#include "wire/wire.h"

/** A connection to the ternd that listens at `path`, which says nothing yet: a descriptor, or -errno; -ETIMEDOUT: there
 *  was no room for it for so many seconds (0: no limit). */
int tern_hello_connect(const char *path, unsigned seconds);
/** A hello of this version and kind, all else zero. */
struct tern_wire_hello tern_hello(uint32_t kind);
/** Sends it. That ternd has closed the connection is no error: a refusal may have come before. */
int tern_hello_send(int fd, const struct tern_wire_hello *hello);
/** Is what tern_socket_receive gave, n, a welcome of this version, from `path`? 0; the status of a refusal; -EPROTO;
 *  -EIO: the connection has ended. Its text ends with NUL then. */
int tern_hello_check(struct tern_wire_welcome *w, ssize_t n, const char *path);
/**
 * The welcome of the ternd at `path`, checked as above. *memory: a descriptor that came with it, also where it is
 * refused, or -1; NULL: none is taken. -ETIMEDOUT: nothing has come for so many seconds (0: no limit); -ECANCELED:
 * `interrupt` can be read (-1: there is none).
 */
int tern_hello_welcome(int fd, struct tern_wire_welcome *w, int *memory, const char *path, unsigned seconds,
                       int interrupt);
/** All of that: a connection to the ternd at `path` that has given its welcome; -errno: there is none. hello, w,
 *  memory, seconds, interrupt: as above. */
int tern_hello_open(const char *path, const struct tern_wire_hello *hello, struct tern_wire_welcome *w, int *memory,
                    unsigned seconds, int interrupt);
/** Where the ternd of a session listens, once it has moved: false, it is being written; *moves 0: it has not. */
bool tern_hello_where(const struct tern_wire_shared *shared, char path[108], uint32_t *moves);
/** Tells that. One thread of one process at a time. */
void tern_hello_publish(struct tern_wire_shared *shared, const char path[108]);

#endif
