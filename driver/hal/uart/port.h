/* SPDX-License-Identifier: Apache-2.0 */
/** A serial port of the host, for one program alone. */
#ifndef TERN_UART_PORT_H
#define TERN_UART_PORT_H

#include <stdint.h>

/**
 * Opens it: raw, 8 bits, no parity, one stop bit, no handshake, not blocking; what was received before is dropped.
 * -ENOENT: there is no such file; -EACCES; -EBUSY: another program has it; -ENOTTY: it is no serial port; -EINVAL: no
 * such baud rate; -EIO; each with a sentence.
 */
int tern_port_open(const char *path, uint32_t baud, int *fd);
/** Gives it back. */
void tern_port_close(int fd);

#endif
