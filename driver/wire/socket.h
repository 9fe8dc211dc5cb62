/* SPDX-License-Identifier: Apache-2.0 */
/** Messages on SOCK_SEQPACKET connections, with a descriptor if needed. Functions set no sentence (tern_error). */
#ifndef TERN_WIRE_SOCKET_H
#define TERN_WIRE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Sends a message, with the descriptor fd unless it is negative. wait: blocks until there is room; else -EAGAIN. 0
 *  or -errno. */
int tern_socket_send(int to, const void *message, size_t size, int fd, bool wait);
/** Receives a message of at most `size` bytes. Its length; 0: the peer has closed; -EMSGSIZE: the message was
 *  longer; -errno. *fd: a descriptor of the caller's that came with it, or -1; NULL: descriptors are dropped. */
ssize_t tern_socket_receive(int from, void *message, size_t size, int *fd);
/** Sends a wake-up. Never blocks: if there is no room, other wake-ups are in flight. */
void tern_socket_wake(int to);
/** Waits for a wake-up. False: the peer has closed. */
bool tern_socket_sleep(int from);
/** As tern_socket_sleep, or until the eventfd `event` is written, which it reads. */
bool tern_socket_sleep_or(int from, int event);

#endif
