/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests over a serial line and their answers (docs/board.md): in order, each done once whatever is lost or damaged
 * on the way.
 *
 * Requests are numbered. The board does the next one only, so after one that was lost it does none, until the host
 * sends again from that one on: when the answer to a later one comes, or when none comes for a while. It tells by the
 * number whether it has done one before. Several are under way at a time, as many as the board has room for.
 *
 * One thread at a time.
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

#define TERN_UART_LIMIT 960u /**< Bytes of a read or a write. */

struct tern_requests;

/**
 * Begins a session on a port (port.h), which stays the caller's. timeout_ms: without an answer for so long, the board
 * is given up. -ENOMEM; -ETIMEDOUT: no answer; -EPROTO: it is no board of ours; each with a sentence.
 */
int tern_requests_open(int fd, int64_t timeout_ms, struct tern_requests **out);
void tern_requests_close(struct tern_requests *q);

/** Sends a write, of 1 to TERN_UART_LIMIT bytes, and does not wait for its answer. -EIO: the board is lost, by this or
 *  by an earlier request; see tern_requests_why. */
int tern_requests_write(struct tern_requests *q, enum tern_uart_command command, uint32_t address, const void *data,
                        size_t size);
/** Sends a read, of 1 to TERN_UART_LIMIT bytes; data is filled by the end of tern_requests_wait. -EIO. */
int tern_requests_read(struct tern_requests *q, enum tern_uart_command command, uint32_t address, void *data,
                       size_t size);
/** Until all that was sent has been answered. -EIO. */
int tern_requests_wait(struct tern_requests *q);

/** The interrupt, as the last answer had it. */
bool tern_requests_interrupt(const struct tern_requests *q);
/** Device time of the board is simulated. */
bool tern_requests_simulated(const struct tern_requests *q);
/** Why the board was lost: a clause for a sentence. */
const char *tern_requests_why(const struct tern_requests *q);

#endif
