/* SPDX-License-Identifier: Apache-2.0 */
/** The first messages of a connection to ternd (wire.h), on the side that connects. Functions that fail set a sentence
 *  (tern_last_error). */
#ifndef TERN_WIRE_HELLO_H
#define TERN_WIRE_HELLO_H

#include <stdbool.h>
#include <sys/types.h>

#include "wire/wire.h"

/** Connects to the ternd at `path`. A descriptor of the caller's, or -errno; -ETIMEDOUT: the listening socket had no
 *  room for `seconds` seconds (0: no limit). */
int tern_hello_connect(const char *path, unsigned seconds);
/** A hello of this version and kind; all other members are zero. */
struct tern_wire_hello tern_hello(uint32_t kind);
/** Sends a hello. 0 also if ternd has closed the connection, because a refusal may precede that; -errno, no
 *  sentence. */
int tern_hello_send(int fd, const struct tern_wire_hello *hello);
/** Checks a welcome of the ternd at `path`; n is the result of tern_socket_receive. Terminates w->text. 0; the
 *  status of a refusal; -EPROTO; -EIO: the connection has ended. */
int tern_hello_check(struct tern_wire_welcome *w, ssize_t n, const char *path);
/** Receives and checks a welcome. *memory: the descriptor that came with it, also with a refusal, or -1; NULL:
 *  descriptors are dropped. Errors of tern_hello_check; -ETIMEDOUT: nothing came for `seconds` seconds (0: no
 *  limit); -ECANCELED: the descriptor `interrupt` became readable (-1: none). */
int tern_hello_welcome(int fd, struct tern_wire_welcome *w, int *memory, const char *path, unsigned seconds,
                       int interrupt);
/** Connects to the ternd at `path`, and exchanges hello and welcome. A descriptor of the caller's, or -errno.
 *  Arguments as above. */
int tern_hello_open(const char *path, const struct tern_wire_hello *hello, struct tern_wire_welcome *w, int *memory,
                    unsigned seconds, int interrupt);
/** The path at which the ternd of the session listens. *moves: 0, the session has not moved, and `path` is invalid.
 *  False: the path is being written. */
bool tern_hello_where(const struct tern_wire_shared *shared, char path[108], uint32_t *moves);
/** Writes the path. Called by one thread of one process at a time. */
void tern_hello_publish(struct tern_wire_shared *shared, const char path[108]);

#endif
