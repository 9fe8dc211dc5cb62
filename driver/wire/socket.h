/* SPDX-License-Identifier: Apache-2.0 */
/** Messages on a SOCK_SEQPACKET connection, and one descriptor with the welcome. */
#ifndef TERN_WIRE_SOCKET_H
#define TERN_WIRE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Sends a message, with a descriptor unless fd is negative. wait: until there is room. 0 or -errno, no sentence. */
int tern_socket_send(int to, const void *message, size_t size, int fd, bool wait);
/**
 * The next message: its length, 0 when the other side has gone, or -errno. One that is longer than size: -EMSGSIZE.
 * *fd: a descriptor that came with it, or -1; fd NULL: none is taken.
 */
ssize_t tern_socket_receive(int from, void *message, size_t size, int *fd);
/** A wake-up. Never waits: where there is no room, wake-ups are on their way. */
void tern_socket_wake(int to);
/** Waits for a wake-up. false: the other side has gone. */
bool tern_socket_sleep(int from);
/** The same, or until the eventfd is written, which is read then. */
bool tern_socket_sleep_or(int from, int event);

#endif
