/* SPDX-License-Identifier: Apache-2.0 */
/** A serial port of the host, for one program alone. */
#ifndef TERN_UART_PORT_H
#define TERN_UART_PORT_H

#include <stdint.h>

/**
 * Opens a serial port: raw, 8 bits, no parity, one stop bit, no handshake, not blocking. Bytes received before are
 * dropped. Errors, each with a sentence:
 *   -ENOENT  there is no such file
 *   -EACCES  the user may not open it
 *   -EBUSY   another program has it
 *   -ENOTTY  it is no serial port
 *   -EINVAL  there is no such baud rate
 *   -EIO     any other error of the system
 */
int tern_port_open(const char *path, uint32_t baud, int *fd);
/** Closes a port, which other programs may then open. */
void tern_port_close(int fd);

#endif
