/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests over a serial line and their answers (docs/board.md). The board executes requests in order, and each write
 * exactly once, even if frames are lost or damaged.
 *
 * Requests are numbered. The board executes only the request whose number comes next. After a lost request it executes
 * nothing until the host resends from that request on. The host resends when an answer to a later request arrives, or
 * when no answer arrives for a while. By the number the board recognises a request that it has executed before: it
 * repeats a read, and only acknowledges a write. Several requests are in flight at a time, as many as fit into the
 * board's buffer.
 *
 * Threads: the caller serialises all calls.
 */
#ifndef TERN_UART_REQUESTS_H
#define TERN_UART_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tern_uart_command {
    TERN_UART_HELLO = 1,
    TERN_UART_READ_REGISTERS,
    TERN_UART_WRITE_REGISTERS,
    TERN_UART_READ_MEMORY,
    TERN_UART_WRITE_MEMORY,
};

#define TERN_UART_LIMIT 960u /**< Largest number of bytes of a read or a write. */

struct tern_requests;

/**
 * Begins a session on a port (port.h), which stays the caller's. A board that does not answer for timeout_ms is given
 * up. -ENOMEM; -ETIMEDOUT: the board does not answer; -EPROTO: it speaks another version of the link; each with a
 * sentence.
 */
int tern_requests_open(int fd, int64_t timeout_ms, struct tern_requests **out);
void tern_requests_close(struct tern_requests *q);

/** Sends a write of 1 to TERN_UART_LIMIT bytes, and does not wait for its answer. -EIO: the board is lost, because of
 *  this or an earlier request; tern_requests_why says the reason. */
int tern_requests_write(struct tern_requests *q, enum tern_uart_command command, uint32_t address, const void *data,
                        size_t size);
/** Sends a read of 1 to TERN_UART_LIMIT bytes. data is filled when tern_requests_wait returns. -EIO. */
int tern_requests_read(struct tern_requests *q, enum tern_uart_command command, uint32_t address, void *data,
                       size_t size);
/** Waits until all requests have been answered. -EIO. */
int tern_requests_wait(struct tern_requests *q);

/** State of the interrupt in the last answer. */
bool tern_requests_interrupt(const struct tern_requests *q);
/** True: device time of the board is simulated. */
bool tern_requests_simulated(const struct tern_requests *q);
/** Why the board was lost: a clause for a sentence. */
const char *tern_requests_why(const struct tern_requests *q);

#endif
